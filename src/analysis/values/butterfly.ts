/**
 * Values that lanes of a warp share bit for bit because they have been exchanged in a butterfly: `v +=
 * __shfl_xor_sync(~0u, v, m)`. A step leaves lane l and lane l ^ m with the same two operands of a commutative
 * operation. Lanes that had equal values before still have equal ones, as the step treats all of them equally: if v is
 * the same in lanes l and l ^ d for every l, so is its copy from lane l ^ m. So the order of the masks does not matter.
 * Steps with masks that connect each lane to every other leave one value in the warp; fewer leave one in each part of
 * it.
 */
import type { SymbolicKernel } from './symbolic.ts';
import type { Term } from '../../term/term.ts';
import type { Instruction, Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import { warpSize } from '../../device/hardware-limits.ts';

/** Commutative operations, bit for bit; a resulting NaN always has the same bits. */
const commutative = new Set(['add', 'mul', 'min', 'max', 'and', 'or', 'xor']);

/** Iterations of a loop that are followed. */
const maxRounds = 64;
/** Maximum length of a chain of operations that is followed. */
const deepest = 64;

/** The bits of a lane index. */
const laneBits: readonly number[] = [0, 1, 2, 3, 4];

/** A set of distances: bit d is set if a value is the same in lanes l and l ^ d for every l. */
type Distances = number;
const none: Distances = 1;
const all: Distances = 0xffff_ffff;

const known = new WeakMap<SymbolicKernel, Map<ValueId, Distances>>();

/**
 * The bits of the lane index that do not affect a value: two lanes of a warp that differ only in these have the same
 * bits in it, at any use outside the loop that computes it. Only for blocks of whole warps, whose lanes execute the
 * exchanges together.
 * @returns bits 0 to 4; 31 if the value is the same in all lanes
 */
export function sharedLaneBits(symbolic: SymbolicKernel, operand: Operand): number {
  const distances = distancesOf(symbolic, operand, deepest);
  return laneBits.reduce((bits, bit) => (((distances >>> (1 << bit)) & 1) === 1 ? bits | (1 << bit) : bits), 0);
}

function distancesOf(symbolic: SymbolicKernel, operand: Operand, depth: number): Distances {
  if (operand.kind === 'constant' || operand.kind === 'address') return all;
  if (symbolic.operand(operand).leaves.every(isOfBlock)) return all;
  if (operand.kind !== 'value' || depth === 0) return none;
  const ofKernel = known.get(symbolic) ?? new Map<ValueId, Distances>();
  known.set(symbolic, ofKernel);
  const before = ofKernel.get(operand.id);
  if (before !== undefined) return before;
  const distances = distancesOfValue(symbolic, operand.id, depth - 1);
  ofKernel.set(operand.id, distances);
  return distances;
}

function distancesOfValue(symbolic: SymbolicKernel, value: ValueId, depth: number): Distances {
  const { kernel } = symbolic;
  const step = stepOf(kernel, value);
  if (step?.mask.kind === 'constant') return withMask(distancesOf(symbolic, step.before, depth), maskOf(step.mask.value));
  const masks = loopMasks(symbolic, value);
  if (masks.length > 0) return masks.reduce(withMask, none);
  const { definition } = kernel.values[value]!;
  if (definition.kind !== 'instruction') return none;
  const { instruction, block } = definition;
  const { operation, arguments: operands } = instruction;
  // Lanes may leave a loop in different iterations, and then have values of different iterations.
  if (operation.effect.kind !== 'pure' || instruction.marker || kernel.loopOf[block] !== null) return none;
  return operands.reduce<Distances>((common, source) => (common & distancesOf(symbolic, source, depth)) >>> 0, all);
}

/** Whether an atom has one value for all threads of a block at all times. */
function isOfBlock({ atom }: Term): boolean {
  return /^(parameter|block|block-size|grid-size|object)$/.test(atom!.kind);
}

/** The distances after a step with a mask: the former ones, with the mask and without. */
function withMask(distances: Distances, mask: number): Distances {
  let both = distances;
  for (let distance = 0; distance < warpSize; distance++) if (((distances >>> distance) & 1) === 1) both |= 1 << (distance ^ mask);
  return both >>> 0;
}

function maskOf(value: bigint): number {
  return Number(BigInt.asUintN(5, value));
}

interface Step {
  /** The value before the exchange. */
  readonly before: Operand;
  readonly mask: Operand;
}

/** The exchange that computes a value; null if it is not an exchange. */
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

/** The masks of all iterations of a loop that exchanges a loop-carried variable, for its value after the loop. */
function loopMasks(symbolic: SymbolicKernel, value: ValueId): number[] {
  const { kernel } = symbolic;
  const { definition } = kernel.values[value]!;
  // The value may be the loop-carried one, or the result of the last iteration.
  const before = definition.kind === 'phi' ? null : stepOf(kernel, value)?.before;
  const carried = definition.kind === 'phi' ? value : before?.kind === 'value' ? before.id : null;
  const home = carried === null ? null : kernel.values[carried]!.definition;
  const loop = home?.kind === 'phi' ? kernel.loops.find(({ header }) => header === home.block) : undefined;
  const [exit] = loop?.exits ?? [];
  const [latch] = loop?.latches ?? [];
  if (carried === null || !loop || !exit || latch === undefined || loop.exits.length > 1 || loop.latches.length > 1) return [];
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
  for (let round = 0; round < maxRounds; round++) {
    const truth = at(terminator.condition, round);
    if (truth === undefined) return [];
    const isLast = (truth === 1n) === (terminator.then === exit.to);
    if (isLast && value === carried) return masks;
    const mask = at(step.mask, round);
    if (mask === undefined) return [];
    masks.push(maskOf(mask));
    if (isLast) return masks;
  }
  return [];
}
