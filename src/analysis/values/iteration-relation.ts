/** The iteration of a loop that a path is in, relative to a point: the start of a barrier interval, or an access. */

/**
 * - `same`: the iteration of that point, shared by all threads that passed the start of the interval;
 * - `next`: the iteration after it; `same-2`, `same+3`: two iterations before, three after it;
 * - `first`: the first iteration of an execution of the loop that began since, and no second one without a barrier;
 *   `first+2`: the third;
 * - `free`: any iteration, per thread;
 * - `left`: entered and left since, all threads after the same number of iterations;
 * - `before`: last executed before that point; `before-2`: two iterations before the last one of that execution.
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
  /** Iterations after the one that `base` denotes; negative: before it. */
  readonly by: number;
}

/** Parses a relation. */
export function parseIterationRelation(state: IterationRelation): IterationRelationParts {
  if (state === 'next') return { base: 'same', by: 1 };
  const [, base, by] = /^([a-z]+)([+-]\d+)?$/.exec(state)!;
  return { base: base as IterationRelationParts['base'], by: Number(by ?? 0) };
}

/** The iteration `by` iterations after that of the reference point. */
export function sameIteration(by: number): IterationRelation {
  if (by === 0) return 'same';
  if (by === 1) return 'next';
  return by > 0 ? `same+${by}` : `same-${-by}`;
}

/** Iteration `by`, from 0, of an execution of the loop that began since. */
export function iterationOfExecution(by: number): IterationRelation {
  return by === 0 ? 'first' : `first+${by}`;
}

/** The iteration `by` iterations before the last one of the last execution before the reference point. */
export function iterationBeforeEnd(by: number): IterationRelation {
  return by === 0 ? 'before' : `before-${by}`;
}

const letters: Readonly<Record<IterationRelationParts['base'], string>> = {
  same: 's',
  first: 'f',
  free: 'x',
  left: 'l',
  before: 'b',
};

/** A relation as a part of the name of an unknown value. */
export function iterationCode(state: IterationRelation): string {
  const { base, by } = parseIterationRelation(state);
  return letters[base] + (by === 0 ? '' : by > 0 ? `p${by}` : `m${-by}`);
}
