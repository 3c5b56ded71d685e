/** Which round of a loop a path is in, relative to a moment: the start of a barrier interval, or an access. */

/**
 * - `same`: the round in which the moment was, shared by all threads that passed the start of the interval;
 * - `next`: the round after it; `same-2`, `same+3`: so many rounds before or after it;
 * - `first`: the first round of a run that began since, and no second round without a barrier; `first+2`: the third;
 * - `free`: any round, each thread its own;
 * - `left`: entered and left since, all threads after the same number of rounds;
 * - `before`: last run before the moment; `before-2`: two rounds before the one in which that run ended.
 */
export type IterationRelation =
  | 'same'
  | 'next'
  | 'first'
  | 'free'
  | 'left'
  | 'before'
  | `${'same' | 'first'}+${number}`
  | `${'same' | 'before'}-${number}`;

interface IterationRelationParts {
  readonly base: 'same' | 'first' | 'free' | 'left' | 'before';
  /** Rounds after the one that `base` names; negative: before it. */
  readonly by: number;
}

/** Takes a state apart. */
export function parseIterationRelation(state: IterationRelation): IterationRelationParts {
  if (state === 'next') return { base: 'same', by: 1 };
  const [, base, by] = /^([a-z]+)([+-]\d+)?$/.exec(state)!;
  return { base: base as IterationRelationParts['base'], by: Number(by ?? 0) };
}

/** The round `by` rounds after the one in which the moment was. */
export function sameIteration(by: number): IterationRelation {
  if (by === 0) return 'same';
  if (by === 1) return 'next';
  return by > 0 ? `same+${by}` : `same-${-by}`;
}

/** Round number `by`, from 0, of a run that began since. */
export function iterationOfExecution(by: number): IterationRelation {
  return by === 0 ? 'first' : `first+${by}`;
}

/** The round `by` rounds before the one in which the last run before the moment ended. */
export function iterationBeforeEnd(by: number): IterationRelation {
  return by === 0 ? 'before' : `before-${by}`;
}

const letters: Readonly<Record<IterationRelationParts['base'], string>> = {
  same: 's', first: 'f', free: 'x', left: 'l', before: 'b',
}; // oxfmt-ignore

/** A state as part of the name of an unknown. */
export function iterationCode(state: IterationRelation): string {
  const { base, by } = parseIterationRelation(state);
  return letters[base] + (by === 0 ? '' : by > 0 ? `p${by}` : `m${-by}`);
}
