/** Counters against counts worked out by hand. */
import type { RunResult } from '../../../src/interpreter/core/run-result.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Counts } from '../../../src/interpreter/counters.ts';
import { LaunchCounters, addCounts, convergenceOrder, conflictsOf, noCounts, sectorsOf } from '../../../src/interpreter/counters.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { kernel, launch, words, type LaunchOptions } from './launch-text.ts';

const lanes = Array.from({ length: 32 }, (_, lane) => lane);

interface Counted {
  readonly counters: LaunchCounters;
  readonly result: RunResult;
  readonly total: Counts;
}

function counted(code: Kernel, options: LaunchOptions = {}): Counted {
  const counters = new LaunchCounters();
  const result = launch(code, { ...options, observer: counters });
  const total = noCounts();
  for (const warp of counters.warps) addCounts(total, warp);
  const sum = noCounts();
  for (const { counts } of counters.places) addCounts(sum, counts);
  assert.deepEqual(sum, total, 'what the places counted is what the warps counted');
  assert.equal(total.threadSteps, result.steps);
  return { counters, result, total };
}

test('sectors of an access: strides, offsets, widths', () => {
  const strided = (stride: number, start = 0): number[] => lanes.map((lane) => start + lane * stride);
  assert.equal(sectorsOf(strided(0), 4), 1);
  assert.equal(sectorsOf(strided(1), 1), 1);
  assert.equal(sectorsOf(strided(4), 4), 4);
  assert.equal(sectorsOf(strided(4, 4), 4), 5, 'not aligned: one more');
  assert.equal(sectorsOf(strided(8), 4), 8);
  assert.equal(sectorsOf(strided(32), 4), 32);
  assert.equal(sectorsOf(strided(128), 4), 32);
  assert.equal(sectorsOf(strided(8), 8), 8);
  assert.equal(sectorsOf(strided(16), 16), 16);
  assert.equal(sectorsOf([2 ** 40 + 28], 8), 2, 'across an end');
});

test('bank conflicts: strides in words', () => {
  const strided = (words: number): number =>
    conflictsOf(
      lanes,
      lanes.map((lane) => 4 * words * lane),
      4,
      false,
    );
  assert.deepEqual([0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64].map(strided), [0, 0, 1, 0, 3, 7, 15, 0, 31, 0, 31]);
});

test('bank conflicts: narrow, wide, few lanes, atomics', () => {
  const of = (stride: number, bytes: number, atomic = false, who = lanes): number =>
    conflictsOf(
      who,
      who.map((lane) => stride * lane),
      bytes,
      atomic,
    );
  assert.equal(of(1, 1), 0, 'four lanes want one word');
  assert.equal(of(2, 2), 0);
  assert.equal(of(8, 8), 0, 'half warps: 16 lanes of 8 bytes are 32 banks');
  assert.equal(of(16, 8), 2, 'each half warp wants two words of every other pair of banks');
  assert.equal(of(16, 16), 0, 'quarter warps');
  assert.equal(of(32, 16), 4, 'each quarter warp has one conflict');
  assert.equal(of(0, 4, true), 31, 'updates of one word wait for each other');
  assert.equal(of(4, 4, true), 0);
  assert.equal(of(128, 4, false, [0, 1, 2]), 2);
  assert.equal(of(128, 16, false, [0, 8, 16]), 0, 'lanes of different quarter warps never conflict');
});

const tile = (width: number): string => `.shared .align 4 .b8 s[${32 * width * 4}];`;

/** Writes rows of a tile of 32 columns and reads columns, with rows of `width` words. */
function transposed(width: number): Counts {
  const code = kernel(
    `mov.u32 %r1, %tid.y; mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, ${width}, %r0; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r2;
    mad.lo.u32 %r4, %r1, 32, %r0; mul.wide.u32 %d6, %r4, 4; add.s64 %d7, %d1, %d6; add.s64 %d8, %d2, %d6;
    ld.global.u32 %r5, [%d7]; st.shared.u32 [%r3], %r5;
    bar.sync 0;
    mad.lo.u32 %r6, %r0, ${width}, %r1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r2;
    ld.shared.u32 %r7, [%r6]; st.global.u32 [%d8], %r7;`,
    tile(width),
  );
  return counted(code, { block: [32, 32, 1] }).total;
}

test('a transpose of 32 by 32 words, without padding and with', () => {
  const plain = transposed(32);
  assert.equal(plain.globalAccesses, 64);
  assert.equal(plain.sectors, 64 * 4);
  assert.equal(plain.sharedAccesses, 64);
  assert.equal(plain.conflicts, 32 * 31);
  assert.equal(transposed(33).conflicts, 0);
});

test('a store down a column touches a sector for each lane', () => {
  const code = kernel('mul.wide.u32 %d6, %r0, 128; add.s64 %d6, %d1, %d6; st.global.u32 [%d6], %r0;');
  const { total, counters } = counted(code, { block: [64, 1, 1], grid: [2, 1, 1] });
  assert.equal(total.sectors, 4 * 32);
  assert.deepEqual(
    counters.warps.map(({ block, warp, sectors }) => [block[0], warp, sectors]),
    [
      [0, 0, 32],
      [0, 1, 32],
      [1, 0, 32],
      [1, 1, 32],
    ],
  );
});

/** Counts of the instructions with a mnemonic. */
function of({ counters }: Counted, mnemonic: string): Counts {
  const sum = noCounts();
  for (const { place, counts } of counters.places) {
    if ('operation' in place && place.operation.mnemonic === mnemonic) addCounts(sum, counts);
  }
  return sum;
}

