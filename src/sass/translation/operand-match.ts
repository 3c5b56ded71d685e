/**
 * Whether accesses of the SASS use the operands of their PTX. If two stores were exchanged, the address or data of each
 * is computed from other loads, parameters and special registers than on its PTX line.
 */
import type { Instruction, Kernel, Operand } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { accessBits, type SassInstruction, wordBits } from '../instruction/decode.ts';
import { storedAt } from '../instruction/operands.ts';
import { misplaced, type PlacedAccess } from '../displacements.ts';
import { isZeroIn } from './block-extents.ts';
import { CodeOrigins, type Origins, SourceOrigins } from './origins.ts';
import type { RegisterFlow } from './registers.ts';

const zeroRegister = 255;

/** The guard `@!PT`, which is always false. */
const never = 15;
const accessSpaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic']);

/** An access with an operand whose origins differ from those of its PTX line. */
interface MismatchedOperand {
  readonly what: 'address' | 'data';
  /** True if the operand has none of the origins of the line; false if it only has an additional one. */
  readonly isCertain: boolean;
  readonly ptxLine: number;
  readonly instruction: SassInstruction;
}

/** Registers with the address, and with the stored data, of an access. */
function operandsOf(
  instruction: SassInstruction,
  reads: readonly number[],
  bits: number,
): { readonly address: readonly number[]; readonly data: readonly number[] } {
  const { opcode } = instruction;
  const isLoad = opcode?.kind === 'load';
  const isStore = opcode?.kind === 'store';
  const [first, second] = [wordBits(instruction, 24, 8), wordBits(instruction, isStore ? storedAt(instruction) : 32, 8)];
  // `ATOMS.POPC.INC` counts lanes.
  const hasData = !isLoad && second !== zeroRegister && instruction.code !== 0xf8c;
  const data = hasData ? reads.filter((register) => register >= second && register < second + Math.max(1, bits / 32)) : [];
  return { address: reads.filter((register) => register === first || register >= 256), data };
}

function argumentOf({ operation: { effect }, arguments: values }: Instruction, what: 'address' | 'data'): readonly Operand[] {
  if (what === 'address') return values.slice(0, 1);
  return effect.kind === 'load' ? [] : values.slice(1);
}

/**
 * Finds accesses with operands of another access.
 * @param registers of the code
 * @param lineOf the PTX line of an instruction
 */
