/**
 * Locks that are acquired by an atomic exchange that returns the free value, and released by storing the free value.
 */
import { isStrong } from '../../memory-model/fence.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { exchangedBy, isAt, isOfOneElement, isOfOnePlace, isValue, lanesOf, rivalsOf } from './synchronising-access.ts';
import { comesBefore } from './ticket.ts';

/** A lock, and the accesses that acquire and release it. */
export interface Lock {
  readonly key: string;
  readonly base: Base;
  /** Accesses that may acquire the lock. Each of their conditions implies that the access has acquired it. */
  readonly takers: ReadonlyMap<Access, readonly Term[]>;
  readonly releases: ReadonlySet<Instruction>;
  /** Accesses that acquire and release the lock, and strong loads of it. */
  readonly accesses: readonly Access[];
  /** Whether a plain store initialises the lock. */
  readonly isInitialised: boolean;
  readonly counter: Access | null;
  /** For an array of locks: the offset of the lock of the thread; null if all threads use one lock. */
  readonly element: Term | null;
}

/** Finds the locks: memory that is written only to acquire, release or initialise a lock. */
export function findLocks(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
): readonly Lock[] {
  const locks = new Map<string, Lock>();
  for (const access of accesses) {
    const isOne = isOfOnePlace(access);
    if (!isOne && !isOfOneElement(symbolic, access)) continue;
    const rivals = rivalsOf(accesses, access, mayBeSame);
    const free = freeValue(symbolic, access) ?? freedBeside(symbolic, access, rivals);
    if (free === null) continue;
    const { base, offset } = access.targets[0]!;
    const key = `${base.key}+${offset.id}`;
    if (locks.has(key)) continue;
    const marks = new Set(rivals.map((rival) => takenValue(symbolic, rival)).filter((value) => value !== free));
    const takers = accesses.flatMap((other) => {
      const found = isAt(other, access) ? foundFree(symbolic, other, free, marks.size === 1) : [];
      return found.length > 0 ? [[other, found] as const] : [];
    });
    const isTaker = (writer: Access): boolean => takers.some(([taker]) => taker === writer);
    // A strong store counts as a release, since it does not race with the accesses that acquire the lock.
    const isInitial = (writer: Access): boolean =>
      writer.strong === null && releasedValue(symbolic, writer) === free && takers.every(([taker]) => comesBefore(symbolic, writer, taker));
    const isLegal = (writer: Access): boolean =>
      isAt(writer, access) &&
      (isInitial(writer) || (isStrong(writer.instruction) && (isTaker(writer) || releasedValue(symbolic, writer) === free)));
    if (!rivals.every(isLegal)) continue;
    const own = accesses.filter((other) => isAt(other, access) && isStrong(other.instruction));
    const isInitialised = rivals.some((writer) => !isStrong(writer.instruction) && isInitial(writer));
    locks.set(key, {
      key,
      base,
      takers: new Map(takers),
      releases: releasesIn(own, (writer) => releasedValue(symbolic, writer) === free),
      accesses: own,
      isInitialised,
      counter: null,
      element: isOne ? null : offset,
    });
  }
  // A plain store before all exchanges of its thread is also before those of other threads, as it would race with them
  // otherwise. This does not hold if another lock protects the store.
  return [...locks.values()].filter(({ isInitialised }) => !isInitialised || locks.size === 1);
}

/** The instructions of those accesses that release the lock. */
export function releasesIn(own: readonly Access[], isRelease: (access: Access) => boolean): ReadonlySet<Instruction> {
  return new Set(own.filter(isRelease).map(({ instruction }) => instruction));
}

/** The constant `free` of `atom.cas [lock], free, taken` with another constant `taken`; null for every other access. */
function freeValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || effect.operation !== 'cas' || lanesOf(instruction) !== 1) return null;
  const [, free, taken] = instruction.arguments.map((operand) => symbolic.operand(operand));
  return free?.operator === 'constant' && taken?.operator === 'constant' && free !== taken ? free : null;
}

/**
 * The free value of a lock that is acquired by exchanging a constant: the only other constant that is stored to the
 * lock. Null for every other access.
 */
function freedBeside(symbolic: SymbolicKernel, access: Access, rivals: readonly Access[]): Term | null {
  const taken = exchangedBy(symbolic, access);
  if (taken?.operator !== 'constant' || !isValue(access.instruction.results[0])) return null;
  const others = new Set(rivals.map((rival) => releasedValue(symbolic, rival)).filter((value) => value !== taken));
  const [free, ...more] = others;
  return free && more.length === 0 ? free : null;
}

/**
 * The conditions that imply that an access has acquired a lock; empty if it acquires none. If all acquiring accesses
 * store one value, an exchange that returns any other value has acquired the lock.
 * @param leavesOne whether all accesses that acquire the lock store one value
 */
function foundFree(symbolic: SymbolicKernel, access: Access, free: Term, leavesOne: boolean): Term[] {
  const { store } = symbolic;
  const [found] = access.instruction.results;
  if (!isValue(found)) return [];
  const value = symbolic.value(found);
  if (freeValue(symbolic, access) === free) return [store.equal(value, free)];
  const taken = lanesOf(access.instruction) === 1 ? exchangedBy(symbolic, access) : null;
  if (taken?.operator !== 'constant' || taken === free) return [];
  return [store.equal(value, free), ...(leavesOne ? [store.not(store.equal(value, taken))] : [])];
}

/** The value that an exchange may store, for `atom.cas` the value stored on success; null if unknown. */
function takenValue(symbolic: SymbolicKernel, access: Access): Term | null {
  if (freeValue(symbolic, access) === null) return releasedValue(symbolic, access);
  return symbolic.operand(access.instruction.arguments[2]!);
}

/** The constant that a store or `atom.exch` stores; null for every other access. */
function releasedValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  const isStore = effect.kind === 'store' || (effect.kind === 'atomic' && effect.operation === 'exch');
  if (!isStore || lanesOf(instruction) !== 1) return null;
  const value = symbolic.operand(instruction.arguments[1]!);
  return value.operator === 'constant' ? value : null;
}
