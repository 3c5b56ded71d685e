/** The text of a race finding: the accesses, the missing order, and the remedy. */
import type { AccessDescription, ChosenLaunch, InterleavingStep, MissingOrder, Overlap, RaceFinding } from '../../verdict/finding.ts';
import type { Location } from '../../source/location.ts';
import { isCall, objectText, verbOf } from '../text/access-text.ts';
import { code, sentences } from '../text/code-text.ts';
import { chosenText } from '../text/launch-text.ts';
import { indexOverflow, misalignedText, outOfBounds, uninitialisedText } from './memory-fault.ts';
import { missingText, remedyText } from './missing-order.ts';
import { calledFrom, homeOf, lineText } from '../text/place.ts';
import { reasonText } from '../text/verdict-reason.ts';

/** A race that a run has confirmed. */
interface ShownRace {
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  readonly array?: string;
  readonly sameValue?: boolean;
  readonly overlap: Overlap;
  /** Names of the threads of `first` and `second`; a single name if a thread races with its own asynchronous copy. */
  readonly threads: readonly string[];
  readonly missing: MissingOrder;
  /** The barrier that both threads passed last. */
  readonly passed?: Extract<InterleavingStep, { action: 'pass' }>;
  readonly chosen?: ChosenLaunch;
  /** Whether the race occurs only if stores are delayed. */
  readonly holdsStores?: boolean;
  /** A fence of the block between the delayed store and the read. */
  readonly narrowFence?: Location;
  /** The condition under which the race occurs; absent if it always does. */
  readonly when?: string;
  /** The launch that passes one array to both parameters. */
  readonly passedAt?: Location;
  /** An unmodelled construct that may order the accesses, as a clause. */
  readonly doubt?: string;
}

/** The sentences on a race. */
export function raceMessage(finding: RaceFinding): string {
  const { overlap, interleaving, left, misaligned, uninitialised } = finding;
  if (finding.kind === 'index-overflow') return indexOverflow(finding);
  if (left) return outOfBounds(finding, left);
  if (misaligned) return misalignedText(finding, misaligned);
  if (uninitialised) return uninitialisedText(finding, uninitialised);
  if (!overlap || !interleaving?.missing) return possibleRace(finding);
  const { threads, steps, missing, holdsStores, narrowFence } = interleaving;
  const passed = steps.find((step) => step.action === 'pass');
  const names = threads.map(({ name }) => name);
  return shownRace({
    ...finding,
    overlap,
    missing,
    threads: names,
    ...(passed && { passed }),
    ...(holdsStores && { holdsStores }),
    ...(narrowFence && { narrowFence }),
  });
}

/** The sentences on a race that a run has confirmed. */
export function shownRace(race: ShownRace): string {
  const { first, second, array, sameValue, overlap, threads, missing, passed, holdsStores, narrowFence, chosen, when, doubt } = race;
  const isOwnCopy = threads.length === 1;
  const [a, b] = inOrder(race);
  const home = homeOf([a.access.location, b.access.location]);
  const accesses = { first, second, isOwnCopy, sameValue: sameValue === true };
  return sentences(
    `${actors(a, b, home, array, overlap)}; ${missingText(missing, accesses)}`,
    passedTwice(race),
    sameValue === true ? 'both write the same value' : undefined,
    doubt === undefined ? undefined : `the two accesses may be ordered: ${doubt}`,
    passed && !passesInMemory(missing) ? since(passed) : undefined,
    holdsStores === true ? missedStores : undefined,
    chosen && chosenClause(chosen, when),
    doubt === undefined ? (holdsStores === true ? fenceBetween(narrowFence, home) : remedyText(missing, accesses)) : undefined,
  );
}

/** Whether both threads may have passed a phase of a barrier in memory later than the last barrier of the block. */
function passesInMemory(missing: MissingOrder): boolean {
  return (
    (missing.kind === 'block-barrier' || missing.kind === 'warp-barrier') && (missing.others === 'in-memory' || missing.phase !== undefined)
  );
}

/** `the launch on line 12 passes one array as "in" and "out"`; undefined if both accesses are through one parameter. */
function passedTwice({ first, second, array, passedAt }: Pick<RaceFinding, 'first' | 'second' | 'array' | 'passedAt'>): string | undefined {
  const [one, other] = [first.array ?? array, second.array ?? array];
  if (one === other || one === undefined || other === undefined) return undefined;
  const at = passedAt ? ` on ${lineText(passedAt, homeOf([first.location, second.location]))}` : '';
  return `the launch${at} passes one array as ${code(one)} and ${code(other)}`;
}

function chosenClause(chosen: ChosenLaunch, when: string | undefined): string {
  const launch = `launched with ${chosenText(chosen)}`;
  return when === undefined
    ? `for example, the kernel races if it is ${launch}`
    : `the kernel races when ${code(when)}, for example if it is ${launch}`;
}

interface Actor {
  readonly access: AccessDescription;
  readonly name: string;
}

/**
 * The two accesses with their threads: the earlier line of the file first, and an asynchronous copy before later
 * accesses of its thread.
 */
