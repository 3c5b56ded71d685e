import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { lightestHittingSet } from '../../src/repair/hitting-set.ts';

const isHit = (clauses: readonly (readonly number[])[], set: readonly number[]): boolean =>
  clauses.every((clause) => clause.some((element) => set.includes(element)));

/** The least weight of a hitting set, by trying every one. */
function leastWeight(clauses: readonly (readonly number[])[], weights: readonly number[]): number {
  let least = Infinity;
  for (let bits = 0; bits < 1 << weights.length; bits++) {
    const set = weights.flatMap((_, element) => ((bits >> element) & 1 ? [element] : []));
    if (isHit(clauses, set)) least = Math.min(least, weightOf(set, weights));
  }
  return least;
}

function weightOf(set: readonly number[], weights: readonly number[]): number {
  return set.reduce((total, element) => total + weights[element]!, 0);
}

test('a lightest set is found, as by exhaustive search', () => {
  const random = seededRandom(5);
  for (let round = 0; round < 400; round++) {
    // As repairs weigh: a barrier, one in a loop, one of the grid, and how each reads; or of nearly equal weights.
    const base = random.pick([[1], [1000, 10_000, 12_000]]);
    const weights = Array.from({ length: random.between(1, 9) }, () => random.pick(base) + random.below(4));
    const clauses = Array.from({ length: random.between(0, 8) }, () =>
      Array.from({ length: random.between(1, 4) }, () => random.below(weights.length)),
    );
    const set = lightestHittingSet(clauses, (element) => weights[element]!);
    assert.ok(set && isHit(clauses, set), JSON.stringify({ clauses, weights }));
    assert.equal(weightOf(set, weights), leastWeight(clauses, weights), JSON.stringify({ clauses, weights }));
    assert.deepEqual(
      set,
      [...set].sort((a, b) => a - b),
    );
  }
});

test('a clause without elements cannot be satisfied', () => {
  assert.equal(
    lightestHittingSet([[1], []], () => 1),
    null,
  );
});

test('the empty set satisfies an empty list of clauses', () => {
  assert.deepEqual(
    lightestHittingSet([], () => 1),
    [],
  );
});
