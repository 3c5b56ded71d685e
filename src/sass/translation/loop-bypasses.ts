/**
 * Paths around loops. Ptxas unrolls a loop of unknown trip count into an unrolled loop and a remainder loop. Either may
 * have no iteration, so the code has a path around both, though every path of the PTX has an iteration. That path is
 * infeasible because of its conditions, which are not examined. So such paths are added before properties of all PTX
 * paths are determined.
 */
import type { BlockId, Kernel } from '../../ir/form/kernel.ts';

/** The edges into a block, from other blocks and from the start of the kernel. */
interface WaysIn {
  readonly predecessors: readonly BlockId[];
  readonly isStart: boolean;
}

/** The edges into each block. Each block that enters a loop also has edges to the exits of the loop. */
export function waysAroundLoops({ blocks, loops }: Kernel): readonly WaysIn[] {
  const ways = blocks.map(({ predecessors }) => new Set(predecessors));
  const starts = new Set<BlockId>([blocks[0]!.id]);
  // A path around one loop may enter the next one.
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
