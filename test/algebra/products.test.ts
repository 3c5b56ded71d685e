/** Sums of products against their values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KeyedProduct, plusProducts, quotientOfProducts, scaled, timesProduct, timesProducts } from '../../src/algebra/products.ts';
import { type Random, seededRandom } from '../../src/base/random.ts';

type Sum = readonly KeyedProduct<{ readonly key: string }>[];

const names = ['a', 'b', 'c'];

function randomProduct(random: Random): Sum[number] {
  const factors = Array.from({ length: random.below(4) }, () => ({ key: random.pick(names) }));
  const start = { coefficient: BigInt(random.between(-3, 3)), factors: [] };
  return factors.reduce<Sum[number]>((product, factor) => timesProduct(product, { coefficient: 1n, factors: [factor] }), start);
}

function randomSum(random: Random): Sum {
  return plusProducts(
    [],
    Array.from({ length: random.below(5) }, () => randomProduct(random)),
  );
}

function valueOf(sum: Sum, values: ReadonlyMap<string, bigint>): bigint {
  return sum.reduce((total, { coefficient, factors }) => total + factors.reduce((all, { key }) => all * values.get(key)!, coefficient), 0n);
}

test('sums, products and quotients of sums have the right values, in one normal form', () => {
  let exact = 0;
  for (let seed = 0; seed < 3000; seed++) {
    const random = seededRandom(seed);
    const [a, b] = [randomSum(random), randomSum(random)];
    const by = BigInt(random.between(-2, 2));
    const values = new Map(names.map((name) => [name, BigInt(random.between(-4, 4))]));
    const of = (sum: Sum): bigint => valueOf(sum, values);
    assert.equal(of(plusProducts(a, b, by)), of(a) + by * of(b));
    assert.equal(of(scaled(a, by)), by * of(a));
    assert.equal(of(timesProducts(a, b)), of(a) * of(b));
    assert.deepEqual(plusProducts(a, a, -1n), []);
    const keys = timesProducts(a, b).map(({ factors }) => factors.map(({ key }) => key).join());
    assert.equal(new Set(keys).size, keys.length);
    const divisor = randomProduct(random);
    if (divisor.coefficient === 0n) continue;
    const quotient = quotientOfProducts(random.chance(0.5) ? timesProducts(a, [divisor]) : a, divisor);
    if (!quotient) continue;
    exact++;
    assert.equal(quotientOfProducts(timesProducts(quotient, [divisor]), divisor)?.length, quotient.length);
  }
  assert.ok(exact > 1000, String(exact));
});
