/**
 * Critical sections: accesses that a thread performs only while it holds a lock, with the fences that make what it did
 * visible to the next holder. A lock is taken by an atomic exchange that found it free, and released by storing the
 * free value. Acquire is the exchange with a fence behind it, release a fence with the store behind it (PTX ISA 8.7
 * to 8.10), so two accesses in critical sections of one lock are always ordered.
 */
import { type Access, isWriter } from '../analysis/access.ts';
import { isOfLaunch } from '../analysis/leader.ts';
import type { Base } from '../analysis/memory-base.ts';
import type { SymbolicKernel } from '../analysis/symbolic.ts';
import type { Block, BlockId, Instruction } from '../ir/kernel.ts';
import type { Scope } from '../isa/operation.ts';
import type { Term } from '../term/term.ts';
import { comesBefore } from './ticket.ts';

/** A lock that an access is protected by. */
export interface Protection {
  /** Names the lock. */
  readonly lock: string;
  /** Threads of different blocks exclude each other too, not only those of one block. */
  readonly acrossBlocks: boolean;
}

/** The locks that protect each access, by its index; an access that no lock protects has no entry. */
export type CriticalSections = ReadonlyMap<number, readonly Protection[]>;

/** Locks that a thread holds around an access, though without the fences that would make them protect it, by index. */
export type BareLocks = ReadonlyMap<number, ReadonlyMap<string, Base>>;

interface Lock {
  readonly key: string;
  readonly base: Base;
  readonly free: Term;
  /** What takes and releases it, and strong loads of it. */
  readonly accesses: readonly Access[];
  /** A plain store sets it up. */
  readonly isInitialised: boolean;
}

/**
 * Finds the critical sections of a kernel.
 * @param mayBeSame whether two bases may be the same memory
 * @param manyBlocks whether the grid may have more than one block
 */
export function criticalSections(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
  manyBlocks: boolean,
): { readonly sections: CriticalSections; readonly bare: BareLocks; readonly locks: readonly Base[] } {
  const protections = new Map<number, Protection[]>();
  const bare = new Map<number, Map<string, Base>>();
  const protect = (access: Access, lock: string, acrossBlocks: boolean): void => {
    const list = protections.get(access.index) ?? [];
    if (!list.some((known) => known.lock === lock)) list.push({ lock, acrossBlocks });
    protections.set(access.index, list);
  };
  const locks = findLocks(symbolic, accesses, mayBeSame);
  for (const lock of locks) {
    const isShared = lock.base.kind === 'object' && lock.base.object.space === 'shared';
    const reachesGrid = lock.accesses.every(({ scope }) => scope === 'gpu' || scope === 'sys');
    // A store ends what exchanges hand on, so each thread that releases with one has to hand it on with fences: those of
    // other blocks as well.
    const chained = !isShared && manyBlocks && lock.accesses.some(isStore);
    const scopes = isShared || !reachesGrid ? [false] : [true, false];
    for (const acrossBlocks of scopes.filter((scope) => scope || !chained)) {
      const found = protectedBy(symbolic, accesses, lock, acrossBlocks);
      for (const access of found.inside) protect(access, lock.key, acrossBlocks);
      for (const access of found.bare)
        bare.set(access.index, new Map([...(bare.get(access.index) ?? []), [lock.key, lock.base]]));
    }
    // What synchronises is strong, and no race among itself (PTX ISA 8.7.1).
    for (const access of lock.accesses) protect(access, `${lock.key} itself`, reachesGrid && !isShared);
  }
  return { sections: protections, bare, locks: locks.map(({ base }) => base) };
}

/** The lock that both accesses are made under, if its fences are all that is missing. */
export function bareLock(bare: BareLocks, a: Access, b: Access): Base | undefined {
  const others = bare.get(b.index);
  for (const [key, base] of bare.get(a.index) ?? []) if (others?.has(key)) return base;
  return undefined;
}

/** Whether a lock orders two accesses, wherever two threads perform them. */
export function areExclusive(sections: CriticalSections, a: Access, b: Access, sameBlock: boolean): boolean {
  const others = sections.get(b.index);
  return (
    others !== undefined &&
    (sections.get(a.index) ?? []).some((own) =>
      others.some((other) => own.lock === other.lock && (sameBlock || (own.acrossBlocks && other.acrossBlocks))),
    )
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
    locks.set(key, { key, base: target.base, free, accesses: own, isInitialised });
  }
  // That a store comes before all exchanges holds for other threads too because it would race with them: unless it is
  // made under another lock.
  return [...locks.values()].filter(({ isInitialised }) => !isInitialised || locks.size === 1);
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
  const releases = new Set(
    lock.accesses.filter((access) => releasedValue(symbolic, access) !== null).map(({ instruction }) => instruction),
  );
  const takers = lock.accesses.filter((access) => freeValue(symbolic, access) !== null);
  const taken = new Map<string, boolean>();
  for (const taker of takers)
    for (const [from, to, hasFence] of edgesOf(symbolic, lock, taker, releases)) taken.set(`${from}>${to}`, hasFence);

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
  lock: Lock,
  taker: Access,
  releases: ReadonlySet<Instruction>,
): (readonly [BlockId, BlockId, boolean])[] {
  const { kernel, store } = symbolic;
  const result = taker.instruction.results[0];
  if (result === null || result === undefined) return [];
  const { effect } = taker.instruction.operation;
  const acquires = effect.kind === 'atomic' && /^(acquire|acq_rel|sc)$/.test(effect.semantics);
  const found = store.equal(symbolic.value(result), lock.free);
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
