import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barrierIntervals, isFullBarrier, isGridBarrier, isWarpBarrier } from '../../../src/analysis/barriers/barrier-interval.ts';
import { controlDependence } from '../../../src/analysis/values/control-dependence.ts';
import { inferUniformity } from '../../../src/analysis/values/uniformity.ts';
import { contextOf, kernelOf } from '../../check/kernel-text.ts';

/**
 * The intervals of a kernel, in order: for each the accesses that belong to it as `OFFSET ITERATIONS`, where the offset
 * is that of the address `[%d1+OFFSET]` (it names the accesses in these tests), followed by the relation of iterations
 * for each loop.
 */
function intervalsOf(body: string): string[][] {
  const { kernel, symbolic, accesses, loaded } = contextOf(body);
  const uniformity = inferUniformity(kernel, controlDependence(kernel), loaded, new Set());
  const { intervals, truncated } = barrierIntervals(symbolic, accesses, uniformity);
  assert.equal(truncated, false);
  return intervals.map(({ occurrences }) =>
    [...new Set(occurrences.map(({ access, rounds }) => [access.instruction.offset, ...rounds].join(' ')))].sort(),
  );
}

const st = (name: number): string => `st.u32 [%d1+${name}], %r0;`;

test('straight-line code: the accesses between two barriers', () => {
  const intervals = intervalsOf(`${st(0)} ${st(4)} bar.sync 0; ${st(8)} bar.sync 0; ${st(12)}`);
  assert.deepEqual(intervals, [['0', '4'], ['8'], ['12']]);
});

test('a barrier that some threads do not reach ends an interval only on its own path', () => {
  const intervals = intervalsOf(`${st(0)} setp.eq.s32 %p1, %r9, 1; @%p1 bra X; bar.sync 0; ${st(4)} X: ${st(8)}`);
  assert.deepEqual(intervals, [
    ['0', '8'],
    ['4', '8'],
  ]);
});

test('barriers of part of a block, arrivals and other numbers end no interval', () => {
  for (const barrier of ['bar.sync 1;', 'bar.sync 0, 32;', 'bar.arrive 0, 64;', 'bar.sync %r9;', 'bar.warp.sync -1;'])
    assert.deepEqual(intervalsOf(`${st(0)} ${barrier} ${st(4)}`), [['0', '4']], barrier);
  for (const barrier of ['bar.sync 0;', 'barrier.sync 0;', 'bar.red.popc.u32 %r1, 0, %p1;'])
    assert.deepEqual(intervalsOf(`${st(0)} ${barrier} ${st(4)}`), [['0'], ['4']], barrier);
});

const loop = (body: string, bound = '%r9'): string =>
  `mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, ${bound}; @%p1 bra X; ${body} add.s32 %r1, %r1, 1; bra L; X:`;

test('a loop without a barrier: any iteration, then exit after the same trip count', () => {
  assert.deepEqual(intervalsOf(`${st(0)} ${loop(st(4))} ${st(8)}`), [['0 before', '4 free', '8 left']]);
  // Threads that exit in different iterations have no common trip count.
  assert.deepEqual(intervalsOf(`${loop(st(4), '%r0')} ${st(8)}`), [['4 free', '8 free']]);
});

test('a loop with a barrier in each iteration: this iteration and the next', () => {
  const [entry, inner] = intervalsOf(`${st(0)} ${loop(`${st(4)} bar.sync 0; ${st(8)}`)} ${st(12)}`);
  assert.deepEqual(entry, ['0 before', '12 first', '4 first']);
  assert.deepEqual(inner, ['12 next', '4 next', '8 same']);
});

test('a loop with a barrier in some iterations: any iteration', () => {
  const [entry, inner] = intervalsOf(loop(`${st(4)} setp.eq.s32 %p2, %r8, %r1; @%p2 bra N; bar.sync 0; ${st(8)} N:`));
  assert.deepEqual(entry, ['4 free']);
  assert.deepEqual(inner, ['4 free', '8 same']);
});

