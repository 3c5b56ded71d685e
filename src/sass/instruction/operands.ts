/**
 * The registers that an instruction reads and writes. Fields: result in bits 16 to 23; sources in bits 24 to 31, 32 to
 * 39 and 64 to 71. The upper three bits of a code determine which source is a register, a constant or a uniform
 * register.
 */
import { accessBits, type SassInstruction, wordBits } from './decode.ts';

/** Registers by number: `R0` is 0, `UR0` is 256. Registers that are always zero are omitted. */
export interface RegisterUse {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

/** The first bit of the field of the stored register: one form of `ST` has it after the address. */
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

/** From sm_100 on fields of uniform registers have eight bits. */
const firstOfWideFields = 100;

/** The fields of an arithmetic instruction that are sources: the first, the second, the third. */
type Shape = 'a' | 'b' | 'ab' | 'ac' | 'abc' | 'none';

/** Arithmetic operations: the sources, and the number of 32-bit registers of the result. */
const shapes: ReadonlyMap<string, { readonly sources: Shape; readonly results: number }> = new Map(
  (
    [
      [
        'ab',
        1,
        'FADD FMUL FMNMX FSEL FSET HADD2 HMUL2 HSET2 HMNMX2 IMNMX VIMNMX SEL BMSK SGXT VIADD IADD UBMSK USGXT USEL F2FP FSWZADD UF2FP',
      ],
      ['ab', 0, 'FSETP DSETP HSETP2 ISETP UISETP FCHK'],
      ['ab', 2, 'DMUL'],
      ['ac', 2, 'DADD'],
      [
        'abc',
        1,
        'FFMA HFMA2 IADD3 IMAD LEA LOP3 SHF PRMT IDP VABSDIFF VABSDIFF4 VIADDMNMX VIMNMX3 VHMNMX UIADD3 UIMAD ULEA ULOP3 USHF UPRMT F2IP I2IP',
      ],
      ['abc', 2, 'DFMA'],
      ['b', 1, 'MOV MUFU FLO POPC BREV IABS F2F F2I I2F FRND I2FP I2I UMOV UFLO UPOPC UBREV'],
      ['a', 1, 'MOVM P2R UP2UR R2UR REDUX MATCH'],
      ['a', 0, 'R2P R2B UR2UP'],
      ['none', 1, 'S2R S2UR VOTE VOTEU B2R CS2R LEPC ULEPC'],
      [
        'none',
        0,
        'PLOP3 UPLOP3 NOP BAR MEMBAR FENCE EXIT BRA JMP BSSY BSYNC BREAK YIELD NANOSLEEP DEPBAR LDGDEPBAR ERRBAR CCTL CCTLL CGAERRBAR KILL BPT UCGABAR_ARV UCGABAR_WAIT ELECT ENDCOLLECTIVE PREEXIT BMOV',
      ],
    ] as const
  ).flatMap(([sources, results, names]) => names.split(' ').map((name) => [name, { sources, results }] as const)),
);

/** Operations by their lowest nine bits whose result, or third source, has 64 bits. */
const wideMultiplications: ReadonlySet<number> = new Set([0x025, 0x0a5]);
const highMultiplication = 0x027;

/** From sm_120 on: a `MOV` of a constant to two registers. */
const wideConstant = 0x402;

const toUniform: ReadonlySet<string> = new Set(['R2UR', 'REDUX', 'S2UR']);

/** A list to which {@link findOperands} adds the registers of successive instructions: read ones, then written ones. */
export class OperandList {
  readonly members: number[] = [];
  /** Index of the first register that the last instruction reads, and of the first that it writes. */
  reads = 0;
  writes = 0;
  /** `URZ`: 63 before sm_100, where fields have six bits. */
  #zeroUniform = zeroRegister;

  begin(version: number): void {
    this.reads = this.members.length;
    this.writes = this.reads;
    this.#zeroUniform = version < firstOfWideFields ? 63 : zeroRegister;
  }

  read(register: number, count: number, isUniform: boolean): void {
    this.#add(register, count, isUniform);
    this.writes = this.members.length;
  }

  /** Adds written registers, after all read ones. */
  write(register: number, count: number, isUniform: boolean): void {
    this.#add(register, count, isUniform);
  }

  #add(register: number, count: number, isUniform: boolean): void {
    if (!isUniform) {
      for (let one = register; one < register + count && one < zeroRegister; one++) this.members.push(one);
      return;
    }
    const zero = this.#zeroUniform;
    const first = register & zero;
    for (let one = first; one < first + count && one < zero; one++) this.members.push(one + firstUniform);
  }
}

/** Number of registers that each field of an arithmetic instruction names. */
interface Fields {
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly result: number;
  readonly isUniform: boolean;
  readonly isSecondUniform: boolean;
  readonly isResultUniform: boolean;
  /** Whether a register may contain the bank of a constant. */
  readonly hasBank: boolean;
}

