/** Loops of a SASS function. */
import { dominates, immediateDominators } from '../ir/form/dominators.ts';
import type { SassFlow } from './control-flow.ts';

interface LoopPlace {
  /** How many loops surround a block. */
  readonly depth: number;
  /** Whether the innermost of them holds no further loop. */
  readonly isInner: boolean;
}

/** Finds the natural loops of a function: the place of each block among them. */
export function loopPlaces({ blocks }: SassFlow): LoopPlace[] {
  const order: number[] = [];
  const seen = new Set<number>();
  // Depth first, without recursion: blocks may be many.
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
  const parents = immediateDominators(ranked);
  const members = new Map<number, Set<number>>();
  for (const [index, block] of order.entries()) {
    for (const successor of blocks[block]!.successors) {
      const header = rank.get(successor)!;
      if (header > index || !dominates(parents, header, index)) continue;
      const body = members.get(header) ?? new Set([header]);
      members.set(header, body);
      const work = [index];
      while (work.length > 0) {
        const one = work.pop()!;
        if (body.has(one)) continue;
        body.add(one);
        work.push(...ranked[one]!.predecessors);
      }
    }
  }
  const bodies = [...members.values()];
  return blocks.map((_, block) => {
    const own = rank.get(block);
    const around = own === undefined ? [] : bodies.filter((body) => body.has(own));
    const innermost = around.reduce<Set<number> | undefined>(
      (least, body) => (!least || body.size < least.size ? body : least),
      undefined,
    );
    const isInner =
      innermost !== undefined &&
      bodies.every((body) => body === innermost || ![...body].every((one) => innermost.has(one)));
    return { depth: around.length, isInner };
  });
}
