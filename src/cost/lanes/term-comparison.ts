/** Conditions of branches, read as comparisons. */
import type { Term, TermStore } from '../../term/term.ts';

/** The conjuncts of a condition. */
export function conjuncts(store: TermStore, condition: Term): readonly Term[] {
  if (condition.operator === 'all') return condition.arguments;
  const [inner] = condition.arguments;
  const isNone = condition.operator === 'not' && inner!.operator === 'any';
  return isNone ? inner!.arguments.map((part) => store.not(part)) : [condition];
}

/** `smaller < larger`, or `<=`, or `smaller != larger`. */
export interface TermComparison {
  readonly smaller: Term;
  readonly larger: Term;
  /** `differ`: the loop continues while the two are not equal. */
  readonly kind: 'strict' | 'weak' | 'differ';
  readonly signed: boolean;
}

/** A condition as a comparison; null for other conditions. */
export function comparisonOf(condition: Term): TermComparison | null {
  const negated = condition.operator === 'not';
  const core = negated ? condition.arguments[0]! : condition;
  const [a, b] = core.arguments as [Term, Term];
  if (core.operator === 'slt' || core.operator === 'ult') {
    const signed = core.operator === 'slt';
    return negated ? { smaller: b, larger: a, kind: 'weak', signed } : { smaller: a, larger: b, kind: 'strict', signed };
  }
  return core.operator === 'equal' && negated ? { smaller: a, larger: b, kind: 'differ', signed: false } : null;
}
