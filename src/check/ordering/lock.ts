/**
 * Locations that admit one thread at once. The value that a thread must read is one that no second thread can read
 * before a release: the free value of a lock, which the atomic operation that reads it replaces, or a number that only
 * this thread has.
 */
import type { Access } from '../../analysis/values/access.ts';
import { areLeaders, pinsOf } from '../../analysis/values/leader.ts';
import { canReach } from '../../analysis/values/program-point.ts';
import { isStrong } from '../../memory-model/fence.ts';
import type { Term } from '../../term/term.ts';
import { axisOf } from './arrival.ts';
import { isSetUpBefore } from './initial-store.ts';
import type { Acquire, Pattern, SynchronisingKernel } from './pattern.ts';
import { addedBy, isAt, isOfOneElement, isOfOnePlace, isPoll, isValue, rivalsOf, writeOf } from './synchronising-access.ts';
import { findTickets } from './ticket.ts';

/** Finds the locations that admit one thread at once. */
export function findLocks(of: SynchronisingKernel): readonly Pattern[] {
  const looks = of.accesses.filter((access) => isLook(of, access));
  const served = (numberOf: (look: Access) => Numbers | null): readonly Pattern[] =>
    firstOfEach(
      looks.map((look) => {
        const number = numberOf(look);
        return number && servedLock(of, look, number);
      }),
    );
  return [
    ...firstOfEach(of.accesses.map((access) => exchangedLock(of, access))),
    ...findTicketNumbers(of).flatMap((number) => served((look) => (isOfOnePlace(look) ? number : null))),
    ...served((look) => blockNumber(of, look)),
  ];
}

/** The first pattern of each location. */
function firstOfEach(patterns: readonly (Pattern | null)[]): readonly Pattern[] {
  const first = new Map<string, Pattern>();
  for (const pattern of patterns) {
    const key = pattern && `${pattern.base.key}+${pattern.offset.id}`;
    if (key !== null && !first.has(key)) first.set(key, pattern!);
  }
  return [...first.values()];
}

/** The parts of a pattern that are the same for all locks. */
const lock = { kind: 'lock', resets: [], startsAtZero: false, assumes: [] } as const;

/**
 * The lock that an atomic exchange acquires: all writes of the location exchange or store one free value, a constant, or
 * values that are not free, such as the number of the owner plus one. Null for any other access.
 */
function exchangedLock(of: SynchronisingKernel, access: Access): Pattern | null {
  const { symbolic, accesses, mayBeSame } = of;
  const { store } = symbolic;
  if (!isOfOneElement(symbolic, access)) return null;
  const rivals = rivalsOf(accesses, access, mayBeSame);
  const free = freeValue(of, access, rivals);
  if (free === null) return null;
  const own = accesses.filter((other) => isAt(other, access) && isStrong(other.instruction));
  const taken = new Set(rivals.map((rival) => writeOf(symbolic, rival)?.value).filter((value) => value !== free));
  const acquires = own.flatMap((taker): Acquire[] => {
    const [found] = taker.instruction.results;
    const written = writeOf(symbolic, taker);
    if (!isValue(found) || !written || !isTaken(of, written.value, free)) return [];
    if (written.replaces && written.replaces !== free) return [];
    const isFree = [store.equal(symbolic.value(found), free)];
    // If all acquiring accesses store one value, an exchange that returns any other value has acquired the lock.
    if (!written.replaces && taken.size === 1 && written.value.operator === 'constant')
      isFree.push(store.not(store.equal(symbolic.value(found), written.value)));
    return [{ access: taker, shows: (part) => isFree.includes(part) }];
  });
  const frees = (writer: Access): boolean => writeOf(symbolic, writer)?.value === free;
  const isFirst = (writer: Access): boolean =>
    frees(writer) && acquires.every((acquire) => isSetUpBefore(symbolic, of.barriers, writer, acquire.access));
  const isLegal = (writer: Access): boolean =>
    isAt(writer, access) &&
    (isStrong(writer.instruction)
      ? frees(writer) || acquires.some((acquire) => acquire.access === writer)
      : isFirst(writer) || (of.supposed?.has('freed') === true && frees(writer)));
  if (!rivals.every(isLegal)) return null;
  const { base, offset } = access.targets[0]!;
  // A strong store counts as a release, since it does not race with the accesses that acquire the lock.
  return { ...lock, base, offset, own, acquires, releases: own.filter(frees), counter: null };
}

/**
 * The free value of the lock that an access acquires: the value that it replaces, or the only other constant that is
 * stored there; null if neither exists.
 */