test('an if with an else: both branches are executed, and the lanes reconverge after it', () => {
  const code = kernel(`
    and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;
    mul.lo.u32 %r2, %r0, 3; bra END;
    EVEN: shl.b32 %r2, %r0, 1;
    END: xor.b32 %r2, %r2, 5; st.global.u32 [%d3], %r2;`);
  const run = counted(code, { block: [64, 1, 1] });
  assert.deepEqual([run.total.branches, run.total.divergentBranches], [2, 2]);
  for (const mnemonic of ['mul.lo.u32', 'shl.b32']) {
    assert.deepEqual([of(run, mnemonic).steps, of(run, mnemonic).threadSteps], [2, 32], mnemonic);
  }
  assert.deepEqual([of(run, 'xor.b32').steps, of(run, 'xor.b32').threadSteps], [2, 64], 'together again');
  assert.equal(run.total.sectors, 8);
  assert.deepEqual(words(run.result, 0, 4), [5, 6, 1, 12]);
});

test('a branch that is uniform in each warp is not divergent', () => {
  const code = kernel(`
    setp.lt.u32 %p1, %r0, 32; @%p1 bra END;
    st.global.u32 [%d3], %r0;
    END: bar.sync 0;`);
  const { total } = counted(code, { block: [64, 1, 1] });
  assert.deepEqual([total.branches, total.divergentBranches, total.globalAccesses], [2, 0, 1]);
});

test('a loop whose trip count is the lane: the number of iterations of the last lane', () => {
  const code = kernel(`
    mov.u32 %r1, 0;
    LOOP: setp.ge.u32 %p1, %r1, %r0; @%p1 bra END;
    add.u32 %r1, %r1, 1; not.b32 %r2, %r1; bra LOOP;
    END: st.global.u32 [%d3], %r1;`);
  const run = counted(code);
  // Lane l executes l iterations, and the header once more. The lanes exit sequentially, so that each of the first 31
  // branches is divergent, and the last one is not.
  assert.deepEqual([of(run, 'setp.ge.u32').steps, of(run, 'setp.ge.u32').threadSteps], [32, 31 * 16 + 32]);
  assert.equal(of(run, 'add.u32').steps, 31);
  assert.equal(of(run, 'add.u32').threadSteps, 31 * 16);
  assert.deepEqual([run.total.branches, run.total.divergentBranches], [32, 31]);
  assert.deepEqual([of(run, 'st.global.u32').steps, of(run, 'st.global.u32').sectors], [1, 4]);
});

test('a loop exit in the middle: all iterations precede the code after the loop', () => {
  const code = kernel(`
    mov.u32 %r1, 0;
    LOOP: and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;
    setp.gt.u32 %p2, %r1, %r0; @%p2 bra OUT;
    bra NEXT;
    EVEN: not.b32 %r3, %r1;
    NEXT: add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 8; @%p3 bra LOOP;
    OUT: neg.s32 %r4, %r1; st.global.u32 [%d3], %r4;`);
  const run = counted(code);
  const order = convergenceOrder(code).map((block) => code.blocks[block]!);
  const position = (mnemonic: string): number =>
    order.findIndex(({ instructions }) => instructions.some(({ operation }) => operation.mnemonic === mnemonic));
  for (const mnemonic of ['not.b32', 'add.u32']) assert.ok(position(mnemonic) < position('neg.s32'), mnemonic);
  assert.deepEqual([of(run, 'neg.s32').steps, of(run, 'neg.s32').threadSteps], [1, 32]);
});

test('a nested if in a loop reconverges before the next iteration', () => {
  const code = kernel(`
    mov.u32 %r1, 0; mov.u32 %r2, 0;
    LOOP: xor.b32 %r3, %r1, %r0; and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra SKIP;
    add.u32 %r2, %r2, 10;
    SKIP: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra LOOP;
    st.global.u32 [%d3], %r2;`);
  const run = counted(code);
  assert.deepEqual([run.total.branches, run.total.divergentBranches], [8, 4]);
  assert.deepEqual([of(run, 'xor.b32').steps, of(run, 'xor.b32').threadSteps], [4, 128]);
  assert.deepEqual(words(run.result, 0, 2), [20, 20]);
});

test('a lane with a lock is scheduled although lower lanes spin', () => {
  const code = kernel(`
    SPIN: atom.global.cas.b32 %r1, [%d2], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;
    ld.volatile.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d1], %r2;
    atom.global.exch.b32 %r3, [%d2], 0;`);
  const run = counted(code, { steps: 20_000_000, detectRaces: false });
  assert.equal(run.result.outcome, 'finished');
  assert.deepEqual(words(run.result, 0, 1), [32]);
});

test('generic addresses count for the space that they point to, local ones for none', () => {
  const code = kernel(
    `mov.u64 %d6, s; cvta.shared.u64 %d6, %d6; add.s64 %d6, %d6, %d5; st.u32 [%d6], %r0;
    ld.u32 %r1, [%d3];
    .local .align 4 .b8 l[128]; mov.u64 %d7, l; cvta.local.u64 %d7, %d7; add.s64 %d7, %d7, %d5; st.u32 [%d7], %r1;`,
    tile(1),
  );
  const { total } = counted(code);
  assert.deepEqual([total.sharedAccesses, total.conflicts, total.globalAccesses, total.sectors], [1, 0, 1, 4]);
});

test('results with counters are the results without', () => {
  const code = kernel(`
    and.b32 %r1, %r0, 3; mov.u32 %r2, 0;
    LOOP: add.u32 %r2, %r2, %r0; sub.u32 %r1, %r1, 1; setp.ge.s32 %p1, %r1, 0; @%p1 bra LOOP;
    shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; add.u32 %r2, %r2, %r3; st.global.u32 [%d3], %r2;`);
  const plain = launch(code);
  const { result } = counted(code);
  assert.equal(result.steps, plain.steps);
  assert.deepEqual(words(result, 0, 32), words(plain, 0, 32));
});
