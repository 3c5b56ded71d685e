/** Effects that some path of the SASS lacks, stores that lost their guard, and guards of other stores. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mismatchedGuards } from '../../../src/sass/translation/guard-match.ts';
import { fewerCopies } from '../../../src/sass/translation/iteration-counts.ts';
import { skippedEffects } from '../../../src/sass/translation/skipped-effects.ts';
import { at, codeOf, firstLine, kernelOf, type Written } from './machine-code.ts';

const version = 80;
const exit = (guard = 7): Written => ({ code: 0x94d, guard });
const store = (line: number, guard = 7, type = 4): Written => ({
  code: 0x388,
  a: 6,
  b: 0,
  displacement: 0,
  line: at(line),
  guard,
  set: [[73, 3, type]],
});
const load = (line: number): Written => ({ code: 0x984, to: 21, a: 6, displacement: 0, line: at(line), set: [[73, 3, 4]] });
const barrier = (line: number, guard = 7): Written => ({ code: 0xb1d, line: at(line), guard });
const atomic = (line: number, guard = 7): Written => ({
  code: 0x98e,
  a: 2,
  b: 0,
  line: at(line),
  guard,
  set: [
    [72, 1, 1],
    [73, 3, 0],
  ],
});
const fence = (line: number): Written => ({
  code: 0x992,
  line: at(line),
  set: [
    [76, 3, 2],
    [79, 1, 1],
  ],
});
const branch = (target: number, guard = 7): Written => ({ code: 0x947, target, guard });
const compare = (predicate: number, line?: number): Written => ({
  code: 0x20c,
  a: 0,
  b: 9,
  set: [[81, 3, predicate]],
  ...(line !== undefined && { line: at(line) }),
});
const other: Written = { code: 0x210, to: 40, a: 0, b: 9 };

/** Skipped effects, then stores without their guard; lines of bodies are counted from 0. */
function effects(ptx: readonly string[], ...code: readonly Written[]): readonly [readonly number[], readonly number[]] {
  const { flow, lineOf } = codeOf(version, code);
  const { skipped, always } = skippedEffects(kernelOf(ptx), flow, lineOf, ({ opcode }) => opcode?.kind === 'barrier');
  return [skipped.map((line) => line - firstLine), always.map((line) => line - firstLine)];
}

const straight = [
  'st.shared.u32 [s], %r0;',
  'bar.sync 0;',
  'st.shared.u32 [s+4], %r9;',
  'ld.shared.u32 %r1, [s+8]; st.global.u32 [%d1], %r1;',
];
const last = (guard = 7): Written => ({
  ...store(3, guard),
  code: 0x986,
  a: 2,
  b: 21,
  set: [
    [72, 1, 1],
    [73, 3, 4],
  ],
});

test('all paths of the code between two barriers have the effects of all paths of the PTX', () => {
  const rows: readonly (readonly [string, readonly Written[], readonly number[]])[] = [
    ['all', [store(0), barrier(1), store(2), load(3), last(), exit()], []],
    ['a path around a store', [branch(2, 0), store(0), barrier(1), store(2), last(), exit()], [0]],
    [
      'a path around a store that the branch of the same predicate repeats',
      [branch(4, 0), store(0), barrier(1), branch(6), store(0), barrier(1), store(2), last(), exit()],
      [],
    ],
    ['a path around the second one', [store(0), barrier(1), branch(4, 0), store(2), last(), exit()], [2]],
    ['an early end', [store(0), exit(0), barrier(1), store(2), last(), exit()], []],
    ['an early end after the barrier', [store(0), barrier(1), exit(0), store(2), last(), exit()], [2, 3]],
    ['an early end in the second interval', [store(0), barrier(1), store(2), exit(0), last(), exit()], [3]],
    ['a guarded store', [store(0, 0), barrier(1), store(2), last(), exit()], [0]],
    ['two with opposite guards', [store(0, 0), store(0, 8), barrier(1), store(2), last(), exit()], []],
    ['one with the guard of the barrier', [store(0, 0), barrier(1, 0), store(2), last(), exit()], []],
    ['a store in the other interval', [barrier(1), store(0), store(2), last(), exit()], [0]],
    ['a trap', [branch(3, 0), { code: 0x95c }, exit(), store(0), barrier(1), store(2), last(), exit()], []],
    ['a path without an end', [store(0), barrier(1), branch(5, 0), other, branch(3), store(2), last(), exit()], []],
    ['no code at all of it', [barrier(1), store(2), last(), exit()], []],
  ];
  for (const [what, code, expected] of rows) assert.deepEqual(effects(straight, ...code)[0], expected, what);
});

