/**
 * Loops of host code: executed iteration by iteration where each iteration decides whether another one follows, else
 * summarised by one iteration that represents all of them, or all except the first.
 */
import { type Fact, type HostTerm, integer, one, termConstant, zeroTerm } from '../assumptions/expression.ts';
import { isSame } from '../assumptions/parts.ts';
import { arithmetic, compared } from '../assumptions/simplify.ts';
import { LayeredMap } from '../base/layered-map.ts';
import { type HostValue, termOf, valueKey } from '../cuda/launches/value.ts';
import { type HostLoop, blockFlowOf } from './flow.ts';
import type { Activation, EdgeState } from './activation.ts';
import type { Objects } from './objects.ts';
import { mayMeetNext, orderOfAny } from './operations/order.ts';
import { type Content, copiedCells, refined, written } from './object-contents.ts';
import { type MergeContext, type State, cloneState, mergeStates } from './state.ts';

/** Maximum number of iterations that are executed one by one. */
const maxIterations = 64;
/** Maximum share of the work limit for the iterations of one loop that are executed one by one. */
const maxShare = 0.25;
/** Number of iterations after the first one whose operations are compared: buffers often take turns in twos and threes. */
const maxFollowing = 3;
/** Maximum number of times that a loop is executed to find what it changes. */
const maxTrials = 8;

/** What executing loops needs of the interpreter. */
export interface LoopHost {
  readonly objects: Objects;
  /** Statements left before the work limit. */
  readonly steps: number;
  readonly isCutShort: boolean;
  /** Executes the blocks of a loop once. */
  readonly region: (activation: Activation, loop: HostLoop, entering: readonly EdgeState[]) => EdgeState[];
  /** Number of launches recorded; `rewind` drops later ones. */
  readonly mark: () => number;
  readonly rewind: (mark: number) => void;
  /** Whether a launch has an extent that differs between iterations and that none of its arguments determines. */
  readonly isLeftOpenSince: (mark: number, changed: ReadonlySet<string>) => boolean;
  /** Runs something without recording launches. */
  readonly silently: <Value>(run: () => Value) => Value;
  readonly know: (fact: Fact) => void;
  /** The name of the scalar type of an SSA name, if it is known. */
  readonly typeNameOf: (activation: Activation, label: string, version: number) => string | undefined;
  readonly everythingUnknown: (activation: Activation, state: State) => void;
}

interface Iteration {
  readonly exits: readonly EdgeState[];
  /** The state in which another iteration begins. */
  readonly again: State | null;
}

function iteration(host: LoopHost, activation: Activation, loop: HostLoop, state: State): Iteration {
  const out = host.region(activation, loop, [{ from: -1, to: loop.header, state }]);
  const exits = out.filter(({ to }) => to !== loop.header);
  const [first, ...rest] = out.filter(({ to }) => to === loop.header).map((edge) => edge.state);
  return {
    exits,
    again: first ? rest.reduce((all, next) => mergeStates(all, next, host.objects.context), first) : null,
  };
}

/** Executes a loop. @returns states on the edges that leave it */
export function executeLoop(host: LoopHost, activation: Activation, loop: HostLoop, entry: State): EdgeState[] {
  const [mark, returns, throws] = [host.mark(), activation.returns.length, activation.throws.length];
  const undo = (): void => {
    host.rewind(mark);
    activation.returns.length = returns;
    activation.throws.length = throws;
  };
  const unrolled = oneByOne(host, activation, loop, entry);
  if (unrolled) return unrolled;
  undo();
  if (host.isCutShort) return [];
  const changed = new Set<string>();
  const head = stateOfAny(host, activation, loop, entry, changed);
  const all = iteration(host, activation, loop, cloneState(head));
  if (host.isCutShort || !host.isLeftOpenSince(mark, changed)) return [...all.exits];
  undo();
  // The first iteration, and all others: what an iteration changes is known in the next one.
  const first = iteration(host, activation, loop, cloneState(entry));
  const before = host.silently(() => quietly(host, activation, loop, head).again);
  const others = before && first.again ? iteration(host, activation, loop, before).exits : [];
  return [...first.exits, ...others];
}

