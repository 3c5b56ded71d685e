/** Reaching definitions of registers: blocks, guards, calls, spills. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromOutside, RegisterFlow } from '../../../src/sass/translation/registers.ts';
import { firstSlot, spillAccesses } from '../../../src/sass/translation/spills.ts';
import { codeOf, exit, kernelOf, type Written } from './machine-code.ts';

const set = (to: number, guard?: number): Written => ({
  code: 0x802,
  to,
  immediate: 0,
  set: [[80, 1, 0]],
  ...(guard !== undefined && { guard }),
});
const use: Written = { code: 0x202, to: 20, b: 5, set: [[80, 1, 0]] };
/** Writes a predicate. */
const compare = (predicate: number): Written => ({ code: 0x20c, a: 1, b: 2, set: [[81, 3, predicate]] });
const branch = (target: number, guard = 0): Written => ({ code: 0x947, target, guard });

/** Definitions of R5 at the copy of R5. */
function definitions(...code: readonly Written[]): readonly number[] | null {
  const { registers } = codeOf(80, [...code, exit]);
  const found = registers.definitionsOf(code.indexOf(use), 5);
  return found && [...found].sort((a, b) => a - b);
}

test('the last unguarded definition of a block is the only one', () => {
  const rows: readonly (readonly [string, readonly Written[], readonly number[]])[] = [
    ['none', [set(4), use], [fromOutside]],
    ['one', [set(5), use], [0]],
    ['a later one', [set(5), set(5), use], [1]],
    ['one after the use', [set(5), use, set(5)], [0]],
    ['a guarded one', [set(5), set(5, 0), use], [0, 1]],
    ['only a guarded one', [set(5, 0), use], [fromOutside, 0]],
    ['two with opposite guards', [set(5), set(5, 0), set(5, 8), use], [1, 2]],
    ['two with one guard', [set(5), set(5, 0), set(5, 0), use], [0, 1, 2]],
    ['opposite guards of two predicates', [set(5), set(5, 0), set(5, 9), use], [0, 1, 2]],
    ['the predicate is written between them', [set(5), set(5, 0), compare(0), set(5, 8), use], [0, 1, 3]],
    ['another predicate is written', [set(5), set(5, 0), compare(1), set(5, 8), use], [1, 3]],
    ['an unknown instruction may write it', [set(5), { code: 0xfff, to: 4 }, use], [0, 1]],
    ['an unknown instruction of another register', [set(5), { code: 0xfff, to: 6 }, use], [0]],
    [
      'a wide load writes it',
      [
        set(5),
        {
          code: 0x981,
          to: 4,
          a: 2,
          set: [
            [73, 3, 5],
            [72, 1, 1],
          ],
        },
        use,
      ],
      [1],
    ],
    ['a store does not', [set(5), { code: 0x388, to: 5, a: 2, b: 3, set: [[73, 3, 4]] }, use], [0]],
  ];
  for (const [what, code, expected] of rows) assert.deepEqual(definitions(...code), expected, what);
  // A use with the guard of a definition is executed only together with it.
  const guarded = { ...use, guard: 0 };
  const of = (...code: readonly Written[]) => codeOf(80, [...code, guarded, exit]).registers.definitionsOf(code.length, 5);
  assert.deepEqual(of(set(5), set(5, 0)), [1]);
  assert.deepEqual(of(set(5), set(5, 8)), [1, 0]);
  assert.deepEqual(of(set(5), set(5, 1)), [1, 0]);
});

test('definitions of all predecessors reach a block', () => {
  const rows: readonly (readonly [string, readonly Written[], readonly number[]])[] = [
    ['one of two paths', [set(5), branch(3), set(5), use], [0, 2]],
    ['both paths', [set(5), branch(4), set(5), branch(5, 7), set(5), use], [2, 4]],
    ['a guarded one of a predecessor', [set(5), set(5, 1), branch(4), set(4), use], [0, 1]],
    ['opposite guards in a predecessor', [set(5), set(5, 1), set(5, 9), branch(5), set(4), use], [1, 2]],
    ['guards of different predicates in a predecessor', [set(5), set(5, 1), set(5, 10), branch(5), set(4), use], [0, 1, 2]],
    ['a loop', [set(5), use, set(5), branch(1)], [0, 2]],
    ['a loop without an entry value', [set(4), use, set(5), branch(1)], [fromOutside, 2]],
    ['a loop that begins with the function', [use, set(5), branch(0)], [fromOutside, 1]],
    ['through a block without a definition', [set(5), branch(3), set(4), set(6), use], [0]],
  ];
  for (const [what, code, expected] of rows) assert.deepEqual(definitions(...code), expected, what);
  // More than 64 definitions are too many.
  const many = (count: number) => definitions(...Array.from({ length: count }, () => set(5, 1)), branch(count + 2), set(4), use);
  assert.equal(many(64)?.length, 65);
  assert.equal(many(65), null);
});

test('a call may write any register, unless its body is known', () => {
  const call: Written = { code: 0x944, target: 0 };
  const code = [set(5), call, use, branch(5), set(4), { ...use, to: 21 }, exit];
  const { flow } = codeOf(80, code);
  const of = (written: ReadonlySet<number> | null, at: number, register = 5) =>
    [...new RegisterFlow(flow, 80, new Map(), () => written).definitionsOf(at, register)!].sort((a, b) => a - b);
  assert.deepEqual(
    [of(null, 2), of(null, 5)],
    [
      [0, 1],
      [0, 1],
    ],
  );
  assert.deepEqual(
    [of(new Set([5]), 2), of(new Set([5]), 5)],
    [
      [0, 1],
      [0, 1],
    ],
  );
  assert.deepEqual([of(new Set([6]), 2), of(new Set([6]), 5)], [[0], [0]]);
  assert.deepEqual(of(null, 2, firstSlot), [fromOutside], 'slots of the frame are not written');
  assert.deepEqual(of(null, 5, 7), [fromOutside, 1], 'a call before a block without a definition');
});

