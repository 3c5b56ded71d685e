/** Which accesses can come before which: paths, separators, guards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasBit } from '../../../src/base/bit-set.ts';
import { earlierAccesses, type OrderedBlock, type OrderedStep } from '../../../src/sass/translation/ordering.ts';

const access = (number: number, more: Partial<OrderedStep> = {}): OrderedStep => ({ access: number, separates: false, ...more });
const barrier: OrderedStep = { separates: true };
const block = (steps: readonly OrderedStep[], predecessors: readonly number[] = [], more: Partial<OrderedBlock> = {}): OrderedBlock => ({
  steps,
  predecessors,
  ...more,
});
/** Pairs `earlier before later`. */
function pairs(blocks: readonly OrderedBlock[], count: number, stops = true): string[] {
  const relation = earlierAccesses(blocks, count, stops)!;
  const numbers = Array.from({ length: count }, (_, number) => number);
  return numbers.flatMap((later) => numbers.filter((earlier) => hasBit(relation[later]!, earlier)).map((earlier) => `${earlier}<${later}`));
}
const yes = { register: 0, negated: false };
const no = { register: 0, negated: true };

test('accesses of a block are in their order, up to a separator', () => {
  const rows: readonly (readonly [string, readonly OrderedStep[], readonly string[], readonly string[]])[] = [
    ['two', [access(0), access(1)], ['0<1'], ['0<1']],
    ['a barrier between them', [access(0), barrier, access(1)], [], ['0<1']],
    ['a barrier after them', [access(0), access(1), barrier], ['0<1'], ['0<1']],
    ['an access that separates', [access(0), access(1, { separates: true }), access(2)], ['1<2'], ['0<1', '0<2', '1<2']],
    ['the same twice', [access(0), access(0)], ['0<0'], ['0<0']],
    ['guards of one predicate', [access(0, { guard: yes }), access(1, { guard: yes })], ['0<1'], ['0<1']],
    ['opposite guards', [access(0, { guard: yes }), access(1, { guard: no })], [], []],
    [
      'opposite guards of two predicates',
      [access(0, { guard: yes }), access(1, { guard: { register: 1, negated: true } })],
      ['0<1'],
      ['0<1'],
    ],
    ['one guard', [access(0, { guard: yes }), access(1)], ['0<1'], ['0<1']],
    [
      'a predicate written between them',
      [access(0, { guard: yes }), { separates: false, writes: [0] }, access(1, { guard: no })],
      ['0<1'],
      ['0<1'],
    ],
    ['another predicate written', [access(0, { guard: yes }), { separates: false, writes: [1] }, access(1, { guard: no })], [], []],
    ['the access itself writes it', [access(0, { guard: yes, writes: [0, 3] }), access(1, { guard: no })], ['0<1'], ['0<1']],
  ];
  for (const [what, steps, separated, all] of rows)
    assert.deepEqual(
      [
        pairs([block(steps)], 2 + Number(steps.some((one) => one.access === 2))),
        pairs([block(steps)], 2 + Number(steps.some((one) => one.access === 2)), false),
      ],
      [separated, all],
      what,
    );
});

test('accesses reach later blocks on paths without a separator', () => {
  const branch = { register: 0, negated: false, taken: 2 };
  const diamond = (
    start: readonly OrderedStep[],
    left: readonly OrderedStep[],
    right: readonly OrderedStep[],
    more = {},
  ): OrderedBlock[] => [block(start, [], more), block(left, [0]), block(right, [0]), block([access(3)], [1, 2])];
  assert.deepEqual(pairs(diamond([access(0)], [access(1)], [access(2)]), 4), ['0<1', '0<2', '0<3', '1<3', '2<3']);
  assert.deepEqual(pairs(diamond([access(0)], [barrier], [access(2)]), 4), ['0<2', '0<3', '2<3']);
  assert.deepEqual(pairs(diamond([access(0)], [barrier], [barrier]), 4), []);
  assert.deepEqual(pairs(diamond([access(0)], [barrier], [barrier]), 4, false), ['0<3']);
  assert.deepEqual(pairs(diamond([access(0), barrier], [access(1)], [access(2)]), 4), ['1<3', '2<3']);
  // Guarded accesses leave the block only on the edge that their guard agrees with.
  assert.deepEqual(pairs(diamond([access(0, { guard: yes })], [access(1)], [access(2)], { branch }), 4), ['0<2', '0<3', '1<3', '2<3']);
  assert.deepEqual(pairs(diamond([access(0, { guard: no })], [access(1)], [access(2)], { branch }), 4), ['0<1', '0<3', '1<3', '2<3']);
  const reversed = { branch: { ...branch, negated: true } };
  assert.deepEqual(pairs(diamond([access(0, { guard: yes })], [access(1)], [access(2)], reversed), 4), ['0<1', '0<3', '1<3', '2<3']);
  const other = { branch: { ...branch, register: 1 } };
  assert.deepEqual(pairs(diamond([access(0, { guard: yes })], [access(1)], [access(2)], other), 4), ['0<1', '0<2', '0<3', '1<3', '2<3']);
});

test('an access of a loop comes before itself and those before it', () => {
  const loop = (...steps: readonly OrderedStep[]): OrderedBlock[] => [block([access(0)]), block(steps, [0, 1]), block([access(3)], [1])];
  assert.deepEqual(pairs(loop(access(1), access(2)), 4), ['0<1', '1<1', '2<1', '0<2', '1<2', '2<2', '0<3', '1<3', '2<3']);
  assert.deepEqual(pairs(loop(access(1), barrier, access(2)), 4), ['0<1', '2<1', '2<3']);
});

test('sets may have any number of words; too many give no result', () => {
  const count = 70;
  const blocks = Array.from({ length: count }, (_, number) => block([access(number)], number > 0 ? [number - 1] : []));
  assert.equal(pairs(blocks, count).length, (count * (count - 1)) / 2);
  assert.equal(earlierAccesses([], 32 * 4096, true), null);
  assert.notEqual(earlierAccesses([], 2, true), null);
});
