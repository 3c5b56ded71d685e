/** Which registers of a SASS function are read later on. */
import type { SassFlow } from './control-flow.ts';
import { type SassGuard, type SassInstruction, sassGuard } from './instruction/decode.ts';
import { firstUniform, type RegisterUse, registerUses } from './instruction/operands.ts';
import { predicateBitsRead, predicateBitsWritten, predicatesWritten } from './predicates.ts';

/** `P0` among the members of a set; registers have their own numbers. */
const firstPredicate = 512;

/** 256 registers of lanes, 256 of warps, the predicates of lanes. */
const words = 17;
const wordsOfLanes = firstUniform / 32;

/** What instructions read and write, in arrays that all walks share. */
class Steps {
  /** By instruction, where its registers begin in `members`: those that it reads, then those that it writes. */
  readonly reads: Int32Array;
  readonly writes: Int32Array;
  readonly members: Int16Array;
  /** Predicates as bits. */
  readonly readPredicates: Uint8Array;
  readonly writtenPredicates: Uint8Array;
  /** The set of what is read under its guard, and {@link unguarded}; what nobody knows is {@link anything}. */
  readonly guard: Int8Array;

  constructor({ instructions }: SassFlow, uses: readonly (RegisterUse | null)[]) {
    const count = instructions.length;
    this.reads = new Int32Array(count);
    this.writes = new Int32Array(count + 1);
    this.readPredicates = new Uint8Array(count);
    this.writtenPredicates = new Uint8Array(count);
    this.guard = new Int8Array(count);
    let size = 0;
    for (const use of uses) if (use) size += use.reads.length + use.writes.length;
    this.members = new Int16Array(size);
    let at = 0;
    for (let index = 0; index < count; index++) {
      const instruction = instructions[index]!;
      const use = uses[index];
      this.reads[index] = at;
      if (use) for (const one of use.reads) this.members[at++] = one;
      this.writes[index] = at;
      if (use) for (const one of use.writes) this.members[at++] = one;
      if (!use || instruction.opcode?.kind === 'return') {
        this.guard[index] = anything;
        continue;
      }
      this.writtenPredicates[index] = predicateBitsWritten(instruction);
      this.readPredicates[index] = predicateBitsRead(instruction);
      const guard = sassGuard(instruction);
      // Guards of the uniform datapath are predicates of its own.
      this.guard[index] = !guard ? unguarded : guard.register === 7 || instruction.opcode!.uniform ? otherGuard : setOf(guard); // prettier-ignore
    }
    this.writes[count] = at;
  }
}

const [unguarded, otherGuard, anything] = [-1, -2, -3];

/** What is live at each instruction of a function. */
export class RegisterLiveness {
  readonly #flow: SassFlow;
  readonly #steps: Steps;
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
    this.uses = registerUses(flow.instructions, version);
    this.#steps = new Steps(flow, this.uses);
    const { blocks } = flow;
    this.#atStart = new Uint32Array(blocks.length * words);
    const isDue = new Uint8Array(blocks.length).fill(1);
    for (let changed = true; changed;) {
      changed = false;
      for (let block = blocks.length - 1; block >= 0; block--) {
        if (isDue[block] === 0) continue;
        isDue[block] = 0;
        this.#walk(block);
        if (!this.#keep(block)) continue;
        for (const one of blocks[block]!.predecessors) isDue[one] = 1;
        changed = true;
      }
    }
  }

  /** Whether what is live at the start of a block is more than was known. */
  #keep(block: number): boolean {
    const from = block * words;
    let isNew = false;
    for (let word = 0; word < words; word++) {
      if (this.#atStart[from + word] === this.#live[word]) continue;
      this.#atStart[from + word] = this.#live[word]!;
      isNew = true;
    }
    return isNew;
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
      behind?.(index, this.#seenBy(this.#steps.guard[index]!));
      this.#step(index);
      before?.(index, this.#seenBy(unguarded));
    }
    for (let predicate = 0; predicate < 7 && this.#guards !== 0; predicate++) this.#forget(predicate);
  }

  /** What is live where a guard holds, or may hold. */
  #seenBy(guard: number): Uint32Array {
    if (this.#guards === 0) return this.#live;
    this.#seen.set(this.#live);
    for (let left = this.#guards; left !== 0; left &= left - 1) {
      const which = 31 - Math.clz32(left & -left);
      if (guard < 0 || which !== (guard ^ 1)) unite(this.#seen, this.#underGuard[which]!);
    }
    return this.#seen;
  }

  /** From here on, upwards, a predicate is another one: what is read under it may be read whatever it is. */
  #forget(predicate: number): void {
    for (let which = 2 * predicate; which <= 2 * predicate + 1; which++) {
      if (((this.#guards >> which) & 1) === 0) continue;
      unite(this.#live, this.#underGuard[which]!);
      this.#underGuard[which]!.fill(0);
      this.#guards &= ~(1 << which);
    }
  }

  #step(index: number): void {
    if (this.#idle.size > 0 && this.#idle.has(index)) return;
    const { reads, writes, members, readPredicates, writtenPredicates, guard: guards } = this.#steps;
    const guard = guards[index]!;
    if (guard === anything) {
      this.#live.fill(0xffffffff);
      return;
    }
    const written = writtenPredicates[index]!;
    if (written !== 0 && this.#guards !== 0) for (let one = 0; one < 7; one++) if (((written >> one) & 1) === 1) this.#forget(one); // prettier-ignore
    const [from, to] = [writes[index]!, reads[index + 1] ?? writes[index + 1]!];
    // What a guard may leave alone stays live, but for what reads it under the same guard.
    if (guard === unguarded) {
      this.#live[words - 1]! &= ~written;
      for (let at = from; at < to; at++) exclude(this.#live, members[at]!);
      for (let left = this.#guards; left !== 0; left &= left - 1) {
        const set = this.#underGuard[31 - Math.clz32(left & -left)]!;
        set[words - 1]! &= ~written;
        for (let at = from; at < to; at++) exclude(set, members[at]!);
      }
    } else if (guard >= 0) {
      const set = this.#underGuard[guard]!;
      set[words - 1]! &= ~written;
      for (let at = from; at < to; at++) exclude(set, members[at]!);
      this.#guards |= 1 << guard;
    }
    const readers = guard >= 0 ? this.#underGuard[guard]! : this.#live;
    for (let at = reads[index]!; at < from; at++) include(readers, members[at]!);
    this.#live[words - 1]! |= readPredicates[index]!;
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
