/** Addresses that are not multiples of the size of their access: by the thread, by a scalar, by the start of the array. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../../src/check/check-kernel.ts';
import { raceReport } from '../../../src/messages/finding/verdict.ts';
import { type CheckOptions, closeSolver, kernelOf, requestFor } from '../kernel-text.ts';

after(closeSolver);

/** A read of some bytes at `a` plus a multiple of an index register plus a constant, in a kernel with these statements before it. */
const read = (bytes: 2 | 4 | 8 | 16, index: string, scale: number, constant = 0, before = ''): string => {
  const into = { 2: 'u16 %h1', 4: 'u32 %r20', 8: 'u64 %d20', 16: 'v4.u32 {%r20, %r21, %r22, %r23}' }[bytes];
  const used = { 2: 'cvt.u32.u16 %r20, %h1;', 4: '', 8: 'cvt.u32.u64 %r20, %d20;', 16: 'add.u32 %r20, %r20, %r23;' }[bytes];
  const [type, first, ...rest] = into.split(' ');
  return `${before} mul.wide.s32 %d10, ${index}, ${scale}; add.s64 %d10, %d1, %d10; ld.global.${type} ${[first, ...rest].join(' ')}, [%d10+${constant}]; ${used}
mul.wide.s32 %d11, %r7, 4; add.s64 %d11, %d2, %d11; st.global.u32 [%d11], %r20;`;
};

async function faultsOf(body: string, options: CheckOptions = {}) {
  const { verdict, reason, findings } = raceReport((await checkKernel(requestFor(kernelOf(body), options))).race);
  const faults = findings.filter(({ code }) => code === 'memory/misaligned');
  const told = faults.map(({ severity, misaligned }) => ['misaligned', severity, misaligned?.needs ?? misaligned?.offset]);
  return { verdict, reason, told, message: faults[0]?.message };
}

test('an access is aligned if its offset is a multiple of its size for each thread', async () => {
  for (const bytes of [2, 4, 8, 16] as const) {
    const whole = await faultsOf(read(bytes, '%r7', bytes));
    assert.deepEqual([whole.verdict, whole.told], ['proved', []], `${bytes} bytes`);
    const shifted = await faultsOf(read(bytes, '%r7', bytes, bytes / 2));
    assert.deepEqual([shifted.verdict, shifted.told], ['possible', [['misaligned', 'warning', bytes / 2]]], `${bytes} bytes`);
    const half = await faultsOf(read(bytes, '%r7', bytes / 2));
    assert.deepEqual([half.verdict, half.told], ['possible', [['misaligned', 'error', bytes / 2]]], `${bytes} bytes`);
    assert.match(
      half.reason!,
      /^the kernel fails on line \d+, where it accesses `a` at an address that is not a multiple of the size of the access$/,
    );
  }
});

test('at a launch of the program a constant offset decides where the start of the array is known', async () => {
  const shifted = read(16, '%r7', 16, 4);
  const at = (starts: readonly number[]): CheckOptions => ({ launch: { source: 'launch-site', starts } });
  assert.deepEqual((await faultsOf(shifted, at([0]))).told, [['misaligned', 'error', 4]]);
  // The launch may pass a pointer to the fourth element.
  assert.deepEqual((await faultsOf(shifted, at([1]))).told, []);
  // No start aligns an offset that differs between threads.
  assert.deepEqual((await faultsOf(read(16, '%r7', 8, 4), at([]))).told, [['misaligned', 'error', 4]]);
});

test('guards on the thread count as they are', async () => {
  const at = (rest: number): string => `and.b32 %r30, %r0, 3; setp.ne.s32 %p1, %r30, ${rest}; @%p1 bra E; ${read(16, '%r0', 4)} E:`;
  assert.deepEqual((await faultsOf(at(0))).told, []);
  assert.deepEqual((await faultsOf(at(2))).told, [['misaligned', 'error', 8]]);
});

test('a scalar of which a multiple is needed is named, and its value decides', async () => {
  const pitch = read(16, '%r30', 4, 0, 'mul.lo.s32 %r31, %r6, %r9; shl.b32 %r32, %r0, 2; add.s32 %r30, %r31, %r32;');
  const open: CheckOptions = { block: null, grid: null };
  const asked = await faultsOf(pitch, open);
  assert.deepEqual(asked.told, [['misaligned', 'notice', 'n % 4 == 0']]);
  assert.notEqual(asked.verdict, 'possible');
  assert.match(asked.message!, /aligned to 16 bytes only if `n % 4 == 0`/);
  assert.deepEqual((await faultsOf(pitch, { ...open, policy: { alignment: 'warning' } })).told, [['misaligned', 'warning', 'n % 4 == 0']]);
  assert.deepEqual((await faultsOf(pitch, { ...open, policy: { alignment: 'allow' } })).told, []);
  assert.deepEqual((await faultsOf(pitch, { ...open, assume: ['n % 4 == 0'] })).told, []);
  assert.deepEqual((await faultsOf(pitch, { ...open, assume: ['n % 2 == 0'] })).told, [['misaligned', 'notice', 'n % 4 == 0']]);
  assert.deepEqual((await faultsOf(pitch, { ...open, assume: ['n == 4 * m'] })).told, []);
  const at = (n: bigint): CheckOptions => ({ grid: [3, 1, 1], scalars: { 2: n } });
  assert.deepEqual((await faultsOf(pitch, at(128n))).told, []);
  assert.deepEqual((await faultsOf(pitch, at(129n))).told, [['misaligned', 'error', 516]]);
  // Only one block: its row starts at the array.
  assert.deepEqual((await faultsOf(pitch, { ...at(129n), grid: [1, 1, 1] })).told, []);
});

