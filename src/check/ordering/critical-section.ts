/**
 * Critical sections: accesses that a thread performs only while it holds a lock, with the fences that make its writes
 * visible to the next holder. A lock is acquired by an atomic exchange that returns the free value, and released by
 * storing the free value. A ticket lock is acquired by the thread that reads its own number as the one being served,
 * and released by advancing that number. The acquire pattern is the exchange (or the load of the number) followed by a
 * fence; the release pattern is a fence followed by the store (PTX ISA 8.7 to 8.10). So two accesses in critical
 * sections of one lock are always ordered.
 */
import { isFence, isReleasing, isAcquiring } from '../../memory-model/fence.ts';
import { reachesGrid } from '../../memory-model/scope.ts';
import type { Protection, CriticalSections } from './protection.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { isOfLaunch } from '../../analysis/values/leader.ts';
import { type Base, isOneObject } from '../../analysis/values/memory-base.ts';
import { everyPathPasses } from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Block, BlockId, Instruction } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { type Lock, findLocks } from './lock.ts';
import type { LockAccesses } from './synchronisation-idioms.ts';
import { lanesOf } from './synchronising-access.ts';
import { findTicketLocks } from './ticket-lock.ts';
import { substituted } from '../../term/rewrite.ts';

/** For each access, by index: locks that a thread holds around it, but without the fences required for mutual order. */
export type BareLocks = ReadonlyMap<number, ReadonlyMap<string, Base>>;

/**
 * Finds the critical sections of a kernel.
 * @param mayBeSame whether two bases may be the same memory
 */
export function criticalSections(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
  dimensions: Dimensions,
): {
  readonly sections: CriticalSections;
  readonly bare: BareLocks;
  readonly locks: readonly Base[];
  /**
   * For locks that are acquired by an atomic operation and released only by their holder: accesses that acquire,
   * release or poll them.
   */
  readonly lockAccesses: LockAccesses;
  /**
   * Instructions other than accesses that a thread executes only while it holds a lock. So no two threads execute one
   * at once.
   */
  readonly held: ReadonlySet<Instruction>;
} {
  const held = new Set<Instruction>();
  const protections = new Map<number, Protection[]>();
  const bare = new Map<number, Map<string, Base>>();
  const protect = (access: Access, { counter, element }: Lock, lock: string, acrossBlocks: boolean): void => {
    const list = protections.get(access.index) ?? [];
    if (!list.some((known) => known.lock === lock)) list.push({ lock, acrossBlocks, counter, element });
    protections.set(access.index, list);
  };
  const lockAccesses: ReadonlySet<number>[] = [];
  const manyBlocks = dimensions.grid.some((size) => size !== 1);
  const locks = [...findLocks(symbolic, accesses, mayBeSame), ...findTicketLocks(symbolic, accesses, mayBeSame, dimensions)];
  for (const lock of locks) {
    const isShared = lock.base.kind === 'object' && lock.base.object.space === 'shared';
    const isGridWide = lock.accesses.every(({ strong }) => reachesGrid(strong));
    // A plain store ends the release sequence of earlier exchanges. So every thread that releases with a store needs a
    // fence whose scope includes other blocks.
    const chained = !isShared && manyBlocks && lock.accesses.some(({ operation }) => operation === 'write');
    const scopes = isShared || !isGridWide ? [false] : [true, false];
    for (const acrossBlocks of scopes.filter((scope) => scope || !chained)) {
      const found = protectedBy(symbolic, accesses, lock, acrossBlocks);
      for (const access of found.inside) protect(access, lock, lock.key, acrossBlocks);
      // Threads may hold different elements of an array of locks at the same time.
      if (lock.element !== null) continue;
      for (const instruction of found.others) held.add(instruction);
      for (const access of found.bare) bare.set(access.index, new Map([...(bare.get(access.index) ?? []), [lock.key, lock.base]]));
    }
    if (lock.element !== null) continue;
    const isTakenByAtomic = lock.counter !== null || [...lock.takers.keys()].every(({ operation }) => operation === 'atomic');
    if (isTakenByAtomic && protectedBy(symbolic, accesses, lock, false).isReleasedByHolder)
      lockAccesses.push(new Set(lock.accesses.map(({ index }) => index)));
  }
  return { sections: protections, bare, locks: locks.map(({ base }) => base), lockAccesses, held };
}

/** A lock that is held around both accesses, if only its fences are missing; undefined if none exists. */
export function bareLock(bare: BareLocks, a: Access, b: Access): Base | undefined {
  const others = bare.get(b.index);
  for (const [key, base] of bare.get(a.index) ?? []) if (others?.has(key)) return base;
  return undefined;
}

