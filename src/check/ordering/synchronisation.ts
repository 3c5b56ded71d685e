/**
 * Recognises hand-made synchronisation, and the order that it gives. A pattern states which accesses acquire and release;
 * what follows is the same for all. An access is *after* if every path reaches it only with the location acquired and a
 * fence since, and *before* if a fence separates it from each release that follows. `order.ts` derives the order of two
 * accesses.
 */
import type { Access } from '../../analysis/values/access.ts';
import { isDoneBefore } from '../../analysis/barriers/copy-group.ts';
import { isOfLaunch, isOneThread, leaderReaches, ofLeader, pinsOf } from '../../analysis/values/leader.ts';
import { type ProgramPoint, alwaysPasses, canReach, everyPathPasses, pointDominates } from '../../analysis/values/program-point.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import { isFence, isReleasing } from '../../memory-model/fence.ts';
import { reachesGrid } from '../../memory-model/scope.ts';
import type { Term } from '../../term/term.ts';
import { AcquisitionFlow, fenced, nothing } from './acquired.ts';
import { arrivalOf } from './arrival.ts';
import { findLocks } from './lock.ts';
import type { Acquire, Acquired, Pattern, Synchronisation, SynchronisingKernel } from './pattern.ts';

/** Finds the locations through which the threads of a kernel synchronise; locks first. */
export function findSynchronisation(of: SynchronisingKernel): readonly Synchronisation[] {
  const patterns = [...findLocks(of), ...of.accesses.flatMap((access) => arrivalOf(of, access) ?? [])];
  if (patterns.length === 0) return [];
  const [own, leader] = [false, true].map((isOfLeaders) => new AcquisitionFlow(of.symbolic, isOfLeaders));
  return patterns.flatMap((pattern) => orderOf({ ...of, flow: { own: own!, leader: leader! } }, pattern) ?? []);
}

/** A kernel, and what its threads acquire, directly or through thread 0. */
interface Flowing extends SynchronisingKernel {
  readonly flow: Readonly<Record<'own' | 'leader', AcquisitionFlow>>;
}

/** Accesses, by index, that a pattern orders towards threads of the same block, or of the grid. */
interface InScope {
  readonly before: ReadonlySet<number>;
  readonly after: ReadonlyMap<number, readonly Acquired[]>;
  /** Accesses that a thread executes only inside, but without the fences that would order them. */
  readonly bare: readonly number[];
  /** Instructions other than accesses that a thread executes only inside. */
  readonly held: readonly Instruction[];
  /** Whether a thread releases only while it is inside. */
  readonly isReleasedInside: boolean;
}

const none: InScope = { before: new Set(), after: new Map(), bare: [], held: [], isReleasedInside: false };

/** The order that a pattern gives; null if a counter is reset too early, or no access is known to be after a flag. */
function orderOf(of: Flowing, pattern: Pattern): Synchronisation | null {
  const { kind, base, offset, own, acquires, releases, resets, counter } = pattern;
  const isLock = kind === 'lock';
  const isShared = base.kind === 'object' && base.object.space === 'shared';
  const assumes = new Set(pattern.assumes);
  const inScope = (acrossBlocks: boolean): InScope =>
    isLock ? sectionOf(of, pattern, acrossBlocks) : arrivalsOf(of, pattern, acrossBlocks, assumes);
  const ofBlock = inScope(false);
  const isWide = !isShared && (isLock ? own : releases).every(({ strong }) => reachesGrid(strong));
  const grid = isWide ? inScope(true) : none;
  // A plain store ends the release sequence of earlier exchanges. So every thread that releases with a store needs a
  // fence whose scope includes other blocks.
  const isChained =
    isLock && !isShared && of.dimensions.grid.some((size) => size !== 1) && own.some(({ operation }) => operation === 'write');
  const block = isChained ? grid : ofBlock;
  const { after } = isShared ? block : grid;
  if (!isLock && (block.after.size === 0 || !resets.every(({ index }) => after.has(index)))) return null;
  // Threads may be inside different elements of an array of locks at the same time.
  const isOne = isLock && offset.leaves.every(isOfLaunch);
  const isAtomic = counter !== null || acquires.every(({ access }) => access.operation === 'atomic');
  return {
    ...pattern,
    assumes: [...assumes],
    before: { block: block.before, grid: grid.before },
    after: { block: block.after, grid: grid.after },
    bare: new Set(isOne ? [...grid.bare, ...block.bare] : []),
    held: new Set(isOne ? [...grid.held, ...block.held] : []),
    isAtomicLock: isOne && isAtomic && ofBlock.isReleasedInside,
  };
}

