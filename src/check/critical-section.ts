/**
 * Critical sections: accesses that a thread performs only while it holds a lock, with the fences that make what it did
 * visible to the next holder. A lock is taken by an atomic exchange that found it free, and released by storing the
 * free value; or, where threads draw tickets, it is taken by who sees the number of its own being served, and released by
 * serving the next one. Acquire is the exchange (the look at the number) with a fence behind it, release a fence with the
 * store behind it (PTX ISA 8.7 to 8.10), so two accesses in critical sections of one lock are always ordered.
 */
import { type Access, isWriter } from '../analysis/access.ts';
import type { Dimensions } from '../analysis/launch-bounds.ts';
import { areLeaders, isOfLaunch, pinsOf } from '../analysis/leader.ts';
import type { Base } from '../analysis/memory-base.ts';
import { leadsTo } from '../analysis/program-point.ts';
import type { SymbolicKernel } from '../analysis/symbolic.ts';
import type { Block, BlockId, Instruction, ValueId } from '../ir/kernel.ts';
import type { Scope } from '../isa/operation.ts';
import type { Term } from '../term/term.ts';
import { comesBefore } from './ticket.ts';

/** A lock that an access is protected by. */
export interface Protection {
  /** Names the lock. */
  readonly lock: string;
  /** Threads of different blocks exclude each other too, not only those of one block. */
  readonly acrossBlocks: boolean;
  /** What hands out the numbers of a lock by ticket: none twice, unless it starts over. */
  readonly counter: Access | null;
}

/** The locks that protect each access, by its index; an access that no lock protects has no entry. */
export type CriticalSections = ReadonlyMap<number, readonly Protection[]>;

/** Locks that a thread holds around an access, though without the fences that would make them protect it, by index. */
export type BareLocks = ReadonlyMap<number, ReadonlyMap<string, Base>>;

interface Lock {
  readonly key: string;
  readonly base: Base;
  /** What may take it, with the condition under which it has. */
  readonly takers: ReadonlyMap<Access, Term>;
  readonly releases: ReadonlySet<Instruction>;
  /** What takes and releases it, and strong loads of it. */
  readonly accesses: readonly Access[];
  /** A plain store sets it up. */
  readonly isInitialised: boolean;
  readonly counter: Access | null;
}

/**
 * Finds the critical sections of a kernel.
 * @param mayBeSame whether two bases may be the same memory
 */
export function criticalSections(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
  dimensions: Dimensions,
): { readonly sections: CriticalSections; readonly bare: BareLocks; readonly locks: readonly Base[] } {
  const protections = new Map<number, Protection[]>();
  const bare = new Map<number, Map<string, Base>>();
  const protect = (access: Access, { counter }: Lock, lock: string, acrossBlocks: boolean): void => {
    const list = protections.get(access.index) ?? [];
    if (!list.some((known) => known.lock === lock)) list.push({ lock, acrossBlocks, counter });
    protections.set(access.index, list);
  };
  const manyBlocks = dimensions.grid.some((size) => size !== 1);
  const locks = [
    ...findLocks(symbolic, accesses, mayBeSame),
    ...findTicketLocks(symbolic, accesses, mayBeSame, dimensions),
  ];
  for (const lock of locks) {
    const isShared = lock.base.kind === 'object' && lock.base.object.space === 'shared';
    const reachesGrid = lock.accesses.every(({ scope }) => scope === 'gpu' || scope === 'sys');
    // A store ends what exchanges hand on, so each thread that releases with one has to hand it on with fences: those of
    // other blocks as well.
    const chained = !isShared && manyBlocks && lock.accesses.some(isStore);
    const scopes = isShared || !reachesGrid ? [false] : [true, false];
    for (const acrossBlocks of scopes.filter((scope) => scope || !chained)) {
      const found = protectedBy(symbolic, accesses, lock, acrossBlocks);
      for (const access of found.inside) protect(access, lock, lock.key, acrossBlocks);
      for (const access of found.bare)
        bare.set(access.index, new Map([...(bare.get(access.index) ?? []), [lock.key, lock.base]]));
    }
    // What synchronises is strong, and no race among itself (PTX ISA 8.7.1).
    for (const access of lock.accesses) protect(access, lock, `${lock.key} itself`, reachesGrid && !isShared);
  }
  return { sections: protections, bare, locks: locks.map(({ base }) => base) };
}

/** The lock that both accesses are made under, if its fences are all that is missing. */
export function bareLock(bare: BareLocks, a: Access, b: Access): Base | undefined {
  const others = bare.get(b.index);
  for (const [key, base] of bare.get(a.index) ?? []) if (others?.has(key)) return base;
  return undefined;
}

