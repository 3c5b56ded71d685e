/**
 * The registers that an instruction reads and writes. Fields: result in bits 16 to 23; sources in bits 24 to 31, 32 to 39
 * and 64 to 71. The upper three bits of a code say which source is a register, a constant or a uniform register.
 */
import { accessBits, type SassInstruction, wordBits } from './decode.ts';

/** Registers by number: `R0` is 0, `UR0` is 256. Registers that always hold zero are left out. */
export interface RegisterUse {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

/** The first bit of the field that names what a store stores: one form of `ST` has it behind the address. */
export function storedAt({ code }: SassInstruction): number {
  return code === 0x385 ? 64 : 32;
}

/** The first of the 24 bits of the displacement of an access: in `LD` without a descriptor, and in one form of `ST`, it starts at a lower bit. */
export function displacementAt(instruction: SassInstruction): number {
  const { code } = instruction;
  return code === 0x385 || (code === 0x980 && wordBits(instruction, 91, 1) === 0) ? 32 : 40;
}

/** `UR0`. */
export const firstUniform = 256;
const zeroRegister = 255;

/** Which fields of an arithmetic instruction name sources: the first, the second, the third. */
type Shape = 'a' | 'b' | 'ab' | 'ac' | 'abc' | 'none';

/** Arithmetic: sources, and how many registers of 32 bits the result has. */
const shapes: ReadonlyMap<string, { readonly sources: Shape; readonly results: number }> = new Map(
  (
    [
      ['ab', 1, 'FADD FMUL FMNMX FSEL FSET HADD2 HMUL2 HSET2 HMNMX2 IMNMX VIMNMX SEL BMSK SGXT VIADD IADD UBMSK USGXT USEL F2FP FSWZADD UF2FP'], // prettier-ignore
      ['ab', 0, 'FSETP DSETP HSETP2 ISETP UISETP FCHK'],
      ['ab', 2, 'DMUL'],
      ['ac', 2, 'DADD'],
      ['abc', 1, 'FFMA HFMA2 IADD3 IMAD LEA LOP3 SHF PRMT IDP VABSDIFF VABSDIFF4 VIADDMNMX VIMNMX3 VHMNMX UIADD3 UIMAD ULEA ULOP3 USHF UPRMT F2IP I2IP'], // prettier-ignore
      ['abc', 2, 'DFMA'],
      ['b', 1, 'MOV MUFU FLO POPC BREV IABS F2F F2I I2F FRND I2FP I2I UMOV UFLO UPOPC UBREV'],
      ['a', 1, 'MOVM P2R UP2UR R2UR REDUX MATCH'],
      ['a', 0, 'R2P R2B UR2UP'],
      ['none', 1, 'S2R S2UR VOTE VOTEU B2R CS2R LEPC ULEPC'],
      ['none', 0, 'PLOP3 UPLOP3 NOP BAR MEMBAR FENCE EXIT BRA JMP BSSY BSYNC BREAK YIELD NANOSLEEP DEPBAR LDGDEPBAR ERRBAR CCTL CCTLL CGAERRBAR KILL BPT UCGABAR_ARV UCGABAR_WAIT ELECT ENDCOLLECTIVE PREEXIT BMOV'], // prettier-ignore
    ] as const
  ).flatMap(([sources, results, names]) => names.split(' ').map((name) => [name, { sources, results }] as const)),
);

/** Operations by their lowest nine bits whose result, or third source, has 64 bits. */
const wideMultiplications: ReadonlySet<number> = new Set([0x025, 0x0a5]);
const highMultiplication = 0x027;

/** From sm_120 on: a `MOV` of a constant to two registers. */
const wideConstant = 0x402;

const toUniform: ReadonlySet<string> = new Set(['R2UR', 'REDUX', 'S2UR']);

class Registers {
  readonly reads: number[] = [];
  readonly writes: number[] = [];
  /** `URZ`: 63 before sm_100, where fields have six bits, and 255 from it on. */
  readonly #zeroUniform: number;

  constructor(zeroUniform: number) {
    this.#zeroUniform = zeroUniform;
  }

