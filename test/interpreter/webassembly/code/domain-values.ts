/**
 * Samples for the tests of the domains: patterns at the edges of integer and floating-point formats, and random ones.
 */
import type { Random } from '../../../../src/base/random.ts';
import type { Width } from '../../../../src/isa/model/domain.ts';
import type { ValueType } from '../../../../src/isa/model/operation.ts';

export type Value = bigint | boolean;

/** Interesting numbers of a format: zeros, ones, halves, extremes, subnormals, infinities, quiet and signalling NaN. */
function floatEdges(exponentBits: number, fractionBits: number): bigint[] {
  const fraction = BigInt(fractionBits);
  const sign = 1n << BigInt(exponentBits + fractionBits);
  const bias = (1n << BigInt(exponentBits - 1)) - 1n;
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << fraction;
  const power = (exponent: bigint): bigint => (exponent + bias) << fraction;
  const positive = [
    0n,
    1n,
    2n,
    (1n << fraction) - 1n,
    1n << fraction,
    (1n << fraction) + 1n,
    power(0n),
    power(0n) + 1n,
    power(0n) - 1n,
    power(-1n),
    power(1n),
    power(1n) | (1n << (fraction - 1n)),
    power(fraction),
    power(fraction) + 1n,
    power(-bias / 2n),
    power(bias / 2n + 1n),
    infinity - 1n,
    infinity,
    infinity + 1n,
    infinity | (1n << (fraction - 1n)),
  ];
  return positive.flatMap((pattern) => [pattern, pattern | sign]);
}

function powersOfTwo(width: number): bigint[] {
  return Array.from({ length: width }, (_, exponent) => 1n << BigInt(exponent));
}

function integerEdges(width: Width): bigint[] {
  const small = [0n, 1n, 2n, 3n, 7n, 8n, 15n, 16n, 31n, 32n, 33n, 63n, 64n, 65n, 127n, 128n, 129n, 255n, 256n];
  const signs = small.flatMap((value) => [value, -value]);
  const large = powersOfTwo(width).flatMap((power) => [power - 1n, power, power + 1n]);
  return [...signs, ...large].map((value) => BigInt.asUintN(width, value));
}

const half = [...floatEdges(5, 10), ...floatEdges(8, 7)];
const single = floatEdges(8, 23);

const edges: Readonly<Record<Width, readonly bigint[]>> = {
  8: integerEdges(8),
  16: [...integerEdges(16), ...half],
  32: [...integerEdges(32), ...single, ...single, ...half.map((pattern, index) => pattern | (half[(7 * index) % half.length]! << 16n))],
  64: [...integerEdges(64), ...floatEdges(11, 52), ...floatEdges(11, 52)],
  128: integerEdges(128),
};

export function randomBits(random: Random, width: Width): bigint {
  let value = 0n;
  for (let bits = 0; bits < width; bits += 32) value = (value << 32n) | BigInt(random.below(2 ** 32));
  return BigInt.asUintN(width, value);
}

/** Near a pattern that came before, in exponent or in the low bits: sums and products then come close to halves. */
function near(random: Random, width: Width, other: bigint): bigint {
  const noise = randomBits(random, width) & ((1n << BigInt(random.below(width))) - 1n);
  return BigInt.asUintN(width, random.chance(0.5) ? other ^ noise : other + noise);
}

export function drawValue(random: Random, type: ValueType, earlier: readonly Value[] = []): Value {
  if (type === 'predicate') return random.chance(0.5);
  const last = earlier.at(-1);
  if (typeof last === 'bigint' && random.chance(0.15)) return near(random, type, BigInt.asUintN(type, last));
  const choice = random.next();
  if (choice < 0.5) return random.pick(edges[type]);
  if (choice < 0.6) return near(random, type, random.pick(edges[type]));
  if (choice < 0.75) return BigInt.asUintN(type, BigInt(random.between(-70, 70)));
  return randomBits(random, type);
}

/** One value for each type. */
export function drawValues(random: Random, types: readonly ValueType[]): readonly Value[] {
  const values: Value[] = [];
  for (const type of types) values.push(drawValue(random, type, values));
  return values;
}

export function showValues(values: readonly (Value | undefined)[]): string {
  return values.map((value) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : String(value))).join(', ');
}
