/**
 * Synchronisation through memory: by a flag that one thread sets and others wait for, or by a counter whose value shows
 * the last arriving thread that all others have arrived. A release pattern is a fence followed by a strong write; an
 * acquire pattern is a strong read that observes the write, followed by a fence. Accesses before the release happen
 * before accesses after the acquire (PTX ISA 8.7 to 8.10).
 */
import { reachesGrid } from '../../memory-model/scope.ts';
import { isStrong, isReleasing, isFence, isAcquiring } from '../../memory-model/fence.ts';
import { type Access, isWriter } from '../../analysis/values/access.ts';
import { isDoneBefore } from '../../analysis/barriers/copy-group.ts';
import { type Broadcast, constantPlace } from '../../analysis/values/broadcast.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { type Pins, isOfBlock, isOfLaunch, isOneThread, leaderReaches, ofLeader, partsOf, pinsOf } from '../../analysis/values/leader.ts';
import { type Base, isOneObject } from '../../analysis/values/memory-base.ts';
import { type ProgramPoint, alwaysPasses, pointDominates, everyPathPasses, canReach } from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';
import type { PairScope } from '../obligations/instance.ts';
import type { AccessSide } from '../obligations/obligation.ts';
import { isPoll, isZero, lanesOf, rivalsOf } from './synchronising-access.ts';
import { substituted } from '../../term/rewrite.ts';

/**
 * Whether an access is before the arrival, or after the observation, within its own thread, or for all threads of a
 * block because of a barrier of the block.
 */
type Level = 'thread' | 'block';

interface Observed {
  readonly level: Level;
  /** Offset from the start of its base of the flag that was observed to be set. */
  readonly offset: Term;
}

/**
 * The units that each arrive once at a counter: the blocks of the grid, the threads of the grid, or the threads of a
 * block.
 */
type Counted = 'blocks' | 'threads' | 'threads-of-block';

export interface Handover {
  /** The memory that threads synchronise through. */
  readonly base: Base;
  readonly kind: 'flag' | Counted;
  /** The write that sets the flag or increments the counter. */
  readonly arrival: Access;
  /** Offset of the arriving write from the start of the base. */
  readonly offset: Term;
  /** Terms that are assumed not to wrap around: the number of arrivals, and the index of the arriving thread. */
  readonly assumes: readonly Term[];
  /**
   * Whether the kernel does not initialise the flag or counter. Then it is assumed to be zero when the kernel starts.
   */
  readonly startsAtZero: boolean;
  /** Strong accesses of the flag or counter, by index. */
  readonly own: ReadonlySet<number>;
  /** Accesses that are before the arrival, for each scope of its fences. */
  readonly before: Readonly<Record<PairScope, ReadonlyMap<number, Level>>>;
  /**
   * Accesses that are executed only after the write of the flag, or all arrivals at the counter, have been observed.
   */
  readonly after: Readonly<Record<PairScope, ReadonlyMap<number, readonly Observed[]>>>;
}

/**
 * An order of two accesses: unconditional, or only if the flag that one thread set is the flag that the other observed.
 */
export type Order =
  | { readonly kind: 'always'; readonly by: Handover }
  | {
      readonly kind: 'if-same';
      readonly by: Handover;
      readonly arrived: Term;
      readonly seen: Term;
      /** Which access, the first or the second, is ordered before the other. */
      readonly earlier: 1 | 2;
    };

interface Search {
  readonly symbolic: SymbolicKernel;
  readonly accesses: readonly Access[];
  readonly mayBeSame: (a: Base, b: Base) => boolean;
  readonly barriers: readonly ProgramPoint[];
  readonly broadcasts: readonly Broadcast[];
  readonly dimensions: Dimensions;
  /**
   * Whether the elements of an array are zero when the kernel starts: stated by the user, assumed, or stated otherwise.
   */
  readonly startsAtZero: (base: Base) => 'stated' | 'assumed' | 'no';
}

/**
 * Finds the flags and counters by which threads of a kernel synchronise through memory.
 * @param search.mayBeSame whether two bases may be the same memory
 * @param search.barriers that all threads of a block take part in
 */
export function findHandovers(search: Search): readonly Handover[] {
  const { accesses } = search;
  return accesses.flatMap((access) => handoverBy(search, access) ?? []);
}