export function mismatchedOperands(
  kernel: Kernel,
  flow: SassFlow,
  registers: RegisterFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
): MismatchedOperand[] {
  const [code, source] = [new CodeOrigins(flow, registers, version, lineOf, kernel), new SourceOrigins(kernel)];
  const accesses = new Map<number, Instruction[]>();
  for (const { instructions } of kernel.blocks) {
    for (const one of instructions) {
      const { kind } = one.operation.effect;
      if (kind !== 'load' && kind !== 'store' && kind !== 'atomic') continue;
      const known = accesses.get(one.ptxLine);
      if (known) known.push(one);
      else accesses.set(one.ptxLine, [one]);
    }
  }
  const loaded = new Set<string>();
  /** Loads from memory that other threads may write. */
  const fetched = new Set<string>();
  // Atomics that ptxas may expand to loops of loads and exchanges.
  const expanded = new Set<number>();
  const kept = new Set<number>();
  // An unrolled loop contains several copies of an access, each with a different displacement.
  const times = new Map<number, number>();
  const copies = new Map<number, number>();
  const widest = new Map<number, number>();
  for (const instruction of flow.instructions) {
    const kind = instruction.opcode?.kind;
    const line = lineOf(instruction);
    if (line === undefined) continue;
    kept.add(line);
    if (kind === 'load' || kind === 'atomic' || kind === 'system') loaded.add(`load ${line}`);
    if (kind === 'load' || kind === 'atomic' || kind === 'store') times.set(line, (times.get(line) ?? 0) + 1);
    const isCopy = (kind === 'load' || kind === 'atomic' || kind === 'store') && accessSpaces.has(instruction.opcode!.space);
    if (isCopy) copies.set(line, (copies.get(line) ?? 0) + 1);
    if (isCopy && kind !== 'store') fetched.add(`load ${line}`);
    if (kind === 'store') widest.set(line, Math.max(widest.get(line) ?? 0, accessBits(instruction, version) ?? 32));
    const isOfAtomic = accesses.get(line)?.some((one) => one.operation.effect.kind === 'atomic') === true;
    if (isOfAtomic && (kind === 'load' || kind === 'store')) expanded.add(line);
  }
  const found: MismatchedOperand[] = [];
  const placed: PlacedAccess[] = [];
  for (const [index, instruction] of flow.instructions.entries()) {
    const { opcode } = instruction;
    if (!opcode || (opcode.kind !== 'load' && opcode.kind !== 'store' && opcode.kind !== 'atomic')) continue;
    if (!accessSpaces.has(opcode.space)) continue;
    const ptxLine = lineOf(instruction);
    const ptx = ptxLine === undefined ? undefined : accesses.get(ptxLine);
    const use = registers.uses[index];
    if (!ptx || ptxLine === undefined || !use || expanded.has(ptxLine)) continue;
    const bits = accessBits(instruction, version) ?? 32;
    const own = operandsOf(instruction, use.reads, bits);
    const [only] = ptx;
    if (opcode.kind !== 'atomic' && only && ptx.length === 1 && times.get(ptxLine) === 1 && bits === bitsOf(only)) {
      const base = own.address.map(
        (register) => `${register >= 256 ? 'U' : ''}${(registers.definitionsOf(index, register) ?? [`of ${index}`]).join(',')}`,
      );
      placed.push({ instruction, ptx: only, base: `${opcode.space} ${base.join(' ')}` });
    }
    // A store may be split into several, but not into a single narrower one, nor only some of its copies.
    const isWhole = copies.get(ptxLine) === 1 || (only !== undefined && widest.get(ptxLine)! >= bitsOf(only));
    if (opcode.kind === 'store' && only && ptx.length === 1 && isWhole && bits < bitsOf(only)) {
      found.push({ what: 'data', isCertain: false, ptxLine, instruction });
      continue;
    }
    // Loads that are never executed, which ptxas places next to others, are ignored.
    const isNever = wordBits(instruction, 12, 4) === never;
    if (opcode.kind === 'load' && only && ptx.length === 1 && copies.get(ptxLine) === 1 && isNever) {
      found.push({ what: 'data', isCertain: false, ptxLine, instruction });
      continue;
    }
    const isMerged = ptx.every((one) => bits > bitsOf(one));
    const isZero = wordBits(instruction, storedAt(instruction), 8) === zeroRegister && only?.arguments.length === 2;
    if (
      only &&
      ptx.length === 1 &&
      opcode.kind === 'store' &&
      bits === bitsOf(only) &&
      !givesItsOwn(code, source, index, own.data, isZero, only, kept)
    ) {
      found.push({ what: 'data', isCertain: false, ptxLine, instruction });
      continue;
    }
    for (const what of ['address', 'data'] as const) {
      // Atomics of more than 64 bits have their data in another form.
      if (own[what].length === 0 || (what === 'data' && opcode.kind === 'atomic' && ptx.some((one) => bitsOf(one) > 64))) continue;
      const made = own[what].map((register) => code.ofRegister(index, register));
      const wanted = ptx.flatMap((one) => argumentOf(one, what).map((operand) => source.of(operand)));
      // Data narrower than a register may be extracted from others.
      if (what === 'data' && bits < 32 && [...made, wanted].some((ones) => !ones || ones.some((one) => one.isMerged))) continue;
      if (wanted.length > 0 && !agree(made, wanted, loaded, isMerged && what === 'data'))
        found.push({ what, isCertain: sharesNothing(made, wanted), ptxLine, instruction });
      else if (ptx.length === 1 && bits === bitsOf(only!) && copies.get(ptxLine) === 1) {
        const needed = argumentOf(only!, what).flatMap((operand) =>
          [...source.neededFor(operand)].filter((leaf) => !isZeroIn(kernel, leaf)),
        );
        if (lacks(made, needed, fetched, what)) found.push({ what, isCertain: false, ptxLine, instruction });
      }
    }
  }
  for (const { instruction, ptx } of misplaced(kernel, placed))
    found.push({ what: 'address', isCertain: false, ptxLine: ptx.ptxLine, instruction });
  return found;
}

