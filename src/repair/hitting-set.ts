/** A minimum-weight hitting set, by branch and bound. */

/** Maximum number of branches of the search: for 60 clauses of 4 among 60 elements it takes a second. */
const maxNodes = 200_000;

/**
 * Finds a lightest set with an element of every clause (the positive clauses of a repair; excluded elements are removed
 * before). If the search is cut short, the set may not be the lightest.
 * @param weight of an element, positive
 * @returns the set, ascending; null if a clause is empty
 */
export function lightestHittingSet(clauses: readonly (readonly number[])[], weight: (element: number) => number): readonly number[] | null {
  const needed = withoutSupersets(clauses.map((clause) => [...new Set(clause)].sort((a, b) => weight(a) - weight(b) || a - b)));
  let best = Infinity;
  let lightest: number[] | null = null;
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
      if (cost < best) [best, lightest] = [cost, [...chosen].sort((a, b) => a - b)];
      return;
    }
    if (cost + atLeast(open) >= best) return;
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
  return lightest;
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
