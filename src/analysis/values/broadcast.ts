/**
 * A value that one thread broadcasts to its block through shared memory: it stores, all pass a barrier, and each loads
 * it. The thread is thread 0, or the only one that reaches the store. The load has the stored value as long as no access
 * races with it. A barrier that returns whether some thread has stated a predicate broadcasts the predicate of thread 0 if
 * no other thread can state it.
 */
import type { Term } from '../../term/term.ts';
import { type Access, isWriter } from './access.ts';
import type { Dimensions } from './launch-bounds.ts';
import { type Pins, type ThreadIndex, isOfBlock, areLeaders, leaderReaches, ofLeader, partsOf, pinsIn, pinsOf } from './leader.ts';
import type { Instruction, Kernel, LoopId, Operand } from '../../ir/form/kernel.ts';
import { type ProgramPoint, pointAfter, pointDominates, canReach, walkFrom } from './program-point.ts';
import { type SymbolicKernel, undefinedValue } from './symbolic.ts';

export interface Broadcast {
  /** The instruction whose result is the value, and the value. */
  readonly reader: Instruction;
  readonly stored: Operand;
  /** The barrier that all threads pass after the store and before the load. */
  readonly barrier: ProgramPoint;
  /** Values that only that thread computes, once, and that the stored one depends on. */
  readonly leaderValues: readonly number[];
  /** Whether another thread than thread 0 has stored it. */
  readonly isOfOther?: true;
  /** The loop in each iteration of which the broadcast is repeated; null if it happens once. */
  readonly loop: LoopId | null;
}

/**
 * Finds the loads of shared memory that read a value stored by thread 0.
 * @param barriers that all threads of the block take part in
 * @param leavesTogether whether all threads of a block that enter a loop execute the same iterations of it
 */
export function findBroadcasts(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  barriers: readonly (ProgramPoint & { readonly instruction: Instruction })[],
  dimensions: Dimensions,
  leavesTogether: (loop: LoopId) => boolean,
): readonly Broadcast[] {
  const { kernel } = symbolic;
  const votes = barriers.flatMap((barrier) => voteOf(symbolic, barrier, dimensions) ?? []);
  const loads = accesses.flatMap((load) => {
    const at = constantPlace(load);
    if (!at || load.operation !== 'read') return [];
    const writers = accesses.filter(
      (other) =>
        isWriter(other) &&
        other.targets.some(({ base, offset }) => {
          if (base.kind === 'unknown') return true;
          if (base.key !== at.key) return false;
          if (offset.operator !== 'constant') return true;
          return offset.value < at.offset + BigInt(load.bytes) && at.offset < offset.value + BigInt(other.bytes);
        }),
    );
    const [store, ...more] = writers;
    if (!store || more.length > 0 || store.operation !== 'write' || store.stored?.length !== 1) return [];
    if (constantPlace(store)?.offset !== at.offset || store.bytes !== load.bytes) return [];
    if (store.block >= load.block) return [];
    const isRepeated = canReach(kernel, store, store);
    const loop = isRepeated ? (kernel.loopOf[store.block] ?? null) : null;
    if (isRepeated && (loop === null || !isInRoundOf(kernel, loop, store, load))) return [];
    if (loopsAround(kernel, loop).some((one) => !leavesTogether(one))) return [];
    // Strong stores of several threads do not race, and their order is unspecified.
    const pins = pinsOf(symbolic, store.block, dimensions);
    if (store.strong !== null && !areLeaders(pins)) return [];
    const other = otherThread(pins, dimensions);
    if (other && store.stored[0]!.leaves.some(({ atom }) => atom?.kind === 'thread')) return [];
    const barrier = barriers.find(
      (point) =>
        pointDominates(kernel, point, load) &&
        (loop === null
          ? !canReach(kernel, point, store)
          : kernel.loopOf[point.block] === loop && !leadsInRound(kernel, loop, point, store)) &&
        leaderReaches(symbolic, store.block, load.block, loop, null, other ?? undefined),
    );
    const leaderValues = barrier && unknownsOf(symbolic, ofLeader(symbolic, store.stored[0]!), store, loop, dimensions, other);
    const stored = store.instruction.arguments[1]!;
    return leaderValues
      ? [{ reader: load.instruction, stored, barrier, leaderValues, loop, ...(other && { isOfOther: true as const }) }]
      : [];
  });
  return [...votes, ...loads];
}

