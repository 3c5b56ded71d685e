/** What would make a kernel idempotent that is not. Each remedy is verified: the changed kernel is classified. */
import { isFullBarrier, isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import { canReach, pointDominates, pointsOf, type ProgramPoint } from '../analysis/values/program-point.ts';
import type { Instruction, Kernel } from '../ir/form/kernel.ts';
import type { Location } from '../source/location.ts';
import { fieldName } from '../launch/parameter-field.ts';
import { type Classification, type ClassifyRequest, classify } from './classify.ts';
import { sourcePlaces } from './effects.ts';

/**
 * What would make a kernel idempotent that reads arrays and writes them afterwards: to write other arrays instead. The
 * kernel that does is classified.
 * @returns its class and condition, and the names of those arrays; null where that does not help, or changes what the
 *   kernel computes
 */
export function classifyElsewhere(
  request: ClassifyRequest,
  { rewritten }: Classification,
): { readonly arrays: readonly string[]; readonly changed: Classification } | null {
  if (rewritten.length === 0) return null;
  const changed = classify({ ...request, elsewhere: rewritten });
  if (changed.class !== 'idempotent' && changed.class !== 'conditional') return null;
  return { arrays: rewritten.map((array) => fieldName(request.parameters, array, request.kernel)), changed };
}

/** A kernel of those that a kernel would be if it were split at barriers. */
interface KernelPart extends Classification {
  /** The barrier that it begins with; null: the first part. */
  readonly barrier: Location | null;
}

/**
 * What would make a kernel idempotent that reads memory and writes it behind a barrier: to end the launch at the barrier,
 * and to do the rest in the next one. Of a kernel without races that is one of its executions: all blocks come to the
 * barrier first. A launch that is run again begins at its own part, with what the parts before it have left. What threads
 * hold, and shared memory, goes through memory that nothing else touches, which one part writes and later ones read.
 * @returns the parts in their order, each idempotent in all launches or under its condition; as few as help; null where
 *   that does not help
 */
export function classifySplit(request: ClassifyRequest, found: Classification): readonly KernelPart[] | null {
  const { kernel } = request;
  const all = found.rewrites.length > 0 ? splittingBarriers(kernel) : [];
  const few = separating(kernel, all, found.rewrites);
  if (!few || few.length === 0) return null;
  // What is written before a barrier covers no read behind it any more: more barriers may part what that leaves.
  const parts = splitAt(request, few);
  return parts ?? (few.length < all.length && all.length <= maxSplits ? splitAt(request, all) : null);
}

/** The kernels that a kernel would be; null where not all of them are idempotent. */
function splitAt(request: ClassifyRequest, barriers: readonly Barrier[]): readonly KernelPart[] | null {
  const parts: KernelPart[] = [];
  for (let number = 0; number <= barriers.length; number++) {
    const classified = classify({ ...request, part: { barriers, number } });
    if (classified.class !== 'idempotent' && classified.class !== 'conditional') return null;
    const barrier = barriers[number - 1];
    parts.push({ ...classified, barrier: barrier ? sourcePlaces(barrier.instruction)[0]! : null });
  }
  return parts;
}

/** The fewest of the barriers that part each read from its write; null where some pair has none between. */
function separating(
  kernel: Kernel,
  barriers: readonly Barrier[],
  pairs: Classification['rewrites'],
): readonly Barrier[] | null {
  const between = pairs.map(({ read, write }) =>
    barriers.filter((barrier) => canReach(kernel, barrier, write) && !canReach(kernel, barrier, read)),
  );
  if (between.some((parting) => parting.length === 0)) return null;
  const last = (parting: readonly Barrier[]): number => barriers.indexOf(parting.at(-1)!);
  const chosen = new Set<Barrier>();
  for (const parting of between.sort((a, b) => last(a) - last(b)))
    if (!parting.some((barrier) => chosen.has(barrier))) chosen.add(parting.at(-1)!);
  return barriers.filter((barrier) => chosen.has(barrier));
}

interface Barrier extends ProgramPoint {
  readonly instruction: Instruction;
}

/** Barriers at which a kernel is tried to be split. */
const maxSplits = 8;

/**
 * Barriers of the block, in their order, at which a kernel can be split: all that comes behind one comes behind it on
 * every way, and none is passed twice. Copies of one barrier of the source do not count.
 */
function splittingBarriers(kernel: Kernel): readonly Barrier[] {
  const barriers = pointsOf(kernel, (instruction) => isFullBarrier(instruction) && !isGridBarrier(instruction));
  const places = barriers.map(({ instruction }) => JSON.stringify(sourcePlaces(instruction)));
  const isSingle = (at: number): boolean => places[at] !== '[]' && places.filter((place) => place === places[at]).length === 1; // oxfmt-ignore
  const all = pointsOf(kernel, () => true);
  return barriers
    .filter(
      (barrier, at) =>
        isSingle(at) &&
        all.every((point) => !canReach(kernel, barrier, point) || pointDominates(kernel, barrier, point)),
    ) // oxfmt-ignore
    .sort((a, b) => (pointDominates(kernel, a, b) ? -1 : 1));
}
