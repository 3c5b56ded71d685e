/**
 * Whether guarded stores are controlled by a condition of their PTX. The guard has to be computed on lines that compute
 * the conditions of the block of the store; otherwise the instruction is the SASS of another store. Lines identify
 * instructions and not their operands, so a guard computed on one of these lines is accepted.
 */
import type { BlockId, Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { type SassInstruction, sassGuard, wordBits } from '../instruction/decode.ts';
import { predicatesWritten } from '../predicates.ts';

/** A store with a guard that is not computed on the lines of its conditions. */
interface MismatchedGuard {
  readonly ptxLine: number;
  readonly instruction: SassInstruction;
}

/**
 * Finds stores with the guard of another store.
 * @param lineOf the PTX line of an instruction
 */
export function mismatchedGuards(
  kernel: Kernel,
  flow: SassFlow,
  lineOf: (instruction: SassInstruction) => number | undefined,
): MismatchedGuard[] {
  const stores = new Map<number, BlockId | null>();
  // Predicates may be saved in registers and copied: only the line of a comparison identifies them.
  const compared = new Set<number>();
  for (const { id, instructions } of kernel.blocks) {
    for (const one of instructions) {
      if (compares(one)) compared.add(one.ptxLine);
      if (isAccess(one)) stores.set(one.ptxLine, stores.has(one.ptxLine) || one.operation.effect.kind !== 'store' ? null : id);
    }
  }
  const conditions = new Conditions(kernel);
  const kept = new Set(flow.instructions.map(lineOf));
  // Predicates may also be saved in memory if registers are scarce.
  const keepsPredicates = flow.instructions.some((one) => keepsPredicate(one) || one.opcode?.space === 'local');
  return flow.blocks.flatMap(({ first, end }, block) =>
    flow.instructions.slice(first, end).flatMap((instruction, index): MismatchedGuard[] => {
      const guard = sassGuard(instruction);
      const ptxLine = lineOf(instruction);
      const of =
        instruction.opcode?.kind === 'store' && instruction.opcode.space !== 'local' && ptxLine !== undefined
          ? stores.get(ptxLine)
          : undefined;
      if (!guard || guard.register === 7 || ptxLine === undefined || of === undefined || of === null) return [];
      const makers = makersOf(flow, block, first + index, guard.register);
      if (makers && makers.length > 0 && makers.every((one) => constantOf(one) === guard.negated)) return [{ ptxLine, instruction }];
      if (!makers || (keepsPredicates && makers.some(comparesWithZero))) return [];
      const lines = makers.map(lineOf);
      const { wanted, comparing } = conditions.of(of);
      // If a comparison has no separate SASS, an equal comparison on another line replaces it.
      if (comparing.some((line) => !kept.has(line))) return [];
      return lines.some((line) => line === undefined || !compared.has(line) || wanted.has(line)) ? [] : [{ ptxLine, instruction }];
    }),
  );
}

const zeroRegister = 255;

/** Whether an instruction converts a predicate to a number, which may be converted back later. */
function keepsPredicate(instruction: SassInstruction): boolean {
  const mnemonic = instruction.opcode?.mnemonic;
  return mnemonic === 'P2R' || (mnemonic === 'SEL' && wordBits(instruction, 24, 8) === zeroRegister);
}

function comparesWithZero(instruction: SassInstruction): boolean {
  return wordBits(instruction, 32, 8) === zeroRegister;
}

/** The result of a `PLOP3` of predicates that are always true; undefined for other code. */
function constantOf(instruction: SassInstruction): boolean | undefined {
  const isOfConstants = instruction.code === 0x81c && [87, 77, 68].every((from) => wordBits(instruction, from, 4) === 7);
  // The last bit of the lookup table, for three true predicates; it determines the first of two results.
  return isOfConstants && wordBits(instruction, 84, 3) === 7 ? wordBits(instruction, 76, 1) === 1 : undefined;
}

function compares({ operation: { mnemonic } }: Instruction): boolean {
  return mnemonic.startsWith('setp');
}

function isAccess({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'store' || effect.kind === 'load' || effect.kind === 'atomic';
}

/** The instructions that may have defined a predicate as read by an instruction; null if one of them is unknown. */
function makersOf({ instructions, blocks }: SassFlow, block: number, index: number, register: number): SassInstruction[] | null {
  const found = new Set<SassInstruction>();
  const seen = new Set<number>();
  const work = [{ block, from: index - 1 }];
  while (work.length > 0) {
    const next = work.pop()!;
    const { first, predecessors } = blocks[next.block]!;
    let at = next.from;
    for (; at >= first; at--) {
      const one = instructions[at]!;
      const written = predicatesWritten(one);
      if (!written.includes(register)) continue;
      if (written.length > 2) return null;
      found.add(one);
      if (!sassGuard(one)) break;
    }
    if (at >= first) continue;
    for (const one of predecessors) {
      if (seen.has(one)) continue;
      seen.add(one);
      work.push({ block: one, from: blocks[one]!.end - 1 });
    }
  }
  return [...found];
}

/** PTX lines of all origins of conditions, and of the comparisons among them. */
interface ConditionLines {
  readonly wanted: ReadonlySet<number>;
  readonly comparing: readonly number[];
}

/** The conditions under which blocks of the PTX are executed. */
class Conditions {
  readonly #kernel: Kernel;
  /** By block: the blocks whose branches it is control-dependent on. */
  readonly #deciding: readonly ReadonlySet<BlockId>[];
  readonly #known = new Map<BlockId, ConditionLines>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const { blocks, postdominators } = kernel;
    const deciding = blocks.map(() => new Set<BlockId>());
    for (const { id, successors } of blocks) {
      if (successors.length < 2) continue;
      for (const successor of successors) {
        for (let one: BlockId | null = successor; one !== null && one !== postdominators[id]; one = postdominators[one]!) {
          if (deciding[one]!.has(id)) break;
          deciding[one]!.add(id);
        }
      }
    }
    this.#deciding = deciding;
  }

  /** The conditions of a block. */
  of(block: BlockId): ConditionLines {
    const known = this.#known.get(block);
    if (known) return known;
    const [lines, comparing] = [new Set<number>(), new Set<number>()];
    const [seenBlocks, seenValues] = [new Set<BlockId>(), new Set<ValueId>()];
    const [blocks, values]: [BlockId[], Operand[]] = [[block], []];
    const branchOf = (id: BlockId): void => {
      const { terminator } = this.#kernel.blocks[id]!;
      if (terminator.kind !== 'branch' && terminator.kind !== 'switch') return;
      lines.add(terminator.ptxLine);
      values.push(terminator.kind === 'branch' ? terminator.condition : terminator.index);
    };
    while (blocks.length > 0 || values.length > 0) {
      const id = blocks.pop();
      if (id !== undefined && !seenBlocks.has(id)) {
        seenBlocks.add(id);
        for (const one of this.#deciding[id]!) {
          branchOf(one);
          blocks.push(one);
        }
      }
      const operand = values.pop();
      if (operand?.kind !== 'value' || seenValues.has(operand.id)) continue;
      seenValues.add(operand.id);
      const { definition } = this.#kernel.values[operand.id]!;
      if (definition.kind === 'phi') {
        const { phis, predecessors } = this.#kernel.blocks[definition.block]!;
        values.push(...phis[definition.index]!.inputs);
        for (const one of predecessors) branchOf(one);
        blocks.push(...predecessors);
      } else {
        lines.add(definition.instruction.ptxLine);
        if (compares(definition.instruction)) comparing.add(definition.instruction.ptxLine);
        values.push(...definition.instruction.arguments);
      }
    }
    const found = { wanted: lines, comparing: [...comparing] };
    this.#known.set(block, found);
    return found;
  }
}
