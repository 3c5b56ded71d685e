import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { minimumHittingSets } from '../../src/repair/hitting-set.ts';

/** All sets of least weight, by trying every one. */
function tried(clauses: readonly (readonly number[])[], weights: readonly number[]): { sets: string[]; weight: number } {
  let weight = Infinity;
  let sets: string[] = [];
  for (let bits = 0; bits < 1 << weights.length; bits++) {
    if (!clauses.every((clause) => clause.some((element) => (bits >> element) & 1))) continue;
    const own = weights.flatMap((_, element) => ((bits >> element) & 1 ? [element] : []));
    const sum = own.reduce((total, element) => total + weights[element]!, 0);
    if (sum < weight) [weight, sets] = [sum, []];
    if (sum === weight) sets.push(own.join());
  }
  return { sets: sets.sort(), weight };
}

test('all sets of least weight are found, as by exhaustive search', () => {
  const random = seededRandom(5);
  for (let round = 0; round < 400; round++) {
    const weights = Array.from({ length: random.between(1, 9) }, () => random.between(1, 4));
    const clauses = Array.from({ length: random.between(0, 8) }, () =>
      Array.from({ length: random.between(1, 4) }, () => random.below(weights.length)),
    );
    const expected = tried(clauses, weights);
    const { sets, weight, exact } = minimumHittingSets(clauses, (element) => weights[element]!, 1000);
    assert.ok(exact);
    assert.equal(weight, expected.weight, JSON.stringify({ clauses, weights }));
    assert.deepEqual(sets.map((set) => set.join()).sort(), expected.sets, JSON.stringify({ clauses, weights }));
  }
});

test('a clause without elements cannot be satisfied', () => {
  assert.deepEqual(minimumHittingSets([[1], []], () => 1, 10).sets, []);
});

test('the empty set satisfies an empty list of clauses', () => {
  assert.deepEqual(
    minimumHittingSets([], () => 1, 10),
    { sets: [[]], weight: 0, exact: true },
  );
});

test('at most the given number of sets is returned', () => {
  assert.equal(minimumHittingSets([[0, 1, 2, 3, 4]], () => 1, 3).sets.length, 3);
});
