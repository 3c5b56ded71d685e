/**
 * Why two threads of one statement compute the same index from the number that an atomic operation returns, which a shuffle may give to
 * the other lanes of a warp.
 */
import type { Access } from '../../analysis/values/access.ts';
import type { Dim3 } from '../../base/dim3.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import type { AccessEvent } from '../../interpreter/core/run-result.ts';
import { sourceLane } from '../../interpreter/core/warp-exchange.ts';
import type { Instruction, InstructionId, Kernel, Operand } from '../../ir/form/kernel.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import type { IndexCause } from '../../verdict/finding.ts';
import type { KernelContext } from '../context/facts.ts';
import { baseName, placeOf } from '../context/names.ts';
import { addedBy } from '../ordering/synchronising-access.ts';

/** The threads of a race in a run. */
export interface RacingThreads {
  readonly first: Position;
  readonly second: Position;
  /** Threads of a block. */
  readonly block: Dim3;
  /** Shuffles that gave an undefined value to some lane. */
  readonly undefinedReads: { has(id: InstructionId): boolean };
}

type Position = Pick<AccessEvent, 'thread' | 'block'>;

/** The atomic operation or the shuffle whose result is in the index of an access, and the atom of its result; null if none is. */
export function sourceOfIndex({ kernel }: KernelContext, { targets }: Access): { readonly by: Instruction; readonly atom: Term } | null {
  for (const leaf of targets[0]!.offset.leaves) {
    const { atom } = leaf;
    const definition = atom?.kind === 'havoc' && atom.value >= 0 ? kernel.values[atom.value]!.definition : undefined;
    if (definition?.kind !== 'instruction') continue;
    const { kind } = definition.instruction.operation.effect;
    if (kind === 'atomic' || kind === 'shuffle') return { by: definition.instruction, atom: leaf };
  }
  return null;
}

/** Why the indices of two threads are the same in two accesses, both of which depend on one number; null if that is not known. */
export function causeOfIndex(
  context: KernelContext,
  [access, other]: readonly [Access, Access],
  { by, atom }: { readonly by: Instruction; readonly atom: Term },
  racing: RacingThreads,
): IndexCause | null {
  const { kernel, symbolic, accesses } = context;
  const { effect, mnemonic } = by.operation;
  const isShuffle = effect.kind === 'shuffle';
  const undefinedValue = isShuffle && racing.undefinedReads.has(by.id) ? ({ kind: 'undefined', mnemonic } as const) : null;
  const counters = isShuffle ? atomicsBehind(kernel, by.arguments[0]!) : [by];
  const counter = accesses.find(({ instruction }) => instruction === counters[0]);
  if (!counter || counters.length > 1) return undefinedValue;
  const counted = placeOf(kernel, counter.instruction);
  const threads = [racing.first, racing.second] as const;
  const drawing = threads.map((position) => (isShuffle ? drawerOf(context, by, position, racing.block) : position));
  const [one, two] = drawing;
  const executes = (position: Position): boolean => mayReach(context, counter, position, racing.block);
  for (const [at, drawer] of drawing.entries()) {
    if (!isShuffle || drawer === null || executes(drawer)) continue;
    const lanes = lanesOf(threads[at]!, racing.block).filter(executes);
    const reads = lanes.length === 1 ? laneOf(lanes[0]!, racing.block) : null;
    const [lane, source] = [laneOf(threads[at]!, racing.block), laneOf(drawer, racing.block)];
    return { kind: 'lane', mnemonic, counted, lane, source, ...(reads !== null && { reads }) };
  }
  if (undefinedValue || !one || !two) return undefinedValue;
  const { base } = counter.targets[0]!;
  const [a, b] = threads;
  if (base.kind === 'object' && base.object.space === 'shared' && a.block.join() !== b.block.join())
    return { kind: 'block', counted, counter: baseName(context, base) };
  const isOneNumber = isShuffle && one.block.join() === two.block.join() && one.thread.join() === two.thread.join();
  const loop = kernel.loopOf[access.block] ?? null;
  const isRepeated = loop !== null && !kernel.loops[loop]!.blocks.has(symbolic.definedIn((atom.atom as { value: number }).value));
  // A thread that does not count has the number of one that has stored it for its block.
  const isOfBlock = !isShuffle && threads.some((position) => !executes(position));
  const sharing = isShuffle ? lanesOf(a, racing.block) : isOfBlock ? threadsOf(a, racing.block) : [a];
  const startIn = ({ targets }: Access, position: Position): Start | null => startOf(targets[0]!.offset, atom, position, racing.block);
  const group = [access, other].flatMap((each) => {
    const reaching = sharing.filter((position) => mayReach(context, each, position, racing.block));
    return reaching.map((position) => startIn(each, position));
  });
  const starts = [startIn(access, a), startIn(other, b), ...group].flatMap((start) => start ?? []);
  const [x, y] = starts;
  if (!x || !y || starts.length < group.length + 2) return isOneNumber && isRepeated ? { kind: 'number', counted, isRepeated } : null;
  if (isOneNumber && x.bytes === y.bytes) return { kind: 'number', counted, isRepeated };
  const added = addedBy(symbolic, counter);
  if (added === null || added <= 0n || x.step <= 0n) return null;
  const all = starts.map(({ bytes }) => bytes);
  const extent = Number(
    all.reduce((most, next) => (next > most ? next : most)) - all.reduce((least, next) => (next < least ? next : least)),
  );
  const needed = Math.ceil((extent + access.bytes) / Number(x.step));
  return needed > Number(added) ? { kind: 'count', counted, added: Number(added), needed } : null;
}