/** The lock that orders two accesses by any two threads; undefined if none exists. */
export function exclusion(sections: CriticalSections, a: Access, b: Access, sameBlock: boolean): Protection | undefined {
  const others = sections.get(b.index);
  if (!others) return undefined;
  return sections
    .get(a.index)
    ?.find((own) =>
      others.some(
        (other) =>
          own.lock === other.lock &&
          (sameBlock || (own.acrossBlocks && other.acrossBlocks)) &&
          (own.element === null || tellsLock(own.element, a, b)),
      ),
    );
}

/**
 * Whether two accesses under locks of an array overlap only if both threads hold the same lock: the lock's offset is a
 * function of the offset of the accesses, or of the single value from which that offset is computed.
 */
function tellsLock(lock: Term, a: Access, b: Access): boolean {
  const [x, ...more] = a.targets;
  const [y, ...others] = b.targets;
  if (!x || !y || more.length > 0 || others.length > 0 || a.bytes !== b.bytes) return false;
  if (lanesOf(a.instruction) !== 1 || lanesOf(b.instruction) !== 1) return false;
  if (!isOneObject(x.base) || x.base.key !== y.base.key || x.offset !== y.offset) return false;
  // Both accesses are aligned to their size, so if they overlap, their offsets are equal.
  const known = [x.offset];
  const { operator, width, arguments: parts, coefficients } = x.offset;
  const [wide] = parts;
  if (operator === 'sum' && width === 64 && parts.length === 1 && wide!.width === 64) {
    const [narrow] = wide!.operator === 'sext' || wide!.operator === 'zext' ? wide!.arguments : [];
    // The product of a 32-bit value and the factor does not wrap around, so equal products imply equal values.
    const factor = coefficients[0]!;
    if (narrow && narrow.width <= 32 && factor > 0n && factor < 1n << 31n) known.push(wide!, narrow);
  }
  return isMadeOf(lock, known);
}

/** Whether the known terms determine the value of a term. */
function isMadeOf(term: Term, known: readonly Term[]): boolean {
  if (known.includes(term) || term.operator === 'constant' || isOfLaunch(term)) return true;
  return term.atom === null && term.arguments.length > 0 && term.arguments.every((part) => isMadeOf(part, known));
}

/** State of a lock in a thread: possibly not held, held, or held with a fence since its acquisition. */
const free = 0;
const held = 1;
const entered = 2;
type Holding = typeof free | typeof held | typeof entered;

/**
 * The accesses that every thread performs while it holds the lock, with the required fences (`inside`) or without
 * (`bare`), and its other instructions there. All are empty if a thread releases the lock without holding it.
 */
function protectedBy(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  lock: Lock,
  acrossBlocks: boolean,
): {
  readonly inside: readonly Access[];
  readonly bare: readonly Access[];
  readonly others: readonly Instruction[];
  /** Whether a thread releases the lock only while it holds it, with or without fences. */
  readonly isReleasedByHolder: boolean;
} {
  const { kernel } = symbolic;
  // An asynchronous copy may access memory after the lock is released.
  const own = accesses.filter(({ isCopy }) => !isCopy);
  const byInstruction = new Map(own.map((access) => [access.instruction, access]));
  const { releases } = lock;
  const naming = new Set(lock.element?.leaves.map(({ atom }) => (atom?.kind === 'havoc' ? atom.value : -1)));
  const taken = new Map<string, boolean>();
  for (const [taker, holds] of lock.takers)
    for (const [from, to, hasFence] of edgesOf(symbolic, taker, holds, releases)) taken.set(`${from}>${to}`, hasFence);

  /** Computes the state after a basic block; `visit` receives the state before each instruction. */
  const through = (block: Block, start: Holding, visit: (instruction: Instruction, holding: Holding) => void): Holding => {
    let holding = start;
    for (const instruction of block.instructions) {
      // The redefined value no longer identifies the element of the array of locks that was acquired.
      if (instruction.results.some((result) => result !== null && naming.has(result))) holding = free;
      visit(instruction, holding);
      if (releases.has(instruction)) holding = free;
      else if (holding === held && isFence(instruction, acrossBlocks)) holding = entered;
    }
    return holding;
  };

  // Greatest fixed point: the state that is guaranteed on all paths.
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

  /** Whether every path from an access to a release of the lock contains a fence before the release. */
  const isSettled = (access: Access): boolean =>
    lock.accesses.every(
      (release) =>
        !releases.has(release.instruction) ||
        isReleasing(release.instruction) ||
        everyPathPasses(kernel, access, release, (gate) => releases.has(gate) || isFence(gate, acrossBlocks)),
    );

  let isExclusive = true;
  let isReleasedByHolder = true;
  const inside: Access[] = [];
  const bare: Access[] = [];
  const others: Instruction[] = [];
  for (const block of kernel.blocks) {
    through(block, before[block.id]!, (instruction, holding) => {
      const access = byInstruction.get(instruction);
      if (releases.has(instruction)) {
        const isHandedOn = holding === entered || (holding === held && access !== undefined && access.operation !== 'write');
        if (!isHandedOn) isExclusive = false;
        if (holding === free) isReleasedByHolder = false;
      }
      if (holding !== free && !access) others.push(instruction);
      if (!access || holding === free || lock.accesses.includes(access)) return;
      if (holding === entered && isSettled(access)) inside.push(access);
      else bare.push(access);
    });
  }
  return { ...(isExclusive ? { inside, bare, others } : { inside: [], bare: [], others: [] }), isReleasedByHolder };
}