/** The lock that orders two accesses, wherever two threads perform them. */
export function exclusion(
  sections: CriticalSections,
  a: Access,
  b: Access,
  sameBlock: boolean,
): Protection | undefined {
  const others = sections.get(b.index);
  if (!others) return undefined;
  return sections
    .get(a.index)
    ?.find((own) =>
      others.some((other) => own.lock === other.lock && (sameBlock || (own.acrossBlocks && other.acrossBlocks))),
    );
}

/** Places that are only ever changed by taking and releasing. */
function findLocks(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
): readonly Lock[] {
  const locks = new Map<string, Lock>();
  for (const access of accesses) {
    const free = freeValue(symbolic, access);
    const [target] = access.targets;
    if (free === null || !target || access.targets.length > 1 || target.base.kind === 'unknown') continue;
    if (!target.offset.leaves.every(isOfLaunch)) continue;
    const key = `${target.base.key}+${target.offset.id}`;
    if (locks.has(key)) continue;
    const isOfLock = (other: Access): boolean => {
      const [only, ...more] = other.targets;
      return more.length === 0 && only?.base.key === target.base.key && only.offset === target.offset;
    };
    const takers = accesses.filter((other) => isOfLock(other) && freeValue(symbolic, other) !== null);
    const isInitial = (writer: Access): boolean =>
      releasedValue(symbolic, writer) === free && takers.every((taker) => comesBefore(symbolic, writer, taker));
    const isLegal = (writer: Access): boolean => {
      // Another element of the same array may be a lock of its own.
      if (isElsewhere(writer, access, mayBeSame)) return true;
      if (!isOfLock(writer) || writer.bytes !== access.bytes) return false;
      if (isInitial(writer)) return true;
      return isStrong(writer) && (freeValue(symbolic, writer) === free || releasedValue(symbolic, writer) === free);
    };
    const rivals = accesses.filter(
      (other) => isWriter(other) && other.targets.some(({ base }) => mayBeSame(base, target.base)),
    );
    if (!rivals.every(isLegal)) continue;
    const own = accesses.filter((other) => isOfLock(other) && isStrong(other) && other.bytes === access.bytes);
    const isInitialised = rivals.some((writer) => isOfLock(writer) && !isStrong(writer) && isInitial(writer));
    locks.set(key, {
      key,
      base: target.base,
      takers: new Map(
        own
          .filter((other) => freeValue(symbolic, other) !== null)
          .flatMap((taker) => {
            const [found] = taker.instruction.results;
            return isValue(found) ? [[taker, symbolic.store.equal(symbolic.value(found), free)] as const] : [];
          }),
      ),
      releases: releasesIn(own, (writer) => releasedValue(symbolic, writer) !== null),
      accesses: own,
      isInitialised,
      counter: null,
    });
  }
  // That a store comes before all exchanges holds for other threads too because it would race with them: unless it is
  // made under another lock.
  return [...locks.values()].filter(({ isInitialised }) => !isInitialised || locks.size === 1);
}

/** Numbers by which threads take turns: no two of them have the same. */
interface Turns {
  readonly number: Term;
  /** What hands them out; null where they are the numbers of blocks that take turns with one thread each. */
  readonly counter: Access | null;
  /** Whether it is of a block of the code that takes part. */
  readonly isFor: (access: Access) => boolean;
  /** A thread may draw another number while it holds one. */
  readonly isRepeated: boolean;
}

/**
 * Locks by ticket: one counter hands out numbers, another tells which one is served. A number is handed out once (as long
 * as the counter does not start over), and only who holds it goes on to the next.
 */
function findTicketLocks(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
  dimensions: Dimensions,
): readonly Lock[] {
  const locks = new Map<string, Lock>();
  const turns = findTurns(symbolic, accesses, mayBeSame, dimensions);
  for (const look of turns.length > 0 ? accesses : []) {
    if (!isLook(symbolic, look)) continue;
    const key = `${look.targets[0]!.base.key}+${look.targets[0]!.offset.id}`;
    for (const turn of turns) {
      const lock = locks.has(key) ? null : ticketLock(symbolic, accesses, mayBeSame, look, turn);
      if (lock) locks.set(key, { ...lock, key });
    }
  }
  return [...locks.values()];
}