test('a guard that is known to hold determines no path', () => {
  const rows: readonly (readonly [string, readonly Written[], readonly number[]])[] = [
    ['after a branch on its opposite', [branch(6, 8), store(0, 0), barrier(1), store(2), last(), exit(), exit()], []],
    [
      'the predicate is written before the store',
      [branch(7, 8), compare(0), store(0, 0), barrier(1), store(2), last(), exit(), exit()],
      [0],
    ],
    [
      'another predicate is written before the store',
      [branch(7, 8), compare(1), store(0, 0), barrier(1), store(2), last(), exit(), exit()],
      [],
    ],
    ['after a branch on itself', [branch(6, 0), store(0, 0), barrier(1), store(2), last(), exit(), exit()], [0]],
    ['after an exit on its opposite', [exit(8), store(0, 0), barrier(1), store(2), last(), exit()], []],
    ['after an exit on itself', [exit(0), store(0, 0), barrier(1), store(2), last(), exit()], [0]],
    ['at the target of the branch', [branch(2, 0), exit(), store(0, 0), barrier(1), store(2), last(), exit()], []],
    ['after a join', [branch(2, 8), other, store(0, 0), barrier(1), store(2), last(), exit()], [0]],
  ];
  // Paths that end without an effect are those of the first interval.
  const optional = ['setp.gt.u32 %p1, %r0, 7; @%p1 ret;', ...straight];
  for (const [what, code, expected] of rows) {
    const moved = code.map((one) => (one.line === undefined ? one : { ...one, line: one.line + 1 }));
    assert.deepEqual(
      effects(optional, ...moved)[0].map((line) => line - 1),
      expected,
      what,
    );
  }
});

test('atomics and fences are effects as well; one lane may execute an atomic for all', () => {
  const body = (ptx: string) => [ptx, 'bar.sync 0;', 'st.shared.u32 [s], %r0;'];
  const rest = [barrier(1), store(2), exit()];
  const red = 'red.global.add.u32 [%d1], %r0;';
  assert.deepEqual(effects(body(red), atomic(0), ...rest)[0], []);
  assert.deepEqual(effects(body(red), atomic(0, 0), ...rest)[0], []);
  assert.deepEqual(effects(body(red), branch(2, 0), atomic(0), ...rest)[0], [0]);
  assert.deepEqual(effects(body('fence.acq_rel.gpu;'), fence(0), ...rest)[0], []);
  assert.deepEqual(effects(body('fence.acq_rel.gpu;'), branch(2, 0), fence(0), ...rest)[0], [0]);
  assert.deepEqual(
    effects(body('ld.global.u32 %r1, [%d1]; st.shared.u32 [s+4], %r1;'), branch(2, 0), { ...store(0), code: 0x387 }, ...rest)[0],
    [],
    'a spill is not the store',
  );
});

test('a store that all paths of the code have, but not all of the PTX, lost its guard', () => {
  const guarded = [
    'setp.gt.u32 %p1, %r0, 7;',
    '@%p1 bra NEXT;',
    'st.shared.u32 [s], %r9;',
    'NEXT: bar.sync 0;',
    'ld.shared.u32 %r1, [s+8]; st.global.u32 [%d1], %r1;',
  ];
  const after = [barrier(3), load(4), { ...last(), line: at(4) }, exit()];
  assert.deepEqual(effects(guarded, compare(0, 0), store(2), ...after)[1], [2]);
  assert.deepEqual(effects(guarded, compare(0, 0), store(2, 8), ...after)[1], []);
  assert.deepEqual(effects(guarded, compare(0, 0), branch(3, 0), store(2), ...after)[1], []);
  const loop = [
    'mov.u32 %r2, 0;',
    'L: st.shared.u32 [s], %r2;',
    'add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r9;',
    '@%p1 bra L;',
    'bar.sync 0;',
  ];
  assert.deepEqual(effects(loop, store(1), barrier(4), exit()), [[], []]);
});

test('a loop without iterations has no effects', () => {
  const loop = [
    'st.shared.u32 [s+4], %r0;',
    'L: st.shared.u32 [s], %r9;',
    'add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 7;',
    '@%p1 bra L;',
    'bar.sync 0;',
    'st.shared.u32 [s+8], %r0;',
  ];
  // The unrolled loop and the remainder may both be skipped.
  const code = [store(0), branch(4, 0), store(1), branch(2, 1), branch(7, 2), store(1), branch(5, 3), barrier(4), store(5), exit()];
  assert.deepEqual(effects(loop, ...code), [[], []]);
  assert.deepEqual(
    effects(loop, branch(2, 0), ...code.map((one) => (one.target === undefined ? one : { ...one, target: one.target + 1 })))[0],
    [0],
  );
});