/**
 * The edges after which a thread is known to hold the lock: the branch condition implies that its exchange returned the
 * free value, and no release is in between. Acquiring a lock twice would deadlock.
 */
function edgesOf(
  symbolic: SymbolicKernel,
  taker: Access,
  found: readonly Term[],
  releases: ReadonlySet<Instruction>,
): (readonly [BlockId, BlockId, boolean])[] {
  const { kernel, store } = symbolic;
  const acquires = isAcquiring(taker.instruction);
  const edges: (readonly [BlockId, BlockId, boolean])[] = [];
  for (const block of kernel.blocks) {
    const { terminator } = block;
    if (terminator.kind !== 'branch' || terminator.then === terminator.otherwise) continue;
    const condition = symbolic.condition(block.id);
    if (!condition) continue;
    const ways = [condition, ...withIncoming(symbolic, block, condition)];
    const holds = isTold(store, ways, found);
    const fails = isTold(
      store,
      ways.map((way) => store.not(way)),
      found,
    );
    const to = holds ? terminator.then : fails ? terminator.otherwise : null;
    if (to === null || kernel.blocks[to]!.predecessors.filter((from) => from === block.id).length !== 1) continue;
    if (staysHeld(symbolic, taker, block.id, releases)) edges.push([block.id, to, acquires]);
  }
  return edges;
}

/**
 * The condition at the end of a basic block, once for each incoming edge, with the phis replaced by the values of that
 * edge.
 */
function withIncoming(symbolic: SymbolicKernel, { phis, predecessors }: Block, condition: Term): Term[] {
  if (phis.length === 0) return [];
  return predecessors.map((_, way) => {
    const incoming = new Map(phis.map(({ result, inputs }) => [Number(result), inputs[way]!]));
    const valueOf = ({ atom }: Term): Term | undefined => {
      const value = atom?.kind === 'phi' || atom?.kind === 'havoc' ? incoming.get(atom.value) : undefined;
      return value && symbolic.operand(value);
    };
    return substituted(symbolic.store, condition, valueOf, new Map());
  });
}

/**
 * Whether a condition implies one of the conditions in `found`.
 * @param ways the condition, and its value for each incoming edge. For every edge for which it is not false, it must
 *   imply a condition in `found`.
 */
function isTold(store: SymbolicKernel['store'], [condition, ...ways]: readonly Term[], found: readonly Term[]): boolean {
  if (found.includes(condition!)) return true;
  const open = ways.filter((way) => way !== store.false);
  return open.length > 0 && open.every((way) => found.includes(way));
}

/**
 * Whether the branch on the result of an exchange is never executed after a release. Otherwise a thread that has
 * released the lock would conclude from the old result that it holds the lock again.
 */
function staysHeld({ kernel }: SymbolicKernel, taker: Access, branch: BlockId, releases: ReadonlySet<Instruction>): boolean {
  const seen = new Set<string>();
  const work: { readonly block: BlockId; readonly from: number; readonly released: boolean }[] = [
    { block: taker.block, from: taker.position + 1, released: false },
  ];
  for (let at = work.pop(); at; at = work.pop()) {
    const block = kernel.blocks[at.block]!;
    const released = at.released || block.instructions.slice(at.from).some((instruction) => releases.has(instruction));
    if (at.block === branch && released) return false;
    for (const to of block.successors) {
      // The search stops at the next exchange, as the branch then depends on the result of that one.
      const key = `${to}:${released}`;
      if (to === taker.block || seen.has(key)) continue;
      seen.add(key);
      work.push({ block: to, from: 0, released });
    }
  }
  return true;
}
