/** What a thread knows to come before its next instruction: for certain, and presumably. */
import { type VectorClock, join, withCount } from './vector-clock.ts';

/** Clocks of the certain and the presumed order; the latter includes the former, and often is the same. */
export interface Knowledge {
  readonly sure: VectorClock;
  readonly presumed: VectorClock;
}

/** Knows of nothing. */
export const nothing: Knowledge = { sure: null, presumed: null };

/** What either knows. */
export function both(a: Knowledge, b: Knowledge): Knowledge {
  if (a === b || b === nothing) return a;
  if (a === nothing) return b;
  const sure = join(a.sure, b.sure);
  const simple = a.presumed === a.sure && b.presumed === b.sure;
  const presumed = simple ? sure : join(a.presumed, b.presumed);
  if (sure === a.sure && presumed === a.presumed) return a;
  return sure === b.sure && presumed === b.presumed ? b : { sure, presumed };
}

/** What knows of a count in addition. */
export function withKnown(knowledge: Knowledge, key: number, count: number): Knowledge {
  const sure = withCount(knowledge.sure, key, count);
  const presumed = knowledge.presumed === knowledge.sure ? sure : withCount(knowledge.presumed, key, count);
  return sure === knowledge.sure && presumed === knowledge.presumed ? knowledge : { sure, presumed };
}