test('unknown code, and functions that do not return, end the check of paths', () => {
  const skipping = [branch(2, 0), store(0), barrier(1), store(2), last(), exit()];
  assert.deepEqual(effects(straight, ...skipping)[0], [0]);
  assert.deepEqual(effects(straight, ...skipping, { code: 0xfff }), [[], []]);
  const trapping = [...straight, 'setp.gt.u32 %p1, %r0, 700; @%p1 trap;'];
  assert.deepEqual(effects(trapping, ...skipping)[0], [0]);
  assert.deepEqual(effects(trapping, ...skipping, { code: 0x343 }), [[], []]);
});

/** PTX lines of stores with fewer copies. */
function copies(ptx: readonly string[], ...code: readonly Written[]): readonly number[] {
  const { flow, lineOf } = codeOf(version, [...code, exit()]);
  return fewerCopies(kernelOf(ptx), flow, version, lineOf).map((line) => line - firstLine);
}

test('the stores of a block have equal numbers of copies on each path', () => {
  const body = ['st.shared.u32 [s], %r0;', 'st.shared.u32 [s+4], %r0;', 'ld.volatile.shared.u32 %r1, [s+8];'];
  const rows: readonly (readonly [string, readonly Written[], readonly number[]])[] = [
    ['one each', [store(0), store(1), load(2)], []],
    ['two each', [store(0), store(1), store(0), store(1)], []],
    ['one of two is lost', [store(0), store(1), store(0)], [1]],
    ['one of two is lost, the other', [store(1), store(0), store(1)], [0]],
    ['two on different paths', [branch(3, 0), store(0), branch(4), store(0), store(1)], []],
    ['two on one path', [branch(2, 0), store(0), store(0), store(1)], [1]],
    ['a load has fewer copies', [store(0), store(1), store(0), store(1), load(2)], []],
    ['a load has more copies', [store(0), store(1), load(2), load(2)], [0, 1]],
    ['guarded', [store(0), store(0), store(1, 0)], []],
    ['split', [store(0), store(0), store(1, 7, 2)], []],
    ['of another kind', [store(0), store(0), { ...load(1) }], []],
    ['spilled', [store(0), store(0), store(1), { ...store(1), code: 0x387 }], [1]],
    ['one before an exit', [branch(4, 0), store(0), store(1), exit(), store(0), exit()], [1]],
    ['without code', [store(0), store(0)], []],
    ['balanced in a loop', [store(0), store(1), branch(0, 0), store(0), store(1)], []],
    ['lost in a loop', [store(0), branch(0, 0), store(0), store(1)], [1]],
  ];
  for (const [what, code, expected] of rows) assert.deepEqual(copies(body, ...code), expected, what);
  assert.deepEqual(
    copies(['st.shared.u32 [s], %r0; st.shared.u32 [s+8], %r0;', body[1]!], store(0), store(0), store(1)),
    [],
    'two stores on a line',
  );
});

/** PTX lines of stores with the guard of another store. */
function guards(ptx: readonly string[], ...code: readonly Written[]): readonly number[] {
  const { flow, lineOf } = codeOf(version, [...code, exit()]);
  return mismatchedGuards(kernelOf(ptx), flow, lineOf).map(({ ptxLine }) => ptxLine - firstLine);
}

