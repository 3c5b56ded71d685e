/**
 * Sufficient conditions for an instruction to be executed, per iteration of the loops around it. They are conservative:
 * a path with unknown conditions is assumed not to be taken.
 */
import { dominates } from '../ir/form/dominators.ts';
import type { BlockId, Loop, LoopId } from '../ir/form/kernel.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import type { Term } from '../term/term.ts';

/** Loops around a block, the innermost first. */
export function loopsAround({ kernel }: SymbolicKernel, block: BlockId): readonly LoopId[] {
  const list: LoopId[] = [];
  for (let loop = kernel.loopOf[block] ?? null; loop !== null; loop = kernel.loops[loop]!.parent) list.push(loop);
  return list;
}

export class CertainExecution {
  private readonly symbolic: SymbolicKernel;
  private readonly within = new Map<LoopId | null, readonly Term[]>();

  constructor(symbolic: SymbolicKernel) {
    this.symbolic = symbolic;
  }

  /**
   * Sufficient conditions for a thread that begins an iteration of a loop (the kernel, if null) to reach each block in
   * this iteration; in inner loops, in their first iteration.
   */
  private reachedIn(loop: LoopId | null): readonly Term[] {
    let reached = this.within.get(loop);
    if (!reached) {
      reached = this.reach(loop);
      this.within.set(loop, reached);
    }
    return reached;
  }

  private reach(id: LoopId | null): readonly Term[] {
    const { kernel, store } = this.symbolic;
    const outer = id === null ? null : kernel.loops[id]!;
    const start = outer?.header ?? (0 as BlockId);
    const reached = kernel.blocks.map(({ id: block }) => (block === start ? store.true : store.false));
    const isInside = (block: BlockId): boolean => outer === null || outer.blocks.has(block);
    for (const { id: block, predecessors } of kernel.blocks) {
      if (block === start || !isInside(block)) continue;
      const dominator = kernel.dominators[block]!;
      if (isInside(dominator) && this.alwaysLeadsTo(dominator, block, isInside)) {
        reached[block] = reached[dominator]!;
        continue;
      }
      const ways: Term[] = [];
      for (const from of predecessors) {
        // Blocks are in reverse postorder: an edge from a later block is a back edge.
        if (from >= block || !isInside(from)) continue;
        const left = this.outermostLeft(from, block, outer);
        if (left === undefined) ways.push(store.all([reached[from]!, this.symbolic.edge(from, block)]));
        // A loop with a single exit target exits to it, if it exits at all.
        else if (new Set(left.exits.map(({ to }) => to)).size === 1) ways.push(reached[left.header]!);
      }
      reached[block] = store.any(ways);
    }
    return reached;
  }

  /** Whether every path from one block reaches the other in the same iteration, once it has left the loops between. */
  private alwaysLeadsTo(from: BlockId, to: BlockId, isInside: (block: BlockId) => boolean): boolean {
    const { blocks, loops } = this.symbolic.kernel;
    const seen = new Set<BlockId>();
    const work = [from];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      const { successors } = blocks[block]!;
      if (successors.length === 0) return false;
      for (const next of successors) {
        if (next === to || seen.has(next)) continue;
        // A back edge to a loop that began on the path: the path continues after that loop.
        if (next <= block) {
          const loop = loops.find(({ header }) => header === next);
          if (!loop || loop.blocks.has(to) || loop.blocks.has(from)) return false;
          continue;
        }
        if (!isInside(next)) return false;
        seen.add(next);
        work.push(next);
      }
    }
    return true;
  }

  /** The outermost loop within `outer` that an edge leaves. */
  private outermostLeft(from: BlockId, to: BlockId, outer: Loop | null): Loop | undefined {
    const { kernel } = this.symbolic;
    const left = loopsAround(this.symbolic, from)
      .map((id) => kernel.loops[id]!)
      .filter((loop) => loop !== outer && !loop.blocks.has(to) && (outer === null || outer.blocks.has(loop.header)));
    return left[left.length - 1];
  }

  /**
   * Sufficient conditions for a thread that begins an iteration of `from` to reach a block in the iterations that the
   * counters of the loops between denote. The iterations before those are not considered (see `again`).
   * @param inner the loops around the block within `from`, the outermost first
   */
  reaches(block: BlockId, from: LoopId | null, inner: readonly LoopId[]): readonly Term[] {
    const { kernel } = this.symbolic;
    const parts: Term[] = [];
    let at = from;
    for (const loop of inner) {
      parts.push(this.reachedIn(at)[kernel.loops[loop]!.header]!);
      at = loop;
    }
    return [...parts, this.reachedIn(at)[block]!];
  }

  /** Sufficient condition for another iteration to follow the iteration that the counter of a loop denotes. */
  again(id: LoopId): Term {
    const { kernel, store, edge } = this.symbolic;
    const { header, latches } = kernel.loops[id]!;
    const reached = this.reachedIn(id);
    return store.any(latches.map((latch) => store.all([reached[latch]!, edge(latch, header)])));
  }

  /** Necessary condition for another iteration to follow the iteration that the counter of a loop denotes. */
  needed(id: LoopId): Term {
    const { kernel, store, edge } = this.symbolic;
    const { exits, latches } = kernel.loops[id]!;
    return store.all(
      exits
        .filter(({ from }) => latches.every((latch) => dominates(kernel.dominators, from, latch)))
        .filter(({ from }) => kernel.loopOf[from] === id)
        .map(({ from, to }) => store.not(edge(from, to))),
    );
  }
}
