/** How often a warp executes the code of a line, as far as the rounds of the loops around it are numbers. */
import { dominates } from '../ir/form/dominators.ts';
import type { BlockId, Kernel, Loop, LoopId } from '../ir/form/kernel.ts';
import { type Expression, constantValue } from './expressions/expression.ts';

/** At most, in loops of a line. */
export interface LineRounds {
  /** Of the innermost loop, each time it is entered. */
  readonly inner: number;
  /** Of all loops around the line together. */
  readonly all: number;
}

/** The most rounds of each loop of a kernel, in whatever visit of whatever warp. */
export class LoopRounds {
  /** Null where some visit has no number. */
  readonly #known = new Map<LoopId, { readonly stays: number | null; readonly from: BlockId | null }>();

  /**
   * Notes a visit of a loop.
   * @param stays rounds that are followed by another one
   * @param from the block that decides whether there is another one, where one alone does
   */
  note(loop: LoopId, stays: Expression | null, from: BlockId | null): void {
    const value = stays && constantValue(stays);
    const own = value ? Math.max(0, Math.ceil(Number(value.top) / Number(value.bottom))) : null;
    const known = this.#known.get(loop);
    const most = known === undefined ? own : own === null || known.stays === null ? null : Math.max(own, known.stays);
    this.#known.set(loop, { stays: most, from: known && known.from !== from ? null : from });
  }

  /** How often a block is executed each time the loop is entered; null where nobody knows. */
  #roundsOf({ dominators }: Kernel, { id }: Loop, block: BlockId): number | null {
    const { stays = null, from = null } = this.#known.get(id) ?? {};
    if (stays === null) return null;
    // What comes behind the decision is not reached in the last round.
    return from !== null && from !== block && dominates(dominators, from, block) ? stays : stays + 1;
  }

  /**
   * By line: the most of any of its code that is in loops. A line with code in a loop of unknown rounds is left out.
   * @param lineOf the name of the line of an instruction
   */
  byLine(
    kernel: Kernel,
    lineOf: (instruction: Kernel['blocks'][number]['instructions'][number]) => string,
  ): Map<string, LineRounds> {
    const found = new Map<string, LineRounds | null>();
    for (const { id, instructions } of kernel.blocks) {
      const around = kernel.loops.filter(({ blocks }) => blocks.has(id));
      if (around.length === 0) continue;
      const rounds = around.map((loop) => this.#roundsOf(kernel, loop, id));
      const inner = rounds.at(-1)!;
      const all = rounds.reduce<number | null>((product, one) => (product === null || one === null ? null : product * one), 1); // prettier-ignore
      for (const line of new Set(instructions.map(lineOf))) {
        const known = found.get(line);
        const isKnown = inner !== null && all !== null && known !== null;
        found.set(line, isKnown ? { inner: Math.max(inner, known?.inner ?? 0), all: Math.max(all, known?.all ?? 0) } : null); // prettier-ignore
      }
    }
    return new Map([...found].flatMap(([line, rounds]) => (rounds ? [[line, rounds]] : [])));
  }
}
