/** Indices outside of objects of known extent: found by proof at a given launch, and confirmed by a run. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { raceReport } from '../../src/messages/finding/verdict.ts';
import { type CheckOptions, closeSolver, kernelOf, load, requestFor, store } from './kernel-text.ts';

after(closeSolver);

/** Checks a kernel with two adjacent arrays of 256 elements, to which `%d30` and `%d31` point. */
async function verdictOf(body: string, options: CheckOptions) {
  const declarations = '.shared .align 4 .b8 t1[1024]; .shared .align 4 .b8 t2[1024];';
  const start = 'mov.u64 %d30, t1; cvta.shared.u64 %d30, %d30; mov.u64 %d31, t2; cvta.shared.u64 %d31, %d31;';
  const kernel = kernelOf(`${start} ${body}`, declarations);
  const { verdict, reason, findings, assumptions } = raceReport((await checkKernel(requestFor(kernel, options))).race);
  const told = findings.map(({ code, severity, array, left }) => [code, severity, array, left?.offset]);
  return { verdict, reason, told, kinds: new Set(assumptions?.map(({ kind }) => kind)) };
}

const guarded = (comparison: string, body: string): string => `setp.${comparison}; @!%p1 bra G; ${body} G:`;

const both = `${store('%d30', '%r0', '%r0', 10)} ${store('%d31', '%r0', '%r0', 11)}`;
const one = { grid: [1, 1, 1] } as const;

test('a block larger than a shared array exceeds its bounds', async () => {
  const small = await verdictOf(both, { ...one, block: [256, 1, 1] });
  assert.equal(small.verdict, 'proved');
  assert.ok(!small.kinds.has('in-bounds'), 'ranges show it');
  const large = await verdictOf(both, { ...one, block: [512, 1, 1] });
  assert.equal(large.verdict, 'possible');
  assert.match(large.reason!, /^an access on line \d+ is outside of `t1`, and may be to memory that other threads access$/);
  assert.deepEqual(large.told, [['memory/out-of-bounds', 'error', 't1', 1024]]);
  // Under this launch every execution leaves the array: it is not proved even without a run.
  const unrun = await verdictOf(both, {
    ...one,
    block: [512, 1, 1],
    budget: { solverUnits: 1_000_000, evaluations: 1_000_000, replaySteps: 0 },
  });
  assert.deepEqual([unrun.verdict, unrun.told], ['possible', []]);
});

test('halo accesses at the edge of a tile stay in bounds or are reported', async () => {
  const halo = (from: string): string =>
    `${store('%d30', '%r0', '%r0', 10)} bar.sync 0; ${from} ${load('%r2', '%d30', '%r1', 11)} ${store('%d1', '%r7', '%r2', 12)}`;
  const left = await verdictOf(halo('sub.s32 %r1, %r0, 1;'), { ...one, block: [256, 1, 1] });
  assert.deepEqual(left.told, [['memory/out-of-bounds', 'error', 't1', -4]]);
  const right = await verdictOf(halo('add.s32 %r1, %r0, 1;'), { ...one, block: [256, 1, 1] });
  assert.deepEqual(right.told, [['memory/out-of-bounds', 'error', 't1', 1024]]);
  assert.equal((await verdictOf(halo('xor.b32 %r1, %r0, 1;'), { ...one, block: [256, 1, 1] })).verdict, 'proved');
});

test('after a loop that only some threads execute, a loaded index exceeds its array', async () => {
  const some = 'ld.global.u32 %r2, [%d1]; setp.eq.s32 %p2, %r2, 0; @%p2 bra B; mov.u32 %r3, %r0;';
  const loop = `${some} L: add.s32 %r3, %r3, %r2; setp.lt.s32 %p3, %r3, 1000; @%p3 bra L; B: bar.sync 0;`;
  const { told } = await verdictOf(`${loop} ${store('%d30', '%r0', '%r0', 10)}`, { ...one, block: [512, 1, 1] });
  assert.deepEqual(told, [['memory/out-of-bounds', 'error', 't1', 1024]]);
});

test('a size that bounds the thread index may equal the array length', async () => {
  const bounded = guarded('lt.s32 %p1, %r0, %r9', store('%d30', '%r0', '%r0', 10));
  const open = await verdictOf(bounded, { ...one, block: [512, 1, 1] });
  assert.deepEqual([open.verdict, open.told], ['proved', []]);
  // A bound that only some blocks satisfy does not limit the index into the array.
  const tail = guarded('lt.s32 %p1, %r7, %r9', store('%d30', '%r0', '%r0', 10));
  const shown = await verdictOf(tail, { grid: [8, 1, 1], block: [512, 1, 1] });
  assert.deepEqual([shown.verdict, shown.told], ['possible', [['memory/out-of-bounds', 'warning', 't1', 1024]]]);
});

test('an out-of-bounds index is reported under an unspecified launch', async () => {
  const { verdict, told } = await verdictOf(both, { block: null, grid: null });
  assert.deepEqual([verdict, told], ['proved', []]);
});
