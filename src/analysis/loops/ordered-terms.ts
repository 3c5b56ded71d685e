/** Conditions as orders between two terms. */
import type { Term, TermStore } from '../../term/term.ts';

/** `smaller < larger` if strict, otherwise `smaller <= larger`. */
interface Comparison {
  readonly smaller: Term;
  readonly larger: Term;
  readonly strict: boolean;
  readonly signed: boolean;
}

/** Reads `a < b`, `not (a < b)` and `a != 0` as an order between two terms. */
export function readComparison(condition: Term): Comparison | null {
  const negated = condition.operator === 'not';
  const core = negated ? condition.arguments[0]! : condition;
  const [a, b] = core.arguments as [Term, Term];
  if (core.operator === 'slt' || core.operator === 'ult') {
    const signed = core.operator === 'slt';
    return negated ? { smaller: b, larger: a, strict: false, signed } : { smaller: a, larger: b, strict: true, signed };
  }
  if (core.operator === 'equal' && negated) {
    if (b.operator === 'constant' && b.value === 0n) return { smaller: b, larger: a, strict: true, signed: false };
    if (a.operator === 'constant' && a.value === 0n) return { smaller: a, larger: b, strict: true, signed: false };
  }
  return null;
}

/**
 * The limit on x that follows from a constant limit on nested `x / c`, `x >> c` and `x & (2^c - 1)`.
 * @returns the comparison of x, valid for values of x up to `most`; `most` is null if all values are valid
 */
export function uncovered(store: TermStore, comparison: Comparison): Comparison & { readonly most: bigint | null } {
  const { larger, strict, signed } = comparison;
  let { smaller } = comparison;
  const asIs = { ...comparison, most: null };
  const { width } = smaller;
  const largest = (1n << BigInt(signed ? width - 1 : width)) - 1n;
  if (larger.operator !== 'constant' || larger.value > largest || (strict && larger.value === 0n)) return asIs;
  let bound = strict ? larger.value - 1n : larger.value;
  let most: bigint | null = null;
  const through = (scale: bigint): void => {
    bound = bound * scale + scale - 1n;
    if (most !== null) most = most * scale + scale - 1n;
  };
  for (;;) {
    const [x, by] = smaller.arguments as [Term, Term];
    if (by?.operator !== 'constant') break;
    if (smaller.operator === 'and' && (by.value & (by.value + 1n)) === 0n && bound < by.value) {
      if (most === null || by.value < most) most = by.value;
    } else if (smaller.operator === 'lshr' && by.value < BigInt(width)) through(1n << by.value);
    else if (smaller.operator === 'udiv' && by.value > 0n) through(by.value);
    else break;
    smaller = x;
  }
  // An operation in between may have dropped the sign, so that the limit on x is unknown.
  if (smaller === comparison.smaller || bound > largest) return asIs;
  return { smaller, larger: store.constant(width, bound), strict: false, signed, most };
}
