/**
 * Whether two threads of a pair overlap in a launch, by the terms of their addresses and paths and without a run. It
 * shows on which numbers of our choosing a race depends: some hundred launches cost less than one run.
 */
import { type Dim3, extentProduct } from '../../base/dim3.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import type { Term } from '../../term/term.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { type Instances, isOfOneThread } from '../obligations/instance.ts';
import type { AccessPair, Obligation } from '../obligations/obligation.ts';
import type { LaunchInstance } from '../representative/representative-launches.ts';
import { type Lane, type OverlapEffort, type Touched, type Tried, SideOfLaunch, combinations, scalarsOf } from './lanes-of-access.ts';
import { blockAt, cornersOf, endsOf } from './some-blocks.ts';

/**
 * Limits on the threads and iterations of a side, the smaller one first: of larger launches, the first and the last
 * blocks are taken.
 */
const mostLanes = [1024, 16_384] as const;

/**
 * Whether a pair overlaps in a launch: two threads overlap or not, no two threads (blocks) perform both accesses, or that
 * is not known.
 */
export type OverlapInLaunch =
  /** `blocks`: those of two threads that overlap, as linear indices. */
  { readonly kind: 'overlap'; readonly blocks: readonly number[] } | { readonly kind: 'none' | 'idle' | 'unknown' };

/** Number of accesses of one element that are compared with others. */
const mostPerElement = 4;

/**
 * Whether some two threads of a pair overlap in a launch, for the threads and iterations that are tried. Conditions on
 * values that are not known, such as elements of arrays, are ignored.
 * @param effort what is spent is subtracted
 * @returns `unknown` if an address depends on such a value, or the pair is not one of two threads and plain addresses
 */
export function overlapsIn(
  { fields }: Pick<KernelAndLaunch, 'fields'>,
  instances: Instances,
  { obligations }: AccessPair,
  launch: LaunchInstance,
  effort: OverlapEffort,
): OverlapInLaunch {
  const scalar = scalarsOf({ fields }, launch);
  const found = obligations.map((obligation) => overlaps(obligation, instances, launch, scalar, effort));
  const order = ['overlap', 'unknown', 'none', 'idle'] as const;
  return order.flatMap((kind) => found.find((one) => one.kind === kind) ?? [])[0] ?? { kind: 'idle' };
}

function overlaps(
  obligation: Obligation,
  instances: Instances,
  launch: LaunchInstance,
  scalar: (leaf: Term) => bigint | undefined,
  effort: OverlapEffort,
): OverlapInLaunch {
  const { scope, sameThread, mayBeOne, elements, starts, betweenClusters, resolved } = obligation;
  if (!resolved || sameThread || mayBeOne || elements || starts || betweenClusters) return { kind: 'unknown' };
  const sides = [obligation.first, obligation.second] as const;
  const isKnown = (leaf: Term): boolean => {
    const { kind } = leaf.atom!;
    if (kind === 'parameter') return scalar(leaf) !== undefined;
    return kind !== 'havoc' && kind !== 'phi' && kind !== 'line';
  };
  if (!sides.every(({ target }) => target.offset.leaves.every(isKnown))) return { kind: 'unknown' };
  const counting = sides.map((side) => new SideOfLaunch(side, instances, launch, scalar, effort)) as [SideOfLaunch, SideOfLaunch];
  const blocks = blocksOf(launch.grid, scope);
  const tried = blocks.map((among) => counting.map((side) => side.iterationsTried(among)) as [Tried, Tried]);
  let isIdle = true;
  for (const lanes of mostLanes)
    for (const [number, among] of blocks.entries()) {
      const [first, second] = tried[number]!;
      const shared = new Map([...first, ...second].filter(([name]) => !isOfOneThread(name)));
      const own = [first, second].map((all) => combinations(new Map([...all].filter(([name]) => isOfOneThread(name)))));
      for (const iterations of combinations(shared)) {
        const lists = counting.map((side, at) => side.touched(among, own[at]!, iterations, lanes));
        if (isIdle && areOfSeveral(obligation.scope, lists as [Touched, Touched])) isIdle = false;
        const found = meeting(obligation, lists as [Touched, Touched]);
        if (found) return { kind: 'overlap', blocks: blockNumbers(launch.grid, found) };
      }
    }
  return { kind: isIdle ? 'idle' : 'none' };
}

