/**
 * Recognises hand-made synchronisation, and the order that it gives. A pattern states which accesses acquire and release;
 * what follows is the same for all. An access is *after* if every path reaches it only with the location acquired and a
 * fence since, and *before* if a fence separates it from each release that follows. `order.ts` derives the order of two
 * accesses.
 */
import type { Access } from '../../analysis/values/access.ts';
import { isDoneBefore } from '../../analysis/barriers/copy-group.ts';
import { areLeaders, isOfBlock, isOfLaunch, isOneThread, leaderReaches, ofLeader, pinsOf } from '../../analysis/values/leader.ts';
import {
  type ProgramPoint,
  alwaysPasses,
  canReach,
  everyPathPasses,
  isExit,
  pointAfter,
  pointDominates,
  pointsOf,
  walkFrom,
} from '../../analysis/values/program-point.ts';
import type { BlockId, Instruction } from '../../ir/form/kernel.ts';
import { type FenceUse, isAcquiring, isFenceFor, isReleasing } from '../../memory-model/fence.ts';
import { reachesGrid } from '../../memory-model/scope.ts';
import type { Term } from '../../term/term.ts';
import { AcquisitionFlow, acquired, fenced, nothing } from './acquired.ts';
import { arrivalOf, axisOf } from './arrival.ts';
import { waitsForEach } from './every-flag.ts';
import { findLocks } from './lock.ts';
import type { Acquire, Acquired, Pattern, Supposition, Synchronisation, SynchronisingKernel } from './pattern.ts';

/** Finds the locations through which the threads of a kernel synchronise, once for each use of fences; locks first. */
export function findSynchronisation(of: SynchronisingKernel): readonly Synchronisation[] {
  const patterns = [...findLocks(of), ...of.accesses.flatMap((access) => arrivalOf(of, access) ?? [])];
  if (patterns.length === 0) return [];
  const [own, leader] = [false, true].map((isOfLeaders) => new AcquisitionFlow(of.symbolic, isOfLeaders, of.supposed));
  const flow = { own: own!, leader: leader! };
  return patterns.flatMap((pattern) => {
    const byPatterns = orderOf({ ...of, flow, use: 'patterns' }, pattern);
    const byOrder = orderOf({ ...of, flow, use: 'order' }, pattern);
    return [...(byPatterns ? [byPatterns] : []), ...(byOrder && ordersSome(byOrder) ? [byOrder] : [])];
  });
}

/** A kernel, what its threads acquire, directly or through thread 0, and how fences order that. */
interface Flowing extends SynchronisingKernel {
  readonly flow: Readonly<Record<'own' | 'leader', AcquisitionFlow>>;
  readonly use: FenceUse;
}

/** Accesses, by index, that a pattern orders towards threads of the same block, or of the grid. */
interface InScope {
  readonly before: ReadonlySet<number>;
  readonly after: ReadonlyMap<number, readonly Acquired[]>;
  /** Instructions other than accesses that a thread executes only inside. */
  readonly held: readonly Instruction[];
  /** Whether a thread releases only while it is inside. */
  readonly isReleasedInside: boolean;
  /** Accesses that a thread executes only if its own arrival was the last. */
  readonly last: ReadonlySet<number>;
}

const nobody: ReturnType<AcquisitionFlow['before']> = new Map();

const none: InScope = { before: new Set(), after: new Map(), held: [], isReleasedInside: false, last: new Set() };

