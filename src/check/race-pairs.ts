/** The pairs of accesses that may race: those that no barrier, lock or slot allocation excludes. */
import type { AssumedFacts } from './context/assumed-facts.ts';
import type { KernelAndLaunch, OrderingFacts, SymbolicFacts } from './context/facts.ts';
import { slotCounter } from './context/warp-slot.ts';
import type { KernelIntervals } from './intervals.ts';
import type { Access } from '../analysis/values/access.ts';
import { type ConflictKind, conflictOf } from '../memory-model/conflict.ts';
import type { Reach } from '../memory-model/scope.ts';
import { type AccessPair, type Conflicts, type MayAlias, type PairBudget, blockPairs, gridPairs } from './obligations/obligation.ts';
import { type GridGate, areOfOneGate } from './ordering/grid-gate.ts';
import { areOfOneLocation, orderBetween } from './ordering/order.ts';

/** The assumption of `warp-lockstep`. */
const lockstep = 'the threads of a warp execute each instruction together, and see what the warp wrote before';

/** Limit on the number of conditions of all pairs of a kernel; chosen by hand: these are built within some seconds. */
const maxConditions = 1_000_000;

/**
 * Pairs of accesses that conflict and that no barrier orders, by threads of one block and of different blocks.
 * @returns the pairs, and whether the list is incomplete
 */
export function racingPairs(
  { symbolic, accesses, dimensions, request }: KernelAndLaunch & SymbolicFacts,
  intervals: KernelIntervals,
  mayAlias: MayAlias,
): { readonly pairs: readonly AccessPair[]; readonly isCut: boolean } {
  const oneBlock = dimensions.grid.every((size) => size === 1);
  // The single thread of a block conflicts only with its own asynchronous copies.
  const oneThread = dimensions.block.every((size) => size === 1);
  const { policy, launch } = request;
  const conflictAt = (a: Access, b: Access, distance: Reach): ConflictKind | null => {
    const kind = conflictOf(a, b, distance);
    return kind === 'volatile' && policy.volatile === 'allow' ? null : kind;
  };
  const conflicts: Conflicts = (a, b, scope) => {
    const kind = conflictAt(a, b, scope === 'block' ? 0 : 2);
    if (kind === null) return null;
    const isOfClusters = scope === 'grid' && launch.cluster !== null && conflictAt(a, b, 1) === null;
    return { kind, betweenClusters: isOfClusters ? launch.cluster : null };
  };
  const budget: PairBudget = { conditions: maxConditions };
  const pairs = [
    ...blockPairs(symbolic, oneThread ? { ...intervals, block: [] } : intervals, conflicts, mayAlias, policy.warpLockstep, budget),
    ...(oneBlock ? [] : gridPairs(symbolic, accesses, intervals.grid, conflicts, mayAlias, budget)),
  ];
  return { pairs, isCut: budget.conditions < 0 };
}

/** Pairs except those that are ordered by a lock, disjoint by slots allocated per warp, or part of synchronisation. */
export function unorderedPairs(
  facts: KernelAndLaunch & SymbolicFacts & OrderingFacts,
  pairs: readonly AccessPair[],
  mayAlias: MayAlias,
  assumed: AssumedFacts,
  gates: readonly GridGate[],
): readonly AccessPair[] {
  if (facts.request.policy.warpLockstep) assumed.add('warp-lockstep', lockstep);
  const locks = facts.synchronisation.filter(({ kind }) => kind === 'lock');
  return pairs.filter(({ scope, conflict, first, second }) => {
    if (areOfOneGate(gates, first, second)) return false;
    if (conflict === 'volatile' && areOfOneLocation(facts.synchronisation, first, second)) return false;
    const order = orderBetween(locks, scope, first, second);
    const lock = order?.kind === 'always' ? order.by : null;
    if (lock?.counter) assumed.addCounter(lock.counter.targets[0]!.base, lock.counter.bytes);
    const slots = !lock && first === second ? slotCounter(facts, first, mayAlias) : null;
    if (!slots || (scope === 'grid' && slots.memory !== 'global')) return !lock;
    assumed.addCounter(slots.targets[0]!.base, slots.bytes);
    return false;
  });
}