test('a loop in a loop with a barrier: its earlier execution is ordered before', () => {
  const inner = `mov.u32 %r2, 0; I: setp.ge.s32 %p2, %r2, %r8; @%p2 bra Y; ${st(4)} add.s32 %r2, %r2, 1; bra I; Y:`;
  const [entry, round] = intervalsOf(loop(`${st(0)} ${inner} ${st(8)} bar.sync 0; ${st(12)}`));
  assert.deepEqual(entry, ['0 first before', '4 first free', '8 first left']);
  assert.deepEqual(round, ['0 next before', '12 same before', '4 next free', '8 next left']);
});

test('a barrier in the inner loop: paths without it reach any iteration of the outer loop', () => {
  const inner = `mov.u32 %r2, 0; I: setp.ge.s32 %p2, %r2, %r8; @%p2 bra Y; ${st(4)} bar.sync 0; add.s32 %r2, %r2, 1; bra I; Y:`;
  const [, round] = intervalsOf(loop(`${inner} ${st(8)}`));
  assert.ok(round!.includes('4 same next'));
  assert.ok(round!.includes('8 same next'));
  assert.ok(round!.includes('4 free first'));
  assert.ok(round!.includes('8 free first'));
});

test('a loop whose first iteration always executes cannot be skipped', () => {
  const inner = `mov.u32 %r2, 0; I: setp.ge.s32 %p2, %r2, 4; @%p2 bra Y; ${st(4)} bar.sync 0; add.s32 %r2, %r2, 1; bra I; Y:`;
  const [entry, round] = intervalsOf(loop(`${inner} ${st(8)}`));
  assert.ok(!entry!.some((access) => access.startsWith('8 ')), 'no access after the inner loop without its barrier');
  // The barrier separates iterations of the outer loop too: at most the next one.
  assert.ok(
    round!.every((access) => !access.includes('free')),
    round!.join(),
  );
});

test('the branch conditions of a path are recorded', () => {
  const { kernel, symbolic, accesses, loaded } = contextOf(
    `mov.u32 %r1, 0; L: ${st(4)} bar.sync 0; ${st(8)} add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r9; @%p1 bra L; ${st(12)}`,
  );
  const uniformity = inferUniformity(kernel, controlDependence(kernel), loaded, new Set());
  const { intervals } = barrierIntervals(symbolic, accesses, uniformity);
  const paths = intervals[1]!.occurrences.map(({ access, path }) => [
    Number(access.instruction.offset),
    path.map(({ term, rounds }) => `${term.operator} ${rounds.join()}`),
  ]);
  assert.deepEqual(paths, [
    [8, []],
    [12, ['not same']],
    [4, ['slt same']],
  ]);
});

test('barriers of all threads of a block, and of a whole warp', () => {
  const barriers = (text: string, declarations = ''): boolean[] => {
    const { blocks } = kernelOf(text, declarations);
    return blocks
      .flatMap(({ instructions }) => instructions)
      .filter(({ operation: { effect } }) => /barrier/.test(effect.kind))
      .flatMap((instruction) => [isFullBarrier(instruction), isWarpBarrier(instruction), isGridBarrier(instruction)]);
  };
  const block = [true, false, false];
  const warp = [false, true, false];
  const none = [false, false, false];
  const cases: [string, boolean[]][] = [
    ['bar.sync 0;', block],
    ['barrier.sync.aligned 0;', block],
    ['bar.red.popc.u32 %r1, 0, %p1; st.u32 [%d1], %r1;', block],
    ['bar.red.popc.u32 %r1, 0, 64, %p1; st.u32 [%d1], %r1;', none],
    ['bar.red.popc.u32 %r1, 1, %p1; st.u32 [%d1], %r1;', none],
    ['bar.sync 1;', none],
    ['bar.sync 0, 64;', none],
    ['bar.sync %r9;', none],
    ['bar.arrive 0, 64;', none],
    ['bar.warp.sync -1;', warp],
    ['bar.warp.sync 0xffffffff;', warp],
    ['bar.warp.sync 0x7fffffff;', none],
    ['bar.warp.sync %r9;', none],
  ];
  for (const [text, expected] of cases) assert.deepEqual(barriers(text), expected, text);
  const name = '_ZNK18cooperative_groups10grid_group4syncEv';
  const sync = `{ .param .b64 g; st.param.b64 [g], %d1; call.uni ${name}, (g); }`;
  assert.deepEqual(barriers(sync, `.extern .func ${name} (.param .b64 g);`), [true, false, true]);
});