function inOrder({ first, second, threads: [one, other] }: ShownRace): readonly [Actor, Actor] {
  const a = { access: first, name: one ?? 'one thread' };
  if (other === undefined) return [a, { access: second, name: 'then' }];
  const b = { access: second, name: other };
  const [at, then] = [first.location, second.location];
  return at && then && at.file === then.file && at.line > then.line ? [b, a] : [a, b];
}

/**
 * The two accesses of a race in one clause: ``thread 32 writes `s[t]` on line 12 while thread 31 reads `s[t + 1]` on
 * line 14, and both are `s[32]` ``.
 */
function actors(a: Actor, b: Actor, home: string | undefined, array: string | undefined, overlap: Overlap): string {
  const { element, bytes } = overlap;
  const [at, then] = [a.access.location, b.access.location];
  const isOneLine = at !== undefined && at.file === then?.file && at.line === then.line;
  const located = ({ location }: AccessDescription): string => (isOneLine || !location ? '' : ` on ${lineText(location, home)}`);
  const [first, second] = [objectText(a.access, array, element), objectText(b.access, array, element)];
  const isOneText = first === second && !isCall(a.access);
  const isNamed = a.access.expression !== undefined || b.access.expression !== undefined;
  const here = isOneText && element !== undefined && code(element) !== first ? ` (here ${code(element)})` : '';
  const again = !isOneText ? second : element !== undefined ? 'it' : isNamed ? second : `the same ${size(bytes)}`;
  const on = isOneLine && at ? `, both on ${lineText(at, home)}` : '';
  const same = isNamed && element === undefined ? `the same ${size(bytes)}${array === undefined ? '' : ` of ${code(array)}`}` : '';
  const common = !isOneText && element !== undefined && isNamed ? code(element) : same;
  const both = common === '' ? '' : `, and both access ${common}`;
  return (
    `${a.name} ${verbOf(a.access)} ${first}${here}${located(a.access)} ${b.name === 'then' ? 'and' : 'while'} ` +
    `${b.name} ${verbOf(b.access)} ${again}${located(b.access)}${on}${calledFrom([at, then], home)}${both}`
  );
}

/**
 * Why both threads reach their accesses although each reads what the other one stored before: the stores are delayed.
 */
const missedStores = 'both get there, as each reads what the other one stores before that store is visible to it';
/** The remedy for it. */
export function fenceBetween(narrow: Location | undefined, home: string | undefined): string {
  const fence = code('__threadfence()');
  return narrow
    ? `replace ${code('__threadfence_block()')} on ${lineText(narrow, home)}, whose scope is the block, with ${fence}`
    : `add ${fence} between that store and that read, in both threads`;
}

/** A number of bytes as text: `byte`, `4 bytes`. */
function size(bytes: number): string {
  return bytes === 1 ? 'byte' : `${bytes} bytes`;
}

/** The last common barrier: `both threads last passed the barrier on line 12, for the 2nd time`. */
function since({ of, times, location }: Extract<InterleavingStep, { action: 'pass' }>): string {
  const barrier = of === 'grid' ? 'the barrier of the grid' : 'the barrier';
  const often = times > 1 ? `, for ${nth(times)}` : '';
  return `both threads last passed ${barrier} on line ${location?.line}${often}`;
}

/** An ordinal number: `the 2nd time`. */
function nth(amount: number): string {
  const ending = amount % 100 > 10 && amount % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][amount % 10] ?? 'th');
  return `the ${amount}${ending} time`;
}

/** The sentences on a race that is neither excluded nor confirmed. */
function possibleRace(finding: RaceFinding): string {
  const { first, second, array = 'memory', scope, reason, more = 0 } = finding;
  const home = homeOf([first.location, second.location]);
  const others = more === 1 ? 'one more pair of lines' : `${more} more pairs of lines`;
  return sentences(
    mayMeet(first, second, array, scope === 'grid', home),
    passedTwice(finding),
    reason && reasonText(reason),
    more > 0 ? `accesses to ${code(array)} on ${others} may race too` : undefined,
  );
}

function mayMeet(first: AccessDescription, second: AccessDescription, array: string, isGrid: boolean, home: string | undefined): string {
  const who = isGrid ? 'two threads of different blocks' : 'two threads';
  const [at, then] = [first.location, second.location];
  const isOneLine = at !== undefined && at.file === then?.file && at.line === then.line;
  const calls = calledFrom([at, then], home);
  if (isOneLine && first.operation === second.operation && first.expression === second.expression) {
    const verb = { read: 'read', write: 'write', atomic: 'atomically update' }[first.operation];
    const by = first.expression === undefined ? '' : ` through ${code(first.expression)}`;
    return `${who} may ${verb} the same element of ${code(array)}${by} on ${lineText(at, home)}${calls}`;
  }
  const [a, b] = at && then && at.file === then.file && at.line > then.line ? [second, first] : [first, second];
  const does = (access: AccessDescription): string => {
    const where = isOneLine || !access.location ? '' : ` on ${lineText(access.location, home)}`;
    const what = access.expression === undefined ? 'it' : code(access.expression);
    return `${verbOf(access)} ${what}${where}`;
  };
  return `${who} may access the same element of ${code(array)}: one ${does(a)}, the other ${does(b)}${isOneLine && at ? `, both on ${lineText(at, home)}` : ''}${calls}`;
}