  read(register: number, count: number, isUniform: boolean): void {
    this.#add(this.reads, register, count, isUniform);
  }

  write(register: number, count: number, isUniform: boolean): void {
    this.#add(this.writes, register, count, isUniform);
  }

  #add(list: number[], register: number, count: number, isUniform: boolean): void {
    const zero = isUniform ? this.#zeroUniform : zeroRegister;
    const first = isUniform ? register & zero : register;
    for (let index = 0; index < count && first + index < zero; index++) {
      list.push(first + index + (isUniform ? firstUniform : 0));
    }
  }
}

/**
 * The registers of an instruction.
 * @returns null where nobody knows its operands
 */
export function registerUse(instruction: SassInstruction, version: number): RegisterUse | null {
  const { opcode, code } = instruction;
  if (!opcode) return null;
  const field = (from: number): number => wordBits(instruction, from, 8);
  const registers = new Registers(version < 100 ? 63 : 255);
  const words = (): number => Math.max(1, (accessBits(instruction, version) ?? 32) / 32);
  const { mnemonic, uniform } = opcode;
  const readAddress = (): void => registers.read(field(24), wordBits(instruction, 72, 1) === 1 ? 2 : 1, false);
  const isDescribed = wordBits(instruction, 91, 1) === 1;
  switch (mnemonic) {
    case 'LDG':
    case 'LD':
      readAddress();
      if (isDescribed) registers.read(field(32), 2, true);
      registers.write(field(16), words(), false);
      return registers;
    case 'LDS':
    case 'LDL':
      registers.read(field(24), 1, false);
      if (isDescribed) registers.read(field(32), 1, true);
      registers.write(field(16), words(), false);
      return registers;
    case 'LDSM':
      registers.read(field(24), 1, false);
      if (isDescribed) registers.read(field(32), 1, true);
      registers.write(field(16), words(), false);
      return registers;
    case 'STG':
    case 'ST':
      readAddress();
      registers.read(field(storedAt(instruction)), words(), false);
      if (isDescribed) registers.read(field(64), 2, true);
      return registers;
    case 'STS':
    case 'STL':
    case 'STSM':
      registers.read(field(24), 1, false);
      registers.read(field(storedAt(instruction)), words(), false);
      if (isDescribed) registers.read(field(64), 1, true);
      return registers;
    case 'ATOM':
    case 'ATOMG':
    case 'ATOMS':
    case 'RED':
    case 'REDG': {
      if (mnemonic === 'ATOMS') registers.read(field(24), 1, false);
      else readAddress();
      const isExchange = code === 0x38b || code === 0x3a9 || code === 0x38d;
      // `ATOMS.POPC.INC` has no operand.
      if (code !== 0xf8c) registers.read(field(32), words(), false);
      if (isExchange) registers.read(field(64), words(), false);
      else if (isDescribed) registers.read(field(64), mnemonic === 'ATOMS' ? 1 : 2, true);
      if (mnemonic !== 'RED' && mnemonic !== 'REDG') registers.write(field(16), words(), false);
      return registers;
    }
    case 'LDGSTS':
      registers.read(field(16), 1, false);
      readAddress();
      if (isDescribed || code >> 9 === 7) registers.read(field(64), 2, true);
      return registers;
    case 'LDC':
      registers.read(code === 0x582 ? field(64) : field(24), 1, false);
      registers.write(field(16), words(), false);
      return registers;
    case 'ULDC':
    case 'LDCU':
      if (mnemonic === 'LDCU') registers.read(field(24), 1, true);
      registers.write(field(16), words(), true);
      return registers;
    case 'WARPSYNC':
      if (code === 0x348) registers.read(field(24), 1, false);
      return registers;
    case 'SHFL':
      registers.read(field(24), 1, false);
      if (code === 0x389 || code === 0x589) registers.read(field(32), 1, false);
      if (code === 0x389 || code === 0x989) registers.read(field(64), 1, false);
      registers.write(field(16), 1, false);
      return registers;
    default:
  }
  const shape = shapes.get(mnemonic);
  return shape ? arithmetic(instruction, shape, registers, uniform && mnemonic !== 'R2UR') : null;
}

