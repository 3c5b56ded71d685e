/** The order of sizes: what is proved holds for all values that satisfy the facts and the lower bounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { plusProducts, timesProducts } from '../../../src/algebra/products.ts';
import { type Size, type SizeFactor, SizeOrder, constantSize } from '../../../src/check/premises/size-order.ts';
import { TermStore } from '../../../src/term/term.ts';
import { sweep } from '../../run/sweep.ts';

const store = new TermStore();

function factors(random: Random): readonly SizeFactor[] {
  return [0, 1, 2].map((key) => ({
    key: String(key),
    term: store.atom(32, { kind: 'grid-size', axis: key as 0 | 1 | 2 }),
    least: random.pick([-3n, 0n, 0n, 1n, 1n, 2n]),
  }));
}

function randomSize(random: Random, all: readonly SizeFactor[]): Size {
  let sum: Size = constantSize(random.pick([-2n, -1n, 0n, 0n, 1n, 2n, 4n]));
  const count = random.pick([1, 1, 2, 2, 3]);
  for (let at = 0; at < count; at++) {
    let part: Size = constantSize(random.pick([-2n, -1n, -1n, 1n, 1n, 1n, 2n, 3n]));
    for (let factor = random.pick([1, 1, 2, 3]); factor > 0; factor--)
      part = timesProducts(part, [{ coefficient: 1n, factors: [random.pick(all)] }]);
    sum = plusProducts(sum, part);
  }
  return sum;
}

function valueOf(size: Size, values: readonly bigint[]): bigint {
  return size.reduce(
    (sum, { coefficient, factors: list }) => sum + list.reduce((all, { key }) => all * values[Number(key)]!, coefficient),
    0n,
  );
}

test('a size that is proved to be at most another one never exceeds it', () => {
  const counts = { proved: 0, open: 0, byFacts: 0, false: 0 };
  for (let seed = 0; seed < sweep(4000, 100_000); seed++) {
    const random = seededRandom(seed);
    const all = factors(random);
    const facts = Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, () => randomSize(random, all));
    const a = randomSize(random, all);
    // Half of the questions are implied by a fact, before they are changed.
    const [fact] = facts;
    const factor: Size = [{ coefficient: 1n, factors: [random.pick(all)] }];
    const b =
      fact && random.chance(0.5) ? plusProducts(a, random.chance(0.5) ? fact : timesProducts(fact, factor)) : randomSize(random, all);
    const isProved = new SizeOrder(facts.map((sum) => ({ sum, assumes: [] }))).atMost(a, b) !== null;
    let isTrue = true;
    for (let code = 0; code < 6 ** 3; code++) {
      const values = all.map(({ least }, at) => least + BigInt(Math.floor(code / 6 ** at) % 6));
      if (facts.every((sum) => valueOf(sum, values) >= 0n) && valueOf(a, values) > valueOf(b, values)) isTrue = false;
    }
    assert.ok(isTrue || !isProved, `seed ${seed}`);
    counts[isProved ? 'proved' : 'open']++;
    if (!isTrue) counts.false++;
    if (isProved && new SizeOrder([]).atMost(a, b) === null) counts.byFacts++;
  }
  assert.ok(counts.proved > 400 && counts.byFacts > 150 && counts.false > 400, JSON.stringify(counts));
});