/** The order that a pattern gives; null if a counter is reset too early, or no access is known to be after a flag or of the last unit. */
function orderOf(of: Flowing, pattern: Pattern): Synchronisation | null {
  const { kind, base, offset, own, releases, resets } = pattern;
  const isLock = kind === 'lock';
  const isShared = base.kind === 'object' && base.object.space === 'shared';
  const assumes = new Set(pattern.assumes);
  const inScope = (acrossBlocks: boolean, ofBlocks: boolean): InScope =>
    isLock ? sectionOf(of, pattern, acrossBlocks, ofBlocks) : arrivalsOf(of, pattern, acrossBlocks, assumes);
  const ofBlock = inScope(false, false);
  const isWide = !isShared && (isLock ? own : releases).every(({ strong }) => reachesGrid(strong));
  const grid = isWide ? inScope(true, true) : none;
  // A plain store ends the release sequence of earlier exchanges. So every thread that releases with a store needs a
  // fence whose scope includes other blocks.
  const isChained =
    isLock && !isShared && of.dimensions.grid.some((size) => size !== 1) && own.some(({ operation }) => operation === 'write');
  const block = isChained ? (isWide ? inScope(true, false) : none) : ofBlock;
  const { after } = isShared ? block : grid;
  if (!isLock && !resets.every(({ index }) => after.has(index))) return null;
  // Threads may be inside different elements of an array of locks at the same time.
  const isOne = isLock && offset.leaves.every(isOfLaunch);
  const found: Synchronisation = {
    ...pattern,
    assumes: [...assumes],
    before: { block: block.before, grid: grid.before },
    after: { block: block.after, grid: grid.after },
    last: { block: block.last, grid: grid.last },
    held: new Set(isOne ? [...grid.held, ...block.held] : []),
    isReleasedInside: isOne && ofBlock.isReleasedInside,
  };
  return isLock || ordersSome(found) ? found : null;
}

function ordersSome({ after, last }: Synchronisation): boolean {
  return [after.block, after.grid, last.block, last.grid].some(({ size }) => size > 0);
}

/**
 * What every thread executes only while it, or with `ofBlocks` thread 0 of its block, holds a lock; nothing if a thread
 * releases it without holding it.
 */
function sectionOf(of: Flowing, pattern: Pattern, acrossBlocks: boolean, ofBlocks: boolean): InScope {
  const { own, offset, acquires, releases } = pattern;
  const { symbolic, dimensions, use } = of;
  const { kernel } = symbolic;
  const ends = new Set(releases.map(({ instruction }) => instruction));
  const isOfLeaders = [...acquires.map(({ access }) => access), ...releases].every(({ block }) =>
    areLeaders(pinsOf(symbolic, block, dimensions)),
  );
  const holding = of.flow[isOfLeaders ? 'leader' : 'own'].before(acquires, { use, acrossBlocks }, null, ends);
  const isGate = (instruction: Instruction): boolean => isFenceFor(instruction, use, acrossBlocks);
  const at = (access: Access) => holding.get(access.instruction) ?? nothing;
  const isFreed = of.supposed?.has('freed') === true;
  const reached = releases.filter((release) => holding.has(release.instruction) && (!isFreed || at(release) !== nothing));
  const isReleasedInside = reached.every((release) => at(release) !== nothing);
  // The release of a thread that has not passed a fence must continue the release sequence.
  const isExclusive = isReleasedInside && reached.every((release) => at(release) === fenced || release.operation !== 'write');
  if (!isExclusive) return { ...none, isReleasedInside };
  // An asynchronous copy may access memory after the lock is released.
  const accesses = of.accesses.filter(({ isCopy }) => !isCopy);
  const isOfLeader = ({ block }: ProgramPoint): boolean => !isOfLeaders || areLeaders(pinsOf(symbolic, block, dimensions));
  const isSupposed = (what: Supposition): boolean => of.supposed?.has(what) === true;
  const joins = new Set(of.barriers.map(({ instruction }) => instruction));
  /** Whether the other threads of the block are inside with thread 0, if barriers are where they are supposed to be. */
  const isWithLeader = (access: Access): boolean =>
    (isSupposed('join') ||
      of.barriers.some(
        (barrier) => pointDominates(kernel, barrier, access) && (holding.get(barrier.instruction) ?? nothing) !== nothing,
      )) &&
    (isSupposed('arrival') || releases.every((release) => everyPathPasses(kernel, access, release, (gate) => joins.has(gate))));
  const areWithLeader = ofBlocks && (isSupposed('join') || isSupposed('arrival'));
  const inside = accesses.filter(
    (access) => at(access) !== nothing && !own.includes(access) && (isOfLeader(access) || (areWithLeader && isWithLeader(access))),
  );
  const indices = (some: readonly Access[]): readonly number[] => some.map(({ index }) => index);
  const isBefore = (access: Access): boolean => releases.every((release) => isPublished(of, access, release, ends, acrossBlocks));
  const before = new Set(indices(inside.filter(isBefore)));
  const after = new Map<number, readonly Acquired[]>(
    indices(inside.filter((access) => at(access) === fenced)).map((index) => [index, [{ level: 'thread', offset }]]),
  );
  // Threads of one block are inside together, so that only those of other blocks are ordered.
  if (isOfLeaders && ofBlocks && offset.leaves.every(isOfBlock)) {
    for (const access of accesses) {
      const around = own.includes(access) ? null : barriersAround(of, access, ends);
      if (!around || around.some((barrier) => (holding.get(barrier.instruction) ?? nothing) === nothing)) continue;
      const [entries, exits] = [around.filter((one) => one.side === 'before'), around.filter((one) => one.side === 'after')];
      const isFenced = (from: ProgramPoint, to: ProgramPoint): boolean => use === 'order' && everyPathPasses(kernel, from, to, isGate);
      if (entries.every((entry) => holding.get(entry.instruction) === fenced || isFenced(entry, access)))
        after.set(access.index, [{ level: 'block', offset }]);
      const isPublishedBy = (exit: ProgramPoint): boolean =>
        isFenced(access, exit) || releases.every((release) => isPublished(of, exit, release, ends, acrossBlocks));
      if (exits.every(isPublishedBy)) before.add(access.index);
    }
  }
  const accessing = new Set(accesses.map(({ instruction }) => instruction));
  return {
    before,
    after,
    held: kernel.blocks.flatMap(({ id, instructions }) =>
      isOfLeader({ block: id, position: 0 })
        ? instructions.filter((instruction) => (holding.get(instruction) ?? nothing) !== nothing && !accessing.has(instruction))
        : [],
    ),
    isReleasedInside,
    last: new Set(),
  };
}

