/** Definitions of the registers of a SASS function. */
import type { SassFlow } from '../sass-flow.ts';
import { type SassGuard, type SassInstruction, sassGuard } from '../instruction/decode.ts';
import { mayWrite, type RegisterUse, registerUses } from '../instruction/operands.ts';
import { predicatesWritten } from '../predicates.ts';
import { firstSlot, type SpillAccess } from './spills.ts';

/** Index that denotes a value which no instruction of the function wrote. */
export const fromOutside = -1;

/** Maximum number of distinguished definitions of one register. */
const maxDefinitions = 64;

/** Reaching definitions, computed on demand. */
export class RegisterFlow {
  readonly #flow: SassFlow;
  readonly #spills: ReadonlyMap<number, SpillAccess>;
  readonly uses: readonly (RegisterUse | null)[];
  readonly #guards: readonly (SassGuard | undefined)[];
  readonly #blockOf: Int32Array;
  /**
   * By block, then register: definitions in the block that reach its end, last one first, and whether one of them is
   * unguarded.
   */
  readonly #last: readonly Map<number, { readonly found: readonly number[]; readonly isCertain: boolean }>[];
  /** By block: indices of calls. */
  readonly #calls: number[][] = [];
  readonly #writtenBy: (call: SassInstruction) => ReadonlySet<number> | null;