function handoverBy(search: Search, arrival: Access): Handover | null {
  const { symbolic, accesses, mayBeSame, dimensions } = search;
  const { kernel } = symbolic;
  const [target, ...more] = arrival.targets;
  if (!isWriter(arrival) || !isStrong(arrival.instruction) || isPoll(symbolic, arrival) || lanesOf(arrival.instruction) !== 1) return null;
  if (!target || more.length > 0 || !isOneObject(target.base) || canReach(kernel, arrival, arrival)) return null;
  const { base, offset } = target;
  const isShared = base.kind === 'object' && base.object.space === 'shared';
  const pins = pinsOf(symbolic, arrival.block, dimensions);
  const kind = kindOf(search, arrival, offset, pins, isShared);
  if (!kind) return null;

  const isOwn = (access: Access): boolean =>
    isStrong(access.instruction) &&
    access.bytes === arrival.bytes &&
    lanesOf(access.instruction) === 1 &&
    access.targets.length === 1 &&
    access.targets[0]!.base.key === base.key;
  const rivals = rivalsOf(accesses, arrival, mayBeSame).filter((other) => other !== arrival && !(isPoll(symbolic, other) && isOwn(other)));
  const own = accesses.filter((access) => access === arrival || (isOwn(access) && !rivals.includes(access)));
  const observe = (acrossBlocks: boolean): ReadonlyMap<number, readonly Observed[]> =>
    observations(search, arrival, kind, offset, own, acrossBlocks);
  const after = { block: observe(false), grid: isShared ? new Map() : observe(true) };
  if (after.block.size === 0) return null;

  // Other writes may initialise the flag or counter, or reset it to zero once all have arrived.
  const starts = rivals.filter((rival) => setsUp(search, rival, offset, own));
  const isReset = (rival: Access): boolean =>
    kind !== 'flag' &&
    rival.targets[0]?.offset === offset &&
    rival.bytes === arrival.bytes &&
    isZero(rival.stored?.[0]) &&
    (after.grid.has(rival.index) || (isShared && after.block.has(rival.index)));
  if (!rivals.every((rival) => starts.includes(rival) || isReset(rival))) return null;
  const start = search.startsAtZero(base);
  if (starts.length === 0 && (isShared || start === 'no')) return null;
  const count = kind === 'flag' ? null : countOf(symbolic, dimensions, kind, 32);
  const assumes = new Set(count && !count.fits ? [count.term] : []);
  const before = {
    block: arrivals(search, arrival, kind, pins, false, assumes),
    grid: arrivals(search, arrival, kind, pins, true, assumes),
  };
  return {
    base,
    kind,
    arrival,
    offset,
    assumes: [...assumes],
    startsAtZero: starts.length === 0 && start === 'assumed',
    own: new Set(own.map(({ index }) => index)),
    before,
    after,
  };
}

/**
 * The kind of an arrival that happens at most once per location, per block, or per thread; null for any other write.
 */
function kindOf({ symbolic, dimensions }: Search, arrival: Access, offset: Term, pins: Pins, isShared: boolean): Handover['kind'] | null {
  const isOne = isOneThread(pins);
  if (isOne && (isShared || pins.block.every((index) => index !== undefined)) && offset.leaves.every(isOfBlock)) return 'flag';
  if (isOne && !isShared && isOfOneBlock(offset, arrival.bytes, dimensions)) return 'flag';
  if (!offset.leaves.every(isOfLaunch) || !countsByOne(symbolic, arrival, isShared, dimensions)) return null;
  if (isShared) return 'threads-of-block';
  return isOne ? 'blocks' : 'threads';
}

/** Whether an offset is different in each block: `flags[blockIdx.x]`. */
export function isOfOneBlock(offset: Term, bytes: number, { grid }: Dimensions): boolean {
  const open = [0, 1, 2].filter((axis) => grid[axis] !== 1);
  const [axis] = open;
  if (axis === undefined || open.length > 1) return false;
  const terms = offset.operator === 'sum' ? offset.arguments : [offset];
  const coefficients = offset.operator === 'sum' ? offset.coefficients : [1n];
  let by = 0n;
  for (const [i, term] of terms.entries()) {
    if (isOfLaunch(term) && term.operator === 'atom') continue;
    const inner = term.operator === 'zext' || term.operator === 'sext' ? term.arguments[0]! : term;
    if (inner.atom?.kind !== 'block' || inner.atom.axis !== axis || by !== 0n) return false;
    by = coefficients[i]!;
  }
  return offset.width === 64 && (by >= BigInt(bytes) || -by >= BigInt(bytes)) && by < 1n << 31n && -by < 1n << 31n;
}