/** All iterations; null if some iteration may be the last one, or not. */
function oneByOne(host: LoopHost, activation: Activation, loop: HostLoop, entry: State): EdgeState[] | null {
  const limit = host.steps * (1 - maxShare);
  const returns = activation.returns.length;
  let state = cloneState(entry);
  for (let count = 0; count <= maxIterations && host.steps > limit; count++) {
    const { exits, again } = iteration(host, activation, loop, state);
    if (!again) return [...exits];
    if (exits.length > 0 || activation.returns.length > returns) {
      if (mayMeetNext(entry.order, again.order)) followingIterations(host, activation, loop, again, limit);
      return null;
    }
    state = again;
  }
  return null;
}

/** Iterations after the first one, for the order of their operations and those of iterations before, which other code undoes. */
function followingIterations(host: LoopHost, activation: Activation, loop: HostLoop, first: State, limit: number): void {
  for (let [count, state]: [number, State | null] = [0, first]; state && count < maxFollowing && host.steps > limit; count++)
    state = iteration(host, activation, loop, state).again;
}

function phisOf(activation: Activation, { header }: HostLoop): { readonly version: number; readonly label: string }[] {
  return (blockFlowOf(activation.fn).blocks.get(header)?.statements ?? []).flatMap((statement) =>
    statement.kind === 'phi' && statement.target.kind === 'ssa' ? [statement.target] : [],
  );
}

/** What iterations change: phis by version, and ranges of objects. */
interface Changes {
  readonly phis: Set<number>;
  readonly ranges: Map<number, Map<string, readonly [offset: number, bytes: number]>>;
  /** Objects that are unknown as a whole. */
  readonly whole: Set<number>;
  /** Ranges whose pointers leave the memory that they point to at first. */
  readonly leaving: Set<string>;
  /** Whether memory that unknown pointers point to changes. */
  isShared: boolean;
  /** Whether unknown code is called. */
  isCalled: boolean;
}

/** Maximum number of ranges of one object that are distinguished. */
const maxRanges = 64;

/** An iteration whose exits count for nothing. */
function quietly(host: LoopHost, activation: Activation, loop: HostLoop, state: State): Iteration {
  const [returns, throws] = [activation.returns.length, activation.throws.length];
  const found = iteration(host, activation, loop, cloneState(state));
  activation.returns.length = returns;
  activation.throws.length = throws;
  return found;
}

/** A state that represents the start of every iteration. @param changed gets the symbols of what iterations change */
function stateOfAny(host: LoopHost, activation: Activation, loop: HostLoop, entry: State, changed: Set<string>): State {
  const changes: Changes = {
    phis: new Set(),
    ranges: new Map(),
    whole: new Set(),
    leaving: new Set(),
    isShared: false,
    isCalled: false,
  };
  const phis = phisOf(activation, loop);
  const { context } = host.objects;
  let head: State = entry;
  const before = host.objects.count;
  // Variables of the calls in the loop are new in each iteration.
  const isNew = (key: number): boolean =>
    key >= before &&
    !/^(?:static|private|owned)$/.test(host.objects.at(key).kind) &&
    ![...activation.objects.values()].some((one) => one.key === key);
  for (let trial = 0; ; trial++) {
    head = stateOfAll(host, activation, phis, entry, changes, changed);
    if (trial > maxTrials) {
      // What changes was not found: no iteration is known.
      host.everythingUnknown(activation, head);
      for (const { version, label } of phis) head.values.set(version, host.objects.fresh(label));
      break;
    }
    const trialHead = head;
    const { again } = host.silently(() => quietly(host, activation, loop, trialHead));
    if (!again || !addChanges(again, head, entry, phis, changes, context, isNew)) {
      if (again) head.order = orderOfAny(entry.order, again.order);
      if (again) noteSteps(host, phis, entry, head, again, changes);
      break;
    }
  }
  return head;
}

