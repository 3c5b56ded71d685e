/**
 * Ticket locks: one counter issues numbers, another one is the number being served. Each number is issued once (as long
 * as the counter does not wrap around), and only its owner advances the served number.
 */
import { isStrong } from '../../memory-model/fence.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { areLeaders, pinsOf } from '../../analysis/values/leader.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import { canReach } from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';
import { type Lock, releasesIn } from './lock.ts';
import { addedBy, exchangedBy, isAt, isOfOnePlace, isValue, rivalsOf } from './synchronising-access.ts';

/** The numbers that determine the order of service; no two threads have the same number. */
interface Turns {
  readonly number: Term;
  /** The counter that issues the numbers. Null if they are block indices and one thread of each block participates. */
  readonly counter: Access | null;
  /** Whether the numbers apply to an access: it is in code that participating threads execute. */
  readonly isFor: (access: Access) => boolean;
  /** Whether a thread may obtain another number while it holds one. */
  readonly isRepeated: boolean;
}

/** Finds ticket locks, and locations at which blocks are served in the order of their indices. */
export function findTicketLocks(
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
    if (!isOfOnePlace(counter) || addedBy(symbolic, counter) !== 1n || !isValue(ticket)) continue;
    const rivals = rivalsOf(accesses, counter, mayBeSame);
    if (!rivals.every((rival) => isAt(rival, counter) && addedBy(symbolic, rival) === 1n)) continue;
    const isRepeated = canReach(symbolic.kernel, counter, counter);
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
  const own = accesses.filter((access) => isAt(access, look) && isStrong(access.instruction));
  const following = store.sum(number.width, 1n, [[number, 1n]]);
  const isRelease = (writer: Access): boolean => {
    if (!own.includes(writer)) return false;
    const stored = writer.operation === 'write' ? writer.stored?.[0] : exchangedBy(symbolic, writer);
    // A store must set the served number to the successor of the thread's own number.
    return addedBy(symbolic, writer) === 1n || (stored === following && !isRepeated);
  };
  const rivals = rivalsOf(accesses, look, mayBeSame);
  const isLegal = (rival: Access): boolean => isRelease(rival) || (own.includes(rival) && isLook(symbolic, rival));
  if (!rivals.some(isRelease) || !rivals.every(isLegal)) return null;
  const takers = own
    .filter((access) => isLook(symbolic, access) && isFor(access))
    .flatMap((taker) => {
      const [found] = taker.instruction.results;
      return isValue(found) ? [[taker, [store.equal(symbolic.value(found), number)]] as const] : [];
    });
  return {
    base: look.targets[0]!.base,
    takers: new Map(takers),
    releases: releasesIn(own, isRelease),
    accesses: own,
    isInitialised: false,
    element: null,
    counter,
  };
}

/** Whether an access is a strong read of one location and does not change it. */
function isLook(symbolic: SymbolicKernel, access: Access): boolean {
  if (!isOfOnePlace(access) || !isStrong(access.instruction) || !isValue(access.instruction.results[0])) return false;
  return access.operation === 'read' || addedBy(symbolic, access) === 0n;
}