test('the guard of a store is computed on the lines of its conditions', () => {
  const body = [
    'setp.gt.u32 %p1, %r0, 7;',
    'setp.lt.u32 %p2, %r9, 9;',
    '@%p1 bra A;',
    'st.shared.u32 [s], %r0;',
    'A: @%p2 bra B;',
    'st.shared.u32 [s+4], %r0;',
    'B: st.shared.u32 [s+8], %r0;',
  ];
  const [one, two] = [compare(0, 0), compare(1, 1)];
  const rows: readonly (readonly [string, readonly Written[], readonly number[]])[] = [
    ['their own', [one, two, store(3, 8), store(5, 9)], []],
    ['exchanged', [one, two, store(3, 9), store(5, 8)], [3, 5]],
    ['one of them', [one, two, store(3, 8), store(5, 8)], [5]],
    ['no guard', [one, two, store(3), store(5)], []],
    ['never', [one, two, store(3, 15)], []],
    ['a predicate that no instruction writes', [one, two, store(3, 10)], [3]],
    ['of a line without a comparison', [one, two, compare(2, 6), store(3, 10)], []],
    ['of no line', [one, two, compare(2), store(3, 10)], []],
    ['its comparison has no code', [compare(0, 1), store(3, 8)], []],
    ['a later definition', [one, two, compare(0, 1), store(3, 8)], [3]],
    ['a guarded later definition', [one, two, { ...compare(0, 1), guard: 3 }, store(3, 8)], []],
    ['from another block', [one, two, branch(3, 2), store(3, 9)], [3]],
    ['on one of two paths', [one, two, branch(4, 2), compare(1, 0), store(3, 9)], []],
    ['unknown code may write it', [one, two, { code: 0xfff }, store(3, 9)], []],
    ['a spill', [one, two, { ...store(3, 9), code: 0x387 }], []],
    ['a load', [one, two, { ...load(3), guard: 9 }], []],
  ];
  for (const [what, code, expected] of rows) assert.deepEqual(guards(body, ...code), expected, what);
  // Predicates that are kept in registers: the comparison with zero restores one.
  const zero: Written = { ...compare(1, 1), b: 255 };
  const keeping = { code: 0x803, to: 30 };
  assert.deepEqual(guards(body, one, compare(2, 1), zero, store(3, 9)), [3]);
  assert.deepEqual(guards(body, one, compare(2, 1), keeping, zero, store(3, 9)), []);
  assert.deepEqual(guards(body, one, compare(2, 1), keeping, compare(1, 1), store(3, 9)), [3]);
  assert.deepEqual(guards(body, one, compare(2, 1), { code: 0x207, to: 30, a: 255, b: 4 }, zero, store(3, 9)), []);
  assert.deepEqual(guards(body, one, compare(2, 1), { code: 0x207, to: 30, a: 3, b: 4 }, zero, store(3, 9)), [3]);
  assert.deepEqual(guards(body, one, compare(2, 1), { ...load(0), code: 0x983 }, zero, store(3, 9)), []);
  // A constant guard that excludes the store.
  const constant = (value: number): Written => ({
    code: 0x81c,
    line: at(0),
    set: [
      [87, 4, 7],
      [77, 4, 7],
      [68, 4, 7],
      [84, 3, 7],
      [81, 3, 0],
      [76, 1, value],
    ],
  });
  assert.deepEqual(guards(body, constant(0), store(3, 0)), [3]);
  assert.deepEqual(guards(body, constant(1), store(3, 0)), []);
  assert.deepEqual(guards(body, constant(1), store(3, 8)), [3]);
  assert.deepEqual(guards(body, constant(0), store(3, 8)), []);
  assert.deepEqual(guards(body, { ...constant(0), set: [...constant(0).set!, [68, 4, 3]] }, store(3, 0)), []);
});

test('the conditions of a block are those of all blocks that decide it, and of the values that they compare', () => {
  const nested = [
    'setp.gt.u32 %p1, %r0, 7;',
    '@%p1 bra END;',
    'setp.lt.u32 %p2, %r9, 9;',
    '@%p2 bra END;',
    'st.shared.u32 [s], %r0;',
    'END: setp.eq.u32 %p3, %r0, %r9;',
    '@%p3 bra LAST;',
    'st.shared.u32 [s+4], %r0;',
    'LAST: ret;',
  ];
  const all = [compare(0, 0), compare(1, 2), compare(2, 5)];
  const of = (line: number, guard: number) => guards(nested, ...all, store(line, guard));
  assert.deepEqual([of(4, 8), of(4, 9), of(4, 10)], [[], [], [4]]);
  assert.deepEqual([of(7, 10), of(7, 8), of(7, 9)], [[], [7], [7]]);
  const selected = [
    'setp.gt.u32 %p1, %r0, 7; setp.ne.u32 %p4, %r0, 100;',
    'setp.lt.u32 %p2, %r9, 9;',
    'selp.b32 %r1, %r0, %r9, %p1; setp.gt.u32 %p3, %r1, 3;',
    '@%p3 bra END;',
    'st.shared.u32 [s], %r0;',
    'END: @%p2 bra LAST;',
    'st.shared.u32 [s+4], %r0;',
    'LAST: @%p4 bra X;',
    'st.shared.u32 [s+8], %r0;',
    'X: ret;',
  ];
  const some = [compare(0, 0), compare(1, 1), compare(2, 2)];
  const from = (line: number, guard: number) => guards(selected, ...some, store(line, guard));
  assert.deepEqual([from(4, 8), from(4, 9), from(4, 10)], [[], [4], []]);
  assert.deepEqual([from(6, 8), from(6, 9), from(6, 10)], [[6], [], [6]]);
  const joined = [
    'setp.gt.u32 %p1, %r0, 7;',
    'mov.u32 %r1, 1;',
    '@%p1 bra J;',
    'mov.u32 %r1, %r9;',
    'J: setp.lt.u32 %p2, %r1, 9;',
    '@%p2 bra END;',
    'st.shared.u32 [s], %r0;',
    'END: setp.eq.u32 %p3, %r0, %r9;',
    '@%p3 bra LAST;',
    'st.shared.u32 [s+4], %r0;',
    'LAST: ret;',
  ];
  const made = [compare(0, 0), compare(1, 4), compare(2, 7)];
  assert.deepEqual(
    [8, 9, 10].map((guard) => guards(joined, ...made, store(6, guard))),
    [[], [], [6]],
  );
});
