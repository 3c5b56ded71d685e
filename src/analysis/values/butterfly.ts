/**
 * Values that all lanes of a warp share bit for bit because they have been exchanged in a butterfly:
 * `v += __shfl_xor_sync(~0u, v, m)` for masks m that lead from each lane to every other. A step leaves lane l and lane
 * l ^ m with the same two operands of a commutative operation, and what lanes shared before they still share.
 */
import type { SymbolicKernel } from './symbolic.ts';
import type { Term } from '../../term/term.ts';
import type { Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import { evaluateTerm } from '../../term/evaluate.ts';
import { warpSize } from '../../device/hardware-limits.ts';

/** Operations whose result is the same bits in either order of their operands; a NaN is always the same one. */
const commutative = new Set(['add', 'mul', 'min', 'max', 'and', 'or', 'xor']);

/** Rounds of a loop that are followed. */
const mostRounds = 64;

/**
 * Whether all lanes of a warp hold the same bits in a value, wherever it is used outside the loop that makes it.
 * Only of blocks of whole warps, whose lanes execute the exchanges together.
 */
export function isSharedByWarp(symbolic: SymbolicKernel, value: ValueId): boolean {
  return spansWarp([...chain(symbolic, value), ...loopMasks(symbolic, value)]);
}

/** Whether lanes that differ by these masks, one after the other, are all lanes of a warp. */
function spansWarp(masks: readonly number[]): boolean {
  let reached = new Set([0]);
  for (const mask of masks) reached = new Set([...reached, ...[...reached].map((lane) => lane ^ mask)]);
  return reached.size === warpSize;
}

interface Step {
  /** The value before the exchange. */
  readonly before: Operand;
  readonly mask: Operand;
}

/** The exchange that a value comes from; null where it comes from something else. */
function stepOf({ values }: Kernel, value: ValueId): Step | null {
  const { definition } = values[value]!;
  if (definition.kind !== 'instruction') return null;
  const { operation, arguments: operands } = definition.instruction;
  const isCommutative = operation.effect.kind === 'pure' && commutative.has(operation.opcode) && !operation.carry;
  if (!isCommutative || operands.length !== 2 || operation.mnemonic.startsWith('mul.wide')) return null;
  const [a, b] = operands as [Operand, Operand];
  for (const [before, exchanged] of [
    [a, b],
    [b, a],
  ] as const) {
    const shuffle = butterfly(values, exchanged);
    const [told, mask] = shuffle?.arguments ?? [];
    if (told && mask && isSame(told, before)) return { before, mask };
  }
  return null;
}

/** The exchange of all lanes by xor whose first result an operand is. */
function butterfly(values: Kernel['values'], operand: Operand): Instruction | null {
  if (operand.kind !== 'value') return null;
  const { definition } = values[operand.id]!;
  if (definition.kind !== 'instruction') return null;
  const { instruction } = definition;
  const { effect } = instruction.operation;
  if (effect.kind !== 'shuffle' || effect.mode !== 'bfly' || !effect.sync) return null;
  const [, , segment, lanes] = instruction.arguments;
  const isWhole = isNumber(segment, 31n) && isNumber(lanes, 0xffff_ffffn);
  return isWhole && instruction.results[0] === operand.id ? instruction : null;
}

function isNumber(operand: Operand | undefined, value: bigint): boolean {
  return operand?.kind === 'constant' && BigInt.asUintN(32, operand.value) === value;
}

function isSame(a: Operand, b: Operand): boolean {
  return a.kind === 'value' && b.kind === 'value' && a.id === b.id;
}

/** The masks of exchanges written out one after the other, up to a value. */
function chain({ kernel }: SymbolicKernel, value: ValueId): number[] {
  const masks: number[] = [];
  for (let step = stepOf(kernel, value); step; step = stepOf(kernel, step.before.id)) {
    if (step.mask.kind !== 'constant') break;
    masks.push(Number(BigInt.asUintN(5, step.mask.value)));
    if (step.before.kind !== 'value') break;
  }
  return masks;
}

/** The masks of the rounds of a loop that exchanges what it carries round, where its value at the end is meant. */
function loopMasks(symbolic: SymbolicKernel, value: ValueId): number[] {
  const { kernel } = symbolic;
  const { definition } = kernel.values[value]!;
  // The value may be the one carried round, or the one that the last round makes.
  const before = definition.kind === 'phi' ? null : stepOf(kernel, value)?.before;
  const carried = definition.kind === 'phi' ? value : before?.kind === 'value' ? before.id : null;
  const home = carried === null ? null : kernel.values[carried]!.definition;
  const loop = home?.kind === 'phi' ? kernel.loops.find(({ header }) => header === home.block) : undefined;
  const [exit] = loop?.exits ?? [];
  const [latch] = loop?.latches ?? [];
  if (carried === null || !loop || !exit || latch === undefined || loop.exits.length > 1 || loop.latches.length > 1)
    return [];
  const header = kernel.blocks[loop.header]!;
  const phi = header.phis.find(({ result }) => result === carried)!;
  const next = phi.inputs[header.predecessors.indexOf(latch)];
  const made = next?.kind === 'value' ? next.id : null;
  const step = made === null ? null : stepOf(kernel, made);
  const isCarried = step?.before.kind === 'value' && step.before.id === carried;
  if (made === null || !step || !isCarried || (value !== carried && value !== made)) return [];
  const { terminator } = kernel.blocks[exit.from]!;
  if (terminator.kind !== 'branch') return [];
  const at = (operand: Operand, round: number): bigint | undefined => {
    const valueOf = ({ atom }: Term): bigint | undefined =>
      atom?.kind === 'iteration' && atom.loop === loop.id ? BigInt(round) : undefined;
    return evaluateTerm(symbolic.operand(operand), valueOf, new Map());
  };
  const masks: number[] = [];
  for (let round = 0; round < mostRounds; round++) {
    const truth = at(terminator.condition, round);
    if (truth === undefined) return [];
    const isLast = (truth === 1n) === (terminator.then === exit.to);
    if (isLast && value === carried) return masks;
    const mask = at(step.mask, round);
    if (mask === undefined) return [];
    masks.push(Number(BigInt.asUintN(5, mask)));
    if (isLast) return masks;
  }
  return [];
}
