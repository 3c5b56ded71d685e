/**
 * Integers as bit-vectors in SMT-LIB. Each value is in two's complement with the minimal width for its range, so no
 * operation on them wraps around.
 */
import { bitLength, greatestOf, leastOf } from '../../base/integer.ts';
import type { Bounds } from '../../term/linear.ts';

/** `text` is a bit-vector of `bitsOf(value)` bits, exact for every value in the range. */
export interface BitValue extends Bounds {
  readonly text: string;
}

/** Width in two's complement that represents every value of a range. */
export function bitsOf({ low, high }: Bounds): number {
  return Math.max(bitLength(low < 0n ? -low - 1n : low), bitLength(high < 0n ? -high - 1n : high)) + 1;
}

/** A constant. */
export function constantBits(value: bigint): BitValue {
  return { text: literal(value, bitsOf({ low: value, high: value })), low: value, high: value };
}

function literal(value: bigint, bits: number): string {
  return `(_ bv${BigInt.asUintN(bits, value)} ${bits})`;
}

/** A value truncated or sign-extended to a number of bits. */
export function resize(value: BitValue, bits: number): string {
  if (value.low === value.high) return literal(value.low, bits);
  const own = bitsOf(value);
  if (own === bits) return value.text;
  if (own > bits) return `((_ extract ${bits - 1} 0) ${value.text})`;
  return `((_ ${value.low >= 0n ? 'zero' : 'sign'}_extend ${bits - own}) ${value.text})`;
}

/** The low bits of a value as an unsigned number. */
export function lowBits(value: BitValue, bits: number): BitValue {
  const most = (1n << BigInt(bits)) - 1n;
  if (value.low >= 0n && value.high <= most) return value;
  return { text: `((_ zero_extend 1) ${resize(value, bits)})`, low: 0n, high: most };
}

/** The low bits of a value as a two's complement number. */
export function signedLowBits(value: BitValue, bits: number): BitValue {
  const half = 1n << BigInt(bits - 1);
  if (value.low >= -half && value.high < half) return value;
  return { text: resize(value, bits), low: -half, high: half - 1n };
}

/** constant + sum of factor * value, if the result is known to be in `range`. */
export function sumOf(constant: bigint, parts: readonly (readonly [BitValue, bigint])[], range: Bounds): BitValue {
  const bits = bitsOf(range);
  const addends = parts
    .filter(([, factor]) => factor !== 0n)
    .map(([value, factor]) => {
      const text = resize(value, bits);
      if (factor === 1n) return text;
      return factor === -1n ? `(bvneg ${text})` : `(bvmul ${literal(factor, bits)} ${text})`;
    });
  if (BigInt.asUintN(bits, constant) !== 0n || addends.length === 0) addends.push(literal(constant, bits));
  const text = addends.length === 1 ? addends[0]! : `(bvadd ${addends.join(' ')})`;
  return { text, low: range.low, high: range.high };
}

/** constant + sum of factor * value. */
export function addBits(constant: bigint, parts: readonly (readonly [BitValue, bigint])[]): BitValue {
  let low = constant;
  let high = constant;
  for (const [value, factor] of parts) {
    low += factor * (factor > 0n ? value.low : value.high);
    high += factor * (factor > 0n ? value.high : value.low);
  }
  return sumOf(constant, parts, { low, high });
}

/** a * b. */
export function multiplyBits(a: BitValue, b: BitValue): BitValue {
  const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  const range = { low: leastOf(corners), high: greatestOf(corners) };
  if (a.low === a.high) return sumOf(0n, [[b, a.low]], range);
  if (b.low === b.high) return sumOf(0n, [[a, b.low]], range);
  const bits = bitsOf(range);
  return { text: `(bvmul ${resize(a, bits)} ${resize(b, bits)})`, ...range };
}

