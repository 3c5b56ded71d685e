/** Sums of digits times weights: the form in which the digit tier reads addresses. */
import type { Term } from '../../term/term.ts';
import { collected, keyOfProduct, scaled, timesProduct, withoutFactors } from '../../algebra/products.ts';
import type { SizeProduct } from '../premises/size-order.ts';

/** A digit times its weight; without a digit, a value that all threads share. */
export interface Summand extends SizeProduct {
  readonly digit: Term | null;
}

/** Maximum number of expanded summands. */
export const maxSummands = 24;

/** Whether a sum is one digit without a weight: the quotient `8 * i / n`, written as `i / (n / 8)`. */
export function isOneDigit([only, ...others]: readonly Summand[], term: Term): boolean {
  return others.length === 0 && only?.digit === term && only.coefficient === 1n && only.factors.length === 0;
}

/** Whether two products have the same constant and factors. */
export function isSameProduct(a: SizeProduct, b: SizeProduct): boolean {
  return a.coefficient === b.coefficient && a.factors.length === b.factors.length && withoutFactors(a.factors, b.factors) !== null;
}

/** `a + by * b`. */
export function plusSummands(a: readonly Summand[], b: readonly Summand[], by = 1n): readonly Summand[] {
  return collected([...a, ...scaled(b, by)], (one) => `${one.digit?.id ?? ''}|${keyOfProduct(one)}`);
}

/** `a * b`; null if both have digits, or if it is too long. */
export function timesSummands(a: readonly Summand[] | null, b: readonly Summand[] | null): readonly Summand[] | null {
  if (!a || !b || a.length * b.length > maxSummands) return null;
  const pairs = a.flatMap((x) => b.map((y) => [x, y] as const));
  if (pairs.some(([x, y]) => x.digit && y.digit)) return null;
  return plusSummands(
    [],
    pairs.map(([x, y]) => ({ ...timesProduct(x, y), digit: x.digit ?? y.digit })),
  );
}
