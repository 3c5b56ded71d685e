/** Narrow floating-point formats as JavaScript numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { referenceDomain } from '../../../src/isa/arithmetic/reference-domain.ts';
import { smallFormatNames } from '../../../src/isa/arithmetic/small-conversion.ts';
import { decodeSmall, encodeSmall } from '../../../src/isa/arithmetic/small-number.ts';

const bits = { e4m3: 8, e5m2: 8, e3m2: 6, e2m3: 6, e2m1: 4 } as const;
const largest = { e4m3: 448, e5m2: 57344, e3m2: 28, e2m3: 7.5, e2m1: 6 } as const;

for (const format of smallFormatNames) {
  test(`${format}: every representable number is unchanged, others round to the nearest`, () => {
    const numbers: { pattern: number; value: number }[] = [];
    for (let pattern = 0; pattern < 2 ** bits[format]; pattern++) {
      const value = decodeSmall(format, pattern);
      if (!Number.isFinite(value)) continue;
      numbers.push({ pattern, value });
      assert.equal(encodeSmall(format, value, true), pattern);
    }
    assert.equal(Math.max(...numbers.map(({ value }) => value)), largest[format]);
    const random = seededRandom(31);
    for (let round = 0; round < 2000; round++) {
      const value = (random.below(2 ** 32) / 2 ** 32 - 0.5) * 2.5 * largest[format] * 2 ** -random.below(12);
      const distance = Math.min(...numbers.map((number) => Math.abs(number.value - value)));
      const nearest = numbers.filter((number) => Math.abs(number.value - value) === distance);
      const actual = encodeSmall(format, value, true);
      assert.ok(
        nearest.some(({ pattern }) => pattern === actual),
        `${value} gives ${actual}`,
      );
    }
  });

  test(`${format}: halfway rounds to the even neighbour`, () => {
    for (let pattern = 0; pattern + 1 < 2 ** (bits[format] - 1); pattern++) {
      const [low, high] = [decodeSmall(format, pattern), decodeSmall(format, pattern + 1)];
      if (!Number.isFinite(high)) continue;
      const even = pattern % 2 === 0 ? pattern : pattern + 1;
      assert.equal(encodeSmall(format, (low + high) / 2, true), even);
    }
  });
}

test('f16 and bf16 round as the reference does', () => {
  const random = seededRandom(32);
  const view = new DataView(new ArrayBuffer(8));
  for (const format of ['f16', 'bf16'] as const) {
    for (let round = 0; round < 3000; round++) {
      const exponent = format === 'f16' ? 990 + random.below(60) : 880 + random.below(290);
      view.setUint32(0, ((random.below(2) << 31) | (exponent << 20) | random.below(2 ** 20)) >>> 0);
      view.setUint32(4, random.chance(0.5) ? 0 : random.below(2 ** 32));
      const operation = { name: 'cvt', from: 'f64', to: format, rounding: 'rn', ftz: false, saturate: false };
      const expected = referenceDomain.float(operation, [view.getBigUint64(0)]);
      assert.equal(BigInt(encodeSmall(format, view.getFloat64(0), false)), expected);
    }
  }
});
