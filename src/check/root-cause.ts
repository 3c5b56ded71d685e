/** Groups races that one missing order would separate. Each group is one finding. */
import type { Access } from '../analysis/values/access.ts';
import { connected } from '../base/connected.ts';
import { isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { Instruction, Kernel } from '../ir/form/kernel.ts';
import { BarrierFreePaths, type PlaceMask, intersection, isEmpty } from './obligations/barrier-free-paths.ts';
import type { PairScope } from './obligations/instance.ts';

/** The properties of a pair of accesses that determine its cause. */
interface Pair {
  readonly scope: PairScope;
  readonly first: Pick<Access, 'instruction' | 'operation'>;
  readonly second: Pick<Access, 'instruction' | 'operation'>;
}

interface Group<Of> {
  readonly scope: PairScope;
  place: PlaceMask | null;
  readonly members: [Of, ...Of[]];
}

/**
 * Groups pairs of one array by the missing order between their accesses. Pairs have one cause if they have a common
 * place at which a barrier would separate each of them.
 *
 * Two threads that reach both accesses of a pair within one barrier interval do so without a barrier in between.
 * Threads of a block pass a barrier together. So a barrier that separates the two is after the access of one thread and
 * before that of the other. Pairs of threads of different blocks are separated by barriers of the grid. In a kernel
 * without these barriers such pairs are one cause, as nothing orders blocks.
 *
 * If two threads store to one element, the bug is not a missing barrier between one store and a load: the threads share
 * an element that should be private to one of them. So races with either store have that cause, too.
 *
 * @param isBarrier - whether all threads of the block synchronise at an instruction
 * @returns the pairs in groups; groups and pairs are in the order of `pairs`
 */
export function groupByCause<Of extends Pair>(
  kernel: Kernel,
  pairs: readonly Of[],
  isBarrier: (instruction: Instruction) => boolean,
): readonly (readonly [Of, ...Of[]])[] {
  const hasGridBarrier = kernel.blocks.some(({ instructions }) => instructions.some(isGridBarrier));
  const inBlock = new BarrierFreePaths(kernel, isBarrier);
  const inGrid = hasGridBarrier ? new BarrierFreePaths(kernel, isGridBarrier) : null;
  const groups: Group<Of>[] = [];
  for (const pair of pairs) {
    const paths = pair.scope === 'grid' ? inGrid : inBlock;
    const place = paths?.between(pair.first.instruction, pair.second.instruction) ?? null;
    let joined = false;
    for (const group of groups) {
      if (group.scope !== pair.scope) continue;
      const common = group.place && place ? intersection(group.place, place) : null;
      if (common && isEmpty(common)) continue;
      group.place = common;
      group.members.push(pair);
      joined = true;
      break;
    }
    if (!joined) groups.push({ scope: pair.scope, place, members: [pair] });
  }
  const numbers = new Map(groups.flatMap(({ members }, number) => members.map((pair) => [pair, `${number}`])));
  const storesOf = sharedStores(pairs);
  return connected(pairs, (pair) => [numbers.get(pair)!, ...storesOf(pair)]);
}

/** For each pair, the names of those of its stores that race with a store. */
function sharedStores<Of extends Pair>(pairs: readonly Of[]): (pair: Of) => readonly string[] {
  const storesOf = ({ scope, first, second }: Of): string[] =>
    [first, second].flatMap(({ instruction, operation }) => (operation === 'write' ? [`${scope} ${instruction.id}`] : []));
  const shared = new Set(pairs.map(storesOf).flatMap((names) => (names.length > 1 ? names : [])));
  return (pair) => storesOf(pair).filter((name) => shared.has(name));
}
