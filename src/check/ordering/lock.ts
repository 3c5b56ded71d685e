/** Locks that are taken by an atomic exchange that found them free, and released by storing the free value. */
import { isStrong } from '../../memory-model/fence.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { exchangedBy, isAt, isOfOneElement, isOfOnePlace, isValue, lanesOf, rivalsOf } from './synchronising-access.ts';
import { comesBefore } from './ticket.ts';

/** A lock, and how a thread takes and releases it. */
export interface Lock {
  readonly key: string;
  readonly base: Base;
  /** Accesses that may take it, with conditions each of which implies that they have. */
  readonly takers: ReadonlyMap<Access, readonly Term[]>;
  readonly releases: ReadonlySet<Instruction>;
  /** Accesses that take and release it, and strong loads of it. */
  readonly accesses: readonly Access[];
  /** A plain store sets it up. */
  readonly isInitialised: boolean;
  readonly counter: Access | null;
  /** For an array of locks: the offset of the thread's lock; null: one lock for all threads. */
  readonly element: Term | null;
}

/** Places that are only ever changed by taking and releasing. */
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
    // A strong store counts as a release: it does not race with accesses that take the lock.
    const isInitial = (writer: Access): boolean =>
      writer.strong === null &&
      releasedValue(symbolic, writer) === free &&
      takers.every(([taker]) => comesBefore(symbolic, writer, taker));
    const isLegal = (writer: Access): boolean =>
      isAt(writer, access) &&
      (isInitial(writer) ||
        (isStrong(writer.instruction) && (isTaker(writer) || releasedValue(symbolic, writer) === free)));
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
  // A store before all exchanges of its thread is before those of other threads too, as it would race with them
  // otherwise: unless it is protected by another lock.
  return [...locks.values()].filter(({ isInitialised }) => !isInitialised || locks.size === 1);
}

/** The instructions of the accesses that release. */
export function releasesIn(own: readonly Access[], isRelease: (access: Access) => boolean): ReadonlySet<Instruction> {
  return new Set(own.filter(isRelease).map(({ instruction }) => instruction));
}

/** The compared value of `atom.cas [lock], free, taken`, both constants and different; null for every other access. */
function freeValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || effect.operation !== 'cas' || lanesOf(instruction) !== 1) return null;
  const [, free, taken] = instruction.arguments.map((operand) => symbolic.operand(operand));
  return free?.operator === 'constant' && taken?.operator === 'constant' && free !== taken ? free : null;
}

/**
 * The free value of a lock that is taken by an exchange with a constant: the only other constant that is stored there.
 * Null for every other access.
 */
function freedBeside(symbolic: SymbolicKernel, access: Access, rivals: readonly Access[]): Term | null {
  const taken = exchangedBy(symbolic, access);
  if (taken?.operator !== 'constant' || !isValue(access.instruction.results[0])) return null;
  const others = new Set(rivals.map((rival) => releasedValue(symbolic, rival)).filter((value) => value !== taken));
  const [free, ...more] = others;
  return free && more.length === 0 ? free : null;
}

/**
 * The conditions that imply that an access has taken a lock; empty if it takes none. If all accesses that take the lock
 * store one value, an exchange that returns any other value has taken it: no other one returns the same.
 * @param leavesOne whether all accesses that take the lock store one value
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

/** The value that an exchange may store: of `atom.cas` the one stored on success; null if unknown. */
function takenValue(symbolic: SymbolicKernel, access: Access): Term | null {
  if (freeValue(symbolic, access) === null) return releasedValue(symbolic, access);
  return symbolic.operand(access.instruction.arguments[2]!);
}

/** The constant that a store or `atom.exch` leaves; null for every other access. */
function releasedValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  const isStore = effect.kind === 'store' || (effect.kind === 'atomic' && effect.operation === 'exch');
  if (!isStore || lanesOf(instruction) !== 1) return null;
  const value = symbolic.operand(instruction.arguments[1]!);
  return value.operator === 'constant' ? value : null;
}