function freeValue(of: SynchronisingKernel, access: Access, rivals: readonly Access[]): Term | null {
  const { symbolic } = of;
  const written = writeOf(symbolic, access);
  if (!written || access.operation !== 'atomic' || !isValue(access.instruction.results[0])) return null;
  const isFree = (value: Term | null): boolean => value?.operator === 'constant' && isTaken(of, written.value, value);
  if (written.replaces) return isFree(written.replaces) ? written.replaces : null;
  const values = rivals.map((rival) => writeOf(symbolic, rival)).map((other) => (other?.replaces === null ? other.value : null));
  const [free, ...more] = new Set(values.filter((value) => value !== written.value));
  return free && isFree(free) && more.length === 0 ? free : null;
}

/** Whether a value is never the free one. */
function isTaken({ symbolic: { store, view }, supposed }: SynchronisingKernel, value: Term, free: Term): boolean {
  return view.decide(store.equal(value, free)) === false || (supposed?.has('taken') === true && value !== free);
}

/** Numbers of which no two threads have the same. */
interface Numbers {
  readonly number: Term;
  /** The counter that issues the numbers; null for block indices. */
  readonly counter: Access | null;
  /** Whether all threads of a block have the same number, so that it identifies only thread 0. */
  readonly isOfBlock: boolean;
}

function findTicketNumbers(of: SynchronisingKernel): readonly Numbers[] {
  const { symbolic, accesses } = of;
  const tickets = findTickets(of, [], () => false);
  return accesses.flatMap((counter): Numbers[] => {
    const [number] = counter.instruction.results;
    if (!isValue(number) || !tickets.has(number) || tickets.get(number)!.ofWarp) return [];
    return [{ number: symbolic.value(number), counter, isOfBlock: symbolic.leaderValues.has(number) }];
  });
}

/** The block index that no two blocks have in common that look at one element; null if none exists. */
function blockNumber({ symbolic, dimensions }: SynchronisingKernel, look: Access): Numbers | null {
  const along = axisOf(look.targets[0]!.offset, look.bytes, dimensions);
  const [axis, ...more] = ([0, 1, 2] as const).filter((one) => dimensions.grid[one] !== 1 && one !== along);
  if (axis === undefined || more.length > 0) return null;
  return { number: symbolic.store.atom(32, { kind: 'block', axis }), counter: null, isOfBlock: true };
}

/**
 * The lock that a thread holds that reads its own number at the location. Only such a thread may advance it. Null if
 * other writes of the location exist.
 */
function servedLock(of: SynchronisingKernel, look: Access, { number, counter, isOfBlock }: Numbers): Pattern | null {
  const { symbolic, accesses, dimensions, mayBeSame } = of;
  const { store, kernel } = symbolic;
  const hasNumber = ({ block }: Access): boolean => !isOfBlock || areLeaders(pinsOf(symbolic, block, dimensions));
  if (!hasNumber(look) || (counter && isAt(look, counter)) || 8 * look.bytes !== number.width) return null;
  // Counters of two blocks issue the same numbers.
  if (counter?.memory === 'shared' && look.memory !== 'shared') return null;
  const own = accesses.filter((access) => isAt(access, look) && isStrong(access.instruction));
  const next = store.sum(number.width, 1n, [[number, 1n]]);
  // A thread that may draw a second number while it is inside does not know the successor of its first one.
  const hasOneNumber = counter === null || !canReach(kernel, counter, counter);
  const releases = own.filter((writer) => addedBy(symbolic, writer) === 1n || (hasOneNumber && writeOf(symbolic, writer)?.value === next));
  const isLegal = (rival: Access): boolean => releases.includes(rival) || (own.includes(rival) && isLook(of, rival));
  if (releases.length === 0 || !rivalsOf(accesses, look, mayBeSame).every(isLegal)) return null;
  const acquires = own
    .filter((access) => isLook(of, access) && hasNumber(access))
    .map((access) => {
      const isServed = store.equal(symbolic.value(access.instruction.results[0]!), number);
      return { access, shows: (part: Term) => part === isServed };
    });
  const { base, offset } = look.targets[0]!;
  return { ...lock, base, offset, own, acquires, releases, counter };
}

/** Whether an access is a strong read of one location, or of one for each index of a block, and does not change it. */
function isLook({ symbolic, dimensions }: SynchronisingKernel, access: Access): boolean {
  const isOfIndex = (): boolean => isOfOneElement(symbolic, access) && axisOf(access.targets[0]!.offset, access.bytes, dimensions) !== null;
  if ((!isOfOnePlace(access) && !isOfIndex()) || !isStrong(access.instruction) || !isValue(access.instruction.results[0])) return false;
  return access.operation === 'read' || isPoll(symbolic, access);
}
