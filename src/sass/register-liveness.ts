/** Which registers of a SASS function are read later on. */
import type { SassFlow } from './sass-flow.ts';
import type { SassInstruction } from './instruction/decode.ts';
import { findOperands, firstUniform, OperandList, type RegisterUse } from './instruction/operands.ts';
import { predicateBitsRead, predicateBitsWritten, predicatesWritten } from './predicates.ts';

/** Number of `P0` in a set; registers have their own numbers. */
const firstPredicate = 512;

/** Words of a set: 256 registers of lanes, 256 uniform registers, the predicates of lanes. */
const words = 17;
const wordsOfLanes = firstUniform / 32;

/** Registers read and written by the instructions of a function, in arrays that all walks share. */
export class RegisterSteps {
  /**
   * Per instruction, `fields` numbers: the index in `members` of the first register that it reads, that of the first
   * register that it writes, and its predicates and guard. A final entry has the end of the last registers.
   */
  readonly steps: Int32Array;
  readonly members: readonly number[];
  /** Whether the operands of every instruction are known. */
  readonly isKnown: boolean;
  /** Indices of the words of a set that may be non-zero. */
  readonly words: readonly number[];

  /** @param ofLanes whether only registers of lanes are needed, and no predicates */
  constructor(instructions: readonly SassInstruction[], version: number, ofLanes = false) {
    const count = instructions.length;
    const steps = new Int32Array((count + 1) * fields);
    const list = new OperandList();
    let isKnown = true;
    let hasAnything = false;
    for (let index = 0, at = 0; index < count; index++, at += fields) {
      const instruction = instructions[index]!;
      const isUse = findOperands(instruction, version, list);
      steps[at] = list.reads;
      steps[at + 1] = list.writes;
      if (!isUse) isKnown = false;
      if (isUse && instruction.opcode!.kind !== 'return') {
        steps[at + 2] = predicateBitsWritten(instruction) | (guardSetOf(instruction) << guardShift);
        if (!ofLanes) steps[at + 2]! |= predicateBitsRead(instruction) << readShift;
      } else {
        hasAnything = true;
        steps[at + 2] = anything << guardShift;
      }
    }
    const { members } = list;
    steps[count * fields] = members.length;
    this.steps = steps;
    this.members = members;
    this.isKnown = isKnown;
    let used = 1 << (words - 1);
    for (let at = 0; at < members.length; at++) used |= 1 << (members[at]! >> 5);
    const inUse: number[] = [];
    for (let word = 0; word < (ofLanes ? wordsOfLanes : words); word++) if (hasAnything || ((used >> word) & 1) === 1) inUse.push(word);
    this.words = inUse;
  }
}

/** Numbers per instruction in {@link RegisterSteps}. */
const fields = 3;

/** The set for registers read under the guard of an instruction. */
function guardSetOf(instruction: SassInstruction): number {
  const guard = (instruction.text[instruction.at]! >>> 12) & 15;
  if (guard === 7) return unguarded;
  // Guards of the uniform datapath are separate predicates.
  return guard === 15 || instruction.opcode!.uniform ? otherGuard : setOf(guard);
}

/**
 * Third number of an instruction: written predicates in bits 0 to 6, then the predicates that it reads, then its guard.
 */
const [readShift, guardShift] = [7, 14];

/** Encodings of guards other than the sets of guards. */
const [unguarded, otherGuard, anything] = [-1, -2, -3];

/** Live registers at each instruction of a function. */
export class RegisterLiveness {
  readonly #flow: SassFlow;
  readonly #steps: RegisterSteps;
  /** Live set at the start of each block, `words` numbers each. */
  readonly #atStart: Uint32Array;
  readonly #live = new Uint32Array(words);
  /**
   * Registers read only under a guard, by guard, `words` numbers each; valid until the predicate of the guard is
   * written.
   */
  #underGuard = none;
  /** Mask of the guards whose sets are not empty. */
  #guards = 0;
  #seen = none;
  readonly #idle: ReadonlySet<number>;

  /**
   * @param steps of the instructions of the flow
   * @param idle indices of ignored instructions
   * @param before is called with the registers so far known to be live before an instruction; the last call for an
   * instruction has all of them
   */
  constructor(flow: SassFlow, steps: RegisterSteps, idle: ReadonlySet<number> = new Set(), before?: LivenessVisitor) {
    this.#flow = flow;
    this.#idle = idle;
    this.#steps = steps;
    const { blocks } = flow;
    this.#atStart = new Uint32Array(blocks.length * words);
    const isDue = new Uint8Array(blocks.length).fill(1);
    for (let changed = true; changed;) {
      changed = false;
      for (let block = blocks.length - 1; block >= 0; block--) {
        if (isDue[block] === 0) continue;
        isDue[block] = 0;
        this.#walk(block, before);
        if (!this.#keep(block)) continue;
        for (const one of blocks[block]!.predecessors) isDue[one] = 1;
        changed = true;
      }
    }
  }

  /** Updates the live set at the start of a block; returns whether it has grown. */
  #keep(block: number): boolean {
    const used = this.#steps.words;
    const live = this.#live;
    const atStart = this.#atStart;
    let isNew = false;
    for (let one = 0; one < used.length; one++) {
      const word = used[one]!;
      const at = block * words + word;
      if (atStart[at] === live[word]) continue;
      atStart[at] = live[word]!;
      isNew = true;
    }
    return isNew;
  }