/** The linear indices of the blocks of some threads. */
function blockNumbers([x, y]: Dim3, lanes: readonly Lane[]): readonly number[] {
  return [...new Set(lanes.map(({ block }) => block[0] + x * (block[1] + y * block[2])))];
}

/** Whether two different threads, or threads of two blocks, perform the two accesses. */
function areOfSeveral(scope: Obligation['scope'], [one, other]: readonly [Touched, Touched]): boolean {
  const isOther = (a: Lane, b: Lane): boolean => a.home !== b.home || (scope !== 'grid' && a.rank !== b.rank);
  const [first, second] = [one.lanes[0], other.lanes[0]];
  return (
    first !== undefined &&
    second !== undefined &&
    (other.lanes.some((lane) => isOther(first, lane)) || one.lanes.some((lane) => isOther(second, lane)))
  );
}

/** Limit on the blocks of a grid of which all are tried. */
const fewBlocks = 64;

/** The blocks that are tried, as lists of those among which the two threads are. */
function blocksOf(grid: Dim3, scope: Obligation['scope']): readonly (readonly Dim3[])[] {
  const at = (numbers: readonly number[]): readonly Dim3[] => numbers.map((number) => blockAt(grid, number));
  if (scope === 'block') return at(endsOf(grid)).map((block) => [block]);
  const count = extentProduct(grid);
  return [at(count <= fewBlocks ? [...Array(count).keys()] : cornersOf(grid))];
}

/** Two different threads, or threads of two blocks, that touch one byte; null if no such threads exist. */
function meeting({ scope, warp, first, second }: Obligation, [one, other]: readonly [Touched, Touched]): readonly [Lane, Lane] | null {
  const [a, b] = [first.access.bytes, second.access.bytes];
  const unit = Math.min(a, b);
  const isOtherThread = (p: Lane, q: Lane): boolean => {
    if (scope === 'grid') return p.home !== q.home;
    const isSameWarp = Math.floor(p.rank / warpSize) === Math.floor(q.rank / warpSize);
    return p.rank !== q.rank && (warp === null || (warp === 'same') === isSameWarp);
  };
  const touching = new Map<number, number[]>();
  for (let at = 0; at < one.starts.length; at++) {
    const start = one.starts[at]!;
    for (let piece = Math.floor(start / unit); piece <= Math.floor((start + a - 1) / unit); piece++) {
      const list = touching.get(piece) ?? [];
      touching.set(piece, list);
      const isNew = list.length < mostPerElement && list.every((known) => isOtherThread(one.lanes[known]!, one.lanes[at]!));
      if (isNew) list.push(at);
    }
  }
  for (const [at, start] of other.starts.entries())
    for (let piece = Math.floor(start / unit); piece <= Math.floor((start + b - 1) / unit); piece++)
      for (const candidate of touching.get(piece) ?? []) {
        const begin = one.starts[candidate]!;
        const [p, q] = [one.lanes[candidate]!, other.lanes[at]!];
        if (begin < start + b && start < begin + a && isOtherThread(p, q)) return [p, q];
      }
  return null;
}

/**
 * The launch instances in which a pair overlaps, with the blocks, before those of which that is not known. Of those in
 * which it does not overlap, the first and the last one are run, since not all threads and iterations are evaluated.
 */
export function likelyFirst(
  settings: readonly LaunchInstance[],
  overlapIn: (launch: LaunchInstance) => OverlapInLaunch,
): readonly { readonly setting: LaunchInstance; readonly blocks: readonly number[] | null }[] {
  const all = settings.map((setting) => {
    const found = overlapIn(setting);
    return { setting, kind: found.kind, blocks: found.kind === 'overlap' ? found.blocks : null };
  });
  const overlapping = all.filter(({ kind }) => kind === 'overlap');
  const unknown = all.filter(({ kind }) => kind === 'unknown');
  const others = all.filter((one) => !overlapping.includes(one) && !unknown.includes(one));
  return [...overlapping, ...unknown, ...others.filter((_, at) => at === 0 || at === others.length - 1)];
}
