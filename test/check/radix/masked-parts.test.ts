/** Masked sums as quotients and remainders, and products of sums of digits, against their values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import type { SizeFactor } from '../../../src/check/premises/size-order.ts';
import { dividedMask } from '../../../src/check/radix/masked-parts.ts';
import { isOneDigit, isSameProduct, maxSummands, plusSummands, type Summand, timesSummands } from '../../../src/check/radix/summand.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import { type Term, TermStore } from '../../../src/term/term.ts';

const store = new TermStore();
const axes = ([0, 1, 2] as const).map((axis) => store.atom(32, { kind: 'thread', axis }));
const [x, y] = axes as [Term, Term];

function randomValues(random: Random): ReadonlyMap<Term, bigint> {
  return new Map(axes.map((term) => [term, BigInt(random.below(random.chance(0.5) ? 70 : 2 ** 32))]));
}

/** The terms of a masked sum: of the mask itself, and of what it is divided into; null if it stays. */
function masked(parts: readonly (readonly [Term, bigint])[], constant: bigint, mask: bigint): readonly [Term, Term | null] {
  const term = store.and(32, store.sum(32, constant, parts), store.constant(32, mask));
  return [term, dividedMask(store, term)];
}

test('a masked sum has the value of its quotient or remainder', () => {
  let divided = 0;
  for (let seed = 0; seed < 2000; seed++) {
    const random = seededRandom(seed);
    const factor = (): bigint => BigInt(random.pick([1, 2, 3, 4, 8, 12, 16, 32, 64, -1, -8]));
    const power = 1n << BigInt(random.below(10));
    const mask = random.pick([power - 1n, -power, (power - 1n) & ~1n, (power - 1n) & ~3n, BigInt(random.below(64))]);
    const [term, other] = masked(
      axes.slice(0, random.between(1, 3)).map((axis) => [axis, factor()] as const),
      random.chance(0.4) ? BigInt(random.between(-40, 40)) : 0n,
      mask,
    );
    if (!other) continue;
    divided++;
    for (let sample = 0; sample < 4; sample++) {
      const values = randomValues(random);
      const valueOf = (one: Term): bigint | undefined => evaluateTerm(one, (leaf) => values.get(leaf), new Map());
      assert.equal(valueOf(term), valueOf(other), `seed ${seed}`);
    }
  }
  assert.ok(divided > 500, String(divided));
});

test('which masks are divided', () => {
  const isDivided = (parts: readonly (readonly [Term, bigint])[], mask: bigint, constant = 0n): boolean =>
    masked(parts, constant, mask)[1] !== null;
  // Multiples of the power of two are left out, or a common power of two; without either nothing is gained.
  assert.ok(
    isDivided(
      [
        [x, 1n],
        [y, 32n],
      ],
      31n,
    ),
  );
  assert.ok(
    isDivided(
      [
        [x, 8n],
        [y, 24n],
      ],
      127n,
    ),
  );
  assert.ok(
    !isDivided(
      [
        [x, 1n],
        [y, 8n],
      ],
      31n,
    ),
  );
  assert.ok(!isDivided([[x, 1n]], 31n));
  assert.ok(isDivided([[x, 1n]], -32n));
  assert.ok(
    isDivided(
      [
        [x, 1n],
        [y, 32n],
      ],
      -32n,
    ),
  );
  // Neither all lower nor all upper bits.
  assert.ok(!isDivided([[x, 1n]], 5n));
  assert.ok(!isDivided([[x, 1n]], 0x60n));
  assert.ok(
    !isDivided(
      [
        [x, 1n],
        [y, 32n],
      ],
      0x7fff_ffe0n,
    ),
  );
  assert.equal(dividedMask(store, store.or(32, x, y)), null);
  assert.equal(dividedMask(store, store.and(32, x, y)), null);
});

const sizes = [2, 3].map((index): SizeFactor => {
  const term = store.atom(32, { kind: 'parameter', index, offset: 0, bytes: 4 });
  return { key: String(term.id), term, least: 1n };
});
const summand = (coefficient: bigint, digit: Term | null, ...factors: readonly SizeFactor[]): Summand => ({ coefficient, digit, factors });

test('sums and products of digits have the values of their operands', () => {
  const valueOf = (sum: readonly Summand[], of: (term: Term) => bigint): bigint =>
    sum.reduce(
      (all, { coefficient, digit, factors }) =>
        all + factors.reduce((product, { term }) => product * of(term), coefficient) * (digit ? of(digit) : 1n),
      0n,
    );
  const counts = { products: 0, none: 0 };
  for (let seed = 0; seed < 500; seed++) {
    const random = seededRandom(seed);
    const randomSum = (withDigits: boolean): Summand[] =>
      Array.from({ length: random.between(0, 6) }, () =>
        summand(
          BigInt(random.between(-3, 3)) || 1n,
          withDigits && random.chance(0.5) ? random.pick(axes) : null,
          ...sizes.filter(() => random.chance(0.4)),
        ),
      );
    const [a, b] = [randomSum(true), randomSum(random.chance(0.3))];
    const values = new Map([...axes, ...sizes.map(({ term }) => term)].map((term) => [term, BigInt(random.below(50))]));
    const of = (term: Term): bigint => values.get(term)!;
    const by = BigInt(random.between(-2, 2));
    assert.equal(valueOf(plusSummands(a, b, by), of), valueOf(a, of) + by * valueOf(b, of), `seed ${seed}`);
    const product = timesSummands(a, b);
    const haveDigits = [a, b].every((sum) => sum.some(({ digit }) => digit));
    assert.equal(product === null, a.length * b.length > maxSummands || haveDigits, `seed ${seed}`);
    if (product) assert.equal(valueOf(product, of), valueOf(a, of) * valueOf(b, of), `seed ${seed}`);
    counts[product ? 'products' : 'none']++;
  }
  assert.ok(counts.products > 100 && counts.none > 50, JSON.stringify(counts));
  assert.equal(timesSummands(null, []), null);
  assert.equal(timesSummands([], null), null);
});

test('equal products, and sums of one digit', () => {
  const [n, m] = sizes as [SizeFactor, SizeFactor];
  assert.ok(isSameProduct(summand(2n, x, n, m), summand(2n, y, m, n)));
  assert.ok(!isSameProduct(summand(2n, x, n), summand(3n, x, n)));
  assert.ok(!isSameProduct(summand(2n, x, n), summand(2n, x, m)));
  assert.ok(!isSameProduct(summand(2n, x, n, m), summand(2n, x, n)));
  assert.ok(!isSameProduct(summand(2n, x, n), summand(2n, x, n, m)));
  assert.ok(isOneDigit([summand(1n, x)], x));
  for (const sum of [[], [summand(1n, y)], [summand(2n, x)], [summand(1n, x, n)], [summand(1n, x), summand(1n, y)], [summand(1n, null)]])
    assert.ok(!isOneDigit(sum, x));
});