/** The state at the start of any iteration: what iterations change is unknown. */
function stateOfAll(
  host: LoopHost,
  activation: Activation,
  phis: readonly { readonly version: number; readonly label: string }[],
  entry: State,
  changes: Changes,
  changed: Set<string>,
): State {
  const head = cloneState(entry);
  const fresh = (label: string, type?: string): HostValue => {
    const symbol = host.objects.freshSymbol(label, type, `\`${label}\`, which a loop changes`);
    changed.add(symbol.id);
    return { kind: 'symbol', symbol };
  };
  for (const { version, label } of phis) {
    if (!changes.phis.has(version)) continue;
    const before = entry.values.get(version);
    if (before) host.objects.lose(before);
    const type = host.typeNameOf(activation, label, version);
    head.values.set(version, movingPointer(before, fresh) ?? fresh(label === '' ? 'a number' : label.replace(/\.\d+$/, ''), type));
  }
  for (const [key, ranges] of changes.ranges) {
    let contents = host.objects.context.contents(key, head);
    for (const [offset, bytes] of ranges.values()) {
      const own = copiedCells(contents, offset, bytes, offset);
      const [cell] = own;
      const before = own.length === 1 && cell?.content.kind === 'value' ? cell.content.value : undefined;
      const moved = changes.leaving.has(`${key} ${offset}:${bytes}`) ? null : movingPointer(before, fresh);
      if (!moved) for (const { content } of own) if (content.kind === 'value') host.objects.lose(content.value);
      const value = moved ?? fresh(host.objects.at(key).memory.label, bytes === 4 ? 'int' : undefined);
      contents = written(contents, { offset, bytes, content: { kind: 'value', value } });
    }
    head.objects.set(key, host.objects.context.store(contents));
  }
  for (const key of changes.whole) host.objects.forget(host.objects.at(key), head);
  if (changes.isShared) head.changed = host.objects.context.now();
  if (changes.isCalled) head.called = host.objects.context.now();
  return head;
}

/** A pointer that the loop moves stays in its memory; null for other values. */
function movingPointer(before: HostValue | undefined, fresh: (label: string) => HostValue): HostValue | null {
  if (before?.kind !== 'pointer' || before.memory.id === 'null') return null;
  const offset = termOf(fresh('offset'));
  return offset && { ...before, offset };
}

/** Adds what an iteration changed. @returns whether something was added */
function addChanges(
  again: State,
  head: State,
  entry: State,
  phis: readonly { readonly version: number }[],
  changes: Changes,
  context: MergeContext,
  isNewObject: (key: number) => boolean,
): boolean {
  let isMore = false;
  for (const { version } of phis) {
    const [before, after] = [head.values.get(version), again.values.get(version)];
    if (!before || !after || valueKey(before) === valueKey(after) || changes.phis.has(version)) {
      if (!changes.phis.has(version) || !before || !after || before.kind !== 'pointer') continue;
      // A pointer that leaves its memory is unknown: it is a new symbol.
      if (after.kind === 'pointer' && after.memory.id === before.memory.id) continue;
      const start = entry.values.get(version);
      if (start) context.lose(start);
      context.lose(after);
      entry.values.set(version, context.fresh('a pointer'));
      isMore = true;
      continue;
    }
    changes.phis.add(version);
    context.lose(after);
    isMore = true;
  }
  if ((again.changed !== head.changed || again.outerChanged !== head.outerChanged) && !changes.isShared) {
    changes.isShared = true;
    isMore = true;
  }
  if (again.called !== head.called && !changes.isCalled) {
    changes.isCalled = true;
    isMore = true;
  }
  for (const key of LayeredMap.writtenApart(head.objects, again.objects)) {
    if (changes.whole.has(key) || isNewObject(key)) continue;
    const [before, after] = [context.contents(key, head), context.contents(key, again)];
    if (before === after) continue;
    const isBase = JSON.stringify(before.base) !== JSON.stringify(after.base);
    const ranges = changes.ranges.get(key) ?? new Map<string, readonly [number, number]>();
    let isNew = false;
    for (const [offset, bytes] of refined(before, after)) {
      const [a, b] = [before, after].map((state) => copiedCells(state, offset, bytes, offset).map(cellKey).join());
      if (a === b) continue;
      const id = `${offset}:${bytes}`;
      const [from, to] = [before, after].map((state) =>
        copiedCells(state, offset, bytes, offset).map(({ content }) => (content.kind === 'value' ? content.value : null)),
      );
      const isMoving =
        from?.length === 1 &&
        to?.length === 1 &&
        from[0]?.kind === 'pointer' &&
        to[0]?.kind === 'pointer' &&
        from[0].memory.id === to[0].memory.id;
      if (!isMoving) {
        for (const value of to ?? []) if (value) context.lose(value);
        const isPointer = from?.some((value) => value?.kind === 'pointer') ?? false;
        if (isPointer && !changes.leaving.has(`${key} ${id}`)) {
          changes.leaving.add(`${key} ${id}`);
          isNew = true;
        }
      }
      if (!ranges.has(id)) isNew = true;
      ranges.set(id, [offset, bytes]);
    }
    if (isBase || ranges.size > maxRanges) {
      changes.whole.add(key);
      changes.ranges.delete(key);
      isMore = true;
    } else if (isNew) {
      changes.ranges.set(key, ranges);
      isMore = true;
    }
  }
  return isMore;
}

