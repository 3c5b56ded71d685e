/** Instructions of SASS: 128 bits each, from sm_70 on. */
import { type CodeFunction, instructionBytes } from '../cubin/cubin.ts';
import { type Opcode, opcodesOf } from './opcode-table.ts';

/** An instruction. Its fields are decoded on demand. */
export class SassInstruction {
  /** Address in bytes from the start of the section of the function. */
  readonly address: number;
  /** The operation code: the low 12 bits. */
  readonly code: number;
  /** Undefined: the code is unknown on this architecture. */
  readonly opcode: Opcode | undefined;
  /** The words of the function, four per instruction. */
  readonly text: Int32Array;
  /** Index of the first word of this instruction. */
  readonly at: number;

  constructor(address: number, opcode: Opcode | undefined, text: Int32Array, at: number) {
    this.address = address;
    this.code = text[at]! & 0xfff;
    this.opcode = opcode;
    this.text = text;
    this.at = at;
  }

  /** The 128 bits, lowest word first. */
  get words(): readonly [number, number, number, number] {
    const { text, at } = this;
    return [text[at]! >>> 0, text[at + 1]! >>> 0, text[at + 2]! >>> 0, text[at + 3]! >>> 0];
  }
}

/** The number in a name of an architecture: 90 for `sm_90a`. */
export function versionOf(arch: string): number {
  return Number(/\d+/.exec(arch)?.[0] ?? 0);
}

/** Cached instructions, by the bytes of the function: several analyses read them. */
const decoded = new WeakMap<Uint8Array, { readonly version: number; readonly instructions: readonly SassInstruction[] }>();

/** The instructions of a function, in the order of their addresses. */
export function instructionsOf({ code, start }: Pick<CodeFunction, 'code' | 'start'>, version: number): readonly SassInstruction[] {
  const known = decoded.get(code);
  if (known?.version === version) return known.instructions;
  const opcodes = opcodesOf(version);
  const count = Math.floor(code.length / instructionBytes);
  const text = wordsOf(code, count * 4);
  const instructions: SassInstruction[] = [];
  for (let at = 0; at < count * 4; at += 4) {
    instructions.push(new SassInstruction(start + at * 4, opcodes[text[at]! & 0xfff], text, at));
  }
  decoded.set(code, { version, instructions });
  return instructions;
}

/** The words of machine code: a view of the bytes if they are aligned. All hosts of CUDA are little-endian. */
function wordsOf(code: Uint8Array, count: number): Int32Array {
  const { buffer, byteOffset } = code.byteOffset % 4 === 0 ? code : code.slice();
  return new Int32Array(buffer, byteOffset, count);
}

/** Bits `from` to `from + count - 1` as an unsigned number; at most 32, and within two words. */
export function wordBits({ text, at }: SassInstruction, from: number, count: number): number {
  const word = at + (from >> 5);
  const shift = from & 31;
  const value = shift + count > 32 ? (text[word]! >>> shift) | (text[word + 1]! << (32 - shift)) : text[word]! >> shift;
  return count === 32 ? value >>> 0 : value & ((1 << count) - 1);
}

/** The predicate that guards an instruction: its number, 7 for "always". */
export interface SassGuard {
  readonly register: number;
  readonly negated: boolean;
}

/** The guard of an instruction; undefined if the instruction is always executed. `@!PT` is never executed. */
export function sassGuard(instruction: SassInstruction): SassGuard | undefined {
  const [register, negated] = [wordBits(instruction, 12, 3), wordBits(instruction, 15, 1) === 1];
  return register === 7 && !negated ? undefined : { register, negated };
}

/** Bits of one access of a lane by the three bits of a memory type; undefined if unknown. */
const memoryTypes = [8, 8, 16, 16, 32, 64, 128] as const;

/** Bits of an asynchronous copy by the same three bits, from sm_100 on. */
const copyTypes: Readonly<Record<number, number>> = { 0: 32, 2: 64, 4: 128 };

