/** Changes that would make a kernel idempotent. Each remedy is verified: the changed kernel is classified. */
import { isFullBarrier, isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import { canReach, pointDominates, pointsOf, type ProgramPoint } from '../analysis/values/program-point.ts';
import type { Instruction, Kernel } from '../ir/form/kernel.ts';
import type { Location } from '../source/location.ts';
import { fieldName } from '../launch/parameter-field.ts';
import { type Classification, type ClassifyRequest, classify } from './classify.ts';
import { sourcePlaces } from './lasting-effects.ts';

/**
 * Classifies a kernel that reads arrays and then writes them, changed to write other arrays instead.
 * @returns its class and condition, and the names of those arrays; null if that does not help, or changes what the
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

/** One of the kernels that result from a split at barriers. */
interface KernelPart extends Classification {
  /** The barrier at which the part begins; null: the first part. */
  readonly barrier: Location | null;
}

/**
 * Splits a kernel that reads memory and writes it after a barrier: the launch ends at the barrier, and the next launch
 * executes the remainder. In a kernel without races that is one of its executions: all blocks reach the barrier first.
 * A re-execution begins at its own part, with the results of the parts before it. Thread state and shared memory are
 * passed on through memory that nothing else accesses, written by one part and read by later ones.
 * @returns the parts in their order, each idempotent in all launches or under its condition; as few as help; null if
 *   that does not help
 */
export function classifySplit(request: ClassifyRequest, found: Classification): readonly KernelPart[] | null {
  const { kernel } = request;
  const all = found.rewrites.length > 0 ? splittingBarriers(kernel) : [];
  const few = separating(kernel, all, found.rewrites);
  if (!few || few.length === 0) return null;
  // Writes before a barrier no longer cover reads after it: more barriers may separate the remaining pairs.
  const parts = splitAt(request, few);
  return parts ?? (few.length < all.length && all.length <= maxSplits ? splitAt(request, all) : null);
}

/** The kernels after the split; null unless all of them are idempotent. */
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

/**
 * The fewest barriers that separate each read from its write; null if some pair has no barrier between its accesses.
 */
function separating(kernel: Kernel, barriers: readonly Barrier[], pairs: Classification['rewrites']): readonly Barrier[] | null {
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

/** Maximum number of barriers at which a kernel is split. */
const maxSplits = 8;

/**
 * Barriers of the block, in their order, at which a kernel can be split: each is passed at most once, and code after it
 * is after it on every path. Copies of one barrier of the source do not count.
 */
function splittingBarriers(kernel: Kernel): readonly Barrier[] {
  const barriers = pointsOf(kernel, (instruction) => isFullBarrier(instruction) && !isGridBarrier(instruction));
  const places = barriers.map(({ instruction }) => JSON.stringify(sourcePlaces(instruction)));
  const isSingle = (at: number): boolean => places[at] !== '[]' && places.filter((place) => place === places[at]).length === 1;
  const all = pointsOf(kernel, () => true);
  return barriers
    .filter(
      (barrier, at) => isSingle(at) && all.every((point) => !canReach(kernel, barrier, point) || pointDominates(kernel, barrier, point)),
    )
    .sort((a, b) => (pointDominates(kernel, a, b) ? -1 : 1));
}
