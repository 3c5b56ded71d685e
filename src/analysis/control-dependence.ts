import type { BlockId, Kernel } from '../ir/kernel.ts';

/**
 * For each block the branches that decide whether it is reached, not transitively (Ferrante, Ottenstein, Warren 1987):
 * a block depends on a branch when it postdominates one successor of the branch but not the branch itself.
 */
export function controlDependence(kernel: Kernel): readonly (readonly BlockId[])[] {
  const dependences: BlockId[][] = kernel.blocks.map(() => []);
  for (const block of kernel.blocks) {
    if (block.successors.length < 2) continue;
    const end = kernel.postdominators[block.id] ?? null;
    for (const successor of new Set(block.successors)) {
      let runner: BlockId | null = successor;
      while (runner !== null && runner !== end) {
        const list: BlockId[] = dependences[runner]!;
        if (list[list.length - 1] !== block.id) list.push(block.id);
        runner = kernel.postdominators[runner] ?? null;
      }
    }
  }
  return dependences;
}

/** All branches that a block depends on, directly or through other branches. */
export function controllingBranches(dependences: readonly (readonly BlockId[])[], block: BlockId): Set<BlockId> {
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
