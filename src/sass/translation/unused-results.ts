/**
 * Instructions with unused results. Ptxas removes dead code, so an unused result means that its user is missing: the
 * computation of data or address remains after its store was dropped.
 */
import { hasBit } from '../../base/bit-set.ts';
import type { Kernel, ValueId } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { type SassInstruction, wordBits } from '../instruction/decode.ts';
import { registerUses } from '../instruction/operands.ts';
import { RegisterLiveness, RegisterSteps, writtenBy } from '../register-liveness.ts';

const computing: ReadonlySet<string> = new Set(['integer', 'float', 'half', 'double', 'special', 'convert', 'load']);

/** Spaces whose loads ptxas does not rematerialise. */
const loadedSpaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic']);

/**
 * Computations of upper halves of addresses, which ptxas does not remove, like copies, if it infers the space of a
 * pointer.
 */
const leftBehind: ReadonlySet<string> = new Set(['SHF', 'USHF']);

/** From sm_100 on no disassembler showed the registers that all operations read: seemingly unused ones may be read. */
const firstUnprinted = 100;

/** Registers that always hold zero: a multiplication of two is a copy of the addend. */
const zeroRegister = 255;

function isCopy(instruction: SassInstruction): boolean {
  const { mnemonic } = instruction.opcode!;
  return leftBehind.has(mnemonic) || (mnemonic === 'IMAD' && wordBits(instruction, 24, 8) === zeroRegister);
}

/** Lines of the PTX whose results determine stored data, their addresses, or branches. */
function neededLines(kernel: Kernel): ReadonlySet<number> {
  const lines = new Set<number>();
  const seen = new Set<ValueId>();
  const work: ValueId[] = [];
  const need = (operands: readonly Kernel['blocks'][number]['instructions'][number]['arguments'][number][]): void => {
    for (const one of operands) if (one.kind === 'value' && !seen.has(one.id)) work.push(one.id);
  };
  for (const { instructions, terminator } of kernel.blocks) {
    for (const { operation, arguments: values } of instructions) {
      const { kind } = operation.effect;
      if (kind !== 'pure' && kind !== 'load') need(values);
    }
    if (terminator.kind === 'branch') need([terminator.condition]);
    if (terminator.kind === 'switch') need([terminator.index]);
  }
  while (work.length > 0) {
    const id = work.pop()!;
    if (seen.has(id)) continue;
    seen.add(id);
    const { definition } = kernel.values[id]!;
    if (definition.kind === 'phi') need(kernel.blocks[definition.block]!.phis[definition.index]!.inputs);
    else {
      lines.add(definition.instruction.ptxLine);
      need(definition.instruction.arguments);
    }
  }
  return lines;
}

/**
 * Kinds of operations that ptxas rematerialises at their uses, possibly in addition to the original, if registers are
 * scarce.
 */
const remade: ReadonlySet<string> = new Set(['integer', 'convert', 'special']);

/**
 * Whether an instruction may remain without a use: if it is rematerialised elsewhere, or, if registers are spilled, if
 * it may be rematerialised or is reloaded.
 */
function remadeIn(
  { instructions }: SassFlow,
  lineOf: (instruction: SassInstruction) => number | undefined,
): (instruction: SassInstruction) => boolean {
  const keepsRegisters = instructions.some(({ opcode }) => opcode?.space === 'local');
  const keyOf = (one: SassInstruction): string => `${lineOf(one)} ${one.code & 0x1ff}`;
  const times = new Map<string, number>();
  for (const one of instructions) times.set(keyOf(one), (times.get(keyOf(one)) ?? 0) + 1);
  return (one) => {
    const { kind, space } = one.opcode!;
    if (keepsRegisters && (remade.has(kind) || space === 'local')) return true;
    return kind === 'integer' && times.get(keyOf(one))! > 1;
  };
}

/**
 * Finds instructions whose results are unused, although the PTX uses the result of their line.
 * @param lineOf the PTX line of an instruction
 */
export function unusedResults(
  kernel: Kernel,
  flow: SassFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
): SassInstruction[] {
  if (version >= firstUnprinted) return [];
  const uses = registerUses(flow.instructions, version);
  const steps = new RegisterSteps(flow.instructions, version);
  const dead = (idle: ReadonlySet<number>): number[] => {
    const found: number[] = [];
    new RegisterLiveness(flow, steps, idle).each({
      after: (index, live) => {
        const instruction = flow.instructions[index]!;
        const use = uses[index];
        if (!use || idle.has(index) || !instruction.opcode || !computing.has(instruction.opcode.kind)) return;
        const results = writtenBy(instruction, use);
        if (results.length === 0 || results.some((one) => hasBit(live, one)) || isCopy(instruction)) return;
        found.push(index);
      },
    });
    return found;
  };
  const first = dead(new Set());
  if (first.length === 0) return [];
  const needed = neededLines(kernel);
  const isRemade = remadeIn(flow, lineOf);
  const isNeeded = (one: SassInstruction): boolean => needed.has(lineOf(one) ?? 0);
  const found = first.map((index) => flow.instructions[index]!).filter((one) => !isRemade(one) && isNeeded(one));
  // A rematerialised value needs its operands elsewhere, so a load used only by the unused original is unused.
  const idle = new Set<number>();
  for (let more = first; more.length > 0 && found.length === 0;) {
    for (const one of more) idle.add(one);
    more = dead(idle);
    for (const index of more) {
      const one = flow.instructions[index]!;
      if (one.opcode!.kind === 'load' && loadedSpaces.has(one.opcode!.space) && !isRemade(one) && isNeeded(one)) found.push(one);
    }
  }
  return found.sort((a, b) => a.address - b.address);
}
