/** Instructions of SASS: 128 bits each, from sm_70 on. */
import { type CodeFunction, instructionBytes } from '../cubin/cubin.ts';
import { type Opcode, opcodesOf } from './opcode-table.ts';

export interface SassInstruction {
  /** In bytes, from the start of the section that holds the function. */
  readonly address: number;
  /** The low 12 bits. */
  readonly code: number;
  /** Undefined: nobody knows the code on this architecture. */
  readonly opcode: Opcode | undefined;
  /** The 128 bits, lowest word first. */
  readonly words: readonly [number, number, number, number];
}

/** The number in a name of an architecture: 90 for `sm_90a`. */
export function versionOf(arch: string): number {
  return Number(/\d+/.exec(arch)?.[0] ?? 0);
}

/** The instructions of a function, in the order of their addresses. */
export function instructionsOf(
  { code, start }: Pick<CodeFunction, 'code' | 'start'>,
  version: number,
): SassInstruction[] {
  const opcodes = opcodesOf(version);
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  return Array.from({ length: Math.floor(code.length / instructionBytes) }, (_, index) => {
    const at = index * instructionBytes;
    const word = (byte: number): number => view.getUint32(at + byte, true);
    const words: SassInstruction['words'] = [word(0), word(4), word(8), word(12)];
    const operation = words[0] & 0xfff;
    return { address: start + at, code: operation, opcode: opcodes[operation], words };
  });
}

/** Bits `from` to `from + count - 1` as an unsigned number; at most 32, and within two words. */
export function wordBits({ words }: Pick<SassInstruction, 'words'>, from: number, count: number): number {
  const [word, shift] = [from >> 5, from & 31];
  const low = words[word]! >>> shift;
  const value = shift + count > 32 ? low + (words[word + 1]! % 2 ** (shift + count - 32)) * 2 ** (32 - shift) : low;
  return count === 32 ? value : value % 2 ** count;
}

/** The predicate that guards an instruction: its number, 7 for "always". */
export interface SassGuard {
  readonly register: number;
  readonly negated: boolean;
}

/** The guard of an instruction; undefined where it is always executed. `@!PT` never is. */
export function sassGuard(instruction: SassInstruction): SassGuard | undefined {
  const [register, negated] = [wordBits(instruction, 12, 3), wordBits(instruction, 15, 1) === 1];
  return register === 7 && !negated ? undefined : { register, negated };
}

/** Bits of one access of a lane by the three bits of a memory type; undefined where none is known. */
const memoryTypes = [8, 8, 16, 16, 32, 64, 128] as const;

/** The same of asynchronous copies from sm_100 on. */
const copyTypes: Readonly<Record<number, number>> = { 0: 32, 2: 64, 4: 128 };

/** Bits of an atomic by its type, before sm_90. */
const atomicTypes = [32, 32, 64, 32, 32, 64, 64] as const;
/** From sm_90 on: of the operations on integers, and of those on floating-point numbers. */
const integerAtomics: Readonly<Record<number, number>> = { 0: 32, 1: 32, 2: 64, 3: 64, 4: 128 };
const floatAtomics: Readonly<Record<number, number>> = {
  0: 32, 1: 64, 2: 128, 3: 32, 4: 64, 5: 128, 9: 32, 10: 64, 11: 128, 12: 32, 13: 64, 14: 128, 15: 64,
}; // prettier-ignore
const floatAtomicCodes: ReadonlySet<number> = new Set([0x9a6, 0x3a2, 0x9a2, 0x3a3, 0x9a3]);

/** Bits that one lane loads, stores, or copies; undefined where the instruction does not say it, or nobody knows how. */
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

/** The offset of branches: words of 32 bits, signed, from the next instruction on. */
function relativeTarget(instruction: SassInstruction, version: number, hasLowByte: boolean): number {
  const high = wordBits(instruction, 64, 18);
  const signed = (high >= 2 ** 17 ? high - 2 ** 18 : high) * 2 ** 30 + wordBits(instruction, 34, 30);
  const words = version >= 90 && hasLowByte ? signed * 256 + wordBits(instruction, 16, 8) : signed;
  return instruction.address + instructionBytes + words * 4;
}

/** Branches and calls that say where they lead, relative to themselves. */
const relativeJumps: ReadonlySet<number> = new Set([0x947, 0x547]);
const relativeCall = 0x944;
const convergencePoint = 0x945;

/** Where a branch, a call or a convergence region leads, as an address of its section; undefined where a register says it. */
export function targetOf(instruction: SassInstruction, version: number): number | undefined {
  const { code } = instruction;
  if (relativeJumps.has(code)) return relativeTarget(instruction, version, true);
  if (code === relativeCall) return relativeTarget(instruction, version, true);
  if (code !== convergencePoint) return undefined;
  const words = wordBits(instruction, 34, 30);
  return instruction.address + instructionBytes + (words >= 2 ** 29 ? words - 2 ** 30 : words) * 4;
}

/** Forms of `BAR` by bits 77 and 78. */
const barrierForms = ['sync', 'arrive', 'reduce', 'scan'] as const;
type BarrierForm = (typeof barrierForms)[number];

/** What a `BAR` does. */
export function barrierForm(instruction: SassInstruction): BarrierForm {
  return barrierForms[wordBits(instruction, 77, 2)]!;
}

/** The scope of a `MEMBAR`: bits 76 to 78. */
export function fenceScope(instruction: SassInstruction): 'cta' | 'gpu' | 'sys' | undefined {
  return ({ 0: 'cta', 1: 'cta', 2: 'gpu', 3: 'sys' } as const)[wordBits(instruction, 76, 3)];
}