/**
 * Whether the stored data were computed by the instruction of the PTX that computes them.
 * @param isZero whether the store is of zero, which is in no register and has no definition
 */
function givesItsOwn(
  code: CodeOrigins,
  source: SourceOrigins,
  index: number,
  registers: readonly number[],
  isZero: boolean,
  ptx: Instruction,
  kept: ReadonlySet<number>,
): boolean {
  const values = ptx.arguments.slice(1);
  const each = registers.length / values.length;
  if (!isZero && each !== 1 && each !== 2) return true;
  return values.every((value, at) => {
    const wanted = source.givenAt(value);
    const made = isZero ? [] : code.givenAt(index, registers[at * each]!);
    // If the line has no SASS, an equal computation on another line replaces it.
    return !wanted || !made || [...wanted].some((line) => !kept.has(line)) || (made.length > 0 && made.every((line) => wanted.has(line)));
  });
}

function bitsOf({ operation: { effect } }: Instruction): number {
  return effect.kind === 'load' || effect.kind === 'store' || effect.kind === 'atomic' ? effect.bytes * effect.lanes * 8 : 0;
}

/** Leaves that have the same name for PTX and SASS. */
const told = /^(?:load|parameter|special n?(?:tid|ctaid))/;

/** Whether registers may contain the values that the PTX uses. */
function agree(
  made: readonly (readonly Origins[] | null)[],
  wanted: readonly Origins[],
  loaded: ReadonlySet<string>,
  isMerged: boolean,
): boolean {
  const leaves = new Set(wanted.flatMap((one) => [...one.leaves]).filter((leaf) => told.test(leaf)));
  // If ptxas replaces one load by an equal one, it is unknown by which.
  if (wanted.some(({ isOpen }) => isOpen)) return true;
  if ([...leaves].some((leaf) => leaf.startsWith('load ') && !loaded.has(leaf))) return true;
  const agrees = (definitions: readonly Origins[] | null): boolean => !definitions || definitions.some((one) => mayHold(one, leaves));
  return isMerged ? made.some(agrees) : made.every(agrees);
}

/** Whether registers lack a load among the wanted origins, or, for an address, a base or the thread index. */
function lacks(
  made: readonly (readonly Origins[] | null)[],
  needed: readonly string[],
  fetched: ReadonlySet<string>,
  what: 'address' | 'data',
): boolean {
  if (made.some((definitions) => !definitions || definitions.some(({ isOpen }) => isOpen))) return false;
  const own = new Set(made.flatMap((definitions) => definitions!.flatMap(({ leaves }) => [...leaves])));
  return needed.some((leaf) => (fetched.has(leaf) || (what === 'address' && /^(?:parameter|special tid)/.test(leaf))) && !own.has(leaf));
}

/** Whether some register has known origins, none of which is among the wanted ones. */
function sharesNothing(made: readonly (readonly Origins[] | null)[], wanted: readonly Origins[]): boolean {
  const leaves = new Set(wanted.flatMap((one) => [...one.leaves]));
  return made.some((definitions) => {
    const own = definitions?.flatMap((one) => [...one.leaves].filter((leaf) => told.test(leaf))) ?? [];
    return own.length > 0 && !definitions!.some(({ isOpen }) => isOpen) && !own.some((leaf) => leaves.has(leaf));
  });
}

/**
 * Whether all leaves of a definition are wanted. A definition in which several paths join may have further leaves if it
 * has all wanted ones.
 */
function mayHold({ leaves, isOpen, isMerged }: Origins, wanted: ReadonlySet<string>): boolean {
  if (isOpen) return true;
  const own = [...leaves].filter((leaf) => told.test(leaf));
  if (own.every((leaf) => wanted.has(leaf))) return true;
  return isMerged && wanted.size > 0 && [...wanted].every((leaf) => leaves.has(leaf));
}
