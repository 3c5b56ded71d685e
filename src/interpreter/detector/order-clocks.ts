/** Events before the next instruction of a thread: by the certain and by the presumed order. */
import { type VectorClock, join, withCount } from './vector-clock.ts';

/**
 * Clocks of the certain and the presumed order; the latter includes the former. Usually they are equal: then the clock
 * itself is the pair.
 */
export interface OrderClocks {
  readonly definite: VectorClock;
  readonly presumed: VectorClock;
}

/** Clocks without events. */
export const nothing: OrderClocks = { definite: null, presumed: null };

/** The pair of a certain and a presumed clock. */
export function orderClocksOf(definite: VectorClock, presumed: VectorClock): OrderClocks {
  return definite === presumed ? (definite ?? nothing) : { definite, presumed };
}

/** The join of two pairs of clocks. */
export function both(a: OrderClocks, b: OrderClocks): OrderClocks {
  if (a === b || b === nothing) return a;
  if (a === nothing) return b;
  const definite = join(a.definite, b.definite);
  if (a.presumed === a.definite && b.presumed === b.definite) return definite!;
  const presumed = join(a.presumed, b.presumed);
  if (definite === a.definite && presumed === a.presumed) return a;
  return definite === b.definite && presumed === b.presumed ? b : orderClocksOf(definite, presumed);
}

/** The clocks with the count of a key added. */
export function withKnown(knowledge: OrderClocks, key: number, count: number): OrderClocks {
  const definite = withCount(knowledge.definite, key, count)!;
  if (knowledge.presumed === knowledge.definite) return definite;
  const presumed = withCount(knowledge.presumed, key, count);
  return definite === knowledge.definite && presumed === knowledge.presumed ? knowledge : orderClocksOf(definite, presumed);
}
