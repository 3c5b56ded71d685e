/**
 * Floating-point numbers as exact rationals: decoding, rounding and the correctly rounded operations for every format
 * and rounding of the ISA. Slow and plain; faster implementations are tested against it.
 */
import { bitLength } from '../../base/integer.ts';
export interface FloatLayout {
  /** Bits of the exponent field. */
  readonly exponentBits: number;
  /** Bits of the fraction field. */
  readonly fractionBits: number;
  /** Unused low bits of the pattern (`tf32` sits in the upper 19 of 32 bits). */
  readonly padding: number;
  /** The NaN that operations produce. */
  readonly nan: bigint;
}

export const floatFormats: Readonly<Record<string, FloatLayout>> = {
  f16: { exponentBits: 5, fractionBits: 10, padding: 0, nan: 0x7fffn },
  bf16: { exponentBits: 8, fractionBits: 7, padding: 0, nan: 0x7fffn },
  tf32: { exponentBits: 8, fractionBits: 10, padding: 13, nan: 0x7fffe000n },
  f32: { exponentBits: 8, fractionBits: 23, padding: 0, nan: 0x7fffffffn },
  f64: { exponentBits: 11, fractionBits: 52, padding: 0, nan: 0xfff8000000000000n },
};

/** `(-1)^negative * mantissa * 2^exponent`; a zero keeps its sign. */
export interface Finite {
  readonly kind: 'finite';
  readonly negative: boolean;
  readonly mantissa: bigint;
  readonly exponent: number;
}

export type Real = Finite | { readonly kind: 'infinite'; readonly negative: boolean } | { readonly kind: 'nan' };

/** Rounding modes: to nearest even, toward zero, down, up, to nearest with ties away from zero. */
export type Rounding = 'rn' | 'rz' | 'rm' | 'rp' | 'rna';

export const nan: Real = { kind: 'nan' };

/** Zero, with its sign. */
export function signedZero(negative: boolean): Finite {
  return { kind: 'finite', negative, mantissa: 0n, exponent: 0 };
}

function infinite(negative: boolean): Real {
  return { kind: 'infinite', negative };
}

function bias(format: FloatLayout): number {
  return (1 << (format.exponentBits - 1)) - 1;
}

/** The number that a pattern encodes; `flush` makes subnormals zero. */
export function unpack(format: FloatLayout, pattern: bigint, flush: boolean): Real {
  const bits = pattern >> BigInt(format.padding);
  const fraction = BigInt.asUintN(format.fractionBits, bits);
  const field = Number(BigInt.asUintN(format.exponentBits, bits >> BigInt(format.fractionBits)));
  const negative = ((bits >> BigInt(format.fractionBits + format.exponentBits)) & 1n) === 1n;
  if (field === (1 << format.exponentBits) - 1) return fraction === 0n ? infinite(negative) : nan;
  if (field === 0 && flush) return signedZero(negative);
  const mantissa = field === 0 ? fraction : fraction | (1n << BigInt(format.fractionBits));
  return { kind: 'finite', negative, mantissa, exponent: Math.max(field, 1) - bias(format) - format.fractionBits };
}

/** `mantissa >> shift`, rounded; `shift` may be negative. */
function roundShift(mantissa: bigint, shift: number, negative: boolean, rounding: Rounding): bigint {
  if (shift <= 0) return mantissa << BigInt(-shift);
  const kept = mantissa >> BigInt(shift);
  const rest = mantissa - (kept << BigInt(shift));
  if (rest === 0n) return kept;
  const half = 1n << BigInt(shift - 1);
  switch (rounding) {
    case 'rz':
      return kept;
    case 'rm':
      return negative ? kept + 1n : kept;
    case 'rp':
      return negative ? kept : kept + 1n;
    case 'rna':
      return rest >= half ? kept + 1n : kept;
    case 'rn':
      return rest > half || (rest === half && (kept & 1n) === 1n) ? kept + 1n : kept;
  }
}

/** The pattern of `value` rounded to `format`; `flush` makes subnormal results zero. */
export function pack(format: FloatLayout, value: Real, rounding: Rounding, flush: boolean): bigint {
  if (value.kind === 'nan') return format.nan;
  const sign = value.negative ? 1n << BigInt(format.exponentBits + format.fractionBits) : 0n;
  const padding = BigInt(format.padding);
  const infinity = ((1n << BigInt(format.exponentBits)) - 1n) << BigInt(format.fractionBits);
  if (value.kind === 'infinite') return (sign | infinity) << padding;
  const { mantissa, negative } = value;
  if (mantissa === 0n) return sign << padding;
  // Exponent of the unit in the last place: that of the number, or that of subnormals.
  const top = value.exponent + bitLength(mantissa) - 1;
  const lowest = 1 - bias(format) - format.fractionBits;
  const unit = Math.max(top - format.fractionBits, lowest);
  const rounded = roundShift(mantissa, unit - value.exponent, negative, rounding);
  // Adding the fields lets a carry out of the fraction move into the exponent, up to infinity.
  const field = BigInt(unit - lowest) << BigInt(format.fractionBits);
  const bits = field + rounded;
  if (bits >= infinity) {
    const away = rounding === 'rn' || rounding === 'rna' || rounding === (negative ? 'rm' : 'rp');
    return (sign | (away ? infinity : infinity - 1n)) << padding;
  }
  if (flush && bits < 1n << BigInt(format.fractionBits)) return sign << padding;
  return (sign | bits) << padding;
}

