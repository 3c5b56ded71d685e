/** The form of bounds by potentials. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import type { KernelBounds } from '../../src/cost/kernel-cost.ts';
import { boundsOf, kernelsOf } from './counted-kernel.ts';

const kernels = kernelsOf('test/cost/amortised.cu', 'verification');
const dimensions = { block: [64, 1, 1], grid: [1, 1, 1] } as const;

function bounds(name: string, parameters: readonly (string | null)[]): KernelBounds {
  return boundsOf(kernels.get(name)!, parameters, dimensions);
}

const expected: readonly (readonly [string, readonly (string | null)[], string])[] = [
  ['advancing', [null, null, 'n', 'm'], '2*n + 2*m + 4'],
  ['advancingApart', [null, null, 'n', 'm'], '64*n + 2048*m + 8'],
  ['merge', [null, null, null, 'n', 'm'], '4*m + 4*n + 4'],
  ['twoEnds', [null, null, 'n'], '64*max(0, n - 1) + 4'],
  ['queue', [null, null, 'capacity'], 'max(1, capacity) + 4'],
  ['uneven', [null, null, 'n'], '2*n + 4'],
  ['threeLevels', [null, null, 'n', 'm'], 'n*n + n + 2*m + 4'],
  ['steppingBack', [null, null, 'n', 'm'], '6*n + 2*m + 4'],
  // A position that restarts is not shared: each visit pays separately.
  ['startingOver', [null, null, 'n', 'm'], '2*m*n + 4'],
  ['search', [null, null, null, 'n'], '32*ceil(log2(n + 1)) + 8'],
];

test('loops with amortised trip counts', () => {
  const found = expected.map(([name, parameters]) => {
    const { bound, reason } = bounds(name, parameters).sectors;
    return [name, parameters, bound ? expressionText(bound) : reason];
  });
  assert.deepEqual(found, expected);
});

test('no bound that depends on an amortised trip count is marked as exact', () => {
  for (const [name, parameters] of expected) assert.equal(bounds(name, parameters).sectors.exact, false, name);
});

test('a loop whose trip count is read from memory has no bound without a statement about the elements', () => {
  const { bound, reason } = bounds('rows', [null, null, null, 'n']).sectors;
  assert.equal(bound, null);
  assert.match(reason!, /amortised\.cu:\d+: the trip count of this loop is not known/);
});