/** A barrier of the block that a thread passes last before an access, or first after it. */
type BarrierBeside = SynchronisingKernel['barriers'][number] & { readonly side: 'before' | 'after' };

/**
 * The barriers that a thread passes last before an access and first after it; null if it may pass none, or if a thread
 * of the block may release in between.
 */
function barriersAround(
  { symbolic: { kernel }, barriers }: Flowing,
  access: Access,
  releases: ReadonlySet<Instruction>,
): readonly BarrierBeside[] | null {
  const isBarrier = new Set(barriers.map(({ instruction }) => instruction));
  const start: ProgramPoint = { block: 0 as BlockId, position: -1 };
  const leadsTo = (from: ProgramPoint, to: ProgramPoint): boolean =>
    !everyPathPasses(kernel, from, to, (instruction) => isBarrier.has(instruction));
  const ends = walkFrom(kernel, pointAfter(access), (instruction) => !isBarrier.has(instruction));
  if (leadsTo(start, access) || ends.some(isExit)) return null;
  const beside = (some: SynchronisingKernel['barriers'], side: BarrierBeside['side']): BarrierBeside[] =>
    some.map((barrier) => ({ ...barrier, side }));
  const around = [
    ...beside(
      barriers.filter((barrier) => leadsTo(barrier, access)),
      'before',
    ),
    ...beside(
      barriers.filter((barrier) => leadsTo(access, barrier)),
      'after',
    ),
  ];
  const isReleasedBeside = around.some(
    (barrier) =>
      barrier.side === 'before' &&
      pointsOf(kernel, (instruction) => releases.has(instruction)).some((release) => leadsTo(barrier, release)),
  );
  return isReleasedBeside ? null : around;
}

