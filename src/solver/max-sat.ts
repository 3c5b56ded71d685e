/** Weighted MaxSAT of the form that a repair asks (paper 003, section 2.4): hard clauses without negation, soft units. */
import type { Solver } from './solver.ts';

interface LightestSet {
  /** Ascending. */
  readonly set: readonly number[];
  readonly weight: number;
  /** Whether Z3 has proved that no lighter set exists. */
  readonly exact: boolean;
}

/** Bounds on the search, counted so that the same question gets the same answer. */
interface MaxSatBudget {
  /** Z3's rlimit for each question. */
  readonly units: number;
  readonly questions: number;
}

/**
 * The set of least total weight that contains an element of every clause. Each element is a Boolean, each clause is a
 * hard constraint, and the negation of each element is a soft constraint with its weight. Models are requested, each
 * lighter than the one before, until none exists.
 * @param weight of an element: a positive integer
 * @returns null if no set satisfies the clauses, or the budget ran out before one was found
 */
export async function lightestSet(
  solver: Solver,
  clauses: readonly (readonly number[])[],
  weight: (element: number) => number,
  { units, questions }: MaxSatBudget,
): Promise<LightestSet | null> {
  const elements = [...new Set(clauses.flat())].sort((a, b) => a - b);
  if (clauses.some(({ length }) => length === 0)) return null;
  if (elements.length === 0) return { set: [], weight: 0, exact: true };
  const name = (element: number): string => `x${element}`;
  const session = solver.open();
  try {
    session.add(elements.map((element) => `(declare-const ${name(element)} Bool)`).join('\n'));
    for (const clause of clauses) session.add(`(assert (or false ${clause.map(name).join(' ')}))`);
    const terms = elements.map((element) => `(ite ${name(element)} ${weight(element)} 0)`);
    session.add(`(define-fun total () Int (+ 0 ${terms.join(' ')}))`);
    let best: LightestSet | null = null;
    for (let asked = 0; asked < questions; asked++) {
      const answer = await session.check([], units);
      if (answer.kind === 'unsat') return best && { ...best, exact: true };
      if (answer.kind === 'unknown') return best;
      const { model } = answer;
      const set = elements.filter((element) => model.get(name(element)) === true);
      best = { set, weight: set.reduce((sum, element) => sum + weight(element), 0), exact: false };
      session.add(`(assert (< total ${best.weight}))`);
    }
    return best;
  } finally {
    session.dispose();
  }
}
