/**
 * Paths around loops. Ptxas unrolls a loop whose rounds it does not know into one of several rounds each and one for the
 * rest. Either may have no round, so the code has a path past both, though every path of the PTX has a round. That path
 * is never taken, but only its conditions say so. What holds on all paths of the PTX is asked for with such paths added.
 */
import type { BlockId, Kernel } from '../../ir/form/kernel.ts';

/** The ways into a block, from other blocks and from the start of the kernel. */
interface WaysIn {
  readonly predecessors: readonly BlockId[];
  readonly isStart: boolean;
}

/** By block, the ways into it. Each block that enters a loop leads to where the loop is left, too. */
export function waysAroundLoops({ blocks, loops }: Kernel): readonly WaysIn[] {
  const ways = blocks.map(({ predecessors }) => new Set(predecessors));
  const starts = new Set<BlockId>([blocks[0]!.id]);
  // What leads around one loop may enter the next one.
  for (let changed = true; changed;) {
    changed = false;
    for (const { header, blocks: members, exits } of loops) {
      const entering = [...ways[header]!].filter((one) => !members.has(one));
      for (const { to } of exits) {
        const known = ways[to]!.size + starts.size;
        for (const one of entering) ways[to]!.add(one);
        if (starts.has(header)) starts.add(to);
        if (ways[to]!.size + starts.size !== known) changed = true;
      }
    }
  }
  return blocks.map(({ id }) => ({ predecessors: [...ways[id]!], isStart: starts.has(id) }));
}
