/** What a thread knows to come before its next instruction: for certain, and presumably. */
import { type VectorClock, join, withCount } from './vector-clock.ts';

/**
 * Clocks of the certain and the presumed order; the latter includes the former. Mostly they are the same: then a clock is
 * its own knowledge.
 */
export interface Knowledge {
  readonly sure: VectorClock;
  readonly presumed: VectorClock;
}

/** Knows of nothing. */
export const nothing: Knowledge = { sure: null, presumed: null };

/** The knowledge of two clocks. */
export function knowledgeOf(sure: VectorClock, presumed: VectorClock): Knowledge {
  return sure === presumed ? (sure ?? nothing) : { sure, presumed };
}

/** What either knows. */
export function both(a: Knowledge, b: Knowledge): Knowledge {
  if (a === b || b === nothing) return a;
  if (a === nothing) return b;
  const sure = join(a.sure, b.sure);
  if (a.presumed === a.sure && b.presumed === b.sure) return sure!;
  const presumed = join(a.presumed, b.presumed);
  if (sure === a.sure && presumed === a.presumed) return a;
  return sure === b.sure && presumed === b.presumed ? b : knowledgeOf(sure, presumed);
}

/** What knows of a count in addition. */
export function withKnown(knowledge: Knowledge, key: number, count: number): Knowledge {
  const sure = withCount(knowledge.sure, key, count)!;
  if (knowledge.presumed === knowledge.sure) return sure;
  const presumed = withCount(knowledge.presumed, key, count);
  return sure === knowledge.sure && presumed === knowledge.presumed ? knowledge : knowledgeOf(sure, presumed);
}
