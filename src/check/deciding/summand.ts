/** Sums of digits times weights: the form in which the digit tier reads addresses. */
import type { Term } from '../../term/term.ts';
import { type SizeProduct, factorsLeft, timesProduct } from '../premises/size-order.ts';

/** A digit times its weight; without a digit, a value that all threads share. */
export interface Summand extends SizeProduct {
  readonly digit: Term | null;
}

/** Maximum number of expanded summands. */
export const maxSummands = 24;

/** Whether a sum is one digit without a weight: the quotient `8 * i / n`, written as `i / (n / 8)`. */
export function isOneDigit([only, ...others]: readonly Summand[], term: Term): boolean {
  return others.length === 0 && only?.digit === term && only.by === 1n && only.factors.length === 0;
}

/** Whether two products have the same constant and factors. */
export function isSameProduct(a: SizeProduct, b: SizeProduct): boolean {
  return a.by === b.by && a.factors.length === b.factors.length && factorsLeft(a.factors, b.factors) !== null;
}

/** a + by * b. */
export function plusSummands(a: readonly Summand[], b: readonly Summand[], by = 1n): readonly Summand[] {
  const sums = new Map<string, Summand>();
  const add = (one: Summand, factor: bigint): void => {
    const key = `${one.digit?.id ?? ''}|${one.factors.map((part) => part.key).join()}`;
    const total = (sums.get(key)?.by ?? 0n) + factor * one.by;
    if (total === 0n) sums.delete(key);
    else sums.set(key, { ...one, by: total });
  };
  for (const one of a) add(one, 1n);
  for (const one of b) add(one, by);
  return [...sums.values()];
}

/** a * b; null if both have digits, or if it is too long. */
export function timesSummands(a: readonly Summand[] | null, b: readonly Summand[] | null): readonly Summand[] | null {
  if (!a || !b || a.length * b.length > maxSummands) return null;
  let sum: readonly Summand[] = [];
  for (const x of a)
    for (const y of b) {
      if (x.digit && y.digit) return null;
      sum = plusSummands(sum, [{ ...timesProduct(x, y), digit: x.digit ?? y.digit }]);
    }
  return sum;
}