function cellKey({ offset, bytes, content }: { readonly offset: number; readonly bytes: number; readonly content: Content }): string {
  return `${offset}:${bytes}:${content.kind === 'value' ? valueKey(content.value) : `${content.base.kind === 'zero' ? '0' : content.base.symbol.id}@${content.from}`}`;
}

/** Facts about variables that each iteration steps by a constant. */
function noteSteps(
  host: LoopHost,
  phis: readonly { readonly version: number }[],
  entry: State,
  head: State,
  again: State,
  changes: Changes,
): void {
  const note = (first: HostValue | undefined, now: HostValue | undefined, next: HostValue | undefined): void => {
    const terms = [first, now, next].map((value) => (value?.kind === 'pointer' ? value.offset : value && termOf(value)));
    const [a, b, c] = terms;
    if (a && b && c) progression(host, a, b, c);
  };
  for (const { version } of phis)
    if (changes.phis.has(version)) note(entry.values.get(version), head.values.get(version), again.values.get(version));
  for (const [key, ranges] of changes.ranges)
    for (const [offset, bytes] of ranges.values()) {
      const at = (state: State): HostValue | undefined => {
        const contents = host.objects.context.contents(key, state);
        const [cell, ...others] = copiedCells(contents, offset, bytes, 0);
        return others.length === 0 && cell?.content.kind === 'value' ? cell.content.value : undefined;
      };
      note(at(entry), at(head), at(again));
    }
}

/** Facts about a variable in every iteration: its start, and its constant step. */
function progression(host: LoopHost, first: HostTerm, now: HostTerm, next: HostTerm): void {
  if (next.kind !== 'arithmetic' || !isSame(next.left, now)) return;
  const by = termConstant(next.right);
  const start = termConstant(first);
  if (by === undefined || by === 0n) return;
  const isPower = start !== undefined && start > 0n && (start & (start - 1n)) === 0n && by > 0n && (by & (by - 1n)) === 0n;
  switch (next.operator) {
    case '+': {
      host.know(compared(by > 0n ? '>=' : '<=', now, first));
      const rest = start === undefined || by === 1n || by < 0n ? null : arithmetic('%', now, integer(by));
      if (rest && start !== undefined && start >= 0n) host.know(compared('==', rest, integer(start % by)));
      return;
    }
    case '*':
      if (start !== undefined && start > 0n && by > 0n) host.know(compared('>=', now, first));
      break;
    case '/': {
      if (by < 2n) return;
      // A number that is positive after divisions was at least as large before.
      const below: Fact = { kind: 'or', left: compared('<=', now, zeroTerm), right: compared('<=', now, first) };
      host.know(start !== undefined && start >= 0n ? compared('<=', now, first) : below);
      if (start !== undefined && start >= 0n) host.know(compared('>=', now, zeroTerm));
      break;
    }
    default:
      return;
  }
  const less = isPower ? arithmetic('-', now, one) : null;
  const mask = less && arithmetic('&', now, less);
  if (mask) host.know(compared('==', mask, zeroTerm));
}
