/**
 * Numbers that advance in steps of a constant: if `n` is a multiple of 8, `8 * i / n` is `i / (n / 8)`, and `8 * i % n`
 * is `8 * (i % (n / 8))`.
 */
import { gcd } from '../base/integer.ts';
import type { Term, TermStore } from './term.ts';

/** The largest constant that divides all parts of a sum; 1 for other terms. */
export function commonStep({ operator, width, coefficients, value }: Term): bigint {
  if (operator !== 'sum') return 1n;
  return coefficients.reduce((step, by) => gcd(step, BigInt.asIntN(width, by)), BigInt.asIntN(width, value));
}

/**
 * A quotient or remainder whose number and divisor are divided by a step of the number.
 * @param step divides `commonStep` of the number, and the divisor for all values that it may have
 * @returns a term equal to the given one if its number does not wrap around and its divisor is not 0
 */
export function dividedBySteps(store: TermStore, term: Term, step: bigint): Term {
  const { width, operator } = term;
  if (!isDivision(operator)) return term;
  const [number, divisor] = term.arguments as [Term, Term];
  const part = dividedSum(store, number, step);
  const parts = store.divide(operator.startsWith('s') ? 'sdiv' : 'udiv', width, divisor, store.constant(width, step));
  const divided = store.divide(operator, width, part, parts);
  return operator.endsWith('div') ? divided : store.sum(width, 0n, [[divided, step]]);
}

function isDivision(operator: Term['operator']): operator is 'sdiv' | 'udiv' | 'srem' | 'urem' {
  return /^[us](?:div|rem)$/.test(operator);
}

/**
 * For a sum divided by a constant that divides each of its parts, the sum of the quotients; otherwise the given term.
 * @param isMultiple whether a factor of a product is taken as a multiple of the divisor: `i * ld / 32` is `i * (ld / 32)`
 */
export function wholeQuotient(store: TermStore, term: Term, isMultiple: (factor: Term) => boolean): Term {
  const [number, divisor] = term.arguments as [Term, Term];
  const { width, operator } = term;
  if ((operator !== 'sdiv' && operator !== 'udiv') || divisor.operator !== 'constant') return term;
  const by = BigInt.asIntN(width, divisor.value);
  if (by <= 1n || (number.operator !== 'sum' && number.operator !== 'mul')) return term;
  const isSum = number.operator === 'sum';
  const constant = isSum ? BigInt.asIntN(width, number.value) : 0n;
  const parts = (isSum ? number.arguments : [number]).map((part, at): readonly [Term, bigint] | null => {
    const coefficient = isSum ? BigInt.asIntN(width, number.coefficients[at]!) : 1n;
    const left = by / gcd(coefficient, by);
    const divided = left === 1n ? part : dividedFactor(part, left);
    return divided && [divided, coefficient / (by / left)];
  });
  if (constant % by !== 0n || parts.includes(null)) return term;
  return store.sum(
    width,
    constant / by,
    parts.flatMap((part) => (part ? [part] : [])),
  );

  function dividedFactor(part: Term, unit: bigint): Term | null {
    if (part.operator !== 'mul') return null;
    const [a, b] = part.arguments as [Term, Term];
    const quotient = (factor: Term): Term | null =>
      isMultiple(factor)
        ? store.divide(operator as 'sdiv' | 'udiv', width, factor, store.constant(width, unit))
        : dividedFactor(factor, unit);
    const first = quotient(a);
    if (first) return store.mul(width, first, b);
    const second = quotient(b);
    return second && store.mul(width, a, second);
  }
}

/** A sum with its parts divided by one of their common divisors. */
export function dividedSum(store: TermStore, { width, value, arguments: parts, coefficients }: Term, by: bigint): Term {
  const quotient = (one: bigint): bigint => BigInt.asIntN(width, one) / by;
  return store.sum(
    width,
    quotient(value),
    parts.map((part, at) => [part, quotient(coefficients[at]!)]),
  );
}
