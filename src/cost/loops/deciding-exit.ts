/** The exit of a loop that bounds its trip count. */
import { dominates } from '../../ir/form/dominators.ts';
import type { Kernel, Loop } from '../../ir/form/kernel.ts';
import { constant, type Expression } from '../expressions/expression.ts';
import { minimum } from '../expressions/expression-order.ts';
import { lanesInMask } from '../lanes/warp-position.ts';
import type { TripCount } from './trip-count.ts';

/** The exit with the tightest bound of the trip count. */
export function tightest(trips: readonly TripCount[]): TripCount | null {
  let found: TripCount | null = null;
  for (const trip of trips) if (!found || minimum(found.rounds, trip.rounds).key === trip.rounds.key) found = trip;
  return found;
}

/**
 * The branch that decides on another iteration if no other branch leaves the loop: every iteration except the last
 * stays in the loop there.
 */
export function decidingExit({ blocks, dominators }: Kernel, loop: Loop, rounds: Expression, mask: number): TripCount | null {
  const [exit, ...others] = loop.exits;
  if (!exit) return null;
  const { from } = exit;
  const staying = blocks[from]!.successors.filter((next) => loop.blocks.has(next));
  const isOnly = others.length === 0 && staying.length === 1;
  if (!isOnly || !loop.latches.every((latch) => dominates(dominators, from, latch))) return null;
  const spread = constant(Math.max(0, lanesInMask(mask).length - 1));
  return { from, stay: staying[0]!, rounds, spread, isDetermined: false, isExact: false };
}