/** Whether a fence, or the release itself, orders what is before a point of the thread before the release. */
function isPublished(
  { symbolic: { kernel }, use, supposed }: Flowing,
  point: ProgramPoint,
  release: Access,
  releases: ReadonlySet<Instruction>,
  acrossBlocks: boolean,
): boolean {
  if (supposed?.has('release') || (use === 'patterns' && isReleasing(release.instruction))) return true;
  const isWide = acrossBlocks && !(use === 'patterns' && supposed?.has('scope'));
  return everyPathPasses(kernel, point, release, (gate) => releases.has(gate) || isFenceFor(gate, use, isWide));
}

/**
 * The accesses before the release of a flag or counter, and those that a thread performs only after it, or thread 0 of
 * its block, has acquired. Records what must not wrap around in `assumes`.
 */
function arrivalsOf(of: Flowing, pattern: Pattern, acrossBlocks: boolean, assumes: Set<Term>): InScope {
  const { symbolic, accesses, barriers, dimensions, use } = of;
  const { kernel } = symbolic;
  const [release] = pattern.releases as readonly [Access];
  const before = new Set<number>();
  const pins = pinsOf(symbolic, release.block, dimensions);
  const isOfThreads = pattern.kind === 'threads' || pattern.kind === 'threads-of-block';
  const { counter } = pattern;
  if (!isOfThreads) for (const term of pins.assumes) assumes.add(term);
  const isGate = (instruction: Instruction): boolean => isFenceFor(instruction, use, acrossBlocks);
  const isFenced = (from: ProgramPoint): boolean => isPublished(of, from, release, new Set(), acrossBlocks);
  const isFencedByAll = (from: ProgramPoint): boolean =>
    everyPathPasses(kernel, from, release, (gate, at) => isGate(gate) && !isOneThread(pinsOf(symbolic, at.block, dimensions)));
  const meeting = barriers.filter((barrier) => pointDominates(kernel, barrier, release));
  const meetsBefore = (access: Access): boolean =>
    meeting.some((barrier) => {
      if (canReach(kernel, barrier, access)) return false;
      // A `fence.sc` of each thread before the barrier suffices, if the thread is sure to pass both.
      const isOrdered = use === 'order' && alwaysPasses(kernel, access, barrier) && everyPathPasses(kernel, access, barrier, isGate);
      return isFenced(barrier) || isOrdered;
    });
  for (const access of accesses) {
    const own = pinsOf(symbolic, access.block, dimensions);
    // A thread knows only its own number.
    if (counter && !pointDominates(kernel, counter, access)) continue;
    // A flag that one block of the launch sets does not order accesses of other blocks before it.
    if (pattern.kind === 'flag' && pins.block.some((index, axis) => index !== undefined && own.block[axis] !== index)) continue;
    const isSame = isOfThreads || counter !== null || (isOneThread(own) && own.thread.every((index, axis) => index === pins.thread[axis]));
    const isDone = (): boolean =>
      access.isCopy
        ? isDoneBefore(kernel, access, release, use === 'patterns' && isReleasing(release.instruction) ? null : isGate)
        : isFenced(access);
    const isMember = isSame || (of.supposed?.has('arrival') === true && (use === 'patterns' || isFencedByAll(access)));
    const isBefore = access === release || (isMember && !canReach(kernel, release, access) && isDone());
    // Completion of an asynchronous copy that another thread of the block started is not analyzed.
    if (!isBefore && (counter || access.isCopy || !meetsBefore(access))) continue;
    before.add(access.index);
    if (pattern.kind === 'flag' || isBefore) for (const term of own.assumes) assumes.add(term);
  }
  const after = new Map<number, Acquired[]>();
  const acquires = pattern.acquires.filter(({ access }) => !acrossBlocks || reachesGrid(access.strong));
  const offsetOf = ({ access }: Acquire): Term => access.targets[0]!.offset;
  for (const offset of new Set(acquires.map(offsetOf))) {
    const some = acquires.filter((acquire) => offsetOf(acquire) === offset);
    const fences = { use, acrossBlocks };
    const own = of.flow.own.beforeTogether(some, fences);
    // The element of an iteration, or of a number, is known to the thread itself only.
    const isOfThread = offset.leaves.some(({ atom }) => atom?.kind === 'iteration' || atom?.kind === 'havoc');
    const isOfIndex = offset.leaves.some(({ atom }) => atom?.kind === 'thread');
    const byLeaders = isOfIndex ? of.broadcasts.filter(({ isOfOther }) => !isOfOther) : of.broadcasts;
    const told = isOfThread ? nobody : of.flow.own.before(some, fences, byLeaders);
    const leader = isOfThread ? nobody : of.flow.leader.before(some, fences);
    const shown = barriers.filter(({ instruction }) => {
      const holding = leader.get(instruction);
      return holding === fenced || (use === 'order' && holding === acquired);
    });
    const shownBy = some.map(({ access: watch }) => {
      const passed = shown.filter((barrier) => !canReach(kernel, barrier, watch) && alwaysPasses(kernel, watch, barrier));
      return (access: Access): boolean =>
        passed.some(
          (barrier) =>
            pointDominates(kernel, barrier, access) &&
            (leader.get(barrier.instruction) === fenced || everyPathPasses(kernel, barrier, access, isGate)),
        ) && leaderReaches(symbolic, watch.block, access.block);
    });
    for (const access of accesses) {
      const isOwn = own.get(access.instruction) === fenced;
      if (!isOwn && told.get(access.instruction) !== fenced && !shownBy.some((isShownTo) => isShownTo(access))) continue;
      const last = isOwn ? ({ level: 'thread', offset } as const) : ({ level: 'block', offset: ofLeader(symbolic, offset) } as const);
      after.set(access.index, [...(after.get(access.index) ?? []), last]);
    }
  }
  const along = pattern.kind === 'flag' ? axisOf(pattern.offset, release.bytes, dimensions) : null;
  const seesEach = (by: ProgramPoint): boolean =>
    acquires.some((acquire) => {
      const isOrdered = (watch: Access): boolean => isAcquire(of, watch) || everyPathPasses(kernel, watch, by, isGate);
      return waitsForEach(of, pattern.offset, along!, acquire, by, isOrdered);
    });
  const joins = along === null ? [] : barriers.filter(seesEach);
  for (const access of along === null ? [] : accesses) {
    const isAfter = joins.some((barrier) => pointDominates(kernel, barrier, access)) || (of.supposed?.has('join') && seesEach(access));
    if (isAfter) after.set(access.index, [...(after.get(access.index) ?? []), { level: 'all', offset: pattern.offset }]);
  }
  return { ...none, before, after, last: lastArrivals(of, pattern, acrossBlocks) };
}

/** Whether an access acquires without a fence. */
function isAcquire({ use, supposed }: Flowing, { instruction }: Access): boolean {
  return supposed?.has('acquire') === true || (use === 'patterns' && isAcquiring(instruction));
}

/** Accesses that only the unit executes that was the last to arrive, because the arrival returned the number of all others. */
function lastArrivals(of: Flowing, { kind, acquires, releases }: Pattern, acrossBlocks: boolean): ReadonlySet<number> {
  if (kind === 'flag') return new Set();
  const arrivals = acquires.filter(({ access }) => releases.includes(access));
  const fences = { use: of.use, acrossBlocks };
  // Threads to which thread 0 of their block broadcasts that it was the last are of one block.
  const holdings = [of.flow.own.before(arrivals, fences), ...(acrossBlocks ? [of.flow.own.before(arrivals, fences, of.broadcasts)] : [])];
  const isLast = ({ instruction }: Access): boolean => holdings.some((holding) => (holding.get(instruction) ?? nothing) !== nothing);
  return new Set(of.accesses.filter(isLast).map(({ index }) => index));
}
