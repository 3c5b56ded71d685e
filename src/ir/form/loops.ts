/** Natural loops, and irreducible cycles of the control flow. */
import { dominates } from './dominators.ts';
import type { DraftBlock } from './draft.ts';
import type { BlockId, Loop, LoopId } from './kernel.ts';

interface LoopForest {
  /** Outer loops before inner ones. */
  readonly loops: readonly Loop[];
  /** Innermost loop of each block. */
  readonly loopOf: readonly (LoopId | null)[];
  /** A block at which a cycle is entered other than at its header; null if every cycle is a natural loop. */
  readonly irreducible: number | null;
}

/** Finds the loops of blocks in reverse postorder; `parents` are the immediate dominators. */
export function findLoops(blocks: readonly DraftBlock[], parents: Int32Array): LoopForest {
  const latches = new Map<number, number[]>();
  let irreducible: number | null = null;
  blocks.forEach((block, index) => {
    for (const target of block.successors) {
      if (target > index) continue;
      if (!dominates(parents, target, index)) irreducible ??= target;
      else if (latches.has(target)) latches.get(target)!.push(index);
      else latches.set(target, [index]);
    }
  });
  const loops: Loop[] = [];
  const loopOf: (LoopId | null)[] = blocks.map(() => null);
  for (const header of [...latches.keys()].sort((a, b) => a - b)) {
    const id = loops.length as LoopId;
    const members = loopMembers(blocks, header, latches.get(header)!);
    const exits: { from: BlockId; to: BlockId }[] = [];
    for (const block of members) {
      for (const target of blocks[block]!.successors) {
        if (!members.has(target)) exits.push({ from: block as BlockId, to: target as BlockId });
      }
    }
    loops.push({
      id,
      header: header as BlockId,
      latches: latches.get(header)! as BlockId[],
      blocks: members as Set<BlockId>,
      parent: loopOf[header]!,
      exits,
    });
    for (const block of members) loopOf[block] = id;
  }
  return { loops, loopOf, irreducible };
}

/** Blocks that reach a latch without passing the header, in increasing order. */
function loopMembers(blocks: readonly DraftBlock[], header: number, latches: readonly number[]): Set<number> {
  const found = new Set([header]);
  const work: number[] = [];
  const add = (block: number): void => {
    if (found.has(block)) return;
    found.add(block);
    work.push(block);
  };
  latches.forEach(add);
  while (work.length > 0) blocks[work.pop()!]!.predecessors.forEach(add);
  return new Set([...found].sort((a, b) => a - b));
}
