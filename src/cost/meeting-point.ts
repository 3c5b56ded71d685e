/** Where lanes that a branch has parted meet again. */
import type { BlockId, Kernel, Loop } from '../ir/kernel.ts';

/**
 * Blocks at which lanes meet, in the order in which they come to them: where all ways meet in the end, and before that
 * one where those do that neither return nor leave the loop.
 */
export interface MeetingPoints {
  readonly blocks: readonly BlockId[];
  /** Whether no other block is on two of the ways. */
  readonly isComplete: boolean;
}

/**
 * The points for ways that begin at some blocks.
 * @param loop that the ways stay in; null outside of loops
 * @param last where all ways meet; null where there is no such block within the loop
 * @param stops where nobody goes on
 */
export function meetingPoints(
  kernel: Kernel,
  loop: Loop | null,
  starts: readonly BlockId[],
  last: BlockId | null,
  stops: ReadonlySet<BlockId>,
): MeetingPoints {
  const end = last === null ? [] : [last];
  const from = (block: BlockId, without: BlockId | null): ReadonlySet<BlockId> => {
    const seen = new Set<BlockId>();
    const work = [block];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      if (next === last || next === without || stops.has(next) || seen.has(next)) continue;
      if (loop && (next === loop.header || !loop.blocks.has(next))) continue;
      seen.add(next);
      work.push(...kernel.blocks[next]!.successors);
    }
    return seen;
  };
  const common = firstCommon(starts.map((start) => from(start, null)));
  if (common === null) return { blocks: end, isComplete: true };
  const apart = [...starts.map((start) => from(start, common)), from(common, null)];
  const isComplete = firstCommon(apart) === null;
  return { blocks: isComplete ? [common, ...end] : end, isComplete };
}

/** The first block, in reverse postorder, that is in two of some sets. */
function firstCommon(sets: readonly ReadonlySet<BlockId>[]): BlockId | null {
  const seen = new Set<BlockId>();
  let first: BlockId | null = null;
  for (const blocks of sets) {
    for (const block of blocks) {
      if (seen.has(block) && (first === null || block < first)) first = block;
      seen.add(block);
    }
  }
  return first;
}