/** The bits that, in addition to the code, determine the number of registers of the fields. */
type Varies = 'none' | 'bit 73' | 'bit 80' | 'sizes';

/** An operation: its fields, by the bits that vary them; or a memory access, whose fields differ. */
interface Operation {
  readonly shape: { readonly sources: Shape; readonly results: number } | undefined;
  readonly varies: Varies;
  readonly variants: (Fields | undefined)[];
}

/** By architecture and code. */
const operations = new Map<number, (Operation | undefined)[]>();

function operationOf(instruction: SassInstruction, version: number): Operation {
  let known = operations.get(version);
  if (!known) operations.set(version, (known = Array.from({ length: 4096 })));
  const { code } = instruction;
  const { mnemonic } = instruction.opcode!;
  return (known[code] ??= { shape: shapes.get(mnemonic), varies: variesBy(mnemonic, code), variants: [] });
}

function variesBy(mnemonic: string, code: number): Varies {
  if (wideConversions.has(code & 0x1ff)) return 'sizes';
  // Integer additions and copies of 64 bits, from sm_120 on.
  if (mnemonic === 'IADD') return 'bit 73';
  return mnemonic === 'MOV' || mnemonic === 'CS2R' ? 'bit 80' : 'none';
}

/**
 * The registers of an instruction.
 * @returns null if its operands are unknown
 */
export function registerUse(instruction: SassInstruction, version: number): RegisterUse | null {
  const list = new OperandList();
  if (!findOperands(instruction, version, list)) return null;
  return { reads: list.members.slice(0, list.writes), writes: list.members.slice(list.writes) };
}

/**
 * Finds the registers of an instruction.
 * @param operands list to which the registers are added
 * @returns whether its operands are known
 */
export function findOperands(instruction: SassInstruction, version: number, operands: OperandList): boolean {
  const { opcode, text, at } = instruction;
  operands.begin(version);
  if (!opcode) return false;
  const operation = operationOf(instruction, version);
  const { shape, varies, variants } = operation;
  if (!shape) return findOfAccess(instruction, version, operands);
  const upper = text[at + 2]!;
  let variant = 0;
  if (varies !== 'none') {
    if (varies === 'bit 73') variant = (upper >>> 9) & 1;
    else if (varies === 'bit 80') variant = (upper >>> 16) & 1;
    else variant = (((upper >>> 11) & 3) === 3 ? 2 : 0) + (((upper >>> 20) & 3) === 3 ? 1 : 0);
  }
  const fields = (variants[variant] ??= fieldsOf(instruction, shape, varies, variant));
  const lower = text[at]!;
  if (fields.first > 0) operands.read(lower >>> 24, fields.first, fields.isUniform);
  if (fields.second > 0) operands.read(text[at + 1]! & 0xff, fields.second, fields.isSecondUniform);
  if (fields.third > 0) operands.read(upper & 0xff, fields.third, fields.isUniform);
  // A constant whose bank is in a register.
  if (fields.hasBank && ((upper >>> 27) & 1) === 1) operands.read(text[at + 1]! & 0x3f, 2, true);
  if (fields.result > 0) operands.write((lower >>> 16) & 0xff, fields.result, fields.isResultUniform);
  return true;
}

/** The registers of a load, a store, or another operation with fields different from arithmetic. */
function findOfAccess(instruction: SassInstruction, version: number, operands: OperandList): boolean {
  const { opcode, code, text, at } = instruction;
  const upper = text[at + 2]!;
  const [result, address] = [(text[at]! >>> 16) & 0xff, text[at]! >>> 24];
  const [second, third] = [text[at + 1]! & 0xff, upper & 0xff];
  const { mnemonic } = opcode!;
  const words = Math.max(1, (accessBits(instruction, version) ?? 32) / 32);
  const addressWords = (upper & 0x100) === 0 ? 1 : 2;
  const isDescribed = ((upper >>> 27) & 1) === 1;
  switch (mnemonic) {
    case 'LDG':
    case 'LD':
      operands.read(address, addressWords, false);
      if (isDescribed) operands.read(second, 2, true);
      operands.write(result, words, false);
      return true;
    case 'LDS':
    case 'LDL':
    case 'LDSM':
      operands.read(address, 1, false);
      if (isDescribed) operands.read(second, 1, true);
      operands.write(result, words, false);
      return true;
    case 'STG':
    case 'ST':
      operands.read(address, addressWords, false);
      operands.read(storedAt(instruction) === 64 ? third : second, words, false);
      if (isDescribed) operands.read(third, 2, true);
      return true;
    case 'STS':
    case 'STL':
    case 'STSM':
      operands.read(address, 1, false);
      operands.read(storedAt(instruction) === 64 ? third : second, words, false);
      if (isDescribed) operands.read(third, 1, true);
      return true;
    case 'ATOM':
    case 'ATOMG':
    case 'ATOMS':
    case 'RED':
    case 'REDG': {
      operands.read(address, mnemonic === 'ATOMS' ? 1 : addressWords, false);
      const isExchange = code === 0x38b || code === 0x3a9 || code === 0x38d;
      // `ATOMS.POPC.INC` has no operand.
      if (code !== 0xf8c) operands.read(second, words, false);
      if (isExchange) operands.read(third, words, false);
      else if (isDescribed) operands.read(third, mnemonic === 'ATOMS' ? 1 : 2, true);
      if (mnemonic !== 'RED' && mnemonic !== 'REDG') operands.write(result, words, false);
      return true;
    }
    case 'LDGSTS':
      operands.read(result, 1, false);
      operands.read(address, addressWords, false);
      if (isDescribed || code >> 9 === 7) operands.read(third, 2, true);
      return true;
    case 'LDC':
      operands.read(code === 0x582 ? third : address, 1, false);
      operands.write(result, words, false);
      return true;
    case 'ULDC':
    case 'LDCU':
      if (mnemonic === 'LDCU') operands.read(address, 1, true);
      operands.write(result, words, true);
      return true;
    case 'WARPSYNC':
      if (code === 0x348) operands.read(address, 1, false);
      return true;
    case 'SHFL':
      operands.read(address, 1, false);
      if (code === 0x389 || code === 0x589) operands.read(second, 1, false);
      if (code === 0x389 || code === 0x989) operands.read(third, 1, false);
      operands.write(result, 1, false);
      return true;
    default:
      return false;
  }
}

