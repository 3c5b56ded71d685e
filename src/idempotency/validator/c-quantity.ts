/** Ranges of the numbers in the C text of validators, and whether the numbers are known. */
import { floorDivide, greatestOf, leastOf } from '../../base/integer.ts';

/** The truth of a condition: true or false at every launch, or a `bool` of the C source. */
export type Flag = true | false | string;

/**
 * A number in the C source. Its value is between `low` and `high` at every launch, even if it is unknown; then the
 * value is meaningless.
 */
export interface CNumber {
  /** A variable or a literal. */
  readonly text: string;
  readonly low: bigint;
  readonly high: bigint;
  readonly known: Flag;
}

export interface ValueBounds {
  readonly low: bigint;
  readonly high: bigint;
}

/** Quantities have at most 127 bits and a sign. */
export const largest = (1n << 127n) - 1n;

/** The conjunction of flags. */
export function every(flags: readonly Flag[]): Flag {
  if (flags.includes(false)) return false;
  const open = [...new Set(flags)].filter((flag) => flag !== true);
  return open.length === 0 ? true : open.join(' && ');
}

/** The disjunction of flags. */
export function some(flags: readonly Flag[]): Flag {
  if (flags.includes(true)) return true;
  const open = [...new Set(flags)].filter((flag) => flag !== false);
  return open.length === 0 ? false : open.map((flag) => `(${flag})`).join(' || ');
}

/** The negation of a flag. */
export function opposite(flag: Flag): Flag {
  return typeof flag === 'boolean' ? !flag : `!(${flag})`;
}

/** The narrower of the two types of C that can represent all of the values. */
export function typeOf({ low, high }: ValueBounds): 'int64_t' | 'selvage_wide' {
  return low >= -(1n << 63n) && high < 1n << 63n ? 'int64_t' : 'selvage_wide';
}

/** Whether all values within the bounds fit in 127 bits. */
export function isBounded({ low, high }: ValueBounds): boolean {
  return low >= -largest && high <= largest;
}

/** The bounds extended to include 0, which represents an unknown value. */
export function orZero({ low, high }: ValueBounds): ValueBounds {
  return {
    low: low > 0n ? 0n : low < -largest ? -largest : low,
    high: high < 0n ? 0n : high > largest ? largest : high,
  };
}

/** The narrowest bounds of at least one value. */
export function hull(values: readonly bigint[]): ValueBounds {
  return {
    low: leastOf(values),
    high: greatestOf(values),
  };
}

export const operationBounds = {
  sum: (a: ValueBounds, b: ValueBounds): ValueBounds => ({ low: a.low + b.low, high: a.high + b.high }),
  product: (a: ValueBounds, b: ValueBounds): ValueBounds => hull([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]),
  min: (a: ValueBounds, b: ValueBounds): ValueBounds => ({
    low: hull([a.low, b.low]).low,
    high: hull([a.high, b.high]).low,
  }),
  max: (a: ValueBounds, b: ValueBounds): ValueBounds => ({
    low: hull([a.low, b.low]).high,
    high: hull([a.high, b.high]).high,
  }),
  /** The divisor is positive. */
  quotient: (a: ValueBounds, b: ValueBounds): ValueBounds => {
    const least = b.low < 1n ? 1n : b.low;
    const most = b.high < least ? least : b.high;
    return hull([a.low, a.high].flatMap((dividend) => [least, most].map((divisor) => floorDivide(dividend, divisor))));
  },
  remainder: (a: ValueBounds, b: ValueBounds): ValueBounds => {
    const high = b.high > 1n ? b.high - 1n : 0n;
    return { low: 0n, high: a.low >= 0n && a.high < high ? a.high : high };
  },
  /** Bounds of the bit operations on numbers that are not negative. */
  bits: (kind: 'and' | 'or' | 'xor' | 'shift-left' | 'shift-right', a: ValueBounds, b: ValueBounds): ValueBounds => {
    const [left, right] = [a.high > 0n ? a.high : 0n, b.high > 0n ? b.high : 0n];
    switch (kind) {
      case 'and':
        return { low: 0n, high: left < right ? left : right };
      case 'or':
      case 'xor':
        return { low: 0n, high: (1n << BigInt((left | right).toString(2).length)) - 1n };
      case 'shift-left':
        return { low: 0n, high: right < 127n ? left << right : left === 0n ? 0n : largest + 1n };
      case 'shift-right':
        return { low: 0n, high: left };
    }
  },
} as const;

/** A constant of C. */
export function literalText(value: bigint): string {
  if (typeOf({ low: value, high: value }) === 'int64_t') {
    return value === -(1n << 63n) ? 'INT64_MIN' : `INT64_C(${value})`;
  }
  const bits = BigInt.asUintN(128, value);
  return `SELVAGE_WIDE(UINT64_C(0x${(bits >> 64n).toString(16)}), UINT64_C(0x${BigInt.asUintN(64, bits).toString(16)}))`;
}