/** What every thread executes only while it holds a lock; nothing if a thread releases it without holding it. */
function sectionOf(of: Flowing, { own, offset, acquires, releases }: Pattern, acrossBlocks: boolean): InScope {
  const ends = new Set(releases.map(({ instruction }) => instruction));
  const holding = of.flow.own.before(acquires, acrossBlocks, null, ends);
  const at = (access: Access) => holding.get(access.instruction) ?? nothing;
  const reached = releases.filter(({ instruction }) => holding.has(instruction));
  const isReleasedInside = reached.every((release) => at(release) !== nothing);
  // The release of a thread that has not passed a fence must continue the release sequence.
  const isExclusive = isReleasedInside && reached.every((release) => at(release) === fenced || release.operation !== 'write');
  if (!isExclusive) return { ...none, isReleasedInside };
  // An asynchronous copy may access memory after the lock is released.
  const accesses = of.accesses.filter(({ isCopy }) => !isCopy);
  const inside = accesses.filter((access) => at(access) !== nothing && !own.includes(access));
  const indices = (some: readonly Access[]): readonly number[] => some.map(({ index }) => index);
  const isBefore = (access: Access): boolean => releases.every((release) => isPublished(of, access, release, ends, acrossBlocks));
  const before = new Set(indices(inside.filter(isBefore)));
  const after = new Map(
    indices(inside.filter((access) => at(access) === fenced)).map((index) => [index, [{ level: 'thread', offset } as const]]),
  );
  const accessing = new Set(accesses.map(({ instruction }) => instruction));
  return {
    before,
    after,
    bare: indices(inside).filter((index) => !before.has(index) || !after.has(index)),
    held: [...holding].flatMap(([instruction, state]) => (state === nothing || accessing.has(instruction) ? [] : [instruction])),
    isReleasedInside,
  };
}

/** Whether a fence, or the release itself, orders what is before a point of the thread before the release. */
function isPublished(
  { symbolic: { kernel } }: SynchronisingKernel,
  point: ProgramPoint,
  release: Access,
  releases: ReadonlySet<Instruction>,
  acrossBlocks: boolean,
): boolean {
  if (isReleasing(release.instruction)) return true;
  return everyPathPasses(kernel, point, release, (gate) => releases.has(gate) || isFence(gate, acrossBlocks));
}

/**
 * The accesses before the release of a flag or counter, and those that a thread performs only after it, or thread 0 of
 * its block, has acquired. Records what must not wrap around in `assumes`.
 */
function arrivalsOf(of: Flowing, pattern: Pattern, acrossBlocks: boolean, assumes: Set<Term>): InScope {
  const { symbolic, accesses, barriers, dimensions } = of;
  const { kernel } = symbolic;
  const [release] = pattern.releases as readonly [Access];
  const before = new Set<number>();
  const pins = pinsOf(symbolic, release.block, dimensions);
  const isOfThreads = pattern.kind === 'threads' || pattern.kind === 'threads-of-block';
  if (!isOfThreads) for (const term of pins.assumes) assumes.add(term);
  const isGate = (instruction: Instruction): boolean => isFence(instruction, acrossBlocks);
  const isFenced = (from: ProgramPoint): boolean => isPublished(of, from, release, new Set(), acrossBlocks);
  const meeting = barriers.filter((barrier) => pointDominates(kernel, barrier, release) && isFenced(barrier));
  for (const access of accesses) {
    const own = pinsOf(symbolic, access.block, dimensions);
    // A flag that one block of the launch sets does not order accesses of other blocks before it.
    if (pattern.kind === 'flag' && pins.block.some((index, axis) => index !== undefined && own.block[axis] !== index)) continue;
    const isSame = isOfThreads || (isOneThread(own) && own.thread.every((index, axis) => index === pins.thread[axis]));
    const isDone = (): boolean =>
      access.isCopy ? isDoneBefore(kernel, access, release, isReleasing(release.instruction) ? null : isGate) : isFenced(access);
    const isBefore = access === release || (isSame && !canReach(kernel, release, access) && isDone());
    // Completion of an asynchronous copy that another thread of the block started is not analyzed.
    if (!isBefore && (access.isCopy || meeting.every((barrier) => canReach(kernel, barrier, access)))) continue;
    before.add(access.index);
    if (pattern.kind === 'flag' || isBefore) for (const term of own.assumes) assumes.add(term);
  }
  const after = new Map<number, Acquired[]>();
  const acquires = pattern.acquires.filter(({ access }) => !acrossBlocks || reachesGrid(access.strong));
  const offsetOf = ({ access }: Acquire): Term => access.targets[0]!.offset;
  for (const offset of new Set(acquires.map(offsetOf))) {
    const some = acquires.filter((acquire) => offsetOf(acquire) === offset);
    const own = of.flow.own.before(some, acrossBlocks);
    const told = of.flow.own.before(some, acrossBlocks, of.broadcasts);
    const leader = of.flow.leader.before(some, acrossBlocks);
    const shown = barriers.filter(({ instruction }) => leader.get(instruction) === fenced);
    const shownBy = some.map(({ access: watch }) => {
      const passed = shown.filter((barrier) => !canReach(kernel, barrier, watch) && alwaysPasses(kernel, watch, barrier));
      return (access: Access): boolean =>
        passed.some((barrier) => pointDominates(kernel, barrier, access)) && leaderReaches(symbolic, watch.block, access.block);
    });
    for (const access of accesses) {
      const isOwn = own.get(access.instruction) === fenced;
      if (!isOwn && told.get(access.instruction) !== fenced && !shownBy.some((isShownTo) => isShownTo(access))) continue;
      const last = isOwn ? ({ level: 'thread', offset } as const) : ({ level: 'block', offset: ofLeader(symbolic, offset) } as const);
      after.set(access.index, [...(after.get(access.index) ?? []), last]);
    }
  }
  return { ...none, before, after };
}
