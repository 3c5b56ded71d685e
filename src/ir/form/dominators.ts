/** Dominators and postdominators by Cooper, Harvey and Kennedy's iteration over reverse postorder. */
import type { DraftBlock } from './draft.ts';
import { postorder } from './postorder.ts';

/** Control flow of a block. */
interface FlowBlock {
  readonly terminator: { readonly kind: string };
  readonly predecessors: readonly number[];
  readonly successors: readonly number[];
}

function iterate(predecessors: readonly (readonly number[])[], parents: Int32Array): void {
  for (let changed = true; changed;) {
    changed = false;
    for (let node = 1; node < parents.length; node++) {
      let parent = -1;
      for (const predecessor of predecessors[node]!) {
        if (parents[predecessor]! < 0) continue;
        parent = parent < 0 ? predecessor : commonDominator(parents, predecessor, parent);
      }
      if (parents[node] !== parent) {
        parents[node] = parent;
        changed = true;
      }
    }
  }
}

/** The immediate dominator of each block, the entry's being itself. Blocks are in reverse postorder, all reachable. */
export function immediateDominators(blocks: readonly Pick<FlowBlock, 'predecessors'>[]): Int32Array {
  const parents = new Int32Array(blocks.length).fill(-1);
  parents[0] = 0;
  iterate(
    blocks.map((block) => block.predecessors),
    parents,
  );
  return parents;
}

/**
 * The immediate postdominator of each block, or null if only the virtual exit postdominates it. Threads leave at `exit`
 * and `unknown`, and from loops without an exit. Blocks that can only trap do not count as exits: a trap ends the
 * launch, so the code after an assertion still postdominates it. They have no postdominator.
 * @param ways further blocks from whose end threads may leave
 */
export function immediatePostdominators(blocks: readonly FlowBlock[], ways: readonly number[] = []): (number | null)[] {
  const count = blocks.length;
  const leaves: number[] = [];
  const seen = new Uint8Array(count);
  const markBackwards = (from: number): void => {
    const stack = [from];
    seen[from] = 1;
    while (stack.length > 0) {
      for (const predecessor of blocks[stack.pop()!]!.predecessors) {
        if (seen[predecessor]) continue;
        seen[predecessor] = 1;
        stack.push(predecessor);
      }
    }
  };
  for (let block = 0; block < count; block++) {
    const { kind } = blocks[block]!.terminator;
    if (kind === 'exit' || kind === 'unknown' || ways.includes(block)) leaves.push(block);
  }
  for (const block of leaves) if (!seen[block]) markBackwards(block);
  const trapping = doomed(blocks, seen);
  for (let block = count - 1; block >= 0; block--) {
    if (seen[block] || trapping[block]) continue;
    leaves.push(block);
    markBackwards(block);
  }

  // Number the reverse graph in its own reverse postorder: node 0 is the virtual exit.
  const isLeaf = new Uint8Array(count);
  for (const block of leaves) isLeaf[block] = 1;
  const nodeOf = new Int32Array(count).fill(-1);
  const blockOf = postorder(count, leaves, (block) => blocks[block]!.predecessors).reverse();
  blockOf.forEach((block, index) => (nodeOf[block] = index + 1));
  const sources: number[][] = [[]];
  for (const block of blockOf) {
    const list = isLeaf[block] ? [0] : [];
    for (const successor of blocks[block]!.successors) if (nodeOf[successor]! > 0) list.push(nodeOf[successor]!);
    sources.push(list);
  }
  const parents = new Int32Array(blockOf.length + 1).fill(-1);
  parents[0] = 0;
  iterate(sources, parents);
  return blocks.map((_block, index) => {
    const node = nodeOf[index]!;
    const parent = node > 0 ? parents[node]! : 0;
    return parent > 0 ? blockOf[parent - 1]! : null;
  });
}

/** Blocks from which every path that ends, ends in a trap: they reach a trap and are not in `leaving`. */
function doomed(blocks: readonly FlowBlock[], leaving: Uint8Array): Uint8Array {
  const marked = new Uint8Array(blocks.length);
  const stack: number[] = [];
  blocks.forEach((block, index) => {
    if (block.terminator.kind === 'trap') {
      marked[index] = 1;
      stack.push(index);
    }
  });
  while (stack.length > 0) {
    for (const predecessor of blocks[stack.pop()!]!.predecessors) {
      if (marked[predecessor] || leaving[predecessor]) continue;
      marked[predecessor] = 1;
      stack.push(predecessor);
    }
  }
  return marked;
}

/** The children of each node of the dominator tree. */
export function dominatorChildren(parents: Int32Array): number[][] {
  const children: number[][] = Array.from(parents, () => []);
  for (let node = 1; node < parents.length; node++) children[parents[node]!]!.push(node);
  return children;
}

/** The dominance frontier of each block. */
export function dominanceFrontiers(blocks: readonly DraftBlock[], parents: Int32Array): number[][] {
  const frontiers: number[][] = blocks.map(() => []);
  blocks.forEach((block, index) => {
    if (block.predecessors.length < 2) return;
    for (const predecessor of block.predecessors) {
      for (let runner = predecessor; runner !== parents[index]; runner = parents[runner]!) {
        const frontier = frontiers[runner]!;
        if (frontier[frontier.length - 1] !== index) frontier.push(index);
      }
    }
  });
  return frontiers;
}

/** The nearest common dominator of two blocks, given immediate dominators of blocks in reverse postorder. */
export function commonDominator<Block extends number>(parents: ArrayLike<Block>, a: Block, b: Block): Block {
  let [one, other] = [a, b];
  while (one !== other) {
    while (one > other) one = parents[one]!;
    while (other > one) other = parents[other]!;
  }
  return one;
}

/** True if `a` dominates `b`, given immediate dominators of blocks in reverse postorder. */
export function dominates(parents: ArrayLike<number>, a: number, b: number): boolean {
  let block = b;
  while (block > a) block = parents[block]!;
  return block === a;
}
