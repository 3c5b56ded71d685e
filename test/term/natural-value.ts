/** Values of the unknowns of a linear form, computed from the documentation of the linear view. */
import { evaluateTerm } from '../../src/term/evaluate-term.ts';
import { type Linear, type LinearView, inside, signedBounds, unsignedBounds } from '../../src/term/linear.ts';
import { type Term, isFactor24 } from '../../src/term/term.ts';

export interface Valuation {
  /** The bit pattern of a term. */
  readonly pattern: (term: Term) => bigint;
  /** The value of a linear form. */
  readonly form: (linear: Linear) => bigint;
  /** Whether none of the terms that a form assumes not to wrap around does. */
  readonly holds: (linear: Linear) => boolean;
}

/** Values of terms for given integers of the atoms. */
export function valuation(view: LinearView, atom: (leaf: Term) => bigint): Valuation {
  const patterns = new Map<Term, bigint | undefined>();
  const pattern = (term: Term): bigint => {
    const value = evaluateTerm(term, atom, patterns);
    if (value === undefined) throw new Error('a term without a value');
    return value;
  };
  const integers = new Map<Term, bigint>();
  const integer = (term: Term): bigint => {
    let value = integers.get(term);
    if (value === undefined) {
      value = compute(term);
      integers.set(term, value);
    }
    return value;
  };
  const form = (linear: Linear): bigint => {
    let total = linear.constant;
    for (const [term, coefficient] of linear.terms) total += coefficient * integer(term);
    return total;
  };
  const verdicts = new Map<Term, boolean>();
  const fits = (term: Term): boolean => {
    let verdict = verdicts.get(term);
    if (verdict === undefined) {
      // A factor of mul24 has its value before the upper bits were cut off; signed ones are shifted to the left by 8.
      const isFactor = isFactor24(term);
      const natural = view.natural(isFactor ? term.arguments[0]! : term);
      const isShifted = isFactor && term.operator === 'ashr';
      const value = form(natural) / (isShifted ? 256n : 1n);
      const { low, high } = isFactor ? (isShifted ? signedBounds(24) : unsignedBounds(24)) : signedBounds(term.width);
      verdict = natural.assumes.every(fits) && value >= low && value <= high;
      verdicts.set(term, verdict);
    }
    return verdict;
  };

  function compute(term: Term): bigint {
    const [a, b, c] = term.arguments as [Term, Term, Term];
    switch (term.operator) {
      case 'atom':
        return atom(term);
      case 'pure':
        return term.name === 'signed' ? BigInt.asIntN(a.width, pattern(a)) : pattern(a);
      case 'mul':
        return form(view.natural(a)) * form(view.natural(b));
      case 'select':
        return form(view.natural(pattern(a) === 1n ? b : c));
      case 'shl': {
        const range = view.unknownRange(term);
        if (!inside(range, signedBounds(term.width)) || pattern(b) >= 64n) return pattern(term);
        return form(view.natural(a)) << pattern(b);
      }
      default: {
        // The number of the range that is congruent to the pattern.
        const { low } = view.unknownRange(term);
        const modulus = 1n << BigInt(term.width);
        return low + ((((pattern(term) - low) % modulus) + modulus) % modulus);
      }
    }
  }

  return { pattern, form, holds: (linear) => linear.assumes.every(fits) };
}

/** Whether a range determines an integer by its pattern of a width. */
export function isRepresentative(linear: Linear, width: number): boolean {
  return inside(linear, signedBounds(width)) || inside(linear, unsignedBounds(width));
}
