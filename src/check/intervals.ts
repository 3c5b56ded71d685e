/** Barrier intervals of a kernel, separately for threads of one warp, of one block and of different blocks. */
import type { Instruction } from '../ir/form/kernel.ts';
import type { ThreadGroup } from '../analysis/barriers/named-barrier.ts';
import type { UniformityResult } from '../analysis/values/uniformity.ts';
import type { Scoped } from './obligations/instance.ts';
import type { KernelAndLaunch, SymbolicFacts, BarrierFacts } from './context/facts.ts';
import { type OwnAccess, pendingCopies } from '../analysis/barriers/pending-copy.ts';
import { type ProxyCrossing, proxyCrossings } from '../analysis/barriers/proxy-order.ts';
import { type Interval, barrierIntervals, isGridBarrier, isWarpBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { GridGate } from './ordering/grid-gate.ts';
import type { BlockIntervals, ThreadIntervals } from './obligations/obligation.ts';
import type { WarpRelation } from './obligations/warp-collective-overlap.ts';

export interface KernelIntervals {
  readonly block: BlockIntervals;
  /** Intervals between barriers of the grid; null if the kernel has no such barriers. */
  readonly grid: readonly Interval[] | null;
  /** Pairs of an asynchronous copy and an access by the same thread before it waits for the copy. */
  readonly own: readonly OwnAccess[];
  /** Pairs that no barrier orders because a fence between proxies is missing. */
  readonly crossings: readonly ProxyCrossing[];
  /** Whether the list of intervals is incomplete. */
  readonly truncated: boolean;
}

/**
 * Barrier intervals for threads of one warp, of one block and of different blocks. If a barrier synchronises only some
 * threads, their intervals are separate.
 * @param somePart some threads return while others continue
 * @param gates barriers that are also barriers of the grid
 */
export function intervalsOf(
  {
    kernel,
    symbolic,
    accesses: plain,
    dimensions,
    request,
    inMemory,
    named,
    isBlockBarrier,
  }: KernelAndLaunch & SymbolicFacts & BarrierFacts,
  { block: ofBlock, grid: ofGrid }: Scoped<UniformityResult>,
  somePart: boolean,
  gates: readonly GridGate[] = [],
): KernelIntervals {
  const accesses = [...plain, ...inMemory.accesses];
  const hasBarrier = (isBarrier: (instruction: Instruction) => boolean): boolean =>
    kernel.blocks.some(({ instructions }) => instructions.some(isBarrier));
  const between = (isBarrier: (instruction: Instruction) => boolean, uniformity: UniformityResult, isOpen?: ThreadGroup['isOpen']) => {
    const copies = pendingCopies(symbolic, accesses, isBarrier, inMemory);
    const result = barrierIntervals(symbolic, accesses, uniformity, isBarrier, copies.at, inMemory.arrivals, isOpen);
    // If a thread returns without waiting for its copies, these stay pending, as no other thread waits for them.
    const rounds = kernel.loops.map(() => 'free' as const);
    const hasReturned = true as const;
    const abandoned = somePart ? copies.abandoned.map((access) => ({ access, rounds, path: [], hasReturned })) : [];
    const intervals = result.intervals.map((interval) =>
      abandoned.length > 0 ? { ...interval, occurrences: [...interval.occurrences, ...abandoned] } : interval,
    );
    return { intervals, own: copies.own, truncated: result.truncated };
  };
  const block = between(isBlockBarrier, ofBlock);
  const ends = new Set(gates.map(({ barrier }) => barrier));
  const endsPhase = (instruction: Instruction): boolean => isGridBarrier(instruction) || ends.has(instruction);
  const grid = hasBarrier(endsPhase) ? between(endsPhase, ofGrid) : null;
  const threads = dimensions.block.reduce<number>((product, size) => product * (size ?? Infinity), 1);
  const hasWarpBarriers = hasBarrier(isWarpBarrier);
  const areWarpsSeparate = hasWarpBarriers || request.policy.warpLockstep;
  let truncated = block.truncated || grid?.truncated === true;
  const groups: ThreadIntervals[] = [];
  const add = (warp: WarpRelation, one: ThreadGroup | null, other: ThreadGroup | null): void => {
    const isBarrier = (instruction: Instruction): boolean =>
      isBlockBarrier(instruction) ||
      (warp === 'same' && isWarpBarrier(instruction)) ||
      (one?.meets.has(instruction) === true && other?.meets.has(instruction) === true);
    const isUsual = !one && !(warp === 'same' && hasWarpBarriers);
    const first = isUsual ? block : between(isBarrier, ofBlock, one?.isOpen);
    const second = other === one ? first : between(isBarrier, ofBlock, other?.isOpen);
    truncated ||= first.truncated || second.truncated;
    const isOfBlock = ({ start }: Interval): boolean => start === null || isBlockBarrier(start.barrier);
    groups.push({
      warp,
      intervals: first.intervals,
      others: second.intervals,
      ...(one &&
        other && {
          members: [one.members, other.members],
          isOrdered: (interval, a, b) =>
            isOfBlock(interval) &&
            (named.handsOver(interval.start?.barrier ?? null, [one, a], [other, b]) ||
              named.handsOver(interval.start?.barrier ?? null, [other, b], [one, a])),
        }),
    });
  };
  const relations: readonly WarpRelation[] = !areWarpsSeparate ? [null] : threads > 32 ? ['same', 'different'] : ['same'];
  for (const warp of relations) {
    if (named.groups.length === 0) add(warp, null, null);
    for (const [i, one] of named.groups.entries()) for (const other of named.groups.slice(i)) add(warp, one, other);
  }
  const crossings = proxyCrossings(kernel, accesses);
  return { block: groups, grid: grid?.intervals ?? null, own: block.own, crossings, truncated };
}