function findTurns(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
  dimensions: Dimensions,
): readonly Turns[] {
  const turns: Turns[] = [];
  for (const counter of accesses) {
    const [ticket] = counter.instruction.results;
    if (!isCounter(counter) || addedBy(symbolic, counter) !== 1n || !isValue(ticket)) continue;
    const rivals = rivalsOf(accesses, counter, mayBeSame);
    if (!rivals.every((rival) => isAt(rival, counter) && addedBy(symbolic, rival) === 1n)) continue;
    const isRepeated = leadsTo(symbolic.kernel, counter, counter);
    turns.push({ number: symbolic.value(ticket), counter, isFor: (access) => !isAt(access, counter), isRepeated });
  }
  const [axis, ...more] = ([0, 1, 2] as const).filter((one) => dimensions.grid[one] !== 1);
  if (axis !== undefined && more.length === 0) {
    const number = symbolic.store.atom(32, { kind: 'block', axis });
    const isFor = ({ block }: Access): boolean => areLeaders(pinsOf(symbolic, block, dimensions));
    turns.push({ number, counter: null, isFor, isRepeated: false });
  }
  return turns;
}

function ticketLock(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
  look: Access,
  { number, counter, isFor, isRepeated }: Turns,
): Omit<Lock, 'key'> | null {
  const { store } = symbolic;
  if (!isFor(look) || 8 * look.bytes !== number.width) return null;
  const own = accesses.filter((access) => isAt(access, look) && isStrong(access));
  const following = store.sum(number.width, 1n, [[number, 1n]]);
  const isRelease = (writer: Access): boolean => {
    if (!own.includes(writer)) return false;
    const stored = writer.operation === 'write' ? writer.stored?.[0] : exchangedBy(symbolic, writer);
    // The number that is served next must be the one behind that which was waited for.
    return addedBy(symbolic, writer) === 1n || (stored === following && !isRepeated);
  };
  const rivals = rivalsOf(accesses, look, mayBeSame);
  const isLegal = (rival: Access): boolean => isRelease(rival) || (own.includes(rival) && isLook(symbolic, rival));
  if (!rivals.some(isRelease) || !rivals.every(isLegal)) return null;
  const takers = own
    .filter((access) => isLook(symbolic, access) && isFor(access))
    .flatMap((taker) => {
      const [found] = taker.instruction.results;
      return isValue(found) ? [[taker, store.equal(symbolic.value(found), number)] as const] : [];
    });
  return {
    base: look.targets[0]!.base,
    takers: new Map(takers),
    releases: releasesIn(own, isRelease),
    accesses: own,
    isInitialised: false,
    counter,
  };
}

/** Writers that may change what an access of one element names. */
function rivalsOf(
  accesses: readonly Access[],
  place: Access,
  mayBeSame: (a: Base, b: Base) => boolean,
): readonly Access[] {
  const { base } = place.targets[0]!;
  return accesses.filter(
    (other) =>
      isWriter(other) &&
      other.targets.some((target) => mayBeSame(target.base, base)) &&
      !isElsewhere(other, place, mayBeSame),
  );
}

function isAt({ targets, bytes }: Access, place: Access): boolean {
  const [target, ...more] = targets;
  const at = place.targets[0]!;
  return more.length === 0 && target?.base.key === at.base.key && target.offset === at.offset && bytes === place.bytes;
}

/** Whether an access reads one element, strongly, without changing it. */
function isLook(symbolic: SymbolicKernel, access: Access): boolean {
  if (!isCounter(access) || !isStrong(access) || !isValue(access.instruction.results[0])) return false;
  return access.operation === 'read' || addedBy(symbolic, access) === 0n;
}

/** Whether an access names one element that is the same for all threads. */
function isCounter({ targets, instruction }: Access): boolean {
  const { effect } = instruction.operation;
  const [target, ...more] = targets;
  if (!target || more.length > 0 || target.base.kind === 'unknown' || !('lanes' in effect)) return false;
  return effect.lanes === 1 && target.offset.leaves.every(isOfLaunch);
}

/** What an atomic addition adds, where that is a constant; null for every other access. */
function addedBy(symbolic: SymbolicKernel, { instruction }: Access): bigint | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || effect.operation !== 'add' || !/^[us]\d/.test(effect.type)) return null;
  const added = symbolic.operand(instruction.arguments[1]!);
  return added.operator === 'constant' ? BigInt.asIntN(added.width, added.value) : null;
}

/** What an atomic exchange leaves; null for every other access. */
function exchangedBy(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || effect.operation !== 'exch') return null;
  return symbolic.operand(instruction.arguments[1]!);
}