/** Bits of an atomic by its type, before sm_90. */
const atomicTypes = [32, 32, 64, 32, 32, 64, 64] as const;
/** From sm_90 on: of the operations on integers, and of those on floating-point numbers. */
const integerAtomics: Readonly<Record<number, number>> = { 0: 32, 1: 32, 2: 64, 3: 64, 4: 128 };
const floatAtomics: Readonly<Record<number, number>> = {
  0: 32,
  1: 64,
  2: 128,
  3: 32,
  4: 64,
  5: 128,
  9: 32,
  10: 64,
  11: 128,
  12: 32,
  13: 64,
  14: 128,
  15: 64,
};
const floatAtomicCodes: ReadonlySet<number> = new Set([0x9a6, 0x3a2, 0x9a2, 0x3a3, 0x9a3]);

/**
 * Bits that one lane loads, stores, or copies; undefined if the instruction does not encode it, or the encoding is
 * unknown.
 */
export function accessBits(instruction: SassInstruction, version: number): number | undefined {
  const { opcode } = instruction;
  switch (opcode?.mnemonic) {
    case 'LDSM':
    case 'STSM':
      return [32, 64, 128][wordBits(instruction, 72, 2)];
    case 'ATOM':
    case 'ATOMG':
    case 'ATOMS':
    case 'RED':
    case 'REDG': {
      if (version < 90) return atomicTypes[wordBits(instruction, 73, 3)];
      if (floatAtomicCodes.has(instruction.code)) return floatAtomics[wordBits(instruction, 73, 4)];
      return integerAtomics[wordBits(instruction, 73, version < 100 ? 4 : 3)];
    }
    case 'LDG':
    case 'LD':
    case 'LDS':
    case 'LDL':
    case 'LDC':
    case 'ULDC':
    case 'LDCU':
    case 'STG':
    case 'ST':
    case 'STS':
    case 'STL':
      return memoryTypes[wordBits(instruction, 73, 3)];
    case 'LDGSTS':
      return (version < 100 ? memoryTypes : copyTypes)[wordBits(instruction, 73, 3)];
    default:
      return undefined;
  }
}

/** The offset of a branch, relative to the next instruction: signed, in words of 32 bits. */
function relativeTarget(instruction: SassInstruction, version: number): number {
  const high = wordBits(instruction, 64, 18);
  const signed = (high >= 2 ** 17 ? high - 2 ** 18 : high) * 2 ** 30 + wordBits(instruction, 34, 30);
  const words = version >= 90 ? signed * 256 + wordBits(instruction, 16, 8) : signed;
  return instruction.address + instructionBytes + words * 4;
}

/** Codes of branches and calls with a relative target. */
const relativeJumps: ReadonlySet<number> = new Set([0x947, 0x547, 0x944]);
const convergencePoint = 0x945;

/**
 * Target of a branch, a call or a convergence region, as an address of its section; undefined if the target is in a
 * register.
 */
export function targetOf(instruction: SassInstruction, version: number): number | undefined {
  const { code } = instruction;
  if (relativeJumps.has(code)) return relativeTarget(instruction, version);
  if (code !== convergencePoint) return undefined;
  const words = wordBits(instruction, 34, 30);
  return instruction.address + instructionBytes + (words >= 2 ** 29 ? words - 2 ** 30 : words) * 4;
}

/** Forms of `BAR` by bits 77 and 78. */
const barrierForms = ['sync', 'arrive', 'reduce', 'scan'] as const;
type BarrierForm = (typeof barrierForms)[number];

/** The operation of a `BAR`. */
export function barrierForm(instruction: SassInstruction): BarrierForm {
  return barrierForms[wordBits(instruction, 77, 2)]!;
}

/** The scope of a `MEMBAR`: bits 76 to 78. */
export function fenceScope(instruction: SassInstruction): 'cta' | 'gpu' | 'sys' | undefined {
  return ({ 0: 'cta', 1: 'cta', 2: 'gpu', 3: 'sys' } as const)[wordBits(instruction, 76, 3)];
}
