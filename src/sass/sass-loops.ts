/** Loops of a SASS function. */
import { dominates, immediateDominators } from '../ir/form/dominators.ts';
import type { SassFlow } from './sass-flow.ts';

interface LoopPlace {
  /** Number of loops around a block. */
  readonly depth: number;
  /** Whether the innermost of these loops contains no further loop. */
  readonly isInner: boolean;
}

/** A natural loop of a function. */
export interface SassLoop {
  readonly header: number;
  readonly blocks: ReadonlySet<number>;
  /** Blocks with a back edge to the header. */
  readonly latches: readonly number[];
}

/** The loops of a function, and the dominance relation. */
export interface SassLoops {
  readonly loops: readonly SassLoop[];
  /** Whether the first block dominates the second. */
  readonly dominates: (first: number, second: number) => boolean;
  /** The innermost loop around a block. */
  readonly innermost: (block: number) => SassLoop | undefined;
}

/** Dominance of reachable blocks; unreachable blocks are absent. */
interface DominatedBlocks {
  /** Reachable blocks in reverse postorder. */
  readonly order: readonly number[];
  readonly rank: ReadonlyMap<number, number>;
  readonly parents: Int32Array;
}

function dominatedBlocks({ blocks }: Pick<SassFlow, 'blocks'>): DominatedBlocks {
  const order: number[] = [];
  const seen = new Set<number>();
  // Depth-first search without recursion, since functions may have many blocks.
  const stack: { readonly block: number; next: number }[] = [];
  const enter = (block: number): void => {
    if (seen.has(block)) return;
    seen.add(block);
    stack.push({ block, next: 0 });
  };
  if (blocks.length > 0) enter(0);
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    const successor = blocks[top.block]!.successors[top.next++];
    if (successor !== undefined) enter(successor);
    else order.push(stack.pop()!.block);
  }
  order.reverse();
  const rank = new Map(order.map((block, index) => [block, index]));
  const ranked = order.map((block) => ({
    predecessors: blocks[block]!.predecessors.flatMap((one) => rank.get(one) ?? []),
  }));
  return { order, rank, parents: immediateDominators(ranked) };
}

/** Finds the natural loops of a function. */
export function loopsOf(flow: Pick<SassFlow, 'blocks'>): SassLoops {
  const { blocks } = flow;
  let known: DominatedBlocks | undefined;
  const dominated = (): DominatedBlocks => (known ??= dominatedBlocks(flow));
  // Blocks are in the order of their addresses, and every loop has an edge to a lower or equal address.
  let leadsBack = false;
  for (let block = 0; block < blocks.length; block++) for (const one of blocks[block]!.successors) leadsBack ||= one <= block;
  const loops = leadsBack ? naturalLoops(flow, dominated()) : [];
  return {
    loops,
    dominates: (first, second) => {
      const { rank, parents } = dominated();
      const [one, other] = [rank.get(first), rank.get(second)];
      return one !== undefined && other !== undefined && dominates(parents, one, other);
    },
    innermost: (block) =>
      loops
        .filter((loop) => loop.blocks.has(block))
        .reduce<SassLoop | undefined>((least, loop) => (!least || loop.blocks.size < least.blocks.size ? loop : least), undefined),
  };
}

function naturalLoops({ blocks }: Pick<SassFlow, 'blocks'>, { order, rank, parents }: DominatedBlocks): SassLoop[] {
  const members = new Map<number, { readonly blocks: Set<number>; readonly latches: number[] }>();
  for (const [index, block] of order.entries()) {
    for (const successor of blocks[block]!.successors) {
      const header = rank.get(successor)!;
      if (header > index || !dominates(parents, header, index)) continue;
      const loop = members.get(successor) ?? { blocks: new Set([successor]), latches: [] };
      members.set(successor, loop);
      loop.latches.push(block);
      const work = [block];
      while (work.length > 0) {
        const one = work.pop()!;
        if (loop.blocks.has(one)) continue;
        loop.blocks.add(one);
        work.push(...blocks[one]!.predecessors.filter((before) => rank.has(before)));
      }
    }
  }
  return [...members].map(([header, loop]) => ({ header, ...loop }));
}

/** The loops around each block of a function. */
export function loopPlaces({ blocks }: SassFlow, { loops }: SassLoops): readonly LoopPlace[] {
  const outside: LoopPlace = { depth: 0, isInner: false };
  const places = blocks.map(() => outside);
  if (loops.length === 0) return places;
  const around = blocks.map((): SassLoop[] => []);
  for (const loop of loops) for (const block of loop.blocks) around[block]!.push(loop);
  const isInner = new Map(
    loops.map((own) => [own, loops.every((loop) => loop === own || ![...loop.blocks].every((one) => own.blocks.has(one)))]),
  );
  return around.map((own) => {
    if (own.length === 0) return outside;
    const least = own.reduce((found, loop) => (loop.blocks.size < found.blocks.size ? loop : found));
    return { depth: own.length, isInner: isInner.get(least)! };
  });
}