/** The negation of a number, also of zero and infinity; NaN stays NaN. */
export function negated(a: Real): Real {
  return a.kind === 'nan' ? a : { ...a, negative: !a.negative };
}

/** The exact sum; `rounding` decides the sign of an exact zero. */
export function sum(a: Real, b: Real, rounding: Rounding): Real {
  if (a.kind === 'nan' || b.kind === 'nan') return nan;
  if (a.kind === 'infinite') return b.kind === 'infinite' && b.negative !== a.negative ? nan : a;
  if (b.kind === 'infinite') return b;
  if (a.mantissa === 0n && b.mantissa === 0n) {
    return signedZero(a.negative === b.negative ? a.negative : rounding === 'rm');
  }
  const exponent = Math.min(a.exponent, b.exponent);
  const aligned = (x: Finite): bigint => {
    const magnitude = x.mantissa << BigInt(x.exponent - exponent);
    return x.negative ? -magnitude : magnitude;
  };
  const total = aligned(a) + aligned(b);
  if (total === 0n) return signedZero(rounding === 'rm');
  return { kind: 'finite', negative: total < 0n, mantissa: total < 0n ? -total : total, exponent };
}

/** The exact product. */
export function product(a: Real, b: Real): Real {
  if (a.kind === 'nan' || b.kind === 'nan') return nan;
  const negative = a.negative !== b.negative;
  if (a.kind === 'infinite' || b.kind === 'infinite') {
    const other = a.kind === 'infinite' ? b : a;
    return other.kind === 'finite' && other.mantissa === 0n ? nan : infinite(negative);
  }
  return { kind: 'finite', negative, mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent };
}

/**
 * Bits computed beyond the precision of any format. One more bit, set if the remainder is not zero, makes rounding
 * exact.
 */
const guardBits = 64;

/** The quotient, exact enough for correct rounding. */
export function quotient(a: Real, b: Real): Real {
  if (a.kind === 'nan' || b.kind === 'nan') return nan;
  const negative = a.negative !== b.negative;
  if (a.kind === 'infinite') return b.kind === 'infinite' ? nan : infinite(negative);
  if (b.kind === 'infinite') return signedZero(negative);
  if (b.mantissa === 0n) return a.mantissa === 0n ? nan : infinite(negative);
  if (a.mantissa === 0n) return signedZero(negative);
  const scale = Math.max(0, bitLength(b.mantissa) - bitLength(a.mantissa)) + guardBits;
  const scaled = a.mantissa << BigInt(scale);
  const whole = scaled / b.mantissa;
  const sticky = scaled % b.mantissa === 0n ? 0n : 1n;
  return { kind: 'finite', negative, mantissa: (whole << 1n) | sticky, exponent: a.exponent - b.exponent - scale - 1 };
}

/** The square root, exact enough for correct rounding; that of -0 is -0. */
export function squareRoot(a: Real): Real {
  if (a.kind === 'nan' || (a.kind === 'finite' && a.mantissa === 0n)) return a;
  if (a.negative) return nan;
  if (a.kind === 'infinite') return a;
  const odd = Math.abs(a.exponent % 2);
  const scaled = a.mantissa << BigInt(2 * guardBits + odd);
  const root = integerRoot(scaled);
  const sticky = root * root === scaled ? 0n : 1n;
  const exponent = (a.exponent - odd) / 2 - guardBits - 1;
  return { kind: 'finite', negative: false, mantissa: (root << 1n) | sticky, exponent };
}

/** The largest integer whose square is at most `value` (Newton's method from above). */
function integerRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(bitLength(value) / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** -1, 0 or 1; null if one is NaN. Zeros are equal. */
export function compareReals(a: Real, b: Real): -1 | 0 | 1 | null {
  if (a.kind === 'nan' || b.kind === 'nan') return null;
  const rank = (x: Exclude<Real, { kind: 'nan' }>): number => (x.kind === 'infinite' ? (x.negative ? -1 : 1) : 0);
  if (a.kind === 'infinite' || b.kind === 'infinite') return Math.sign(rank(a) - rank(b)) as -1 | 0 | 1;
  const difference = sum(a, negated(b), 'rn') as Finite;
  return difference.mantissa === 0n ? 0 : difference.negative ? -1 : 1;
}

/** Rounds to an integral value; a zero result keeps the sign. */
export function integral(a: Real, rounding: Rounding): Real {
  if (a.kind !== 'finite' || a.exponent >= 0) return a;
  return { ...a, mantissa: roundShift(a.mantissa, -a.exponent, a.negative, rounding), exponent: 0 };
}

/** The mathematical integer of an integral value. */
export function toInteger(a: Finite): bigint {
  const magnitude = a.mantissa << BigInt(a.exponent);
  return a.negative ? -magnitude : magnitude;
}

/** An integer as an exact floating-point number; 0 is +0. */
export function fromInteger(value: bigint): Finite {
  return { kind: 'finite', negative: value < 0n, mantissa: value < 0n ? -value : value, exponent: 0 };
}

/** The nearest double. */
export function toNumber(a: Real): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, pack(floatFormats['f64']!, a, 'rn', false));
  return view.getFloat64(0);
}

/** A double as an exact floating-point number. */
export function fromNumber(value: number): Real {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return unpack(floatFormats['f64']!, view.getBigUint64(0), false);
}
