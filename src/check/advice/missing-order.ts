/** The order that two racing accesses lack. Texts and repairs follow from it. */
import type { Access } from '../../analysis/values/access.ts';
import type { BlockId, Instruction, Kernel, LoopId, Operand } from '../../ir/form/kernel.ts';
import { inferUniformity } from '../../analysis/values/uniformity.ts';
import { isOfLaunch } from '../../analysis/values/leader.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { type ProgramPoint, canReach, pointAfter, pointsOf, walkFrom } from '../../analysis/values/program-point.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import { participantsOf } from '../../isa/model/effect.ts';
import { type MemoryOperation, bytesOfElement } from '../../memory-model/conflict.ts';
import { reachesGrid } from '../../memory-model/scope.ts';
import type { MissingBarrier, MissingGridOrder, MissingOrder } from '../../verdict/finding.ts';
import type { KernelContext } from '../context/facts.ts';
import { baseName, placeOf } from '../context/names.ts';
import { BarrierFreePaths } from '../obligations/barrier-free-paths.ts';
import { divergenceObligations } from '../obligations/barrier-divergence.ts';
import type { PairScope } from '../obligations/instance.ts';
import type { Location } from '../../source/location.ts';
import { isWait } from '../ordering/synchronisation-idioms.ts';
import { lanesAt, wholeWarp } from './executing-threads.ts';
import { missingPhase } from './missing-phase.ts';
import { splitUpdate } from './split-update.ts';
import { missingSynchronisation, undecidedGuard } from './missing-synchronisation.ts';
import { type RacingThreads, causeOfIndex, sourceOfIndex } from './shared-index.ts';

/** Which threads overlap: a thread and its own copy, threads of one warp only, or any two threads. */
type Meeting = 'own-copy' | 'in-warp' | 'any';

/**
 * The missing order between two accesses, the first of which a run performed first.
 * @param racing their threads in that run; null without a run
 */
export function missingOrder(
  context: KernelContext,
  [a, b]: readonly [Access, Access],
  scope: PairScope,
  meeting: Meeting,
  racing: RacingThreads | null = null,
): MissingOrder {
  if (meeting === 'own-copy') return { kind: 'copy-wait' };
  const strong = missingStrength(a, b);
  if (strong?.kind === 'atomic') {
    if (waits(context, a, b)) return { kind: 'atomic', waits: true };
    return {
      kind: 'atomic',
      ...(meeting === 'in-warp' && { inWarp: true }),
      ...(updateOf(context.kernel, a, b).isMove && { isMove: true }),
    };
  }
  if (strong) return strong;
  const order = missingSynchronisation(context, a, b, scope);
  if (order) return order.missing;
  if (waits(context, a, b)) return { kind: 'atomic', waits: true };
  const { isMove, ...update } = updateOf(context.kernel, a, b);
  const cause = { ...update, ...sharedIndex(context, a, b, racing) };
  if (scope === 'grid') {
    const guard = update.isUpdate || cause.indexFrom ? null : undecidedGuard(context, a, b);
    const split = guard || update.isUpdate || cause.indexFrom ? null : splitUpdate(context, a, b);
    return (
      guard ?? {
        kind: 'grid-order',
        ...cause,
        ...(split && { split }),
        ...readFirst(context.kernel, a, b),
        ...missingGridBarrier(context, a, b),
      }
    );
  }
  const wait = laterWait(context, a, b);
  if (a.isCopy || wait) return { kind: 'copy-wait', ...(wait && { wait }) };
  const barrier = missingBarrier(context, a, b, meeting);
  return {
    ...barrier,
    ...cause,
    ...readFirst(context.kernel, a, b),
    ...(isMove && { isMove }),
    ...otherBarriers(context, a, b, barrier.nextIteration === true),
  };
}

/**
 * The missing property of two racing strong accesses by two threads; null if one access is weak. Morally strong
 * accesses race only because one of them is volatile.
 */
function missingStrength(a: MemoryOperation, b: MemoryOperation): MissingOrder | null {
  if (a.strong === null || b.strong === null) return null;
  if (bytesOfElement(a) !== bytesOfElement(b)) return { kind: 'size' };
  const narrow = [a.strong, b.strong].includes('cta') ? 'block' : 'cluster';
  const isNarrow = !reachesGrid(a.strong) || !reachesGrid(b.strong);
  return isNarrow ? { kind: 'scope', narrow } : { kind: 'atomic' };
}