function releasesIn(own: readonly Access[], isRelease: (access: Access) => boolean): ReadonlySet<Instruction> {
  return new Set(own.filter(isRelease).map(({ instruction }) => instruction));
}

function isValue(id: ValueId | null | undefined): id is ValueId {
  return id !== null && id !== undefined;
}

/** Whether an access, wherever it may go, lies apart from another of one object at constant distance. */
export function isElsewhere(a: Access, b: Access, mayBeSame: (a: Base, b: Base) => boolean): boolean {
  const y = b.targets[0]!;
  return a.targets.every((x) => {
    if (!mayBeSame(x.base, y.base)) return true;
    if (x.base.key !== y.base.key || x.offset.operator !== 'constant' || y.offset.operator !== 'constant') return false;
    const distance = x.offset.value - y.offset.value;
    return distance >= BigInt(b.bytes) || -distance >= BigInt(a.bytes);
  });
}

function isStore({ operation }: Access): boolean {
  return operation === 'write';
}

/** Whether an access is strong: one that may synchronise (PTX ISA 8.4). */
export function isStrong({ instruction }: Access): boolean {
  const { effect } = instruction.operation;
  return (
    effect.kind === 'atomic' || ((effect.kind === 'load' || effect.kind === 'store') && effect.semantics !== 'weak')
  );
}

/** What `atom.cas [lock], free, taken` compares with, both constants and different; null for every other access. */
function freeValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || effect.operation !== 'cas' || effect.lanes !== 1) return null;
  const [, free, taken] = instruction.arguments.map((operand) => symbolic.operand(operand));
  return free?.operator === 'constant' && taken?.operator === 'constant' && free !== taken ? free : null;
}

/** The constant that a store or `atom.exch` leaves; null for every other access. */
function releasedValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  const isStore = effect.kind === 'store' || (effect.kind === 'atomic' && effect.operation === 'exch');
  if (!isStore || effect.lanes !== 1) return null;
  const value = symbolic.operand(instruction.arguments[1]!);
  return value.operator === 'constant' ? value : null;
}

/** What a thread knows of a lock: it may not hold it, it does, it does and a fence has followed. */
const free = 0;
const held = 1;
const entered = 2;
type Holding = typeof free | typeof held | typeof entered;

/** The accesses that every thread performs inside of the lock, with its fences or without; none where others release. */
function protectedBy(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  lock: Lock,
  acrossBlocks: boolean,
): { readonly inside: readonly Access[]; readonly bare: readonly Access[] } {
  const { kernel } = symbolic;
  // What a copy does may happen after the lock is released.
  const own = accesses.filter(({ isCopy }) => !isCopy);
  const byInstruction = new Map(own.map((access) => [access.instruction, access]));
  const { releases } = lock;
  const taken = new Map<string, boolean>();
  for (const [taker, holds] of lock.takers)
    for (const [from, to, hasFence] of edgesOf(symbolic, taker, holds, releases)) taken.set(`${from}>${to}`, hasFence);

  /** Runs over a block; `visit` sees what is known before each instruction. */
  const through = (
    block: Block,
    start: Holding,
    visit: (instruction: Instruction, holding: Holding) => void,
  ): Holding => {
    let holding = start;
    for (const instruction of block.instructions) {
      visit(instruction, holding);
      if (releases.has(instruction)) holding = free;
      else if (holding === held && isFence(instruction, acrossBlocks)) holding = entered;
    }
    return holding;
  };

  // Greatest fixed point: what holds on all ways.
  const before: Holding[] = kernel.blocks.map((block) => (block.id === 0 ? free : entered));
  for (let changed = true; changed;) {
    changed = false;
    for (const block of kernel.blocks) {
      const after = through(block, before[block.id]!, () => undefined);
      for (const to of block.successors) {
        const hasFence = taken.get(`${block.id}>${to}`);
        const gained: Holding = hasFence === undefined ? after : hasFence ? entered : held;
        if (gained < before[to]!) {
          before[to] = gained;
          changed = true;
        }
      }
    }
  }

  let isExclusive = true;
  const inside: Access[] = [];
  const bare: Access[] = [];
  for (const block of kernel.blocks) {
    const settled = releasedBehindFence(symbolic, block, releases, acrossBlocks);
    through(block, before[block.id]!, (instruction, holding) => {
      const access = byInstruction.get(instruction);
      if (releases.has(instruction)) {
        const isHandedOn = holding === entered || (holding === held && access !== undefined && !isStore(access));
        if (!isHandedOn) isExclusive = false;
      }
      if (!access || holding === free || lock.accesses.includes(access)) return;
      if (holding === entered && settled(instruction)) inside.push(access);
      else bare.push(access);
    });
  }
  return isExclusive ? { inside, bare } : { inside: [], bare: [] };
}