/** A bitwise operation on two's complement of unlimited width. */
export function combineBits(operator: 'and' | 'or' | 'xor', a: BitValue, b: BitValue): BitValue {
  const bits = Math.max(bitsOf(a), bitsOf(b));
  const ones = (1n << BigInt(bits - 1)) - 1n;
  const positive = [a, b].filter(({ low }) => low >= 0n);
  const isPositive = operator === 'and' ? positive.length > 0 : positive.length === 2;
  const high = operator === 'and' && isPositive ? leastOf(positive.map((part) => part.high)) : ones;
  const low = isPositive ? (operator === 'or' ? greatestOf([a.low, b.low]) : 0n) : -ones - 1n;
  const text = `(bv${operator} ${resize(a, bits)} ${resize(b, bits)})`;
  return { text: fitted(text, bits, { low, high }), low, high };
}

/** A bit-vector of `bits` bits, resized to the width of a range that contains its value. */
function fitted(text: string, bits: number, range: Bounds): string {
  const own = bitsOf(range);
  return own < bits ? `((_ extract ${own - 1} 0) ${text})` : text;
}

/** The low `bits` bits of a value shifted left by an amount of any size, as an unsigned number. */
export function shiftLeft(value: BitValue, amount: BitValue, bits: number): BitValue {
  const whole = Math.max(bits, bitsOf(amount));
  const shifted = `(bvshl ${resize(value, whole)} ${resize(amount, whole)})`;
  const text = whole === bits ? shifted : `((_ extract ${bits - 1} 0) ${shifted})`;
  return { text: `((_ zero_extend 1) ${text})`, low: 0n, high: (1n << BigInt(bits)) - 1n };
}

/** A value shifted right by a nonnegative amount, rounded down. */
export function shiftRight(value: BitValue, amount: BitValue): BitValue {
  const bits = Math.max(bitsOf(value), bitsOf(amount));
  const low = value.low < 0n ? value.low : 0n;
  const high = value.high > 0n ? value.high : 0n;
  const operator = value.low >= 0n ? 'bvlshr' : 'bvashr';
  const text = `(${operator} ${resize(value, bits)} ${resize(amount, bits)})`;
  return { text: fitted(text, bits, { low, high }), low, high };
}

/** Quotient or remainder of a nonnegative dividend and a positive divisor. */
export function divideBits(operator: 'udiv' | 'urem', a: BitValue, b: BitValue): BitValue {
  const bits = Math.max(bitsOf(a), bitsOf(b));
  const high = operator === 'udiv' ? a.high : leastOf([a.high, b.high - 1n]);
  const text = `(bv${operator} ${resize(a, bits)} ${resize(b, bits)})`;
  return { text: fitted(text, bits, { low: 0n, high }), low: 0n, high };
}

/** `a` if the condition is true, otherwise `b`. */
export function chooseBits(condition: string, a: BitValue, b: BitValue): BitValue {
  const range = { low: leastOf([a.low, b.low]), high: greatestOf([a.high, b.high]) };
  const bits = bitsOf(range);
  return { text: `(ite ${condition} ${resize(a, bits)} ${resize(b, bits)})`, ...range };
}

/** The formula a < b. */
export function lessBits(a: BitValue, b: BitValue): string {
  if (a.high < b.low) return 'true';
  if (a.low >= b.high) return 'false';
  const bits = Math.max(bitsOf(a), bitsOf(b));
  return `(bvslt ${resize(a, bits)} ${resize(b, bits)})`;
}

/** The formula a <= b. */
export function atMostBits(a: BitValue, b: BitValue): string {
  if (a.high <= b.low) return 'true';
  if (a.low > b.high) return 'false';
  const bits = Math.max(bitsOf(a), bitsOf(b));
  return `(bvsle ${resize(a, bits)} ${resize(b, bits)})`;
}

/** The formula a = b. */
export function equalBits(a: BitValue, b: BitValue): string {
  if (a.high < b.low || a.low > b.high) return 'false';
  const bits = Math.max(bitsOf(a), bitsOf(b));
  return `(= ${resize(a, bits)} ${resize(b, bits)})`;
}
