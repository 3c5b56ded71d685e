import { immediatePostdominators } from '../../ir/form/dominators.ts';
import type { BlockId, Kernel, LoopId } from '../../ir/form/kernel.ts';

/** Which branches decide whether a thread gets to a block. */
export interface ControlDependence {
  /**
   * All branches, direct or through other branches, that decide whether a thread reaches a block, and for the loops
   * around it in which of their rounds: a thread may pass by a block in one round that it reaches in a later one.
   * @param loop the innermost of the loops whose rounds count; null where it is enough to get there at all
   */
  readonly controlling: (block: BlockId, loop: LoopId | null) => ReadonlySet<BlockId>;
}

/**
 * Control dependence after Ferrante, Ottenstein and Warren (1987): a block depends on a branch when it postdominates
 * one successor of the branch but not the branch itself. Where rounds count, the end of a round of a loop is a way out.
 */
export function controlDependence(kernel: Kernel): ControlDependence {
  const plain = directDependences(kernel, kernel.postdominators);
  const direct = new Map<LoopId | null, readonly (readonly BlockId[])[]>([[null, plain]]);
  const known = new Map<string, ReadonlySet<BlockId>>();
  const dependencesIn = (loop: LoopId | null): readonly (readonly BlockId[])[] => {
    let list = direct.get(loop);
    if (!list) {
      // What decides this round, and what decides whether there is another one.
      const round = directDependences(kernel, postdominatorsInRound(kernel, loop!));
      list = round.map((branches, block) => [...new Set([...branches, ...plain[block]!])]);
      direct.set(loop, list);
    }
    return list;
  };
  return {
    controlling(block, loop) {
      const key = `${block}:${loop}`;
      let found = known.get(key);
      if (!found) {
        found = transitive(dependencesIn(loop), block);
        known.set(key, found);
      }
      return found;
    },
  };
}

/** Immediate postdominators where the back edges of a loop and of the loops around it may also leave the kernel. */
function postdominatorsInRound(kernel: Kernel, innermost: LoopId): readonly (BlockId | null)[] {
  const latches: BlockId[] = [];
  for (let loop: LoopId | null = innermost; loop !== null; loop = kernel.loops[loop]!.parent)
    latches.push(...kernel.loops[loop]!.latches);
  return immediatePostdominators(kernel.blocks, latches) as (BlockId | null)[];
}

function directDependences(
  kernel: Kernel,
  postdominators: readonly (BlockId | null)[],
): readonly (readonly BlockId[])[] {
  const dependences: BlockId[][] = kernel.blocks.map(() => []);
  for (const block of kernel.blocks) {
    if (block.successors.length < 2) continue;
    const end = postdominators[block.id] ?? null;
    for (const successor of new Set(block.successors)) {
      let runner: BlockId | null = successor;
      while (runner !== null && runner !== end) {
        const list: BlockId[] = dependences[runner]!;
        if (list[list.length - 1] !== block.id) list.push(block.id);
        runner = postdominators[runner] ?? null;
      }
    }
  }
  return dependences;
}

function transitive(dependences: readonly (readonly BlockId[])[], block: BlockId): Set<BlockId> {
  const found = new Set<BlockId>();
  const work = [block];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    for (const branch of dependences[next]!) {
      if (!found.has(branch)) {
        found.add(branch);
        work.push(branch);
      }
    }
  }
  return found;
}
