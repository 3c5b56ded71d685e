/** Events before the next instruction of a thread: by the certain and by the presumed order. */
import { type VectorClock, join, withCount } from './vector-clock.ts';

/**
 * Clocks of the certain and the presumed order; the latter includes the former. Usually they are equal: then the clock
 * itself is the pair.
 */
export interface OrderClocks {
  readonly sure: VectorClock;
  readonly presumed: VectorClock;
}

/** Knows of nothing. */
export const nothing: OrderClocks = { sure: null, presumed: null };

/** The knowledge of two clocks. */
export function orderClocksOf(sure: VectorClock, presumed: VectorClock): OrderClocks {
  return sure === presumed ? (sure ?? nothing) : { sure, presumed };
}

/** The join of both. */
export function both(a: OrderClocks, b: OrderClocks): OrderClocks {
  if (a === b || b === nothing) return a;
  if (a === nothing) return b;
  const sure = join(a.sure, b.sure);
  if (a.presumed === a.sure && b.presumed === b.sure) return sure!;
  const presumed = join(a.presumed, b.presumed);
  if (sure === a.sure && presumed === a.presumed) return a;
  return sure === b.sure && presumed === b.presumed ? b : orderClocksOf(sure, presumed);
}

/** The clocks with an additional count. */
export function withKnown(knowledge: OrderClocks, key: number, count: number): OrderClocks {
  const sure = withCount(knowledge.sure, key, count)!;
  if (knowledge.presumed === knowledge.sure) return sure;
  const presumed = withCount(knowledge.presumed, key, count);
  return sure === knowledge.sure && presumed === knowledge.presumed ? knowledge : orderClocksOf(sure, presumed);
}
