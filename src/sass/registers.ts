/** Where the registers of a SASS function come from, and how many of them are live. */
import type { SassFlow } from './control-flow.ts';
import { type SassGuard, sassGuard } from './instruction/decode.ts';
import { firstUniform, mayWrite, type RegisterUse, registerUse } from './instruction/operands.ts';

/** What no instruction of the function wrote. */
export const fromOutside = -1;

/** More definitions of one register than this are not told apart. */
const mostDefinitions = 64;

/** Definitions that reach uses, asked for one by one. */
export class RegisterFlow {
  readonly #flow: SassFlow;
  readonly uses: readonly (RegisterUse | null)[];
  readonly #guards: readonly (SassGuard | undefined)[];
  readonly #blockOf: Int32Array;
  /** By block, then register: definitions in it that reach its end, last one first, and whether one of them is certain. */
  readonly #last: readonly Map<number, { readonly found: readonly number[]; readonly isCertain: boolean }>[];
  /** By block: calls, which may write any register. */
  readonly #calls: number[][] = [];

  constructor(flow: SassFlow, version: number) {
    this.#flow = flow;
    this.uses = flow.instructions.map((instruction) => registerUse(instruction, version));
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
          const isCertain = use !== null && use !== undefined && !this.#guards[index];
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

  /**
   * The instructions that may have written a register as an instruction reads it, by their indices; {@link fromOutside}
   * where a path from the entry writes it nowhere. Null: more than anybody asks for.
   */
  definitionsOf(index: number, register: number): readonly number[] | null {
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
      // What one predicate guards is one path.
      if (!own || (guard && own.register === guard.register && own.negated === guard.negated)) return [...found];
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
      if (found.size > mostDefinitions) return null;
      if (last?.isCertain) continue;
      if (one === 0) found.add(fromOutside);
      work.push(...this.#flow.blocks[one]!.predecessors);
    }
    return [...found];
  }
}

/** Sets of the 256 registers that lanes have of their own. */
const words = 8;

/**
 * How many registers are live before each instruction; those that a warp shares do not count.
 * @returns null where nobody knows the operands of some instruction
 */
export function liveRegisters(flow: SassFlow, version: number): Uint16Array | null {
  const { instructions, blocks } = flow;
  const uses: RegisterUse[] = [];
  for (const instruction of instructions) {
    const use = registerUse(instruction, version);
    if (!use) return null;
    uses.push(use);
  }
  const atStart = new Uint32Array(blocks.length * words);
  const live = new Uint32Array(words);
  const counts = new Uint16Array(instructions.length);
  const enter = ({ successors }: SassFlow['blocks'][number]): void => {
    live.fill(0);
    for (const successor of successors)
      for (let word = 0; word < words; word++) live[word]! |= atStart[successor * words + word]!;
  };
  let count = 0;
  const set = (register: number, isLive: boolean): void => {
    if (register >= firstUniform) return;
    const [word, bit] = [register >> 5, 1 << (register & 31)];
    const known = (live[word]! & bit) !== 0;
    if (known === isLive) return;
    live[word]! ^= bit;
    count += isLive ? 1 : -1;
  };
  const step = (index: number): void => {
    const { reads, writes } = uses[index]!;
    // What a guard may leave alone stays live.
    if (!sassGuard(instructions[index]!)) for (const one of writes) set(one, false);
    for (const one of reads) set(one, true);
  };
  for (let changed = true; changed;) {
    changed = false;
    for (let block = blocks.length - 1; block >= 0; block--) {
      const { first, end } = blocks[block]!;
      enter(blocks[block]!);
      for (let index = end - 1; index >= first; index--) step(index);
      for (let word = 0; word < words; word++) {
        if (live[word] === atStart[block * words + word]) continue;
        atStart[block * words + word] = live[word]!;
        changed = true;
      }
    }
  }
  for (const block of blocks) {
    enter(block);
    count = ones(live);
    for (let index = block.end - 1; index >= block.first; index--) {
      step(index);
      counts[index] = count;
    }
  }
  return counts;
}

function ones(set: Uint32Array): number {
  let count = 0;
  for (const word of set) for (let left = word; left !== 0; left = (left & (left - 1)) >>> 0) count++;
  return count;
}
