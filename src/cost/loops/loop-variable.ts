/** Loop variables that are never negative if arithmetic does not wrap around. */
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';
import { unread } from '../lanes/lane-values.ts';

/**
 * Variables without a closed form whose initial values are not negative, and whose next values are not negative if no
 * variable is. By the ID of the value.
 */
export function nonNegativeVariables({ kernel, value, operand, view }: SymbolicKernel): ReadonlySet<number> {
  const inputs = new Map<number, readonly Term[]>();
  for (const { header } of kernel.loops) {
    for (const phi of kernel.blocks[header]!.phis) {
      const { atom, width } = value(phi.result);
      if (atom?.kind === 'havoc' && width >= 32) inputs.set(phi.result, phi.inputs.map(operand));
    }
  }
  const found = new Set(inputs.keys());
  for (let before = found.size + 1; found.size < before;) {
    before = found.size;
    for (const variable of found)
      if (!inputs.get(variable)!.every((input) => isNonNegativeTerm(view, found, input))) found.delete(variable);
  }
  return found;
}

/**
 * Whether a term is not negative if some variables are not.
 * @param known - results for terms so far: they share their parts
 */
export function isNonNegativeTerm(
  view: SymbolicKernel['view'],
  variables: ReadonlySet<number>,
  term: Term,
  known = new Map<Term, boolean>(),
): boolean {
  let answer = known.get(term);
  if (answer === undefined) {
    answer = computeNonNegative(view, variables, term, (part) => isNonNegativeTerm(view, variables, part, known));
    known.set(term, answer);
  }
  return answer;
}

function computeNonNegative(
  view: SymbolicKernel['view'],
  variables: ReadonlySet<number>,
  term: Term,
  isSo: (part: Term) => boolean,
): boolean {
  const form = unread(view, term) ?? view.natural(term);
  if (form.low >= 0n) return true;
  if (form.terms.size > 1 || !form.terms.has(term))
    return form.constant >= 0n && [...form.terms].every(([part, factor]) => factor > 0n && isSo(part));
  const { atom, operator, arguments: parts } = term;
  if (atom) return atom.kind === 'havoc' && variables.has(atom.value);
  if (operator === 'select') return parts.slice(1).every(isSo);
  return ['mul', 'udiv', 'sdiv', 'lshr', 'ashr', 'urem', 'srem'].includes(operator) && parts.every(isSo);
}
