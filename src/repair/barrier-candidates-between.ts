/** Candidates between two accesses: the accesses are ordered only if one of the candidates becomes a barrier. */
import { isStrong } from '../memory-model/fence.ts';
import { isFullBarrier, isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { BlockId, Instruction, InstructionId, Kernel } from '../ir/form/kernel.ts';
import { isCandidate } from '../ir/form/switch-markers.ts';

/**
 * The markers on paths from one instruction to another, in either direction, that have no barrier yet.
 *
 * If two threads execute the two accesses within one barrier interval, each has reached its access from the start of
 * the interval without a barrier. Barriers are passed by all threads of a block together, so a barrier that separates
 * the accesses is passed by one of the threads after its access and by the other before its own: it is on such a path.
 *
 * @param kernel with its markers
 * @param isBarrier whether a marker is a barrier by now
 * @param scope of the two threads: barriers of a block do not order threads of different blocks
 * @param known earlier results for the same barriers; of many pairs, many share an access
 * @returns numbers of markers
 */
export function markersBetween(
  kernel: Kernel,
  first: InstructionId,
  second: InstructionId,
  isBarrier: (marker: number) => boolean,
  scope: 'block' | 'grid',
  known: KnownWays = new Map(),
): ReadonlySet<number> {
  const between = new Set<number>();
  const reach = (start: InstructionId, direction: 'forward' | 'backward'): Reached => {
    const own = known.get(kernel) ?? new Map<string, Reached>();
    known.set(kernel, own);
    const key = `${start}${scope}${direction}`;
    const reached = own.get(key) ?? markersReached(kernel, start, isBarrier, scope, direction);
    own.set(key, reached);
    return reached;
  };
  for (const [from, to] of first === second
    ? [[first, second]]
    : [
        [first, second],
        [second, first],
      ]) {
    const forward = reach(from!, 'forward');
    const backward = reach(to!, 'backward');
    for (const id of forward.markers) if (backward.markers.has(id)) between.add(forward.numbers.get(id)!);
  }
  return between;
}

interface Reached {
  readonly markers: ReadonlySet<InstructionId>;
  readonly numbers: ReadonlyMap<InstructionId, number>;
}

/** The markers on paths from and to instructions, by kernel. */
export type KnownWays = Map<Kernel, Map<string, Reached>>;

/** The markers on barrier-free paths that start, or end, at an instruction. */
function markersReached(
  kernel: Kernel,
  start: InstructionId,
  isBarrier: (marker: number) => boolean,
  scope: 'block' | 'grid',
  direction: 'forward' | 'backward',
): Reached {
  const numbers = new Map<InstructionId, number>();
  const home = kernel.blocks.find(({ instructions }) => instructions.some(({ id }) => id === start));
  if (!home) return { markers: new Set(), numbers };
  const step = direction === 'forward' ? 1 : -1;
  const seen = new Set<BlockId>();
  const work: { readonly block: BlockId; readonly at: number }[] = [
    { block: home.id, at: home.instructions.findIndex(({ id }) => id === start) + step },
  ];
  for (let item = work.pop(); item; item = work.pop()) {
    const block = kernel.blocks[item.block]!;
    let stopped = false;
    for (let at = item.at; at >= 0 && at < block.instructions.length; at += step) {
      const instruction = block.instructions[at]!;
      const marker = isCandidate(instruction) ? instruction.marker!.number! : undefined;
      const stops = marker === undefined ? (scope === 'grid' ? isGridBarrier : isFullBarrier)(instruction) : isBarrier(marker);
      if (stops) {
        stopped = true;
        break;
      }
      if (marker !== undefined) numbers.set(instruction.id, marker);
    }
    if (stopped) continue;
    for (const next of direction === 'forward' ? block.successors : block.predecessors) {
      if (seen.has(next)) continue;
      seen.add(next);
      work.push({ block: next, at: direction === 'forward' ? 0 : kernel.blocks[next]!.instructions.length - 1 });
    }
  }
  return { markers: new Set(numbers.keys()), numbers };
}

/** The markers with some access before and some access after them: a barrier at any other marker orders nothing. */
export function markersAmongAccesses(kernel: Kernel): ReadonlySet<number> {
  const touches = ({ operation: { effect } }: Instruction): boolean =>
    !['pure', 'havoc', 'trap'].includes(effect.kind) &&
    !((effect.kind === 'load' || effect.kind === 'store') && ['param', 'const', 'local'].includes(effect.space));
  const before = new Set<number>();
  const after = new Set<number>();
  for (const [direction, found] of [
    ['forward', before],
    ['backward', after],
  ] as const) {
    const done = new Set<BlockId>();
    const work = kernel.blocks.filter(({ instructions }) => instructions.some(touches)).map(({ id }) => id);
    const partial = new Set(work);
    for (let id = work.pop(); id !== undefined; id = work.pop()) {
      const block = kernel.blocks[id]!;
      const entered = done.has(id);
      const list = direction === 'forward' ? block.instructions : [...block.instructions].reverse();
      const from = entered || !partial.has(id) ? 0 : list.findIndex(touches);
      for (const instruction of list.slice(from)) if (isCandidate(instruction)) found.add(instruction.marker!.number!);
      for (const next of direction === 'forward' ? block.successors : block.predecessors) {
        if (done.has(next)) continue;
        done.add(next);
        work.push(next);
      }
    }
  }
  return new Set([...before].filter((marker) => after.has(marker)));
}

/** Whether threads may publish memory to each other by other means than barriers. */
export function containsAtomics({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) => instructions.some(isStrong));
}

/** Whether there are barriers in memory, or of part of a block: another barrier can disturb their order. */
export function holdsOtherBarriers({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) =>
    instructions.some(
      (instruction) =>
        instruction.operation.effect.kind === 'mbarrier' ||
        (instruction.operation.effect.kind === 'barrier' && !isFullBarrier(instruction)),
    ),
  );
}
