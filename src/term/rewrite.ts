/** Rebuilds terms with parts replaced. */
import { isFactor24, type Term, type TermStore } from './term.ts';

/** Rebuilds a term with `replace` applied to its atoms (undefined leaves one unchanged). */
export function substituted(store: TermStore, term: Term, replace: (atom: Term) => Term | undefined, memo: Map<Term, Term>): Term {
  return rewritten(store, term, (next, of) => (of.operator === 'atom' ? (replace(of) ?? of) : next), memo);
}

/**
 * Rebuilds a term from its leaves up.
 * @param rule replaces a subterm; called with the subterm of rebuilt parts, and the subterm as it was
 */
export function rewritten(store: TermStore, term: Term, rule: (next: Term, of: Term) => Term, memo: Map<Term, Term>): Term {
  if (term.leaves.length === 0) return term;
  const known = memo.get(term);
  if (known) return known;
  const parts = term.arguments.map((part) => rewritten(store, part, rule, memo));
  const isChanged = parts.some((part, at) => part !== term.arguments[at]);
  const result = rule(isChanged ? rebuild(store, term, parts) : term, term);
  memo.set(term, result);
  return result;
}

function rebuild(store: TermStore, term: Term, parts: readonly Term[]): Term {
  const [a, b, c] = parts as [Term, Term, Term];
  if (isFactor24(term)) return store.factor24(term.operator === 'ashr', store.wholeFactor({ ...term, arguments: parts }));
  switch (term.operator) {
    case 'sum':
      return store.sum(
        term.width,
        term.value,
        parts.map((part, i) => [part, term.coefficients[i]!]),
      );
    case 'mul':
      return store.mul(term.width, a, b);
    case 'udiv':
    case 'sdiv':
    case 'urem':
    case 'srem':
      return store.divide(term.operator, term.width, a, b);
    case 'and':
      return store.and(term.width, a, b);
    case 'or':
      return store.or(term.width, a, b);
    case 'xor':
      return store.xor(term.width, a, b);
    case 'shl':
    case 'lshr':
    case 'ashr':
      return store.shift(term.operator, term.width, a, b);
    case 'zext':
      return store.zeroExtend(term.width, a);
    case 'sext':
      return store.signExtend(term.width, a);
    case 'trunc':
      return store.truncate(term.width, a);
    case 'select':
      return store.select(a, b, c);
    case 'pure':
      return store.pure(term.name, term.width, parts);
    case 'test':
      return store.test(term.name, parts);
    case 'equal':
      return store.equal(a, b);
    case 'ult':
      return store.unsignedLess(a, b);
    case 'slt':
      return store.signedLess(a, b);
    case 'not':
      return store.not(a);
    case 'differ':
      return store.differ(a, b);
    case 'all':
      return store.all(parts);
    case 'any':
      return store.any(parts);
    case 'constant':
    case 'atom':
      return term;
  }
}
