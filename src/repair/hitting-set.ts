/** Minimum-weight hitting sets, exactly, by branch and bound. */

interface HittingSets {
  /** All sets of minimum weight, up to the number requested, each ascending; empty if a clause is empty. */
  readonly sets: readonly (readonly number[])[];
  readonly weight: number;
  /** False if the search was cut short: then the sets hit every clause, but may not have minimum weight. */
  readonly exact: boolean;
}

/** Maximum number of branches of the search. */
const maxNodes = 200_000;

/**
 * Finds the lightest sets with an element of every clause (the positive clauses of a repair; excluded elements are
 * removed before).
 * @param weight of an element, positive
 * @param most sets of equal weight to return
 */
export function minimumHittingSets(
  clauses: readonly (readonly number[])[],
  weight: (element: number) => number,
  most: number,
): HittingSets {
  const needed = withoutSupersets(clauses.map((clause) => [...new Set(clause)].sort((a, b) => weight(a) - weight(b) || a - b)));
  if (needed.some((clause) => clause.length === 0)) return { sets: [], weight: Infinity, exact: true };
  let best = Infinity;
  let sets: number[][] = [];
  let nodes = 0;
  const chosen = new Set<number>();
  const excluded = new Set<number>();

  /** Lower bound of the weight that is needed to hit the open clauses: the sum over clauses that share no element. */
  function atLeast(open: readonly (readonly number[])[]): number {
    const used = new Set<number>();
    let sum = 0;
    for (const clause of open) {
      if (clause.some((element) => used.has(element))) continue;
      let least = Infinity;
      for (const element of clause) {
        used.add(element);
        if (!excluded.has(element)) least = Math.min(least, weight(element));
      }
      sum += least;
    }
    return sum;
  }

  function search(cost: number): void {
    if (++nodes > maxNodes) return;
    const open = needed.filter((clause) => !clause.some((element) => chosen.has(element)));
    if (open.length === 0) {
      if (cost < best) {
        best = cost;
        sets = [];
      }
      if (cost === best && sets.length < most) sets.push([...chosen].sort((a, b) => a - b));
      return;
    }
    const bound = cost + atLeast(open);
    if (bound > best || (bound === best && sets.length >= most)) return;
    const allowed = open.map((clause) => clause.filter((element) => !excluded.has(element)));
    const clause = allowed.reduce((a, b) => (b.length < a.length ? b : a));
    const tried: number[] = [];
    for (const element of clause) {
      chosen.add(element);
      search(cost + weight(element));
      chosen.delete(element);
      excluded.add(element);
      tried.push(element);
    }
    for (const element of tried) excluded.delete(element);
  }

  search(0);
  // A minimum-weight set contains no redundant element, since weights are positive.
  return { sets, weight: best, exact: nodes <= maxNodes };
}

/** A clause that contains another clause is redundant. */
export function withoutSupersets(clauses: readonly (readonly number[])[]): (readonly number[])[] {
  const kept: { readonly clause: readonly number[]; readonly elements: ReadonlySet<number> }[] = [];
  for (const clause of [...clauses].sort((a, b) => a.length - b.length)) {
    const elements = new Set(clause);
    if (!kept.some((smaller) => smaller.clause.every((element) => elements.has(element)))) kept.push({ clause, elements });
  }
  return kept.map(({ clause }) => clause);
}
