import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Exact, commonDivisor, exact, magnitude, multiplied, divided, remainder, added } from '../../src/base/exact.ts';
import { absolute, gcd } from '../../src/base/integer.ts';
import { seededRandom } from '../../src/base/random.ts';

const most = BigInt(Number.MAX_SAFE_INTEGER);

/** Integers of all sizes, most of them near the limits of numbers and of products that are numbers. */
function samples(): readonly bigint[] {
  const random = seededRandom(7);
  const near = [0n, 1n, 2n, 94_906_265n, 94_906_266n, most / 2n, most / 3n, most - 1n, most, most + 1n, most + 2n, 2n * most, most * most];
  const others = Array.from({ length: 24 }, () => BigInt(random.below(2 ** 31)) * BigInt(1 + random.below(2 ** random.below(31))));
  return [...near, ...others].flatMap((value) => [value, -value]);
}

/** The result as a big integer; it must be in the form that its size demands. */
function valueOf(result: Exact): bigint {
  const value = BigInt(result);
  assert.equal(typeof result, absolute(value) <= most ? 'number' : 'bigint', String(value));
  return value;
}

test('arithmetic on numbers and big integers is that of integers, also where a result crosses the limit of numbers', () => {
  for (const a of samples()) {
    assert.equal(valueOf(magnitude(exact(a))), absolute(a));
    for (const b of samples()) {
      const [x, y] = [exact(a), exact(b)];
      assert.equal(valueOf(added(x, y)), a + b, `${a} + ${b}`);
      assert.equal(valueOf(multiplied(x, y)), a * b, `${a} * ${b}`);
      assert.equal(valueOf(commonDivisor(x, y)), gcd(a, b), `gcd(${a}, ${b})`);
      assert.equal(x < y, a < b, `${a} < ${b}`);
      if (b === 0n) continue;
      assert.equal(valueOf(divided(x, y)), a / b, `${a} / ${b}`);
      assert.equal(valueOf(remainder(x, y)), a % b, `${a} % ${b}`);
    }
  }
});