/**
 * The edges on which a thread learns that it has the lock: those on which its exchange found the free value, with
 * nothing in between that might release it. A lock that is taken twice would be an endless wait.
 */
function edgesOf(
  symbolic: SymbolicKernel,
  taker: Access,
  found: Term,
  releases: ReadonlySet<Instruction>,
): (readonly [BlockId, BlockId, boolean])[] {
  const { kernel, store } = symbolic;
  const { effect } = taker.instruction.operation;
  const acquires = 'semantics' in effect && /^(acquire|acq_rel|sc)$/.test(effect.semantics);
  const edges: (readonly [BlockId, BlockId, boolean])[] = [];
  for (const block of kernel.blocks) {
    const { terminator } = block;
    if (terminator.kind !== 'branch' || terminator.then === terminator.otherwise) continue;
    const condition = symbolic.condition(block.id);
    const to = condition === found ? terminator.then : condition === store.not(found) ? terminator.otherwise : null;
    if (to === null || kernel.blocks[to]!.predecessors.filter((from) => from === block.id).length !== 1) continue;
    if (staysHeld(symbolic, taker, block.id, releases)) edges.push([block.id, to, acquires]);
  }
  return edges;
}

/**
 * Whether the branch that looks at what an exchange found never comes behind a release: a thread that has released the
 * lock may not take the same result for a lock that it holds again.
 */
function staysHeld(
  { kernel }: SymbolicKernel,
  taker: Access,
  branch: BlockId,
  releases: ReadonlySet<Instruction>,
): boolean {
  const seen = new Set<string>();
  const work: { readonly block: BlockId; readonly from: number; readonly released: boolean }[] = [
    { block: taker.block, from: taker.position + 1, released: false },
  ];
  for (let at = work.pop(); at; at = work.pop()) {
    const block = kernel.blocks[at.block]!;
    const released = at.released || block.instructions.slice(at.from).some((instruction) => releases.has(instruction));
    if (at.block === branch && released) return false;
    for (const to of block.successors) {
      // Behind another exchange it is that one's result.
      const key = `${to}:${released}`;
      if (to === taker.block || seen.has(key)) continue;
      seen.add(key);
      work.push({ block: to, from: 0, released });
    }
  }
  return true;
}

/** Whether an instruction is a fence that acquires and releases, as far as threads of other blocks if asked for. */
export function isFence({ operation: { effect } }: Instruction, acrossBlocks: boolean): boolean {
  if (effect.kind !== 'fence' || !/^(sc|acq_rel)$/.test(effect.semantics)) return false;
  return !acrossBlocks || reachesGrid(effect.scope);
}

function reachesGrid(scope: Scope): boolean {
  return scope === 'gpu' || scope === 'sys';
}

/** Tells of an instruction of a block whether a fence, or the end, comes before every release behind it. */
function releasedBehindFence(
  { kernel }: SymbolicKernel,
  block: Block,
  releases: ReadonlySet<Instruction>,
  acrossBlocks: boolean,
): (instruction: Instruction) => boolean {
  /** Whether a release is met before a fence on some way. */
  const meetsRelease = (from: BlockId, position: number): boolean => {
    const seen = new Set<BlockId>();
    const work: { readonly block: BlockId; readonly position: number }[] = [{ block: from, position }];
    for (let at = work.pop(); at; at = work.pop()) {
      const { instructions, successors } = kernel.blocks[at.block]!;
      const next = instructions
        .slice(at.position)
        .find((instruction) => releases.has(instruction) || isFence(instruction, acrossBlocks));
      if (next && releases.has(next) && !isReleasing(next, acrossBlocks)) return true;
      if (next) continue;
      for (const to of successors) {
        if (seen.has(to)) continue;
        seen.add(to);
        work.push({ block: to, position: 0 });
      }
    }
    return false;
  };
  return (instruction) => !meetsRelease(block.id, block.instructions.indexOf(instruction) + 1);
}

/** Whether a store or exchange is a release by itself. */
function isReleasing({ operation: { effect } }: Instruction, acrossBlocks: boolean): boolean {
  if (effect.kind !== 'store' && effect.kind !== 'atomic') return false;
  return /^(release|acq_rel|sc)$/.test(effect.semantics) && (!acrossBlocks || reachesGrid(effect.scope));
}
