/** Relations between at most 32 events, as one word of successors for each. */

export type Relation = Int32Array;

export function emptyRelation(size: number): Relation {
  return new Int32Array(size);
}

export function relate(relation: Relation, from: number, to: number): void {
  relation[from]! |= 1 << to;
}

export function isRelated(relation: Relation, from: number, to: number): boolean {
  return ((relation[from]! >>> to) & 1) === 1;
}

export function union(...relations: readonly Relation[]): Relation {
  const all = new Int32Array(relations[0]!.length);
  for (const relation of relations) for (let from = 0; from < all.length; from++) all[from]! |= relation[from]!;
  return all;
}

/** First one step of `a`, then one of `b`. */
export function composed(a: Relation, b: Relation): Relation {
  const all = new Int32Array(a.length);
  for (let from = 0; from < a.length; from++) {
    for (let left = a[from]!; left !== 0; left &= left - 1) all[from]! |= b[31 - Math.clz32(left & -left)]!;
  }
  return all;
}

/** One step or more. */
export function closed(relation: Relation): Relation {
  const all = new Int32Array(relation);
  for (let via = 0; via < all.length; via++) {
    const onward = all[via]!;
    if (onward === 0) continue;
    for (let from = 0; from < all.length; from++) if (isRelated(all, from, via)) all[from]! |= onward;
  }
  return all;
}

export function isIrreflexive(relation: Relation): boolean {
  for (let event = 0; event < relation.length; event++) if (isRelated(relation, event, event)) return false;
  return true;
}

export function isAcyclic(relation: Relation): boolean {
  return isIrreflexive(closed(relation));
}
