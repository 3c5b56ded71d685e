/**
 * Origins of values: loads by their lines of the PTX, parameters, special registers. The SASS of an access is compared
 * with its PTX by the origins of its address and its data, since lines identify instructions and not their operands.
 */
import type { BlockId, Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { type SassInstruction, wordBits } from '../instruction/decode.ts';
import { constantLeaf, maxParameterBytes, parameterOffsets, specialLeaf } from './address-origins.ts';
import { fromOutside, type RegisterFlow } from './registers.ts';

/** The leaves from which a value is computed. */
export interface Origins {
  /** `load 57`, `parameter 8`, `special tid.x`. */
  readonly leaves: ReadonlySet<string>;
  /** Whether the value may have unknown origins. */
  readonly isOpen: boolean;
  /** Whether the value, or one of its origins, has several definitions: its leaves may then be from different paths. */
  readonly isMerged: boolean;
}

/** Upper bound of the number of registers and words of a frame. */
const keys = 4096;

/** Maximum number of instructions followed for one value. */
const maxSteps = 3000;

/** Clocks and timers: as with loads, each reading gives a distinct value. */
const clocks: ReadonlySet<number> = new Set([0x50, 0x51, 0x52, 0x53]);

/** `SRZ`. */
const zeroSpecial = 255;

/** Operations that may move a value from one register to another, or produce a constant. */
const copying: ReadonlySet<string> = new Set(['MOV', 'IMAD', 'SEL', 'FSEL', 'PRMT', 'SHF', 'CALL', 'HFMA2', 'CS2R', 'LDL', 'R2UR', 'UMOV']);

/** Origins of values of the SASS. */
export class CodeOrigins {
  readonly #flow: SassFlow;
  readonly #registers: RegisterFlow;
  readonly #lineOf: (instruction: SassInstruction) => number | undefined;
  readonly #version: number;
  readonly #known = new Map<number, Origins>();
  /** PTX lines that load. Variables in local memory whose address is not taken are values there. */
  readonly #loads = new Set<number>();
  /** PTX lines with untracked results. */
  readonly #unfollowed = new Set<number>();

  constructor(
    flow: SassFlow,
    registers: RegisterFlow,
    version: number,
    lineOf: (instruction: SassInstruction) => number | undefined,
    kernel: Kernel,
  ) {
    this.#flow = flow;
    for (const { instructions } of kernel.blocks) {
      for (const { operation, ptxLine } of instructions) {
        const { kind } = operation.effect;
        if (kind === 'load' || kind === 'atomic') this.#loads.add(ptxLine);
        if (kind === 'havoc') this.#unfollowed.add(ptxLine);
      }
    }
    this.#registers = registers;
    this.#lineOf = lineOf;
    this.#version = version;
  }

  /** Origins by each instruction that may have written a register; null if there are too many or none is known. */
  ofRegister(index: number, register: number): readonly Origins[] | null {
    const definitions = this.#registers.definitionsOf(index, register);
    if (!definitions) return null;
    // From sm_100 on, instructions may write registers in addition to the known ones.
    if (this.#version >= 100 && definitions.every((definition) => definition === fromOutside)) return null;
    const found: Origins[] = [];
    const seen = new Set<number>();
    const work = definitions.map((at) => ({ at, register }));
    while (work.length > 0) {
      const one = work.pop()!;
      const key = one.at * keys + one.register;
      if (one.at === fromOutside || seen.has(key)) continue;
      seen.add(key);
      // Paths that join before a copy are distinguished like those that join after it.
      const [source, ...others] = this.#copiesOf(one.at, one.register);
      const copied = source !== undefined && others.length === 0 ? this.#registers.definitionsOf(one.at, source) : null;
      if (copied && copied.length > 1) work.push(...copied.map((at) => ({ at, register: source! })));
      else found.push(this.#of(one.at, one.register));
    }
    return found;
  }

  /** The source registers of an instruction whose result has no additional leaf; otherwise none. */
  #copiesOf(index: number, written: number): readonly number[] {
    const own = this.#registers.uses[index] ? this.#leavesOf(index, written) : null;
    return own && !own.isLeaf && own.leaves.length === 0 ? this.#registers.sourcesOf(index, written) : [];
  }

  /** Lines of the instructions that may have written a register; null if one of them may be a copy, or is unknown. */
  givenAt(index: number, register: number): readonly number[] | null {
    const lines: number[] = [];
    const definitions = this.#registers.definitionsOf(index, register);
    // An instruction with unknown operands may write another register.
    const certain = definitions?.filter((at) => at === fromOutside || this.#registers.uses[at]) ?? [];
    if (certain.length === 0) return null;
    for (const at of certain) {
      if (at === fromOutside) continue;
      const instruction = this.#flow.instructions[at]!;
      const line = this.#lineOf(instruction);
      if (!instruction.opcode || line === undefined || copying.has(instruction.opcode.mnemonic)) return null;
      lines.push(line);
    }
    return lines;
  }

  #of(definition: number, written: number): Origins {
    const key = definition * keys + written;
    const known = this.#known.get(key);
    if (known) return known;
    const leaves = new Set<string>();
    const seen = new Set<number>();
    const work = [key];
    let [isOpen, isMerged] = [false, false];
    while (work.length > 0 && !isOpen) {
      const one = work.pop()!;
      if (seen.has(one)) continue;
      seen.add(one);
      if (seen.size > maxSteps) isOpen = true;
      const index = Math.floor(one / keys);
      const own = this.#registers.uses[index] ? this.#leavesOf(index, one % keys) : null;
      if (own === null) isOpen = true;
      else for (const leaf of own.leaves) leaves.add(leaf);
      if (!own || own.isLeaf) continue;
      for (const register of this.#registers.sourcesOf(index, one % keys)) {
        const found = this.#registers.definitionsOf(index, register);
        if (!found) isOpen = true;
        if (found && found.length > 1) isMerged = true;
        for (const at of found ?? []) if (at !== fromOutside) work.push(at * keys + register);
      }
    }
    const origins = { leaves, isOpen, isMerged };
    this.#known.set(key, origins);
    return origins;
  }

  /** Null if the result is unknown. */
  #leavesOf(index: number, written: number): { readonly leaves: readonly string[]; readonly isLeaf: boolean } | null {
    const instruction = this.#flow.instructions[index]!;
    const { opcode, code } = instruction;
    if (!opcode) return null;
    if (this.#registers.isSpill(index)) return { leaves: [], isLeaf: false };
    const { kind, space, mnemonic } = opcode;
    if (kind === 'load' && space === 'constant') {
      const isBound = code !== 0x582 && code !== 0xbac && code !== 0xabb;
      // A wide load gives each register different words.
      const at = offsetOfLoad(instruction) + 4 * ((written & 255) - wordBits(instruction, 16, 8));
      return { leaves: isBound ? this.#constant(wordBits(instruction, 54, 5), at) : [], isLeaf: isBound };
    }
    if (kind === 'load' || kind === 'atomic') {
      const line = this.#lineOf(instruction);
      return space === 'local' || line === undefined || !this.#loads.has(line) ? null : { leaves: [`load ${line}`], isLeaf: true };
    }
    if (kind === 'call' || kind === 'texture' || kind === 'tensor' || kind === 'mbarrier') return null;
    if (mnemonic === 'S2R' || mnemonic === 'S2UR' || mnemonic === 'CS2R') {
      const special = wordBits(instruction, 72, 8);
      if (special === zeroSpecial) return { leaves: [], isLeaf: true };
      const leaf = specialLeaf(special);
      if (leaf !== undefined) return { leaves: [leaf], isLeaf: true };
      const line = this.#lineOf(instruction);
      if (this.#version >= 100 && !clocks.has(special)) return null;
      // Other special registers have no common name for PTX and SASS.
      const isReading = line !== undefined && (clocks.has(special) || this.#unfollowed.has(line));
      return { leaves: isReading ? [`load ${line}`] : [], isLeaf: true };
    }
    if (kind === 'system' || kind === 'warp') return mnemonic === 'SHFL' ? { leaves: [], isLeaf: false } : null;
    const form = code >> 9;
    const isConstant = (form === 3 || form === 5) && !opcode.uniform && wordBits(instruction, 91, 1) === 0;
    const leaves = isConstant ? this.#constant(wordBits(instruction, 54, 5), wordBits(instruction, 38, 16)) : [];
    return { leaves, isLeaf: false };
  }

  #constant(bank: number, offset: number): string[] {
    const leaf = bank === 0 ? constantLeaf(this.#version, offset) : null;
    if (!leaf) return [];
    return [leaf.kind === 'special' ? leaf.name : `parameter ${leaf.offset & ~7}`];
  }
}

/** Offset of a load; from sm_100 on, loads into uniform registers have one more bit. */
function offsetOfLoad(instruction: SassInstruction): number {
  return instruction.opcode?.mnemonic === 'LDCU' ? wordBits(instruction, 37, 17) : wordBits(instruction, 38, 16);
}

/** Origins of values of the PTX. */
export class SourceOrigins {
  readonly #kernel: Kernel;
  readonly #parameterAt: readonly number[];
  readonly #parameterBytes: number;
  readonly #known = new Map<ValueId, Origins>();
  readonly #needed = new Map<ValueId, Origins>();
  readonly #headers: ReadonlySet<BlockId>;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#headers = new Set(kernel.loops.map(({ header }) => header));
    ({ at: this.#parameterAt, bytes: this.#parameterBytes } = parameterOffsets(kernel));
  }

  /** Leaves of a value, including those of the conditions that select it. */
  of(operand: Operand): Origins {
    return this.#once(this.#known, operand, true);
  }

  /** Leaves that a value is computed from, without the conditions that select it; empty if unknown. */
  neededFor(operand: Operand): ReadonlySet<string> {
    const { leaves, isOpen } = this.#once(this.#needed, operand, false);
    return isOpen ? new Set() : leaves;
  }

  #once(known: Map<ValueId, Origins>, operand: Operand, hasConditions: boolean): Origins {
    if (operand.kind !== 'value') return this.#collect(operand, hasConditions);
    const found = known.get(operand.id) ?? this.#collect(operand, hasConditions);
    known.set(operand.id, found);
    return found;
  }

  /**
   * Lines of the loads and floating-point operations that define a value. Ptxas does not rewrite those. Null for other
   * definitions, which ptxas may compute differently.
   */
  givenAt(from: Operand): ReadonlySet<number> | null {
    const lines = new Set<number>();
    const seen = new Set<ValueId>();
    const work: Operand[] = [from];
    while (work.length > 0) {
      const operand = work.pop()!;
      if (operand.kind !== 'value' || seen.size > maxSteps) return null;
      if (seen.has(operand.id)) continue;
      seen.add(operand.id);
      const { definition } = this.#kernel.values[operand.id]!;
      if (definition.kind === 'phi') {
        work.push(...this.#kernel.blocks[definition.block]!.phis[definition.index]!.inputs);
        continue;
      }
      const { operation, ptxLine } = definition.instruction;
      const { effect, cost } = operation;
      const isLoad = effect.kind === 'load' && (effect.space === 'global' || effect.space === 'shared' || effect.space === 'generic');
      if (!isLoad && !(effect.kind === 'pure' && (cost === 'float' || cost === 'double'))) return null;
      lines.add(ptxLine);
    }
    return lines;
  }

  #collect(from: Operand, hasConditions: boolean): Origins {
    const leaves = new Set<string>();
    const seen = new Set<ValueId>();
    const work: Operand[] = [from];
    let [isOpen, isMerged] = [false, false];
    while (work.length > 0 && !isOpen) {
      const operand = work.pop()!;
      if (operand.kind === 'special') leaves.add(`special ${operand.register}`);
      if (operand.kind !== 'value' || seen.has(operand.id)) continue;
      seen.add(operand.id);
      if (seen.size > maxSteps) isOpen = true;
      const { definition, type } = this.#kernel.values[operand.id]!;
      // The predicate of a selection is a condition as well.
      if (type === 'predicate' && !hasConditions) continue;
      if (definition.kind === 'phi') {
        const { block, index } = definition;
        // The first iteration of a loop may have separate SASS.
        if (!hasConditions && this.#headers.has(block)) continue;
        isMerged = true;
        work.push(...this.#kernel.blocks[block]!.phis[index]!.inputs);
        if (hasConditions) work.push(...this.#conditions(block));
        continue;
      }
      const { instruction } = definition;
      const { effect } = instruction.operation;
      if (effect.kind === 'load' && effect.space === 'param') isOpen ||= !this.#parameters(instruction, leaves);
      else if (effect.kind === 'load' && effect.space === 'const') continue;
      else if (effect.kind === 'load' || effect.kind === 'atomic') {
        if (effect.space === 'local') isOpen = true;
        leaves.add(`load ${instruction.ptxLine}`);
      } else if (effect.kind === 'pure' || effect.kind === 'shuffle') work.push(...instruction.arguments);
      else if (effect.kind === 'havoc') leaves.add(`load ${instruction.ptxLine}`);
      else isOpen = true;
    }
    return { leaves, isOpen, isMerged };
  }

  /**
   * Adds the parameter words read by a load. False if they are unknown because the address is computed, or if the
   * kernel has many parameters.
   */
  #parameters({ arguments: [address], offset, operation: { effect } }: Instruction, leaves: Set<string>): boolean {
    if (address?.kind !== 'address' || effect.kind !== 'load' || this.#parameterBytes > maxParameterBytes) return false;
    const parameter = this.#kernel.objects[address.object]?.parameter;
    if (parameter === undefined) return false;
    const from = this.#parameterAt[parameter]! + Number(address.offset + offset);
    for (let at = from & ~7; at < from + effect.bytes * effect.lanes; at += 8) leaves.add(`parameter ${at}`);
    return true;
  }

  /** Conditions of the branches between a block and its dominators. */
  #conditions(block: BlockId): Operand[] {
    const { blocks, dominators } = this.#kernel;
    const top = dominators[block]!;
    const seen = new Set<BlockId>([top]);
    const work = [...blocks[block]!.predecessors];
    const found: Operand[] = [];
    const add = (one: BlockId): void => {
      const { terminator } = blocks[one]!;
      if (terminator.kind === 'branch') found.push(terminator.condition);
      if (terminator.kind === 'switch') found.push(terminator.index);
    };
    add(top);
    while (work.length > 0) {
      const one = work.pop()!;
      if (seen.has(one)) continue;
      seen.add(one);
      add(one);
      work.push(...blocks[one]!.predecessors);
    }
    return found;
  }
}