/** Whether the write adds one to a counter that does not wrap around to zero before all have arrived. */
function countsByOne(symbolic: SymbolicKernel, { instruction }: Access, isShared: boolean, dimensions: Dimensions): boolean {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || !/^[us]32$|^[us]64$/.test(effect.type)) return false;
  const operand = symbolic.operand(instruction.arguments[1]!);
  if (effect.operation === 'add') return operand.operator === 'constant' && operand.value === 1n;
  if (effect.operation !== 'inc' || isShared) return false;
  const all = countOf(symbolic, dimensions, 'blocks', operand.width);
  if (!all?.fits) return false;
  return operand === all.term || operand === symbolic.store.sum(operand.width, -1n, [[all.term, 1n]]);
}

/**
 * The number of arrivals at a counter as a term; `fits` means that the product surely does not wrap around and is not
 * negative. Null if the number is too large.
 */
function countOf(
  { store }: SymbolicKernel,
  dimensions: Dimensions,
  kind: Counted,
  width: number,
): { readonly term: Term; readonly fits: boolean } | null {
  const sizesOf = (of: 'grid' | 'block'): Term[] =>
    ([0, 1, 2] as const).map((axis) => {
      const size = dimensions[of][axis];
      return size === null ? store.atom(32, { kind: `${of}-size`, axis }) : store.constant(32, BigInt(size));
    });
  const sizes = [...(kind === 'threads-of-block' ? [] : sizesOf('grid')), ...(kind === 'blocks' ? [] : sizesOf('block'))];
  const open = sizes.filter((size) => size.operator !== 'constant');
  const product = sizes.reduce((all, size) => all * (size.operator === 'constant' ? size.value : 1n), 1n);
  if (product >= 1n << 31n) return null;
  const term = open.reduce((all, size) => store.mul(32, all, size), store.constant(32, product));
  return { term: store.zeroExtend(width, term), fits: open.length === 0 || (open.length === 1 && product === 1n) };
}

/** Whether a store of zero to shared memory precedes all uses of a flag or counter, separated by a barrier. */
function setsUp({ symbolic, barriers }: Search, store: Access, offset: Term, own: readonly Access[]): boolean {
  const { kernel } = symbolic;
  const at = constantPlace(store);
  if (!at || store.targets[0]!.offset !== offset || !isZero(store.stored?.[0])) return false;
  return barriers.some(
    (barrier) =>
      !canReach(kernel, barrier, store) &&
      own.every((access) => pointDominates(kernel, barrier, access) && leaderReaches(symbolic, store.block, access.block)),
  );
}

/** The accesses that are ordered before the arrival, with a fence in between. Records the assumptions in `assumes`. */
function arrivals(
  { symbolic, accesses, barriers, dimensions }: Search,
  arrival: Access,
  kind: Handover['kind'],
  pins: Pins,
  acrossBlocks: boolean,
  assumes: Set<Term>,
): ReadonlyMap<number, Level> {
  const { kernel } = symbolic;
  const levels = new Map<number, Level>();
  if (!/^threads/.test(kind)) for (const term of pins.assumes) assumes.add(term);
  if (acrossBlocks && !reachesGrid(arrival.strong)) return levels;
  const releases = isReleasing(arrival.instruction);
  const hasFence = (from: ProgramPoint): boolean =>
    releases || everyPathPasses(kernel, from, arrival, (instruction) => isFence(instruction, acrossBlocks));
  const meeting = barriers.filter((barrier) => pointDominates(kernel, barrier, arrival) && hasFence(barrier));
  for (const access of accesses) {
    const own = pinsOf(symbolic, access.block, dimensions);
    // A flag that one block of the launch sets does not order accesses of other blocks before it.
    if (kind === 'flag' && pins.block.some((index, axis) => index !== undefined && own.block[axis] !== index)) continue;
    const isSame = /^threads/.test(kind) || (isOneThread(own) && own.thread.every((index, axis) => index === pins.thread[axis]));
    const isFenced = (): boolean =>
      access.isCopy
        ? isDoneBefore(kernel, access, arrival, releases ? null : (instruction) => isFence(instruction, acrossBlocks))
        : hasFence(access);
    const isBefore = access === arrival || (isSame && !canReach(kernel, arrival, access) && isFenced());
    // Completion of an asynchronous copy that another thread of the block started is not analyzed.
    if (!isBefore && access.isCopy) continue;
    if (!isBefore && meeting.every((barrier) => canReach(kernel, barrier, access))) continue;
    levels.set(access.index, isBefore ? 'thread' : 'block');
    if (kind === 'flag' || isBefore) for (const term of own.assumes) assumes.add(term);
  }
  return levels;
}

/**
 * The accesses that a thread performs only after the thread, or thread 0 of its block, has observed that all have
 * arrived.
 */