/** The atomic operations whose results may be in a value. */
function atomicsBehind(kernel: Kernel, operand: Operand, seen = new Set<number>()): readonly Instruction[] {
  if (operand.kind !== 'value' || seen.has(operand.id)) return [];
  seen.add(operand.id);
  const { definition } = kernel.values[operand.id]!;
  if (definition.kind === 'phi')
    return kernel.blocks[definition.block]!.phis[definition.index]!.inputs.flatMap((input) => atomicsBehind(kernel, input, seen));
  if (definition.kind !== 'instruction') return [];
  const { effect } = definition.instruction.operation;
  if (effect.kind === 'atomic') return [definition.instruction];
  return effect.kind === 'pure' ? definition.instruction.arguments.flatMap((each) => atomicsBehind(kernel, each, seen)) : [];
}

/** The thread from which a thread receives the value of a shuffle; null if that is not known. */
function drawerOf(
  { symbolic }: KernelContext,
  { operation, arguments: operands }: Instruction,
  at: Position,
  block: Dim3,
): Position | null {
  const [distance, segment] = operands.slice(1, 3).map((operand) => valueAt(symbolic.operand(operand), at, block));
  if (operation.effect.kind !== 'shuffle' || distance === undefined || segment === undefined) return null;
  const lane = laneOf(at, block);
  const source = sourceLane(operation.effect.mode, lane, Number(distance), Number(segment));
  return lanesOf(at, block)[source < 0 ? lane : source] ?? null;
}

/** Whether a thread may reach the basic block of an access. */
function mayReach({ symbolic }: KernelContext, { block: home }: Access, at: Position, block: Dim3): boolean {
  const reach = symbolic.reach(home);
  const parts = reach.operator === 'all' ? reach.arguments : [reach];
  return parts.every((part) => valueAt(part, at, block) !== 0n);
}

interface Start {
  /** Bytes from the start of the array if the number is 0. */
  readonly bytes: bigint;
  /** Bytes by which the index grows if the number grows by one. */
  readonly step: bigint;
}

/** Where a thread accesses an array by its number; null if its place does not grow with the number, or depends on other values. */
function startOf(offset: Term, number: Term, at: Position, block: Dim3): Start | null {
  const [none, ...more] = [0n, 1n, 1000n].map((drawn) => valueAt(offset, at, block, (leaf) => (leaf === number ? drawn : undefined)));
  const [one, many] = more.map((value) => (value === undefined || none === undefined ? undefined : value - none));
  if (none === undefined || one === undefined || many !== 1000n * one) return null;
  return { bytes: BigInt.asIntN(offset.width, none), step: one };
}

/** The value of a term in a thread; undefined if it depends on more than that. */
function valueAt(term: Term, at: Position, block: Dim3, others: (leaf: Term) => bigint | undefined = () => undefined): bigint | undefined {
  const ofLeaf = (leaf: Term): bigint | undefined => {
    const { atom } = leaf;
    if (atom?.kind === 'thread') return BigInt(at.thread[atom.axis]);
    if (atom?.kind === 'block') return BigInt(at.block[atom.axis]);
    return atom?.kind === 'block-size' ? BigInt(block[atom.axis]) : others(leaf);
  };
  return evaluateTerm(term, ofLeaf, new Map());
}

function numberOf({ thread: [x, y, z] }: Position, block: Dim3): number {
  return x + block[0] * (y + block[1] * z);
}

function laneOf(position: Position, block: Dim3): number {
  return numberOf(position, block) % warpSize;
}

/** The threads of the block of a thread, in order. */
function threadsOf({ block }: Position, [x, y, z]: Dim3): readonly Position[] {
  return Array.from({ length: x * y * z }, (_, at) => ({ block, thread: [at % x, Math.floor(at / x) % y, Math.floor(at / (x * y))] }));
}

/** The threads of the warp of a thread, by lane. */
function lanesOf(position: Position, block: Dim3): readonly Position[] {
  const number = numberOf(position, block);
  const first = number - (number % warpSize);
  return threadsOf(position, block).slice(first, first + warpSize);
}
