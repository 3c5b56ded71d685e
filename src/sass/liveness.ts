/** Which registers of a SASS function are read later on. */
import type { SassFlow } from './control-flow.ts';
import { type SassGuard, type SassInstruction, sassGuard } from './instruction/decode.ts';
import { firstUniform, type RegisterUse, registerUse } from './instruction/operands.ts';
import { predicatesRead, predicatesWritten } from './predicates.ts';

/** `P0` among the members of a set; registers have their own numbers. */
const firstPredicate = 512;

/** 256 registers of lanes, 256 of warps, the predicates of lanes. */
const words = 17;
const wordsOfLanes = firstUniform / 32;

/** What is live at each instruction of a function. */
export class RegisterLiveness {
  readonly #flow: SassFlow;
  /** By instruction; null where nobody knows its operands, which may be any. */
  readonly uses: readonly (RegisterUse | null)[];
  /** By block, `words` each. */
  readonly #atStart: Uint32Array;
  readonly #live = new Uint32Array(words);
  /** What is read under a guard alone, by the guard, until its predicate is written. */
  readonly #underGuard = Array.from({ length: 14 }, () => new Uint32Array(words));
  /** Guards whose sets are not empty, as bits. */
  #guards = 0;
  readonly #seen = new Uint32Array(words);

  readonly #idle: ReadonlySet<number>;

  /** @param idle instructions that count as if they were not there, by their indices */
  constructor(flow: SassFlow, version: number, idle: ReadonlySet<number> = new Set()) {
    this.#flow = flow;
    this.#idle = idle;
    this.uses = flow.instructions.map((instruction) => registerUse(instruction, version));
    this.#atStart = new Uint32Array(flow.blocks.length * words);
    for (let changed = true; changed;) {
      changed = false;
      for (let block = flow.blocks.length - 1; block >= 0; block--) {
        this.#walk(block);
        for (let word = 0; word < words; word++) {
          const at = block * words + word;
          if (this.#atStart[at] === this.#live[word]) continue;
          this.#atStart[at] = this.#live[word]!;
          changed = true;
        }
      }
    }
  }

  /**
   * Visits each instruction, those of a block in reverse order.
   * @param before is called with what is live before an instruction
   * @param behind is called with what is live behind an instruction
   */
  each({ before, behind }: { before?: LivenessVisitor; behind?: LivenessVisitor }): void {
    for (const block of this.#flow.blocks.keys()) this.#walk(block, before, behind);
  }

  #walk(block: number, before?: LivenessVisitor, behind?: LivenessVisitor): void {
    const { first, end, successors } = this.#flow.blocks[block]!;
    this.#live.fill(0);
    for (const successor of successors) {
      for (let word = 0; word < words; word++) this.#live[word]! |= this.#atStart[successor * words + word]!;
    }
    for (let index = end - 1; index >= first; index--) {
      const instruction = this.#flow.instructions[index]!;
      behind?.(index, this.#seenBy(instruction.opcode?.uniform ? undefined : sassGuard(instruction)));
      this.#step(index);
      before?.(index, this.#seenBy());
    }
    for (const register of [0, 1, 2, 3, 4, 5, 6]) this.#forget(register);
  }

  /** What is live where a guard holds, or may hold. */
  #seenBy(guard?: SassGuard): Uint32Array {
    if (this.#guards === 0) return this.#live;
    this.#seen.set(this.#live);
    const opposite = guard && guard.register !== 7 ? setOf(guard) ^ 1 : -1;
    for (const [which, set] of this.#underGuard.entries()) if (which !== opposite && ((this.#guards >> which) & 1) === 1) unite(this.#seen, set); // prettier-ignore
    return this.#seen;
  }

  /** From here on, upwards, a predicate is another one: what is read under it may be read whatever it is. */
  #forget(predicate: number): void {
    for (const which of [2 * predicate, 2 * predicate + 1]) {
      if (((this.#guards >> which) & 1) === 0) continue;
      unite(this.#live, this.#underGuard[which]!);
      this.#underGuard[which]!.fill(0);
      this.#guards &= ~(1 << which);
    }
  }

  #step(index: number): void {
    if (this.#idle.has(index)) return;
    const instruction = this.#flow.instructions[index]!;
    const use = this.uses[index];
    if (!use || instruction.opcode?.kind === 'return') {
      this.#live.fill(0xffffffff);
      return;
    }
    for (const one of predicatesWritten(instruction)) this.#forget(one);
    const guard = sassGuard(instruction);
    // Guards of the uniform datapath are predicates of its own.
    const which = guard && guard.register !== 7 && !instruction.opcode!.uniform ? setOf(guard) : -1;
    // What a guard may leave alone stays live, but for what reads it under the same guard.
    for (const one of writtenBy(instruction, use)) {
      if (which >= 0) exclude(this.#underGuard[which]!, one);
      if (guard) continue;
      exclude(this.#live, one);
      for (const set of this.#underGuard) exclude(set, one);
    }
    const readers = which < 0 ? this.#live : this.#underGuard[which]!;
    if (which >= 0) this.#guards |= 1 << which;
    for (const one of use.reads) include(readers, one);
    for (const one of predicatesRead(instruction)) include(this.#live, firstPredicate + one);
  }
}

function setOf({ register, negated }: SassGuard): number {
  return 2 * register + (negated ? 1 : 0);
}

function unite(target: Uint32Array, source: Uint32Array): void {
  for (let word = 0; word < words; word++) target[word]! |= source[word]!;
}

type LivenessVisitor = (index: number, live: Uint32Array) => void;

/** Registers and predicates that an instruction writes. */
export function writtenBy(instruction: SassInstruction, { writes }: RegisterUse): readonly number[] {
  const predicates = predicatesWritten(instruction);
  return predicates.length === 0 ? writes : [...writes, ...predicates.map((one) => firstPredicate + one)];
}

/** Whether a set of live registers and predicates holds one. */
export function isLive(live: Uint32Array, register: number): boolean {
  return ((live[register >> 5]! >>> (register & 31)) & 1) === 1;
}

function include(live: Uint32Array, register: number): void {
  live[register >> 5]! |= 1 << (register & 31);
}

function exclude(live: Uint32Array, register: number): void {
  live[register >> 5]! &= ~(1 << (register & 31));
}

/**
 * How many registers are live before each instruction; those that a warp shares do not count.
 * @returns null where nobody knows the operands of some instruction
 */
export function liveRegisters(flow: SassFlow, version: number): Uint16Array | null {
  const liveness = new RegisterLiveness(flow, version);
  if (liveness.uses.includes(null)) return null;
  const counts = new Uint16Array(flow.instructions.length);
  liveness.each({
    before: (index, live) => {
      let count = 0;
      for (let word = 0; word < wordsOfLanes; word++) count += ones(live[word]!);
      counts[index] = count;
    },
  });
  return counts;
}

function ones(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