const stack = 1;
const spill = (slot: number, register: number, guard?: number): Written => ({
  code: 0x387,
  a: stack,
  b: register,
  displacement: 4 * slot,
  set: [[73, 3, 4]],
  ...(guard !== undefined && { guard }),
});
const reload = (slot: number, to: number, type = 4): Written => ({
  code: 0x983,
  a: stack,
  to,
  displacement: 4 * slot,
  set: [[73, 3, type]],
});

function spilled(...code: readonly Written[]) {
  const { flow } = codeOf(80, [...code, exit]);
  const spills = spillAccesses(kernelOf([]), flow.instructions, 80);
  return spills && { registers: new RegisterFlow(flow, 80, spills), spills, flow };
}

test('a slot of the frame is a register', () => {
  const { registers, spills } = spilled(set(5), set(6), spill(2, 5), spill(3, 6), reload(2, 8, 5), use)!;
  assert.deepEqual(
    [...spills.values()].map(({ isLoad, slots, register }) => [isLoad, slots, register]),
    [
      [false, [firstSlot + 2], 5],
      [false, [firstSlot + 3], 6],
      [true, [firstSlot + 2, firstSlot + 3], 8],
    ],
  );
  assert.deepEqual([registers.sourcesOf(4, 8), registers.sourcesOf(4, 9)], [[firstSlot + 2], [firstSlot + 3]]);
  assert.deepEqual([registers.sourcesOf(2, firstSlot + 2), registers.sourcesOf(2, firstSlot + 3)], [[5], []]);
  assert.deepEqual([registers.definitionsOf(4, firstSlot + 2), registers.definitionsOf(4, firstSlot + 3)], [[2], [3]]);
  assert.deepEqual(
    [0, 2, 4, 5].map((index) => registers.isSpill(index)),
    [false, true, true, false],
  );
  assert.deepEqual(registers.sourcesOf(5, 20), [5]);
  // The zero register is read by no instruction.
  const zero = spilled(spill(0, 255), reload(0, 4))!;
  assert.deepEqual(zero.registers.sourcesOf(0, firstSlot), []);
});

test('a frame is followed only if each slot has one address', () => {
  const isFollowed = (...code: readonly Written[]): boolean => spilled(...code) !== null;
  const moved: Written = { code: 0x810, to: stack, a: stack, immediate: -16 };
  assert.ok(isFollowed(spill(0, 5), reload(0, 5)));
  assert.ok(isFollowed(moved, moved, spill(0, 5)));
  assert.ok(!isFollowed(moved, moved, moved, spill(0, 5)));
  assert.ok(!isFollowed({ ...spill(0, 5), a: 2 }));
  assert.ok(
    !isFollowed({
      ...spill(0, 5),
      set: [
        [73, 3, 4],
        [91, 1, 1],
      ],
    }),
  );
  assert.ok(!isFollowed({ ...spill(0, 5), set: [[73, 3, 2]] }));
  assert.ok(!isFollowed({ ...spill(0, 5), displacement: 2 }));
  assert.ok(isFollowed(spill(2047, 5)));
  assert.ok(!isFollowed(spill(2048, 5)));
  assert.ok(!isFollowed({ code: 0xfff }, spill(0, 5)));
  assert.ok(!isFollowed({ code: 0x343 }, spill(0, 5)));
  assert.equal(spilled(set(5))?.spills.size, 0);
  const { flow } = codeOf(80, [spill(0, 5), exit]);
  for (const [body, expected] of [
    ['ld.u32 %r1, [%d1];', true],
    ['st.local.u32 [%d1], %r9;', true],
    ['ld.global.u32 %r1, [%d1];', false],
  ] as const)
    assert.equal(spillAccesses(kernelOf([body]), flow.instructions, 80) === null, expected, body);
});

test('a load of a slot that no path, or not every path, stored is found', () => {
  const lost = (isDefined: boolean, ...code: readonly Written[]): number[] =>
    spilled(...code)!
      .registers.unstored(isDefined)
      .map(({ address }) => address / 16);
  const rows: readonly (readonly [string, readonly Written[], readonly number[], readonly number[]])[] = [
    ['stored', [spill(0, 5), reload(0, 6)], [], []],
    ['never stored', [spill(1, 5), reload(0, 6)], [1], [1]],
    ['stored later', [reload(0, 6), spill(0, 5)], [0], []],
    ['stored on one path', [branch(2), spill(0, 5), reload(0, 6)], [2], []],
    ['stored on both', [branch(3), spill(0, 5), branch(4, 7), spill(0, 5), reload(0, 6)], [], []],
    ['a guarded store', [spill(0, 5, 0), reload(0, 6)], [], []],
    ['half of a wide load', [spill(0, 5), reload(0, 6, 5)], [1], []],
    ['stored in an earlier iteration', [set(4), reload(0, 6), spill(0, 5), branch(1)], [1], []],
    ['a loop after the store', [spill(0, 5), reload(0, 6), branch(1)], [], []],
  ];
  for (const [what, code, defined, undefinedValues] of rows)
    assert.deepEqual([lost(true, ...code), lost(false, ...code)], [defined, undefinedValues], what);
});
