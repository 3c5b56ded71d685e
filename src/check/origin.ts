import type { Severity } from '../source/diagnostic.ts';
import type { BlockId } from '../ir/kernel.ts';
import type { Term } from '../term/term.ts';
import { fullBarriers, reachable } from './barrier-divergence.ts';
import { type KernelContext, fieldAt } from './context.ts';

/**
 * Whether a launch, an argument or an assumption gives every dimension, and every scalar that these terms depend on. A
 * scalar that decides neither an address nor a path may have any value. Contents of memory are never given.
 */
export function isGiven(context: KernelContext, terms: readonly Term[]): boolean {
  const { launch } = context.request;
  const gridIsGiven = launch.grid !== null || context.dimensions.grid.every((size) => size !== null);
  if ((launch.block ?? context.kernel.requiredThreads ?? null) === null || !gridIsGiven) return false;
  return terms.every((term) =>
    term.leaves.every((leaf) => {
      const atom = leaf.atom!;
      if (atom.kind === 'parameter') return fieldAt(context, atom.index, atom.offset)?.isPointer ?? false;
      return atom.kind !== 'havoc';
    }),
  );
}

/**
 * The conditions that decide whether a thread reaches these blocks, and whether it passes a barrier on the way from one
 * of them to another.
 * @param terms what else a finding rests on: where it is in one round of a loop alone, what keeps that going counts too
 */
export function decidingConditions(
  { kernel, symbolic, dependences }: KernelContext,
  blocks: readonly BlockId[],
  terms: readonly Term[],
): Term[] {
  const counted = new Set(
    terms.flatMap(({ leaves }) => leaves.map(({ atom }) => atom?.kind === 'iteration' && atom.loop)),
  );
  const controlling = (block: BlockId): ReadonlySet<BlockId> => {
    const loop = kernel.loopOf[block] ?? null;
    const isCounted =
      loop !== null && kernel.loops.some(({ id, blocks: inside }) => inside.has(block) && counted.has(id));
    return dependences.controlling(block, isCounted ? loop : null);
  };
  const behind = blocks.map((block) => reachable(kernel, kernel.blocks[block]!.successors));
  const between = fullBarriers(kernel).filter(({ block }) => {
    const ahead = reachable(kernel, kernel.blocks[block]!.successors);
    return behind.some((region) => region.has(block)) && blocks.some((end) => ahead.has(end));
  });
  const branches = new Set(blocks.flatMap((block) => [...controlling(block)]));
  for (const { block } of between)
    for (const branch of dependences.controlling(block, kernel.loopOf[block] ?? null)) branches.add(branch);
  return [...branches].flatMap((branch) => {
    const { terminator } = kernel.blocks[branch]!;
    if (terminator.kind === 'branch') return [symbolic.operand(terminator.condition)];
    return terminator.kind === 'switch' ? [symbolic.operand(terminator.index)] : [];
  });
}

/** What is not certain within the given launch is at most a warning. */
export function weaker(severity: Severity): Severity {
  return severity === 'error' ? 'warning' : severity;
}
