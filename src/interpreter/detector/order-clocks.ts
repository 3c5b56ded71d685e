/** Events before the next instruction of a thread: by the certain and by the presumed order. */
import { type VectorClock, join, withCount } from './vector-clock.ts';

/**
 * Clocks of the certain and the presumed order; the latter includes the former. Usually they are equal, and no fence
 * matters: then the clock itself is the whole.
 */
export interface OrderClocks {
  readonly definite: VectorClock;
  readonly presumed: VectorClock;
  /** Events before some `fence.sc` operation that comes before. */
  readonly fenced: VectorClock;
  /** Events before a `fence.sc` operation that every later one must follow; they come before only after such a fence. */
  readonly pending: VectorClock;
}

/** Clocks without events. */
export const nothing: OrderClocks = { definite: null, presumed: null, fenced: null, pending: null };

/** The clocks of the certain and the presumed order, and those of fences. */
export function orderClocksOf(
  definite: VectorClock,
  presumed: VectorClock,
  fenced: VectorClock = null,
  pending: VectorClock = null,
): OrderClocks {
  const isPlain = definite === presumed && fenced === null && pending === null;
  return isPlain ? (definite ?? nothing) : { definite, presumed, fenced, pending };
}

/** The join of two clocks of orders. */
export function both(a: OrderClocks, b: OrderClocks): OrderClocks {
  if (a === b || b === nothing) return a;
  if (a === nothing) return b;
  const definite = join(a.definite, b.definite);
  const isPlain = a.presumed === a.definite && b.presumed === b.definite;
  const presumed = isPlain ? definite : join(a.presumed, b.presumed);
  const fenced = join(a.fenced, b.fenced);
  const pending = join(a.pending, b.pending);
  const isSame = (of: OrderClocks): boolean =>
    definite === of.definite && presumed === of.presumed && fenced === of.fenced && pending === of.pending;
  if (isSame(a)) return a;
  return isSame(b) ? b : orderClocksOf(definite, presumed, fenced, pending);
}

/** The clocks with the count of a key added. */
export function withKnown(knowledge: OrderClocks, key: number, count: number): OrderClocks {
  const definite = withCount(knowledge.definite, key, count);
  const presumed = knowledge.presumed === knowledge.definite ? definite : withCount(knowledge.presumed, key, count);
  if (definite === knowledge.definite && presumed === knowledge.presumed) return knowledge;
  return orderClocksOf(definite, presumed, knowledge.fenced, knowledge.pending);
}
