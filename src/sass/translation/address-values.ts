/**
 * Addresses as integers. The lowest 32 bits of an address are computed for PTX and SASS from the same values of
 * parameters, special registers and loads. If the address of an access differs from that of its PTX line, the access is
 * the SASS of another one. Addresses that depend on the path, or on untracked operations, are ignored.
 */
import { referenceDomain } from '../../isa/arithmetic/reference-domain.ts';
import type { Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { accessBits, type SassInstruction, wordBits } from '../instruction/decode.ts';
import { displacementAt, firstUniform } from '../instruction/operands.ts';
import { type ConstantLeaf, constantLeaf, maxParameterBytes, parameterOffsets, specialLeaf } from './address-origins.ts';
import { knownThreads, longestRow } from './block-extents.ts';
import type { RegisterFlow } from './registers.ts';

/** Values of leaves: random in each trial, except for those that only ptxas knows, which are the same in all trials. */
class Leaves {
  readonly #trial: number;
  /** Number of threads of a one-dimensional block if the trial uses such blocks. */
  readonly #row: number | undefined;
  /** Number of threads of a block along each axis, if known to ptxas. */
  readonly #threads: readonly [number, number, number] | undefined;

  constructor(trial: number, threads: readonly [number, number, number] | undefined, row?: number) {
    this.#trial = trial;
    this.#threads = threads;
    this.#row = row;
  }

  word(leaf: string): number {
    const drawn = mixed(`${this.#trial} ${leaf}`);
    const axis = this.#threads ? /^special n?tid\.([xyz])$/.exec(leaf)?.[1] : undefined;
    if (axis !== undefined) {
      const threads = this.#threads!['xyz'.indexOf(axis)]!;
      const most = this.#row === undefined ? Math.min(32, threads) : threads;
      return leaf.startsWith('special n') ? threads : drawn % most;
    }
    // Indices and dimensions are in the range of real launches, since ptxas knows their bounds.
    if (this.#row !== undefined && /^special n?tid\./.test(leaf)) {
      const threads = leaf.endsWith('.x') ? this.#row : 1;
      return leaf.startsWith('special n') ? threads : drawn % threads;
    }
    if (leaf.startsWith('special tid.')) return drawn % 32;
    if (leaf.startsWith('special ntid.')) return 32 + (drawn % 32);
    if (leaf.startsWith('special ctaid.')) return drawn % 1000;
    if (leaf.startsWith('special nctaid.')) return 1000 + (drawn % 1000);
    if (leaf === 'special laneid') return drawn % 32;
    return leaf.startsWith('unknown ') ? mixed(leaf) : drawn;
  }
}

/** FNV-1a, then a step that spreads the bits. */
function mixed(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** A value of the PTX with the objects on whose addresses it depends; null if unknown. */
interface SourceValue {
  readonly value: bigint | boolean;
  readonly objects: ReadonlySet<number>;
}

const noObjects: ReadonlySet<number> = new Set();

/** Values of the PTX in one trial. The addresses of objects are zero. */
class SourceValues {
  readonly #kernel: Kernel;
  readonly #leaves: Leaves;
  readonly #hasCode: (ptxLine: number) => boolean;
  readonly #parameterAt: readonly number[];
  readonly #known = new Map<ValueId, SourceValue | null>();

  constructor(kernel: Kernel, leaves: Leaves, hasCode: (ptxLine: number) => boolean) {
    this.#kernel = kernel;
    this.#leaves = leaves;
    this.#hasCode = hasCode;
    this.#parameterAt = parameterOffsets(kernel).at;
  }

  of(operand: Operand): SourceValue | null {
    if (operand.kind === 'constant') {
      const value = operand.type === 'predicate' ? operand.value !== 0n : operand.value;
      return { value, objects: noObjects };
    }
    if (operand.kind === 'address') {
      return { value: BigInt.asUintN(64, operand.offset), objects: new Set([operand.object]) };
    }
    if (operand.kind === 'special') {
      const isFollowed = /^n?(?:tid|ctaid)\.|^laneid$/.test(operand.register);
      return isFollowed ? { value: BigInt(this.#leaves.word(`special ${operand.register}`)), objects: noObjects } : null;
    }
    if (operand.kind !== 'value') return null;
    const known = this.#known.get(operand.id);
    if (known !== undefined) return known;
    // Null while it is computed: a value that depends on itself is defined by a phi.
    this.#known.set(operand.id, null);
    const found = this.#valueOf(operand.id);
    this.#known.set(operand.id, found);
    return found;
  }

  #valueOf(id: ValueId): SourceValue | null {
    const { definition } = this.#kernel.values[id]!;
    if (definition.kind === 'phi') return null;
    const { instruction } = definition;
    const { operation, arguments: operands, results } = instruction;
    const at = results.indexOf(id);
    if (operation.effect.kind === 'load') return this.#loaded(instruction, at);
    if (operation.effect.kind !== 'pure' || !operation.evaluate || operation.carry) return null;
    if (operation.cost === 'float' || operation.cost === 'double') return null;
    const sources = operands.map((one) => this.of(one));
    if (!sources.every((one) => one !== null)) return null;
    const value = operation.evaluate<bigint, boolean>(
      referenceDomain,
      sources.map((one) => one.value),
    )[at];
    return value === undefined ? null : { value, objects: new Set(sources.flatMap((one) => [...one.objects])) };
  }

  #loaded({ operation: { effect, results }, arguments: [address], offset, ptxLine }: Instruction, at: number): SourceValue | null {
    if (effect.kind !== 'load' || effect.space === 'local' || effect.space === 'const') return null;
    let [first, name] = [at * effect.bytes, `load ${ptxLine} `];
    if (effect.space === 'param') {
      const parameter = address?.kind === 'address' ? this.#kernel.objects[address.object]?.parameter : undefined;
      if (address?.kind !== 'address' || parameter === undefined) return null;
      first += this.#parameterAt[parameter]! + Number(address.offset + offset);
      name = 'parameter ';
    } else if (!this.#hasCode(ptxLine)) return null;
    // Values narrower than their register are extended, and narrower words are extracted from others.
    if (effect.bytes < 4 || first % 4 !== 0 || results[at] !== effect.bytes * 8) return null;
    let value = 0n;
    for (let byte = effect.bytes - 4; byte >= 0; byte -= 4) value = (value << 32n) | BigInt(this.#leaves.word(`${name}${first + byte}`));
    return { value, objects: noObjects };
  }
}

const zeroRegister = 255;
const keys = 4096;
/** First architecture with memory descriptors in the constant bank. */
const firstDescribing = 80;
/** Maximum depth of computations that are evaluated. */
const maxDepth = 200;

/** Values of SASS registers in one trial, 32 bits each. */
class CodeValues {
  readonly #flow: SassFlow;
  readonly #registers: RegisterFlow;
  readonly #version: number;
  readonly #leaves: Leaves;
  /** The PTX line of an instruction if the line has exactly one load. */
  readonly #loadOf: (instruction: SassInstruction) => number | undefined;
  readonly #known = new Map<number, number | null>();

  constructor(
    flow: SassFlow,
    registers: RegisterFlow,
    version: number,
    leaves: Leaves,
    loadOf: (instruction: SassInstruction) => number | undefined,
  ) {
    this.#flow = flow;
    this.#registers = registers;
    this.#version = version;
    this.#leaves = leaves;
    this.#loadOf = loadOf;
  }

  /** The lowest 32 bits of the address of an access. */
  addressAt(index: number): number | null {
    const instruction = this.#flow.instructions[index]!;
    const { opcode } = instruction;
    const base = this.#register(index, wordBits(instruction, 24, 8), false, 0);
    if (base === null) return null;
    const isShared = opcode!.space === 'shared';
    const scale = isShared ? [0, 2, 3, 4][wordBits(instruction, 78, 2)]! : 0;
    let sum = (base << scale) + ((wordBits(instruction, displacementAt(instruction), 24) << 8) >> 8);
    if (wordBits(instruction, 91, 1) === 1) {
      const from = wordBits(instruction, opcode!.kind === 'load' ? 32 : 64, 8) & 63;
      const more = isShared ? this.#register(index, from, true, 0) : this.#descriptor(index, from);
      if (more === null) return null;
      sum += more;
    }
    return sum >>> 0;
  }

  /**
   * The offset that a uniform register adds to an address of global memory: 0 from sm_80 on, where the register is a
   * descriptor.
   */
  #descriptor(index: number, register: number): number | null {
    if (this.#version < firstDescribing) return this.#register(index, register, true, 0);
    const definitions = this.#registers.definitionsOf(index, firstUniform + register);
    const isDescriptor = definitions?.every((at) => {
      const one = this.#flow.instructions[at];
      return (
        one?.opcode?.mnemonic === 'ULDC' && wordBits(one, 54, 5) === 0 && wordBits(one, 38, 16) === (this.#version >= 90 ? 0x208 : 0x118)
      );
    });
    return isDescriptor ? 0 : null;
  }

  #register(index: number, register: number, isUniform: boolean, depth: number): number | null {
    if (register === (isUniform ? 63 : zeroRegister)) return 0;
    return this.#numbered(index, register + (isUniform ? firstUniform : 0), depth);
  }

  #numbered(index: number, register: number, depth: number): number | null {
    const [at, ...others] = this.#registers.definitionsOf(index, register) ?? [];
    if (at === undefined || at < 0 || others.length > 0 || depth > maxDepth) return null;
    const key = at * keys + register;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, null);
    const found = this.#result(at, register, depth + 1);
    this.#known.set(key, found === null ? null : found >>> 0);
    return found === null ? null : found >>> 0;
  }

  #constant(bank: number, offset: number): number {
    const leaf: ConstantLeaf | null = bank === 0 ? constantLeaf(this.#version, offset) : null;
    return this.#leaves.word(
      leaf === null ? `unknown ${bank} ${offset}` : leaf.kind === 'special' ? leaf.name : `parameter ${leaf.offset}`,
    );
  }

  #result(at: number, written: number, depth: number): number | null {
    const instruction = this.#flow.instructions[at]!;
    const { opcode, code } = instruction;
    if (!opcode) return null;
    if (this.#registers.isSpill(at)) {
      const [slot] = this.#registers.sourcesOf(at, written);
      return slot === undefined ? null : this.#numbered(at, slot, depth);
    }
    const word = (written & 255) - wordBits(instruction, 16, 8);
    if (opcode.kind === 'load' && opcode.space === 'constant') {
      const isDirect = code === 0xab9 || (code === 0xb82 && wordBits(instruction, 24, 8) === zeroRegister);
      const isWhole = (accessBits(instruction, this.#version) ?? 0) >= 32;
      return isDirect && isWhole ? this.#constant(wordBits(instruction, 54, 5), wordBits(instruction, 38, 16) + 4 * word) : null;
    }
    if (opcode.kind === 'load') {
      const line = this.#loadOf(instruction);
      return line === undefined ? null : this.#leaves.word(`load ${line} ${4 * word}`);
    }
    if (word !== 0 && !/^U?IMAD$/.test(opcode.mnemonic)) return null;
    return this.#computed(at, word, depth);
  }

  /** The three sources of an instruction; null if one is unknown. */
  #sources(at: number, depth: number): readonly [number | null, number | null, number | null] {
    const instruction = this.#flow.instructions[at]!;
    const { uniform } = instruction.opcode!;
    const form = instruction.code >> 9;
    // In other operations these bits do not negate sources.
    const hasSigns = /^U?(?:IADD3|IMAD|VIADD|LEA)$/.test(instruction.opcode!.mnemonic);
    const negated = (from: number, value: number | null): number | null =>
      value !== null && hasSigns && wordBits(instruction, from, 1) === 1 ? -value : value;
    const read = (from: number, isUniform = uniform): number | null => this.#register(at, wordBits(instruction, from, 8), isUniform, depth);
    const special = (): number | null => {
      if (form === 1) return negated(63, read(32));
      if (form === 2 || form === 4) return wordBits(instruction, 32, 32) | 0;
      if (wordBits(instruction, 91, 1) === 0 && (form === 3 || form === 5))
        return negated(63, this.#constant(wordBits(instruction, 54, 5), wordBits(instruction, 38, 16)));
      return form === 6 || form === 7 ? negated(63, read(32, true)) : null;
    };
    const [first, other, last] = [negated(72, read(24)), special(), negated(75, read(64))];
    return form === 2 || form === 3 || form === 7 ? [first, last, other] : [first, other, last];
  }

  #computed(at: number, word: number, depth: number): number | null {
    const instruction = this.#flow.instructions[at]!;
    const mnemonic = instruction.opcode!.mnemonic.replace(/^U(?=IADD3|IMAD|LEA|LOP3|SHF|MOV)/, '');
    const bit = (from: number): boolean => wordBits(instruction, from, 1) === 1;
    if (mnemonic === 'S2R' || mnemonic === 'S2UR') {
      const leaf = specialLeaf(wordBits(instruction, 72, 8));
      // The upper bits of addresses of shared memory are the block of a cluster.
      if (wordBits(instruction, 72, 8) === 0x88) return 0;
      return leaf === undefined ? null : this.#leaves.word(leaf);
    }
    if (mnemonic === 'CS2R') return wordBits(instruction, 72, 8) === zeroRegister ? 0 : null;
    if (mnemonic === 'R2UR') return this.#register(at, wordBits(instruction, 24, 8), false, depth);
    const [a, b, c] = this.#sources(at, depth);
    if (mnemonic === 'MOV') return bit(80) ? null : b;
    if (mnemonic === 'HFMA2') {
      const isConstant = wordBits(instruction, 24, 8) === zeroRegister && wordBits(instruction, 64, 8) === zeroRegister;
      return instruction.code >> 9 === 2 && isConstant ? wordBits(instruction, 32, 32) : null;
    }
    if (mnemonic === 'VIADD') return a === null || b === null ? null : a + b;
    if (a === null || b === null) return null;
    switch (mnemonic) {
      case 'LEA':
        // Not evaluated: upper halves, and instructions with a carry.
        return bit(80) || bit(74) ? null : (a << wordBits(instruction, 75, 5)) + b;
      case 'LOP3':
        return c === null ? null : logic(wordBits(instruction, 72, 8), a, b, c);
      case 'IADD3':
        return c === null || bit(74) ? null : a + b + c;
      case 'IMAD':
        return c === null ? null : product(instruction, word, a, b, c);
      case 'SHF':
        return c === null ? null : shifted(instruction, a, b, c);
      default:
        return null;
    }
  }
}

/** `IMAD`. Of `IMAD.WIDE` only the lower word is computed, of `IMAD.HI` nothing. */
function product({ code }: SassInstruction, word: number, a: number, b: number, c: number): number | null {
  const operation = code & 0x7f;
  if (word !== 0 || (operation !== 0x24 && operation !== 0x25)) return null;
  return Math.imul(a, b) + c;
}

function logic(table: number, a: number, b: number, c: number): number {
  let result = 0;
  for (let which = 0; which < 8; which++) {
    if (((table >> which) & 1) === 0) continue;
    result |= (which & 4 ? a : ~a) & (which & 2 ? b : ~b) & (which & 1 ? c : ~c);
  }
  return result;
}

/** `SHF`: two registers are shifted as a 64-bit number; the result is one half of it. */
function shifted(instruction: SassInstruction, low: number, by: number, high: number): number | null {
  const type = wordBits(instruction, 73, 2);
  const [isRight, isHigh, wraps] = [76, 80, 75].map((from) => wordBits(instruction, from, 1) === 1);
  const most = type < 2 ? 64 : 32;
  const amount = BigInt(wraps ? (by >>> 0) % most : Math.min(by >>> 0, most));
  const whole = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  const isSigned = type === 0 || type === 2;
  const moved = isRight ? (isSigned ? BigInt.asIntN(64, whole) : whole) >> amount : whole << amount;
  return Number(BigInt.asIntN(32, isHigh ? moved >> 32n : moved));
}

/** First architecture for which no disassembler has shown the operands. */
const firstUnprinted = 100;
const trials = [1, 2, 3];
/** Trials with long rows of threads, in which the lower bits of a thread index do not determine the index. */
const trialsOfRows = [4, 5];

/** An access with an address that differs from that of its PTX line. */
interface MismatchedAddress {
  readonly ptxLine: number;
  readonly instruction: SassInstruction;
}

/**
 * Finds accesses with the address of another access.
 * @param lineOf the PTX line of an instruction
 */
export function foreignAddresses(
  kernel: Kernel,
  flow: SassFlow,
  registers: RegisterFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
): MismatchedAddress[] {
  if (version >= firstUnprinted || parameterOffsets(kernel).bytes > maxParameterBytes) return [];
  const accesses = new Map<number, Instruction | null>();
  for (const { instructions } of kernel.blocks) {
    for (const one of instructions) {
      const { kind } = one.operation.effect;
      if (kind === 'load' || kind === 'store') accesses.set(one.ptxLine, accesses.has(one.ptxLine) ? null : one);
    }
  }
  /** The PTX access with the width of an access of the SASS. */
  const accessOf = (one: SassInstruction): Instruction | undefined => {
    const { opcode } = one;
    const line = lineOf(one);
    const ptx = line === undefined ? undefined : accesses.get(line);
    const effect = ptx?.operation.effect;
    if (!ptx || (effect?.kind !== 'load' && effect?.kind !== 'store') || opcode?.kind !== effect.kind) return undefined;
    return accessBits(one, version) === effect.bytes * effect.lanes * 8 ? ptx : undefined;
  };
  // A load with several copies, as in an unrolled loop, is ignored: the copies cannot be distinguished.
  const times = new Map<number, number>();
  for (const one of flow.instructions) {
    const { kind, space } = one.opcode ?? {};
    const line = (kind === 'load' || kind === 'store') && space !== 'constant' ? lineOf(one) : undefined;
    if (line !== undefined) times.set(line, (times.get(line) ?? 0) + 1);
  }
  const withCode = new Set(flow.instructions.flatMap((one) => (one.opcode?.kind === 'load' && accessOf(one) ? [lineOf(one)!] : [])));
  const row = longestRow(kernel);
  const sides = [...trials, ...trialsOfRows].map((trial) => {
    const leaves = new Leaves(trial, knownThreads(kernel), trialsOfRows.includes(trial) ? row : undefined);
    const code = new CodeValues(flow, registers, version, leaves, (one) => accessOf(one)?.ptxLine);
    return { code, source: new SourceValues(kernel, leaves, (line) => withCode.has(line)) };
  });
  const found: MismatchedAddress[] = [];
  const byObject = new Map<string, { readonly access: MismatchedAddress; readonly shift: number }[]>();
  for (const [index, instruction] of flow.instructions.entries()) {
    const ptx = accessOf(instruction);
    const [address] = ptx?.arguments ?? [];
    const { opcode } = instruction;
    // The copies of a store are checked if its address is the same in each iteration; they do not replace a store on
    // another line.
    const isOne = ptx !== undefined && (times.get(ptx.ptxLine) === 1 || opcode!.kind === 'store');
    if (!ptx || !address || !isOne || (opcode!.space !== 'global' && opcode!.space !== 'shared' && opcode!.space !== 'generic')) continue;
    const shifts = new Set<number>();
    let objects = noObjects;
    for (const { code, source } of sides) {
      const wanted = source.of(address);
      const made = wanted && typeof wanted.value === 'bigint' ? code.addressAt(index) : null;
      if (!wanted || made === null) {
        shifts.clear();
        break;
      }
      ({ objects } = wanted);
      shifts.add((made - Number(BigInt.asUintN(32, (wanted.value as bigint) + ptx.offset))) | 0);
    }
    const [shift, ...others] = shifts;
    if (shift === undefined) continue;
    const access = { ptxLine: ptx.ptxLine, instruction };
    // The two addresses may differ only by the address of an object.
    if (others.length > 0 || (objects.size === 0 && shift !== 0)) found.push(access);
    else if (objects.size > 0) {
      const key = `${opcode!.space} ${[...objects].sort((a, b) => a - b).join(' ')}`;
      byObject.set(key, [...(byObject.get(key) ?? []), { access, shift }]);
    }
  }
  for (const group of byObject.values()) {
    const times = new Map<number, number>();
    for (const { shift } of group) times.set(shift, (times.get(shift) ?? 0) + 1);
    const [usual] = [...times].reduce((best, one) => (one[1] > best[1] ? one : best));
    for (const { access, shift } of group) if (shift !== usual) found.push(access);
  }
  return found;
}
