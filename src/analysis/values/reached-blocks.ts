/** Basic blocks that a kernel reaches in some launch, as far as constants and ranges determine it. */
import type { BlockId, Kernel, LoopId } from '../../ir/form/kernel.ts';
import { evaluateSymbolically } from './symbolic.ts';
import { substituted } from '../../term/rewrite.ts';

/**
 * The blocks that are not known to be dead for all launches, arguments and memory contents. Loops start without a
 * completed iteration: a loop that completes no iteration under that premise never completes one.
 */
export function reachedBlocks(kernel: Kernel): ReadonlySet<BlockId> {
  const dimensions = { block: [null, null, null], grid: [null, null, null] } as const;
  const unknown = (): undefined => undefined;
  const symbolic = evaluateSymbolically(kernel, { dimensions, scalar: unknown, scalarBounds: unknown, sharedBytes: null });
  const { store, view } = symbolic;
  const repeated = new Set<LoopId>();
  for (;;) {
    const reached = new Set<BlockId>();
    const work: BlockId[] = [0 as BlockId];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      if (reached.has(block)) continue;
      reached.add(block);
      const { terminator, successors } = kernel.blocks[block]!;
      const condition = terminator.kind === 'branch' ? symbolic.condition(block) : null;
      const decided =
        condition &&
        view.decide(
          substituted(
            store,
            condition,
            ({ atom, width }) => (atom?.kind === 'iteration' && !repeated.has(atom.loop as LoopId) ? store.constant(width, 0n) : undefined),
            new Map(),
          ),
        );
      if (terminator.kind !== 'branch' || typeof decided !== 'boolean') work.push(...successors);
      else work.push(decided ? terminator.then : terminator.otherwise);
    }
    const found = kernel.loops.filter(({ id, latches }) => !repeated.has(id) && latches.some((one) => reached.has(one)));
    if (found.length === 0) return reached;
    for (const { id } of found) repeated.add(id);
  }
}