/** What was found, by the instructions of a function: several readers ask for the same. */
const known = new WeakMap<readonly SassInstruction[], { readonly version: number; readonly uses: readonly (RegisterUse | null)[] }>(); // prettier-ignore

/** The registers of each instruction of a function; null where nobody knows its operands. */
export function registerUses(
  instructions: readonly SassInstruction[],
  version: number,
): readonly (RegisterUse | null)[] {
  const found = known.get(instructions);
  if (found?.version === version) return found.uses;
  const uses = instructions.map((one) => registerUse(one, version));
  known.set(instructions, { version, uses });
  return uses;
}

/** Registers that an instruction may write whose operands nobody knows; a call may write any. */
export function mayWrite(instruction: SassInstruction): readonly number[] {
  const result = wordBits(instruction, 16, 8);
  const [registers, uniform] = [new Registers(255), new Registers(255)];
  registers.write(result, 4, false);
  registers.write(wordBits(instruction, 64, 8), instruction.opcode?.kind === 'texture' ? 4 : 0, false);
  uniform.write(result, 2, true);
  return [...registers.writes, ...uniform.writes];
}

function arithmetic(
  instruction: SassInstruction,
  { sources, results }: { readonly sources: Shape; readonly results: number },
  registers: Registers,
  isUniform: boolean,
): Registers {
  const { code, opcode } = instruction;
  const { mnemonic } = opcode!;
  const field = (from: number): number => wordBits(instruction, from, 8);
  const [operation, form] = [code & 0x1ff, code >> 9];
  // Integer additions and copies of 64 bits, from sm_120 on.
  const isDouble =
    opcode!.kind === 'double' ||
    (mnemonic === 'IADD' && wordBits(instruction, 73, 1) === 1) ||
    (mnemonic === 'MOV' && (code === wideConstant || wordBits(instruction, 80, 1) === 1));
  const isWide = wideMultiplications.has(operation);
  const operand = isDouble || bitsOfSource(instruction) === 64 ? 2 : 1;
  const third = isDouble || isWide || operation === highMultiplication ? 2 : 1;
  if (sources.startsWith('a')) registers.read(field(24), operand, isUniform);
  // Where the third source is no register of its own, the second one stands in its field.
  const isThirdElsewhere = form === 2 || form === 3 || form === 7;
  const hasUniform = form === 6 || form === 7;
  if (sources === 'ab' || sources === 'b') {
    if (form === 1 || hasUniform || (isUniform && form === 5))
      registers.read(field(32), operand, isUniform || hasUniform);
  } else if (sources === 'abc' || sources === 'ac') {
    if (form === 1 && sources === 'abc') registers.read(field(32), operand, isUniform);
    if (hasUniform) registers.read(field(32), isThirdElsewhere ? third : operand, true);
    if (sources === 'abc' || !isThirdElsewhere)
      registers.read(field(64), isThirdElsewhere ? operand : third, isUniform);
  }
  // A constant whose bank a register gives.
  if ((form === 3 || form === 5) && !isUniform && wordBits(instruction, 91, 1) === 1) registers.read(wordBits(instruction, 32, 6), 2, true); // prettier-ignore
  const count = results === 0 ? 0 : mnemonic === 'CS2R' ? 1 + wordBits(instruction, 80, 1) : mnemonic === 'LEPC' || mnemonic === 'ULEPC' || isWide || isDouble || bitsOfResult(instruction) === 64 ? 2 : results; // prettier-ignore
  if (count > 0) registers.write(field(16), count, isUniform || toUniform.has(mnemonic));
  return registers;
}

const wideConversions: ReadonlySet<number> = new Set([0x110, 0x111, 0x112, 0x113]);

/** Conversions to or from 64 bits have their sizes, as logarithms of bytes, in bits 75 and 76, and 84 and 85. */
function bitsOfResult(instruction: SassInstruction): number {
  return wideConversions.has(instruction.code & 0x1ff) ? 8 << wordBits(instruction, 75, 2) : 32;
}

function bitsOfSource(instruction: SassInstruction): number {
  return wideConversions.has(instruction.code & 0x1ff) ? 8 << wordBits(instruction, 84, 2) : 32;
}