test('a sum of scalars is one condition, and twice a scalar needs half of the multiple', async () => {
  const sum = read(8, '%r30', 4, 0, 'shl.b32 %r31, %r9, 1; add.s32 %r30, %r31, %r8; shl.b32 %r32, %r7, 1; add.s32 %r30, %r30, %r32;');
  assert.deepEqual((await faultsOf(sum, { block: null, grid: null })).told, [['misaligned', 'notice', 'm % 2 == 0']]);
  const both = read(16, '%r30', 4, 0, 'shl.b32 %r31, %r9, 1; add.s32 %r30, %r31, %r8; shl.b32 %r32, %r7, 2; add.s32 %r30, %r30, %r32;');
  assert.deepEqual((await faultsOf(both, { block: null, grid: null })).told, [['misaligned', 'notice', '(n * 2 + m) % 4 == 0']]);
});

test('of conditions that imply each other one is named', async () => {
  const rows =
    'mul.lo.s32 %r31, %r6, %r9; mul.lo.s32 %r32, %r9, %r8; add.s32 %r30, %r31, %r32; shl.b32 %r33, %r0, 1; mad.lo.s32 %r30, %r33, %r9, %r30;';
  const open: CheckOptions = { block: null, grid: null };
  assert.deepEqual((await faultsOf(read(16, '%r30', 4, 0, rows), open)).told, [['misaligned', 'notice', 'n % 4 == 0']]);
  const apart = 'shl.b32 %r31, %r7, 2; mad.lo.s32 %r30, %r6, %r9, %r31; add.s32 %r30, %r30, %r8;';
  assert.deepEqual((await faultsOf(read(16, '%r30', 4, 0, apart), open)).told, [['misaligned', 'notice', 'm % 4 == 0 && n % 4 == 0']]);
});

test('the kernel or the host program may select the path by a flag', async () => {
  const scalar = read(16, '%r30', 4, 0, 'shl.b32 %r32, %r7, 2; add.s32 %r30, %r9, %r32;');
  const open: CheckOptions = { block: null, grid: null };
  const own = `and.b32 %r40, %r9, 3; setp.ne.s32 %p1, %r40, 0; @%p1 bra E; ${scalar} E:`;
  assert.deepEqual((await faultsOf(own, open)).told, []);
  const flag = `setp.eq.s32 %p1, %r8, 0; @%p1 bra E; ${scalar} E:`;
  assert.deepEqual((await faultsOf(flag, open)).told, []);
  const size = `setp.le.s32 %p1, %r8, %r7; @%p1 bra E; ${scalar} E:`;
  assert.deepEqual((await faultsOf(size, open)).told, [['misaligned', 'notice', 'n % 4 == 0']]);
});

test('an offset from memory decides nothing', async () => {
  const loaded = read(16, '%r30', 4, 0, 'mul.wide.s32 %d12, %r7, 4; add.s64 %d12, %d2, %d12; ld.global.u32 %r30, [%d12];');
  assert.deepEqual((await faultsOf(loaded, { block: null, grid: null })).told, []);
});

test('an atomic of 64 bits and a bulk copy need multiples of 8 and of 16', async () => {
  const atomic = (scale: number): string => `mul.wide.s32 %d10, %r7, ${scale}; add.s64 %d10, %d1, %d10; red.global.add.u64 [%d10], 1;`;
  assert.deepEqual((await faultsOf(atomic(8))).told, []);
  assert.deepEqual((await faultsOf(atomic(4))).told, [['misaligned', 'error', 4]]);
  const copy = (constant: number): string =>
    `setp.ne.s32 %p1, %r0, 0; @%p1 bra E; mul.wide.s32 %d10, %r6, 16; add.s64 %d10, %d1, %d10; add.s64 %d10, %d10, ${constant};
cp.async.bulk.global.shared::cta.bulk_group [%d10], [%d3], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:`;
  const at: CheckOptions = { grid: [2, 1, 1], launch: { source: 'launch-site', starts: [0] } };
  assert.deepEqual((await faultsOf(copy(0), at)).told, []);
  assert.deepEqual((await faultsOf(copy(8), at)).told, [['misaligned', 'error', 8]]);
});

test('a row of a matrix needs a multiple of its bytes, also where each lane reads fewer', async () => {
  const rows = (bytes: number): string =>
    `mul.lo.s32 %r30, %r0, ${bytes}; cvt.u32.u64 %r31, %d3; add.s32 %r31, %r31, %r30; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r32}, [%r31];
mul.wide.s32 %d11, %r7, 4; add.s64 %d11, %d2, %d11; st.global.u32 [%d11], %r32;`;
  const warp: CheckOptions = { block: [32, 1, 1] };
  assert.deepEqual((await faultsOf(rows(32), warp)).told, []);
  assert.deepEqual((await faultsOf(rows(24), warp)).told, [['misaligned', 'error', 24]]);
});