  /**
   * @param spills loads and stores of spilled registers; their slots count as registers
   * @param writtenBy the registers that a call may write; null for any
   */
  constructor(
    flow: SassFlow,
    version: number,
    spills: ReadonlyMap<number, SpillAccess> = new Map(),
    writtenBy: (call: SassInstruction) => ReadonlySet<number> | null = () => null,
  ) {
    this.#flow = flow;
    this.#writtenBy = writtenBy;
    this.#spills = spills;
    const uses = registerUses(flow.instructions, version);
    this.uses = uses.map((use, index) => {
      const spill = spills.get(index);
      if (!spill || !use) return use;
      return spill.isLoad ? { reads: spill.slots, writes: use.writes } : { reads: use.reads, writes: spill.slots };
    });
    this.#guards = flow.instructions.map(sassGuard);
    this.#blockOf = new Int32Array(flow.instructions.length);
    this.#last = flow.blocks.map(({ first, end }, block) => {
      this.#blockOf.fill(block, first, end);
      const last = new Map<number, { found: number[]; isCertain: boolean }>();
      const calls: number[] = [];
      for (let index = end - 1; index >= first; index--) {
        const use = this.uses[index];
        if (flow.instructions[index]!.opcode?.kind === 'call') calls.push(index);
        for (const register of use?.writes ?? mayWrite(flow.instructions[index]!)) {
          const known = last.get(register);
          if (known?.isCertain) continue;
          const isCertain =
            use !== null &&
            use !== undefined &&
            (!this.#guards[index] || (known?.found.some((other) => this.#complement(index, other)) ?? false));
          if (known) {
            known.found.push(index);
            known.isCertain = isCertain;
          } else last.set(register, { found: [...calls, index], isCertain });
        }
      }
      this.#calls.push(calls);
      return last;
    });
  }

  /** Whether exactly one of two instructions of a block is executed; the first precedes the second. */
  #complement(first: number, second: number): boolean {
    const [one, other] = [this.#guards[first], this.#guards[second]];
    if (!one || !other || first >= second || one.register !== other.register || one.negated === other.negated) return false;
    if (!this.uses[second]) return false;
    for (let at = first; at < second; at++) if (predicatesWritten(this.#flow.instructions[at]!).includes(one.register)) return false;
    return true;
  }

  /** The registers from which an instruction computes one of its results. */
  sourcesOf(index: number, written: number): readonly number[] {
    const spill = this.#spills.get(index);
    if (!spill) return this.uses[index]?.reads ?? [];
    const { isLoad, slots, register } = spill;
    if (isLoad) return slots.slice(written - register, written - register + 1);
    const source = register + slots.indexOf(written);
    return this.uses[index]?.reads.includes(source) ? [source] : [];
  }

  /**
   * Loads of spill slots that some path reaches without a store to the slot. If values may be undefined, only loads of
   * slots that are never stored.
   * @param isDefined whether all used values of the PTX are defined on all paths
   */
  unstored(isDefined: boolean): SassInstruction[] {
    const stored = new Set([...this.#spills.values()].flatMap(({ isLoad, slots }) => (isLoad ? [] : slots)));
    return [...this.#spills].flatMap(([index, { isLoad, slots }]) => {
      const isLost =
        isLoad && (!slots.some((slot) => stored.has(slot)) || (isDefined && slots.some((slot) => this.#mayBeUnstored(index, slot))));
      return isLost ? [this.#flow.instructions[index]!] : [];
    });
  }

  /** Whether some path from the entry to a load has no store to a slot, not even a guarded one. */
  #mayBeUnstored(index: number, slot: number): boolean {
    const stores = (at: number): boolean => {
      const spill = this.#spills.get(at);
      return spill !== undefined && !spill.isLoad && spill.slots.includes(slot);
    };
    const seen = new Set<number>();
    const work = [{ block: this.#blockOf[index]!, from: index - 1 }];
    while (work.length > 0) {
      const { block, from } = work.pop()!;
      const { first, predecessors } = this.#flow.blocks[block]!;
      let at = from;
      while (at >= first && !stores(at)) at--;
      if (at >= first) continue;
      if (block === 0) return true;
      for (const one of predecessors) {
        if (seen.has(one)) continue;
        seen.add(one);
        work.push({ block: one, from: this.#flow.blocks[one]!.end - 1 });
      }
    }
    return false;
  }

  /** Whether an instruction loads or stores a spilled register. */
  isSpill(index: number): boolean {
    return this.#spills.has(index);
  }

  /**
   * Indices of the instructions that may have written a register as read by an instruction. {@link fromOutside} is
   * included if a path from the entry does not write the register. Null: too many.
   */
  definitionsOf(index: number, register: number): readonly number[] | null {
    const found = this.#definitionsOf(index, register);
    // Called bodies do not access the frame.
    if (!found) return found;
    return found.filter((at) => {
      const instruction = at === fromOutside ? undefined : this.#flow.instructions[at]!;
      if (instruction?.opcode?.kind !== 'call') return true;
      const written = this.#writtenBy(instruction);
      return register < firstSlot && (!written || written.has(register));
    });
  }

  #definitionsOf(index: number, register: number): readonly number[] | null {
    const found = new Set<number>();
    const block = this.#blockOf[index]!;
    const guard = this.#guards[index];
    for (let at = index - 1; at >= this.#flow.blocks[block]!.first; at--) {
      const use = this.uses[at];
      if (this.#flow.instructions[at]!.opcode?.kind === 'call') found.add(at);
      if (!(use?.writes ?? mayWrite(this.#flow.instructions[at]!)).includes(register)) continue;
      found.add(at);
      if (!use) continue;
      const own = this.#guards[at];
      // Instructions with the same guard are executed on the same paths.
      if (!own || (guard && own.register === guard.register && own.negated === guard.negated)) return [...found];
      if ([...found].some((other) => this.#complement(at, other))) return [...found];
    }
    const seen = new Set<number>();
    const work = [...this.#flow.blocks[block]!.predecessors];
    if (block === 0) found.add(fromOutside);
    while (work.length > 0) {
      const one = work.pop()!;
      if (seen.has(one)) continue;
      seen.add(one);
      const last = this.#last[one]!.get(register);
      for (const at of last?.found ?? this.#calls[one]!) found.add(at);
      if (found.size > maxDefinitions) return null;
      if (last?.isCertain) continue;
      if (one === 0) found.add(fromOutside);
      work.push(...this.#flow.blocks[one]!.predecessors);
    }
    return [...found];
  }
}