function observations(
  search: Search,
  arrival: Access,
  kind: Handover['kind'],
  offset: Term,
  own: readonly Access[],
  acrossBlocks: boolean,
): ReadonlyMap<number, readonly Observed[]> {
  const { symbolic, accesses, barriers, broadcasts } = search;
  const { kernel } = symbolic;
  const found = new Map<number, Observed[]>();
  if (acrossBlocks && !reachesGrid(arrival.strong)) return found;
  const see = (access: Access, level: Level, at: Term): void => {
    found.set(access.index, [...(found.get(access.index) ?? []), { level, offset: at }]);
  };
  for (const watch of own) {
    const value = watch.instruction.results[0];
    if (value === null || value === undefined || (acrossBlocks && !reachesGrid(watch.strong))) continue;
    if (kind === 'flag' && watch === arrival) continue;
    const place = watch.targets[0]!.offset;
    if (kind !== 'flag' && place !== offset) continue;
    if (!place.leaves.every((leaf) => isOfBlock(leaf) || leaf.atom?.kind === 'thread')) continue;
    const tells = (part: Term): boolean => showsArrival(search, part, value, kind, watch === arrival);
    const acquires = (to: ProgramPoint): boolean =>
      isAcquiring(watch.instruction) || everyPathPasses(kernel, watch, to, (instruction) => isFence(instruction, acrossBlocks));
    const isTold = broadcasts.filter(({ leaderValues }) => leaderValues.includes(value));
    const isToldTo = (access: Access): boolean =>
      isTold.length > 0 && isTold.every(({ barrier }) => acquires(barrier) && pointDominates(kernel, barrier, access));
    const shown = barriers.filter(
      (barrier) =>
        !canReach(kernel, barrier, watch) &&
        alwaysPasses(kernel, watch, barrier) &&
        partsOf(ofLeader(symbolic, symbolic.reach(barrier.block))).some(tells) &&
        acquires(barrier),
    );
    for (const access of accesses) {
      if (access === watch) continue;
      const isSeen = partsOf(symbolic.reach(access.block)).some(tells);
      if (isSeen && pointDominates(kernel, watch, access)) {
        if (acquires(access)) see(access, 'thread', place);
      } else if (isSeen && isToldTo(access)) see(access, 'block', ofLeader(symbolic, place));
      else if (shown.some((barrier) => pointDominates(kernel, barrier, access)) && leaderReaches(symbolic, watch.block, access.block))
        see(access, 'block', ofLeader(symbolic, place));
    }
  }
  return found;
}

/**
 * Whether a condition on the loaded value implies that the write of the flag, or all arrivals at the counter, have been
 * observed.
 * @param isArrival whether the value is the result of the arriving atomic
 */
function showsArrival({ symbolic, dimensions }: Search, part: Term, value: number, kind: Handover['kind'], isArrival: boolean): boolean {
  const { store, view } = symbolic;
  const unknowns = part.leaves.filter((leaf) => !isOfLaunch(leaf));
  const [unknown, ...more] = unknowns;
  if (unknown?.atom?.kind !== 'havoc' || unknown.atom.value !== value || more.length > 0) return false;
  if (kind === 'flag') {
    const before = substituted(store, part, (leaf) => (leaf === unknown ? store.constant(leaf.width, 0n) : undefined), new Map());
    return view.decide(before) === false;
  }
  const all = countOf(symbolic, dimensions, kind, unknown.width);
  if (!all) return false;
  // The atomic of the last arrival returns the number of all others.
  const enough = isArrival ? store.sum(all.term.width, -1n, [[all.term, 1n]]) : all.term;
  const isEnough = [store.equal(unknown, enough), store.not(store.unsignedLess(unknown, enough))];
  return isEnough.includes(part) || (all.fits && part === store.not(store.signedLess(unknown, enough)));
}

/** How a flag or a counter orders two accesses of two threads; null if none orders them. */
export function orderedByReleaseAcquire(
  handovers: readonly Handover[],
  scope: PairScope,
  first: AccessSide,
  second: AccessSide,
): Order | null {
  let conditional: Order | null = null;
  for (const by of handovers) {
    // A counter of blocks does not order accesses within one block.
    if (by.kind === 'blocks' && scope === 'block') continue;
    for (const earlier of [1, 2] as const) {
      const [x, y] = earlier === 1 ? [first, second] : [second, first];
      if (!by.before[scope].has(x.access.index)) continue;
      for (const { offset: seen } of by.after[scope].get(y.access.index) ?? []) {
        if (by.kind !== 'flag' || (seen === by.offset && seen.leaves.every(isOfLaunch))) return { kind: 'always', by };
        conditional = { kind: 'if-same', by, arrived: by.offset, seen, earlier };
      }
    }
  }
  return conditional;
}
