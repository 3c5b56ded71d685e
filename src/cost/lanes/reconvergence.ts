/** Where lanes that a branch has parted meet again. */
import type { BlockId, Kernel, Loop } from '../../ir/form/kernel.ts';

/**
 * Blocks at which lanes meet, in the order in which they come to them: each that is on two of the ways, or on one and
 * behind such a block, and where all ways meet in the end. Between them no block is on two ways: what lanes do together
 * may cost more turns at shared memory than what they do apart.
 * @param loop that the ways stay in; null outside of loops
 * @param starts where the ways begin
 * @param last where all ways meet; null where there is no such block within the loop
 * @param stops where nobody goes on
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
      for (const next of kernel.blocks[block]!.successors)
        if (!endsAt(next) && !points.has(next) && !seen.has(next)) work.push(next);
    }
    return seen;
  };
  for (;;) {
    const common = firstCommon([
      ...starts.map((start) => wayFrom(start, false)),
      ...[...points].map((point) => wayFrom(point, true)),
    ]);
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