  /**
   * Visits each instruction, those of a block in reverse order.
   * @param before is called with the registers that are live before an instruction
   * @param after is called with the registers that are live after an instruction
   */
  each({ before, after }: { before?: LivenessVisitor; after?: LivenessVisitor }): void {
    for (let block = 0; block < this.#flow.blocks.length; block++) this.#walk(block, before, after);
  }

  #walk(block: number, before?: LivenessVisitor, after?: LivenessVisitor): void {
    const { first, end, successors } = this.#flow.blocks[block]!;
    this.#live.fill(0);
    for (let one = 0; one < successors.length; one++) this.#unite(this.#live, this.#atStart, successors[one]! * words);
    for (let index = end - 1; index >= first; index--) {
      after?.(index, this.#seenBy(this.#steps.steps[index * fields + 2]! >> guardShift));
      this.#step(index);
      before?.(index, this.#seenBy(unguarded));
    }
    for (let predicate = 0; predicate < 7 && this.#guards !== 0; predicate++) this.#forget(predicate);
  }

  /** The live registers on paths on which a guard is, or may be, true. */
  #seenBy(guard: number): Uint32Array {
    if (this.#guards === 0) return this.#live;
    if (this.#seen === none) this.#seen = new Uint32Array(words);
    this.#seen.set(this.#live);
    for (let left = this.#guards; left !== 0; left &= left - 1) {
      const which = 31 - Math.clz32(left & -left);
      if (guard < 0 || which !== (guard ^ 1)) this.#unite(this.#seen, this.#underGuard, which * words);
    }
    return this.#seen;
  }

  /** Adds the set that begins at an index of `sets` to the target. */
  #unite(target: Uint32Array, sets: Uint32Array, from: number): void {
    const used = this.#steps.words;
    for (let one = 0; one < used.length; one++) target[used[one]!]! |= sets[from + used[one]!]!;
  }

  /**
   * Before its definition a predicate has an unrelated value: registers read under it count as read under any guard.
   */
  #forget(predicate: number): void {
    for (let which = 2 * predicate; which <= 2 * predicate + 1; which++) {
      if (((this.#guards >> which) & 1) === 0) continue;
      this.#unite(this.#live, this.#underGuard, which * words);
      this.#underGuard.fill(0, which * words, (which + 1) * words);
      this.#guards &= ~(1 << which);
    }
  }

  #step(index: number): void {
    if (this.#idle.size > 0 && this.#idle.has(index)) return;
    const { steps, members } = this.#steps;
    const live = this.#live;
    const own = index * fields;
    const facts = steps[own + 2]!;
    const guard = facts >> guardShift;
    if (guard === anything) {
      live.fill(0xffffffff);
      return;
    }
    const written = facts & 0x7f;
    if (written !== 0 && this.#guards !== 0) for (let one = 0; one < 7; one++) if (((written >> one) & 1) === 1) this.#forget(one);
    const from = steps[own + 1]!;
    // A guarded write ends liveness only for reads under the same guard.
    if (guard === unguarded) {
      this.#exclude(live, 0, index);
      for (let left = this.#guards; left !== 0; left &= left - 1)
        this.#exclude(this.#underGuard, (31 - Math.clz32(left & -left)) * words, index);
    } else if (guard >= 0) {
      if (this.#underGuard === none) this.#underGuard = new Uint32Array(guardSets * words);
      this.#exclude(this.#underGuard, guard * words, index);
      this.#guards |= 1 << guard;
    }
    const readers = guard >= 0 ? this.#underGuard : live;
    const start = guard >= 0 ? guard * words : 0;
    for (let at = steps[own]!; at < from; at++) {
      const register = members[at]!;
      readers[start + (register >> 5)]! |= 1 << (register & 31);
    }
    live[words - 1]! |= (facts >> readShift) & 0x7f;
  }

  /** Removes the registers that an instruction writes from the set at an offset of `sets`. */
  #exclude(sets: Uint32Array, start: number, index: number): void {
    const { steps, members } = this.#steps;
    const own = index * fields;
    sets[start + words - 1]! &= ~(steps[own + 2]! & 0x7f);
    for (let at = steps[own + 1]!; at < steps[own + fields]!; at++) {
      const register = members[at]!;
      sets[start + (register >> 5)]! &= ~(1 << (register & 31));
    }
  }
}

/** Seven predicates, each of them plain and negated. */
const guardSets = 14;
const none = new Uint32Array(0);

/** The set of a guard by its four bits, of which the highest one negates it. */
function setOf(guard: number): number {
  return 2 * (guard & 7) + (guard >> 3);
}

type LivenessVisitor = (index: number, live: Uint32Array) => void;

/** Registers and predicates that an instruction writes. */
export function writtenBy(instruction: SassInstruction, { writes }: RegisterUse): readonly number[] {
  const predicates = predicatesWritten(instruction);
  return predicates.length === 0 ? writes : [...writes, ...predicates.map((one) => firstPredicate + one)];
}

/** Number of live registers of lanes before each instruction; uniform registers are not counted. */
export function liveRegisters(flow: SassFlow, version: number): Uint16Array | null {
  const steps = new RegisterSteps(flow.instructions, version, true);
  if (!steps.isKnown) return null;
  const counts = new Uint16Array(flow.instructions.length);
  new RegisterLiveness(flow, steps, new Set(), (index, live) => {
    let count = 0;
    for (let one = 0; one < steps.words.length; one++) count += ones(live[steps.words[one]!]!);
    counts[index] = count;
  });
  return counts;
}

function ones(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
