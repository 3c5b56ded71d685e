import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { type Polynomial, multiplyPolynomials, plus, without } from '../../../src/check/premises/polynomial.ts';

const random = seededRandom(7);
const names = ['n', 'tx_1', 'by_1', 'p0_0_4'];

function randomPolynomial(): Polynomial {
  const sum = new Map<string, bigint>();
  for (let count = random.below(4); count > 0; count--) {
    const monomial = Array.from({ length: random.below(3) }, () => random.pick(names)).sort();
    sum.set(monomial.join(' '), BigInt(random.below(9) - 4) || 1n);
  }
  return sum;
}

function valueOf(sum: Polynomial, values: ReadonlyMap<string, bigint>): bigint {
  let total = 0n;
  for (const [monomial, factor] of sum) total += monomial.split(' ').reduce((product, name) => product * (values.get(name) ?? 1n), factor);
  return total;
}

test('sums and products have the values of their operands combined', () => {
  for (let round = 0; round < 300; round++) {
    const values = new Map(names.map((name) => [name, BigInt(random.below(21) - 10)]));
    const [a, b] = [randomPolynomial(), randomPolynomial()];
    const factor = BigInt(random.below(7) - 3);
    const [x, y] = [valueOf(a, values), valueOf(b, values)];
    assert.equal(valueOf(plus(a, b, factor), values), x + factor * y);
    const product = multiplyPolynomials(a, b);
    assert.ok(product);
    assert.equal(valueOf(product, values), x * y);
    for (const [monomial, coefficient] of product) {
      const [u] = monomial.split(' ');
      if (u)
        assert.equal(
          valueOf(new Map([[without(monomial, u), coefficient]]), values) * values.get(u)!,
          valueOf(new Map([[monomial, coefficient]]), values),
        );
    }
  }
});

test('terms that cancel are removed, and products that are too long are not expanded', () => {
  assert.equal(plus(new Map([['n', 2n]]), new Map([['n', 1n]]), -2n).size, 0);
  const long = new Map(Array.from({ length: 5 }, (_, i) => [`n${i}`, 1n] as const));
  assert.equal(multiplyPolynomials(long, long), null);
});
