/** Which exit of a loop bounds its rounds. */
import { dominates } from '../../ir/form/dominators.ts';
import type { Kernel, Loop } from '../../ir/form/kernel.ts';
import { constant, type Expression } from '../expressions/expression.ts';
import { minimum } from '../expressions/order.ts';
import { lanesInMask } from '../lanes/warp-position.ts';
import type { TripCount } from './trip-count.ts';

/** The exit that bounds the rounds best. */
export function tightest(trips: readonly TripCount[]): TripCount | null {
  let found: TripCount | null = null;
  for (const trip of trips) if (!found || minimum(found.rounds, trip.rounds).key === trip.rounds.key) found = trip;
  return found;
}

/** The branch that decides on another round, where no other one leaves the loop: each round but the last stays there. */
export function decidingExit(
  { blocks, dominators }: Kernel,
  loop: Loop,
  rounds: Expression,
  mask: number,
): TripCount | null {
  const [exit, ...others] = loop.exits;
  if (!exit) return null;
  const { from } = exit;
  const staying = blocks[from]!.successors.filter((next) => loop.blocks.has(next));
  const isOnly = others.length === 0 && staying.length === 1;
  if (!isOnly || !loop.latches.every((latch) => dominates(dominators, from, latch))) return null;
  const spread = constant(Math.max(0, lanesInMask(mask).length - 1));
  return { from, stay: staying[0]!, rounds, spread, isDetermined: false, isExact: false };
}
