import { immediatePostdominators } from '../../ir/form/dominators.ts';
import type { BlockId, Kernel, LoopId } from '../../ir/form/kernel.ts';

/** The branches that determine whether a thread executes a block. */
export interface ControlDependence {
  /**
   * All branches, direct or through other branches, that decide whether a thread reaches a block, and in which
   * iterations of the loops around it: a thread may skip a block in one iteration and reach it in a later one.
   * @param loop the innermost of the loops whose iterations are distinguished; null if any iteration counts
   */
  readonly controlling: (block: BlockId, loop: LoopId | null) => ReadonlySet<BlockId>;
}

/**
 * Control dependence after Ferrante, Ottenstein and Warren (1987): a block depends on a branch when it postdominates
 * one successor of the branch but not the branch itself. If iterations are distinguished, back edges are exits.
 */
export function controlDependence(kernel: Kernel): ControlDependence {
  const plain = directDependences(kernel, kernel.postdominators);
  const direct = new Map<LoopId | null, readonly (readonly BlockId[])[]>([[null, plain]]);
  const known = new Map<string, ReadonlySet<BlockId>>();
  const dependencesIn = (loop: LoopId | null): readonly (readonly BlockId[])[] => {
    let list = direct.get(loop);
    if (!list) {
      // Branches that determine whether the block is executed in this iteration, and branches that determine whether
      // there is another iteration.
      const isBackEdge = backEdges(kernel, loop!);
      const round = directDependences(kernel, postdominatorsInRound(kernel, isBackEdge), isBackEdge);
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

type IsEdge = (from: BlockId, to: BlockId) => boolean;

/** The back edges of a loop and of the loops around it: a thread that takes one has ended its iteration. */
function backEdges(kernel: Kernel, innermost: LoopId): IsEdge {
  const latches = new Map<BlockId, readonly BlockId[]>();
  for (let loop: LoopId | null = innermost; loop !== null; loop = kernel.loops[loop]!.parent)
    latches.set(kernel.loops[loop]!.header, kernel.loops[loop]!.latches);
  return (from, to) => latches.get(to)?.includes(from) ?? false;
}

/** Immediate postdominators if back edges are exits of the kernel. */
function postdominatorsInRound({ blocks }: Kernel, isBackEdge: IsEdge): readonly (BlockId | null)[] {
  const round = blocks.map(({ id, terminator, predecessors, successors }) => ({
    terminator,
    predecessors: predecessors.filter((from) => !isBackEdge(from, id)),
    successors: successors.filter((to) => !isBackEdge(id, to)),
  }));
  const latches = blocks.filter(({ id, successors }) => successors.some((to) => isBackEdge(id, to)));
  return immediatePostdominators(
    round,
    latches.map(({ id }) => id),
  ) as (BlockId | null)[];
}

function directDependences(
  kernel: Kernel,
  postdominators: readonly (BlockId | null)[],
  leaves: IsEdge = () => false,
): readonly (readonly BlockId[])[] {
  const dependences: BlockId[][] = kernel.blocks.map(() => []);
  for (const block of kernel.blocks) {
    if (block.successors.length < 2) continue;
    const end = postdominators[block.id] ?? null;
    for (const successor of new Set(block.successors)) {
      let runner: BlockId | null = leaves(block.id, successor) ? null : successor;
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