/** Cached registers, by the instructions of a function: several analyses read them. */
const known = new WeakMap<readonly SassInstruction[], { readonly version: number; readonly uses: readonly (RegisterUse | null)[] }>();

/** The registers of each instruction of a function; null if its operands are unknown. */
export function registerUses(instructions: readonly SassInstruction[], version: number): readonly (RegisterUse | null)[] {
  const found = known.get(instructions);
  if (found?.version === version) return found.uses;
  const uses = instructions.map((one) => registerUse(one, version));
  known.set(instructions, { version, uses });
  return uses;
}

/** Registers that an instruction with unknown operands may write; a call may write any. */
export function mayWrite(instruction: SassInstruction): readonly number[] {
  const result = wordBits(instruction, 16, 8);
  const list = new OperandList();
  list.begin(firstOfWideFields);
  list.write(result, 4, false);
  list.write(wordBits(instruction, 64, 8), instruction.opcode?.kind === 'texture' ? 4 : 0, false);
  list.write(result, 2, true);
  return list.members;
}

/** The fields of an arithmetic instruction, by the bits that vary them. */
function fieldsOf(
  { code, opcode }: SassInstruction,
  { sources, results }: { readonly sources: Shape; readonly results: number },
  varies: Varies,
  variant: number,
): Fields {
  const { mnemonic, kind, uniform } = opcode!;
  const isUniform = uniform && mnemonic !== 'R2UR';
  const [operation, form] = [code & 0x1ff, code >> 9];
  const isLonger = varies !== 'sizes' && variant === 1;
  const isDouble = kind === 'double' || isLonger || (mnemonic === 'MOV' && code === wideConstant);
  const isWide = wideMultiplications.has(operation);
  // Conversions to or from 64 bits.
  const [sourceIsWide, resultIsWide] = [varies === 'sizes' && variant % 2 === 1, varies === 'sizes' && variant >= 2];
  const operand = isDouble || sourceIsWide ? 2 : 1;
  const third = isDouble || isWide || operation === highMultiplication ? 2 : 1;
  // If the third source is not a register, its field contains the second source.
  const isThirdElsewhere = form === 2 || form === 3 || form === 7;
  const hasUniform = form === 6 || form === 7;
  let [atSecond, atThird] = [0, 0];
  if (sources === 'ab' || sources === 'b') {
    if (form === 1 || hasUniform || (isUniform && form === 5)) atSecond = operand;
  } else if (sources === 'abc' || sources === 'ac') {
    if (form === 1 && sources === 'abc') atSecond = operand;
    if (hasUniform) atSecond = isThirdElsewhere ? third : operand;
    if (sources === 'abc' || !isThirdElsewhere) atThird = isThirdElsewhere ? operand : third;
  }
  const hasTwo = mnemonic === 'LEPC' || mnemonic === 'ULEPC' || isWide || isDouble || resultIsWide;
  return {
    first: sources.startsWith('a') ? operand : 0,
    second: atSecond,
    third: atThird,
    result: results > 0 && hasTwo ? 2 : results,
    isUniform,
    isSecondUniform: isUniform || hasUniform,
    isResultUniform: isUniform || toUniform.has(mnemonic),
    hasBank: (form === 3 || form === 5) && !isUniform,
  };
}

/**
 * Codes of conversions to or from 64 bits. They encode their sizes, as logarithms of bytes, in bits 75 and 76, and 84
 * and 85.
 */
const wideConversions: ReadonlySet<number> = new Set([0x110, 0x111, 0x112, 0x113]);