/** Barriers of some threads of the block in the kernel, and operations on barriers in memory between the accesses. */
function otherBarriers(context: KernelContext, a: Access, b: Access, isOfNextIteration: boolean): Pick<MissingBarrier, 'others' | 'phase'> {
  const { kernel, isBlockBarrier } = context;
  const isNamed = (instruction: Instruction): boolean => instruction.operation.effect.kind === 'barrier' && !isBlockBarrier(instruction);
  if (pointsOf(kernel, isNamed).length > 0) return { others: 'named' };
  const leads = (from: Access, by: ProgramPoint, to: Access): boolean => canReach(kernel, from, by) && canReach(kernel, by, to);
  const ofMemory = pointsOf(kernel, ({ operation: { effect } }) => effect.kind === 'mbarrier');
  // A barrier in memory does not order its own operations.
  if (ofMemory.length === 0 || ofMemory.some(({ instruction }) => instruction === a.instruction || instruction === b.instruction))
    return {};
  const phase = missingPhase(context, a, b, isOfNextIteration);
  const isInMemory = ofMemory.some((point) => leads(a, point, b) || leads(b, point, a));
  return { ...(isInMemory && { others: 'in-memory' as const }), ...(phase && { phase }) };
}

/** The wait at a barrier in memory that follows an access which must not precede the end of a copy; null without one. */
function laterWait({ kernel }: KernelContext, a: Access, b: Access): Location | null {
  const [copy, other] = a.isCopy ? [a, b] : [b, a];
  if (!copy.isCopy || other.isCopy || !canReach(kernel, copy, other) || canReach(kernel, other, copy)) return null;
  const waits = pointsOf(kernel, ({ operation: { effect } }) => effect.kind === 'mbarrier' && /^(?:test|try)_wait$/.test(effect.form));
  const later = waits.find((point) => canReach(kernel, other, point) && !canReach(kernel, point, other));
  return later ? placeOf(kernel, later.instruction) : null;
}

/** Whether each thread reads before it writes, and not again. */
function readFirst(kernel: Kernel, a: Access, b: Access): { isReadFirst?: true } {
  const [read, write] = a.operation === 'read' ? [a, b] : [b, a];
  const isFirst =
    read.operation === 'read' && write.operation === 'write' && canReach(kernel, read, write) && !canReach(kernel, write, read);
  return isFirst ? { isReadFirst: true } : {};
}

/** The number from which the index of both accesses comes, if no barrier between them would help. */
function sharedIndex(
  context: KernelContext,
  a: Access,
  b: Access,
  racing: RacingThreads | null,
): Pick<MissingBarrier, 'indexFrom' | 'indexCause'> {
  const source = sourceOfIndex(context, a);
  if (!source || sourceOfIndex(context, b)?.atom !== source.atom) return {};
  const indexCause = racing && causeOfIndex(context, [a, b], source, racing);
  // Threads with different numbers may still need an order of different statements.
  if (a.instruction !== b.instruction && indexCause?.kind !== 'count') return {};
  return { indexFrom: placeOf(context.kernel, source.by), ...(indexCause && { indexCause }) };
}

/** Whether one thread waits for what the other one writes. */
function waits({ symbolic }: KernelContext, a: Access, b: Access): boolean {
  return (isWait(symbolic, a) && b.operation !== 'read') || (isWait(symbolic, b) && a.operation !== 'read');
}

/**
 * Whether a thread reads an element and writes what it computes from it: back, as `s[i]++` does, or to an element of another thread
 * in the same statement, as `s[i] += s[i + 1]`.
 */
function updateOf(kernel: Kernel, a: Access, b: Access): Pick<MissingBarrier, 'isUpdate' | 'isMove'> {
  const [read, write] = a.operation === 'read' ? [a, b] : [b, a];
  if (read.operation !== 'read' || write.operation !== 'write' || read.bytes !== write.bytes) return {};
  const [from, to] = [placeOf(kernel, read.instruction), placeOf(kernel, write.instruction)];
  const [x, y] = [read.targets[0]!, write.targets[0]!];
  const isOneStatement = from.file === to.file && from.line === to.line;
  const isOneElement = x.base.key === y.base.key && x.offset === y.offset;
  // Threads that access different elements may lack a barrier between two statements.
  if (!isOneStatement && (!isOneElement || !x.offset.leaves.every(isOfLaunch))) return {};
  const seen = new Set<number>();
  const comesFromRead = (operand: Operand): boolean => {
    if (operand.kind !== 'value' || seen.has(operand.id)) return false;
    seen.add(operand.id);
    const { definition } = kernel.values[operand.id]!;
    if (definition.kind === 'phi') return kernel.blocks[definition.block]!.phis[definition.index]!.inputs.some(comesFromRead);
    if (definition.kind !== 'instruction') return false;
    return definition.instruction === read.instruction || definition.instruction.arguments.some(comesFromRead);
  };
  if (!write.instruction.arguments.slice(1).some(comesFromRead)) return {};
  return isOneElement ? { isUpdate: true } : { isMove: true };
}

