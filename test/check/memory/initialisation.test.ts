/** Reads of shared memory that no thread has written: what is written, who decides, and what the value reaches. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../../src/check/check-kernel.ts';
import { raceReport } from '../../../src/messages/finding/verdict.ts';
import { type CheckOptions, closeSolver, kernelOf, load, requestFor, store } from '../kernel-text.ts';

after(closeSolver);

async function faultsOf(body: string, options: CheckOptions = {}) {
  const { verdict, findings } = raceReport((await checkKernel(requestFor(kernelOf(body), options))).race);
  const faults = findings.filter(({ code }) => code === 'memory/uninitialised');
  const told = faults.map(({ severity, uninitialised, witnessOrigin }) => [
    severity,
    uninitialised?.offset,
    uninitialised?.reaches,
    witnessOrigin,
  ]);
  return { verdict, told, message: faults[0]?.message };
}

const guarded = (comparison: string, body: string, label: string): string => `setp.${comparison}; @!%p1 bra ${label}; ${body} ${label}:`;
const write = store('%d0', '%r0', '%r0', 10);
/** The element at 63 minus the number of the thread, stored in `b`. */
const readBack = `bar.sync 0; mov.u32 %r30, 63; sub.s32 %r31, %r30, %r0; ${load('%r2', '%d0', '%r31', 11)} ${store('%d2', '%r7', '%r2', 12)}`;

test('an element that no thread writes is found where its value is stored', async () => {
  assert.deepEqual((await faultsOf(`${write} ${readBack}`)).told, []);
  const half = await faultsOf(`${guarded('lt.s32 %p1, %r0, 63', write, 'G')} ${readBack}`);
  assert.deepEqual([half.verdict, half.told], ['proved', [['error', 252, 'b', 'given']]]);
  assert.match(
    half.message!,
    /^Thread \(0, 0, 0\) of block \(0, 0, 0\) reads 4 bytes of `s`.*no thread of the block has written \(byte 252 of the array\); the value reaches `b`/,
  );
});

test('a value that decides a path is an error, one without effect a warning', async () => {
  const none = guarded('lt.s32 %p1, %r0, 63', write, 'G');
  const loop = 'L: add.s32 %r2, %r2, -1; and.b32 %r3, %r2, 3; setp.ne.s32 %p2, %r3, 0; @%p2 bra L;';
  const decided = await faultsOf(`${none} bar.sync 0; mov.u32 %r40, 63; ${load('%r2', '%d0', '%r40', 11)} ${loop}`);
  assert.deepEqual(decided.told, [['error', 252, null, 'given']]);
  const kept = readBack.replace('st.u32 [%d12], %r2', 'setp.ne.s32 %p3, %r31, 63; selp.u32 %r2, %r2, 0, %p3; st.u32 [%d12], %r2');
  assert.deepEqual((await faultsOf(`${none} ${kept}`)).told, [['warning', 252, undefined, 'given']]);
});

test('contents of arrays that decide what is written or read decide nothing here', async () => {
  const byValue = `${load('%r2', '%d1', '%r0', 13)} ${guarded('gt.s32 %p1, %r2, 0', write, 'G')} ${readBack}`;
  assert.deepEqual((await faultsOf(byValue)).told, []);
  const byIndex = `${load('%r2', '%d1', '%r0', 13)} and.b32 %r2, %r2, 63; ${store('%d0', '%r0', '%r0', 14)} bar.sync 0; add.s32 %r2, %r2, 64; ${load('%r3', '%d0', '%r2', 11)} ${store('%d2', '%r7', '%r3', 12)}`;
  assert.deepEqual((await faultsOf(byIndex)).told, []);
  // A loop whose end is loaded.
  const upTo = (end: string, read: string): string =>
    `${end} mov.u32 %r21, 0; L: setp.ge.s32 %p2, %r21, %r20; @%p2 bra D; ${store('%d0', '%r21', '%r0', 14)} add.s32 %r21, %r21, 1; bra L;
D: bar.sync 0; ${load('%r2', '%d0', read, 11)} ${store('%d2', '%r7', '%r2', 12)}`;
  assert.deepEqual((await faultsOf(upTo('ld.global.u32 %r20, [%d1];', '%r0'), { block: [1, 1, 1] })).told, []);
  // With an end that the launch gives, element 5 is not written.
  const byNumber = upTo('mov.u32 %r20, 5;', '%r20');
  assert.deepEqual((await faultsOf(byNumber, { block: [1, 1, 1] })).told, [['error', 20, 'b', 'given']]);
});

test('an array that only atomics change starts with what was there', async () => {
  const add = `${load('%r2', '%d1', '%r0', 13)} and.b32 %r2, %r2, 7; mul.wide.s32 %d14, %r2, 4; add.s64 %d14, %d0, %d14; atom.add.u32 %r4, [%d14], 1; bar.sync 0; ${load('%r5', '%d0', '%r0', 11)} ${store('%d2', '%r7', '%r5', 12)}`;
  const { told } = await faultsOf(add, { block: [8, 1, 1] });
  assert.deepEqual(
    told.map(([severity, , reaches]) => [severity, reaches]),
    [['error', 'b']],
  );
  const cleared = await faultsOf(`mov.u32 %r50, 0; ${store('%d0', '%r0', '%r50', 15)} bar.sync 0; ${add}`, { block: [8, 1, 1] });
  assert.deepEqual(cleared.told, []);
});

test('of chosen launches all large ones have to show it', async () => {
  const open: CheckOptions = { block: null, grid: null };
  const last = `mov.u32 %r30, 1023; ${load('%r2', '%d0', '%r30', 11)} ${store('%d2', '%r7', '%r2', 12)}`;
  // Blocks of 1024 threads write all elements.
  assert.deepEqual((await faultsOf(`${write} bar.sync 0; ${last}`, open)).told, []);
  const never = await faultsOf(`${guarded('lt.s32 %p1, %r0, 1023', write, 'G')} bar.sync 0; ${last}`, open);
  assert.deepEqual(never.told, [['error', 4092, 'b', 'chosen']]);
});

test('threads that race, and blocks of a cluster, decide nothing', async () => {
  const half = guarded('lt.s32 %p1, %r0, 63', write, 'G');
  // Without a barrier some threads read before others have written.
  assert.deepEqual((await faultsOf(`${half} ${readBack.replace('bar.sync 0;', '')}`)).told, []);
  const cluster = 'barrier.cluster.arrive; barrier.cluster.wait;';
  assert.deepEqual((await faultsOf(`${half} ${cluster} ${readBack}`)).told, []);
});
