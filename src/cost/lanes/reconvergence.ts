/** Blocks at which diverged lanes reconverge. */
import type { BlockId, Kernel, Loop } from '../../ir/form/kernel.ts';

/**
 * Blocks at which lanes reconverge, in the order in which they are reached: each block on two of the paths, or on one
 * of them after such a block, and the one that joins all paths. Between them no block is on two paths: an access of
 * lanes together may take more shared-memory phases than their separate accesses.
 * @param loop that the paths stay in; null outside of loops
 * @param starts first blocks of the paths
 * @param last block that joins all paths; null without such a block in the loop
 * @param stops blocks at which paths end
 */
export function reconvergencePoints(
  kernel: Kernel,
  loop: Loop | null,
  starts: readonly BlockId[],
  last: BlockId | null,
  stops: ReadonlySet<BlockId>,
): readonly BlockId[] {
  const points = new Set<BlockId>();
  const endsAt = (block: BlockId): boolean =>
    block === last || stops.has(block) || (loop !== null && (block === loop.header || !loop.blocks.has(block)));
  const wayFrom = (start: BlockId, isPoint: boolean): ReadonlySet<BlockId> => {
    const seen = new Set<BlockId>();
    const work = endsAt(start) || (points.has(start) && !isPoint) ? [] : [start];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      seen.add(block);
      for (const next of kernel.blocks[block]!.successors) if (!endsAt(next) && !points.has(next) && !seen.has(next)) work.push(next);
    }
    return seen;
  };
  for (;;) {
    const common = firstCommon([...starts.map((start) => wayFrom(start, false)), ...[...points].map((point) => wayFrom(point, true))]);
    if (common === null) break;
    points.add(common);
  }
  return [...[...points].sort((a, b) => a - b), ...(last === null ? [] : [last])];
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
