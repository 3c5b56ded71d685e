/**
 * Values that depend on the thread index only, lane by lane: which of them are equal in all lanes of a warp, and which
 * lanes a mask names.
 */
import { maximumThreads, warpSize } from '../../device/hardware-limits.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import type { Dimensions } from './launch-bounds.ts';
import type { SymbolicKernel } from './symbolic.ts';
import type { SharedByLanes } from './uniformity.ts';

/** Limit on the size of terms that are evaluated for each thread. */
const maxTerms = 64;

/** Values of a term by thread, in the order of the linear thread index of a block; null if they are not known. */
function valuesByThread(term: Term, { block }: Dimensions): readonly bigint[] | null {
  const axes = new Set<number>();
  for (const { atom } of term.leaves) {
    if (atom?.kind !== 'thread') return null;
    axes.add(atom.axis);
  }
  if (term.size > maxTerms) return null;
  const [x, y, z] = block;
  // In a block with one row, the index along x is the linear one for any extent.
  const isRow = y === 1 && z === 1;
  const columns = x ?? (isRow ? maximumThreads : null);
  // Rows of whole warps have the same values of a term that depends on the column only.
  const areRowsAlike = columns !== null && columns % warpSize === 0 && !axes.has(1) && !axes.has(2);
  const [rows, planes] = areRowsAlike ? [1, 1] : [y, z];
  if (columns === null || rows === null || planes === null) return null;
  const values: bigint[] = [];
  for (let thread = 0; thread < columns * rows * planes; thread++) {
    const index = [thread % columns, Math.floor(thread / columns) % rows, Math.floor(thread / (columns * rows))];
    const value = evaluateTerm(term, ({ atom }) => (atom?.kind === 'thread' ? BigInt(index[atom.axis]!) : undefined), new Map());
    if (value === undefined) return null;
    values.push(value);
  }
  return values;
}

/** The value of a term in one lane of each warp of a block with one row: selections by the thread index are resolved; null if open. */
export function ofLane(term: Term, lane: number): Term | null {
  if (term.operator !== 'select') return term;
  const [test, a, b] = term.arguments as [Term, Term, Term];
  const index =
    (thread: number) =>
    ({ atom }: Term): bigint | undefined =>
      atom?.kind === 'thread' && atom.axis === 0 ? BigInt(thread) : undefined;
  const values = Array.from({ length: maximumThreads / warpSize }, (_, warp) =>
    evaluateTerm(test, index(warpSize * warp + lane), new Map()),
  );
  if (values.every((value) => value === 1n)) return ofLane(a, lane);
  return values.every((value) => value === 0n) ? ofLane(b, lane) : null;
}

/** Whether a term that depends on the thread index only is equal in all lanes of each warp. */
function isOfWarp(term: Term, dimensions: Dimensions): boolean {
  const [x] = dimensions.block;
  const isOfRow = x !== null && x % warpSize === 0 && term.leaves.every(({ atom }) => atom?.kind === 'thread' && atom.axis !== 0);
  if (isOfRow) return true;
  const values = valuesByThread(term, dimensions);
  return values !== null && values.every((value, thread) => value === values[thread - (thread % warpSize)]);
}

/**
 * The masks that lanes pass, by lane, if a mask depends on the lane index only.
 * @returns null if it does not, or is not known
 */
export function masksByLane(symbolic: SymbolicKernel, mask: Term, dimensions: Dimensions): readonly number[] | null {
  const lane = symbolic.operand({ kind: 'special', register: 'laneid' });
  const linear = lane.arguments.find(({ operator }) => operator !== 'constant');
  const ofLane = linear && mask.size <= maxTerms ? valuesByLane(mask, lane, linear) : null;
  if (ofLane) return ofLane.map(Number);
  const values = valuesByThread(mask, dimensions);
  if (values === null || values.length === 0) return null;
  const isPeriodic = values.every((value, thread) => value === values[thread % warpSize]);
  return isPeriodic ? values.slice(0, warpSize).map(Number) : null;
}

/** Values of a term in which the linear thread index occurs only as the lane index, or as bits of it. */
function valuesByLane(term: Term, lane: Term, linear: Term): readonly bigint[] | null {
  const bits = new Map<Term, bigint>();
  const collect = (part: Term): void => {
    const [a, b] = part.arguments;
    const isOfLane = part.operator === 'and' && a === linear && b?.operator === 'constant' && b.value < BigInt(warpSize);
    if (isOfLane) bits.set(part, b.value);
    else for (const inner of part.arguments) collect(inner);
  };
  bits.set(lane, BigInt(warpSize - 1));
  collect(term);
  const values: bigint[] = [];
  for (let index = 0; index < warpSize; index++) {
    const memo = new Map<Term, bigint | undefined>(Array.from(bits, ([part, mask]) => [part, BigInt(index) & mask]));
    const value = evaluateTerm(term, () => undefined, memo);
    if (value === undefined) return null;
    values.push(value);
  }
  return values;
}

const known = new WeakMap<SymbolicKernel, Map<Term, boolean>>();

/**
 * What lanes of a warp agree on, for {@link inferUniformity}.
 * @param mayHaveExited whether lanes may have exited before an exchange
 */
export function sharedByLanes(symbolic: SymbolicKernel, dimensions: Dimensions, mayHaveExited: boolean): SharedByLanes {
  const ofWarp = known.get(symbolic) ?? new Map<Term, boolean>();
  known.set(symbolic, ofWarp);
  const threads = dimensions.block.reduce<number>((product, size) => product * (size ?? 1), 1);
  const areWhole = dimensions.block.every((size) => size !== null) && threads % warpSize === 0;
  const isNumber = (instruction: Instruction, source: number, value: bigint): boolean => {
    const operand = instruction.arguments[source];
    return operand?.kind === 'constant' && BigInt.asUintN(32, operand.value) === value;
  };
  return {
    isOfWarp: (operand) => {
      const term = symbolic.operand(operand);
      const before = ofWarp.get(term);
      if (before !== undefined) return before;
      const result = isOfWarp(term, dimensions);
      ofWarp.set(term, result);
      return result;
    },
    isBroadcast: (shuffle) => {
      const { effect } = shuffle.operation;
      if (mayHaveExited || effect.kind !== 'shuffle' || effect.mode !== 'idx' || !effect.sync) return false;
      // Lane 0 exists in every warp.
      return isNumber(shuffle, 2, 31n) && isNumber(shuffle, 3, 0xffff_ffffn) && (areWhole || isNumber(shuffle, 1, 0n));
    },
  };
}
