/**
 * Number of executions of the code of a line by a warp: trip counts of the loops around it, in the parameters of the
 * kernel.
 */
import { dominates } from '../ir/form/dominators.ts';
import type { BlockId, Kernel, Loop, LoopId } from '../ir/form/kernel.ts';
import { add, constant, constantValue, type Expression, multiply, namesOf, zero } from './expressions/expression.ts';
import { maximum } from './expressions/expression-order.ts';
import { floorOf } from './expressions/rational.ts';
import { holdsShared } from './expressions/shared-iterations.ts';
import { isRoundName } from './lanes/term-bound.ts';

/** Maximum trip counts of the loops around a line. */
export interface LineIterations {
  /** Trip count of the innermost loop, each time it is entered. */
  readonly inner: Expression;
  /** Product of the trip counts of all loops around the line. */
  readonly all: Expression;
}

const one = constant(1);

/** Maximum trip count of each loop of a kernel over all executions by all warps. */
export class LoopIterations {
  /** By loop; null if some execution of the loop has no bound in only the parameters. */
  readonly #known = new Map<LoopId, { readonly stays: Expression | null; readonly from: BlockId | null }>();

  /**
   * Notes an execution of a loop.
   * @param stays iterations that are followed by another one
   * @param from the block that decides on another iteration; null if there are several
   */
  note(loop: LoopId, stays: Expression | null, from: BlockId | null): void {
    const own = stays && ofParameters(stays);
    const known = this.#known.get(loop);
    const most = known === undefined ? own : own === null || known.stays === null ? null : maximum(own, known.stays);
    this.#known.set(loop, { stays: most, from: known && known.from !== from ? null : from });
  }

  /** Executions of a block in one execution of the loop; null if unknown. */
  #roundsOf({ dominators }: Kernel, { id }: Loop, block: BlockId): Expression | null {
    const { stays = null, from = null } = this.#known.get(id) ?? {};
    if (stays === null) return null;
    // Blocks after the decision are not reached in the last iteration.
    return from !== null && from !== block && dominates(dominators, from, block) ? stays : add(stays, one);
  }

  /**
   * By line: the maximum over its code in loops. Lines with code in a loop of unknown trip count are omitted.
   * @param lineOf the name of the line of an instruction
   */
  byLine<Line extends string | number>(
    kernel: Kernel,
    lineOf: (instruction: Kernel['blocks'][number]['instructions'][number]) => Line,
  ): Map<Line, LineIterations> {
    const found = new Map<Line, LineIterations | null>();
    for (const { id, instructions } of kernel.blocks) {
      const around = kernel.loops.filter(({ blocks }) => blocks.has(id));
      if (around.length === 0) continue;
      const rounds = around.map((loop) => this.#roundsOf(kernel, loop, id));
      const inner = rounds.at(-1)!;
      const all = rounds.reduce<Expression | null>((product, each) => product && each && multiply(product, each), one);
      for (const line of new Set(instructions.map(lineOf))) {
        const known = found.get(line);
        const isKnown = inner !== null && all !== null && known !== null;
        found.set(line, isKnown ? { inner: maximum(inner, known?.inner ?? zero), all: maximum(all, known?.all ?? zero) } : null);
      }
    }
    return new Map([...found].flatMap(([line, rounds]) => (rounds ? [[line, rounds]] : [])));
  }
}

/** Trip count, not below 0; null if it depends on the iteration of an outer loop, or is shared among executions. */
function ofParameters(stays: Expression): Expression | null {
  const value = constantValue(stays);
  if (value) return maximum(constant(-floorOf({ top: -value.top, bottom: value.bottom })), zero);
  return holdsShared(stays) || [...namesOf(stays)].some(isRoundName) ? null : maximum(stays, zero);
}
