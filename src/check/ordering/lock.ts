/** Locks that are taken by an atomic exchange that found them free, and released by storing the free value. */
import { isStrong } from '../../memory-model/fence.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { isAt, isOfOnePlace, isValue, lanesOf, rivalsOf } from './synchronising-access.ts';
import { comesBefore } from './ticket.ts';

/** A lock, and how a thread takes and releases it. */
export interface Lock {
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

/** Places that are only ever changed by taking and releasing. */
export function findLocks(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  mayBeSame: (a: Base, b: Base) => boolean,
): readonly Lock[] {
  const locks = new Map<string, Lock>();
  for (const access of accesses) {
    const free = freeValue(symbolic, access);
    if (free === null || !isOfOnePlace(access)) continue;
    const { base, offset } = access.targets[0]!;
    const key = `${base.key}+${offset.id}`;
    if (locks.has(key)) continue;
    const takers = accesses.filter((other) => isAt(other, access) && freeValue(symbolic, other) !== null);
    // A strong store counts as a release: it does not race with what takes the lock.
    const isInitial = (writer: Access): boolean =>
      writer.strong === null &&
      releasedValue(symbolic, writer) === free &&
      takers.every((taker) => comesBefore(symbolic, writer, taker));
    const isLegal = (writer: Access): boolean =>
      isAt(writer, access) &&
      (isInitial(writer) ||
        (isStrong(writer.instruction) &&
          (freeValue(symbolic, writer) === free || releasedValue(symbolic, writer) === free)));
    const rivals = rivalsOf(accesses, access, mayBeSame);
    if (!rivals.every(isLegal)) continue;
    const own = accesses.filter((other) => isAt(other, access) && isStrong(other.instruction));
    const isInitialised = rivals.some((writer) => !isStrong(writer.instruction) && isInitial(writer));
    locks.set(key, {
      key,
      base,
      takers: new Map(
        takers.flatMap((taker) => {
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

/** The instructions of the accesses that release. */
export function releasesIn(own: readonly Access[], isRelease: (access: Access) => boolean): ReadonlySet<Instruction> {
  return new Set(own.filter(isRelease).map(({ instruction }) => instruction));
}

/** What `atom.cas [lock], free, taken` compares with, both constants and different; null for every other access. */
function freeValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || effect.operation !== 'cas' || lanesOf(instruction) !== 1) return null;
  const [, free, taken] = instruction.arguments.map((operand) => symbolic.operand(operand));
  return free?.operator === 'constant' && taken?.operator === 'constant' && free !== taken ? free : null;
}

/** The constant that a store or `atom.exch` leaves; null for every other access. */
function releasedValue(symbolic: SymbolicKernel, { instruction }: Access): Term | null {
  const { effect } = instruction.operation;
  const isStore = effect.kind === 'store' || (effect.kind === 'atomic' && effect.operation === 'exch');
  if (!isStore || lanesOf(instruction) !== 1) return null;
  const value = symbolic.operand(instruction.arguments[1]!);
  return value.operator === 'constant' ? value : null;
}