/** The only thread with these indices, if it exists and is not thread 0; null otherwise. */
function otherThread(pins: Pins, { block }: Dimensions): ThreadIndex | null {
  const { thread, assumes } = pins;
  if (assumes.length > 0 || areLeaders(pins)) return null;
  const index = thread.flatMap((at, axis) => {
    const size = block[axis] ?? null;
    return at !== undefined && size !== null && at < BigInt(size) ? [at] : [];
  });
  return index.length === 3 ? index : null;
}

/** A barrier that returns whether thread 0 stated a predicate, which implies that a thread is thread 0; else null. */
function voteOf(
  symbolic: SymbolicKernel,
  barrier: ProgramPoint & { readonly instruction: Instruction },
  dimensions: Dimensions,
): Broadcast | null {
  const { kernel } = symbolic;
  const { effect } = barrier.instruction.operation;
  if (effect.kind !== 'barrier' || effect.form !== 'red' || effect.reduction !== 'or' || canReach(kernel, barrier, barrier)) return null;
  const stored = barrier.instruction.arguments.at(-1)!;
  const value = symbolic.operand(stored);
  if (!areLeaders(pinsIn(symbolic, partsOf(value), dimensions)) || !leaderReaches(symbolic, barrier.block, barrier.block)) return null;
  const leaderValues = unknownsOf(symbolic, ofLeader(symbolic, value), barrier, null, dimensions);
  return leaderValues && { reader: barrier.instruction, stored, barrier, leaderValues, loop: null };
}

/**
 * Whether a load reads in each iteration of a loop the value stored in that iteration, given a barrier between load and
 * store. A store of a later iteration would race with the load; but strong accesses do not race, so a strong load may
 * read the value of any iteration.
 */
function isInRoundOf(kernel: Kernel, loop: LoopId, store: Access, load: Access): boolean {
  return kernel.loops[loop]!.blocks.has(load.block) && store.strong === null && load.strong === null;
}

/** A loop and those around it; empty for none. */
function loopsAround(kernel: Kernel, innermost: LoopId | null): readonly LoopId[] {
  return innermost === null ? [] : [innermost, ...loopsAround(kernel, kernel.loops[innermost]!.parent)];
}

/** Whether some path leads from the point after `from` to `to` without a back edge of a loop. */
function leadsInRound(kernel: Kernel, loop: LoopId, from: ProgramPoint, to: ProgramPoint): boolean {
  const { header } = kernel.loops[loop]!;
  let isMet = false;
  const goesOn = (_: unknown, at: ProgramPoint): boolean => {
    isMet ||= at.block === to.block && at.position === to.position;
    return !isMet;
  };
  walkFrom(kernel, pointAfter(from), goesOn, (_, next) => next !== header);
  return isMet;
}

/** The address in shared memory of a load or store of one element, if it is the same for all threads. */
export function constantPlace({ targets, instruction }: Access): { readonly key: string; readonly offset: bigint } | null {
  const { effect } = instruction.operation;
  const [target, ...more] = targets;
  if (!target || more.length > 0 || (effect.kind !== 'load' && effect.kind !== 'store') || effect.lanes !== 1) return null;
  const { base, offset } = target;
  if (base.kind !== 'object' || base.object.space !== 'shared' || offset.operator !== 'constant') return null;
  return { key: base.key, offset: offset.value };
}

/**
 * The unknowns in a value of thread 0, if no other thread has unknowns of the same name; null otherwise.
 * @param loop thread 0 stores the value in each of its iterations; null if it stores it once
 */
function unknownsOf(
  symbolic: SymbolicKernel,
  value: Term,
  store: ProgramPoint,
  loop: LoopId | null,
  dimensions: Dimensions,
  other: ThreadIndex | null = null,
): readonly number[] | null {
  const { kernel } = symbolic;
  const isOfStorer = (pins: Pins): boolean =>
    other ? pins.assumes.length === 0 && other.every((index, axis) => pins.thread[axis] === index) : areLeaders(pins);
  const unknowns: number[] = [];
  for (const leaf of value.leaves) {
    if (isOfBlock(leaf)) continue;
    if (leaf.atom?.kind !== 'havoc' || leaf.atom.value === undefinedValue) return null;
    const home = symbolic.definedIn(leaf.atom.value);
    const point = { block: home, position: -1 };
    // A value of the same iteration, or one that is computed only once.
    const isOfRound = loop !== null && kernel.loopOf[home] === loop && pointDominates(kernel, point, store);
    if ((!isOfRound && canReach(kernel, point, point)) || !isOfStorer(pinsOf(symbolic, home, dimensions))) return null;
    unknowns.push(leaf.atom.value);
  }
  return unknowns;
}