/** The barrier of the grid between two accesses, if the kernel has such barriers elsewhere. */
function missingGridBarrier(
  context: KernelContext,
  a: Access,
  b: Access,
): Pick<MissingGridOrder, 'gridBarrier' | 'countedUp' | 'nextIteration'> {
  const { kernel, gates } = context;
  const ends = new Map(gates.map(({ barrier, counter }) => [barrier, counter.instruction]));
  const isBarrier = (instruction: Instruction): boolean => isGridBarrier(instruction) || ends.has(instruction);
  const [barrier] = pointsOf(kernel, isBarrier);
  if (!barrier) return {};
  const gridBarrier = placeOf(kernel, ends.get(barrier.instruction) ?? barrier.instruction);
  const gate = gates.find((one) => one.barrier === barrier.instruction);
  const countedUp = gate?.countsUp === true && { countedUp: baseName(context, gate.counter.targets[0]!.base) };
  return { gridBarrier, ...countedUp, ...(isOfNextIteration(kernel, a, b, isBarrier) && { nextIteration: true }) };
}

/** The barrier between two accesses of threads of one block, and who reaches the code where it has to be. */
function missingBarrier(context: KernelContext, a: Access, b: Access, meeting: Meeting): MissingBarrier {
  const { kernel, symbolic, dependences, loaded, isBlockBarrier } = context;
  const kind = meeting === 'in-warp' ? 'warp-barrier' : 'block-barrier';
  const blocks = new BarrierFreePaths(kernel, isBlockBarrier).blocksBetween(a.instruction, b.instruction);
  if (blocks.length === 0) return { kind, between: 'none' };
  const isBarrier = (instruction: Instruction): boolean =>
    isBlockBarrier(instruction) || (kind === 'warp-barrier' && instruction.operation.effect.kind === 'warp-barrier');
  if (isOfNextIteration(kernel, a, b, isBarrier)) return { kind, nextIteration: true };
  const places = new Map<Instruction, BlockId>();
  for (const id of blocks) {
    const [first] = kernel.blocks[id]!.instructions;
    if (first) places.set(first, id);
  }
  const uniformity = inferUniformity(kernel, dependences, loaded, new Set());
  const parted = divergenceObligations(symbolic, dependences, uniformity, (instruction) => places.has(instruction));
  const missed = new Set(parted.flatMap(({ barrier, earlyExit }) => (earlyExit ? [] : [barrier])));
  const isParted = ({ block }: Access): boolean => [...places].some(([place, id]) => id === block && missed.has(place));
  if (places.size === 0 || missed.size < places.size)
    return { kind, ...(isParted(a) && isParted(b) && loopOfBoth(kernel, a, b) !== null && { between: 'loop' as const }) };
  if (kind === 'block-barrier') return { kind, between: 'part' };
  const lanes = new Set([...places.values()].map((block) => lanesAt(context, block)));
  if (lanes.has(wholeWarp)) return { kind };
  const [mask] = [...lanes].filter((one) => one !== null);
  return mask === undefined ? { kind, between: 'part' } : { kind, lanes: mask };
}

/**
 * Whether barriers separate two accesses within an iteration of a loop, but none is on a path from the one on the later line to
 * the other one in the next iteration.
 */
function isOfNextIteration(kernel: Kernel, a: Access, b: Access, isBarrier: (instruction: Instruction) => boolean): boolean {
  const lineOf = ({ instruction }: Access): number => placeOf(kernel, instruction).line;
  const [earlier, later] = lineOf(a) < lineOf(b) ? [a, b] : [b, a];
  if (lineOf(earlier) === lineOf(later)) return false;
  const loop = loopOfBoth(kernel, earlier, later);
  if (loop === null) return false;
  const { header } = kernel.loops[loop]!;
  const reaches = (from: Access, to: Access, isOpen: (to: BlockId) => boolean): boolean => {
    let isReached = false;
    const goesOn = (instruction: Instruction): boolean => {
      isReached ||= instruction === to.instruction;
      return !isReached && !isBarrier(instruction);
    };
    walkFrom(kernel, pointAfter(from), goesOn, (_, next) => isOpen(next));
    return isReached;
  };
  const isWithin = (next: BlockId): boolean => next !== header;
  return !reaches(earlier, later, isWithin) && !reaches(later, earlier, isWithin) && reaches(later, earlier, () => true);
}

/** The innermost loop around two accesses; null if no loop contains both. */
function loopOfBoth({ loops, loopOf }: Kernel, a: Access, b: Access): LoopId | null {
  let loop = loopOf[b.block] ?? null;
  while (loop !== null && !loops[loop]!.blocks.has(a.block)) loop = loops[loop]!.parent;
  return loop;
}

/** Whether a kernel is written for warps: its blocks have several, or its lanes work together. */
export function isOfWarps({ kernel, dimensions }: Pick<KernelContext, 'kernel' | 'dimensions'>): boolean {
  const threads = dimensions.block.reduce<number>((product, size) => product * (size ?? 0), 1);
  return threads > warpSize || (threads > 0 && kernel.blocks.some(({ instructions }) => instructions.some(isOfLanes)));
}

function isOfLanes({ operation: { effect } }: Instruction): boolean {
  return /^(lanes|warp)$/.test(participantsOf(effect));
}
