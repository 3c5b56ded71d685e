/** Exact fractions. */
import { gcd } from '../../base/integer.ts';

/** In lowest terms, `bottom` positive. */
export interface Rational {
  readonly top: bigint;
  readonly bottom: bigint;
}

/** top / bottom, for a bottom that is not 0. */
export function rational(top: bigint, bottom = 1n): Rational {
  if (bottom === 1n) return { top, bottom };
  const by = bottom < 0n ? -gcd(top, bottom) : gcd(top, bottom);
  return { top: top / by, bottom: bottom / by };
}

/** a + b. */
export function addRational(a: Rational, b: Rational): Rational {
  if (a.bottom === 1n && b.bottom === 1n) return { top: a.top + b.top, bottom: 1n };
  return rational(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
}

/** a * b. */
export function multiplyRational(a: Rational, b: Rational): Rational {
  if (a.bottom === 1n && b.bottom === 1n) return { top: a.top * b.top, bottom: 1n };
  return rational(a.top * b.top, a.bottom * b.bottom);
}

/** Negative, zero or positive as a is below, equal to or above b. */
export function compareRational(a: Rational, b: Rational): number {
  const difference = a.top * b.bottom - b.top * a.bottom;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The largest integer that does not exceed the fraction. */
export function floorOf({ top, bottom }: Rational): bigint {
  return top >= 0n ? top / bottom : -((-top + bottom - 1n) / bottom);
}

/** -a. */
export function negate({ top, bottom }: Rational): Rational {
  return { top: -top, bottom };
}

/** a / b, for a b that is not 0. */
export function divideRational(a: Rational, b: Rational): Rational {
  return rational(a.top * b.bottom, a.bottom * b.top);
}

/** The fraction as a floating-point number. */
export function numberOfRational({ top, bottom }: Rational): number {
  return Number(top) / Number(bottom);
}
