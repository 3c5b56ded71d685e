/** Records the operations of a host program, and finds those that may overlap and share memory. */
import { negatedFact } from '../../assumptions/simplify.ts';
import { type Fact, termConstant } from '../../assumptions/expression.ts';
import { isSame } from '../../assumptions/parts.ts';
import { memoriesIn } from '../../cuda/launches/value.ts';
import type { HostLaunch, HostOperation, HostTouch, OverlappingOperations } from './host-operation.ts';
import {
  type Clock,
  type HostStream,
  type HostOrder,
  afterHostAccess,
  afterIssue,
  afterUse,
  captureOf,
  hostLane,
  includes,
  lastOf,
  launchesBeforeLast,
  nodeAdded,
} from './order.ts';

/** What is recorded of an operation; the entry and facts about symbols are added when interpretation ends. */
export type LoggedOperation = Omit<HostOperation, 'launch'> & { readonly launch?: Omit<HostLaunch, 'entry'> };

export interface LoggedPair {
  readonly kind: OverlappingOperations['kind'];
  readonly first: LoggedOperation | null;
  readonly second: LoggedOperation;
  readonly between?: readonly LoggedOperation[];
  readonly memories?: readonly string[];
}

/** The order after an operation, and the pairs with earlier ones. */
interface LoggedOrder {
  readonly order: HostOrder;
  readonly pairs: readonly LoggedPair[];
}

export class OperationLog {
  readonly #all: { readonly operation: LoggedOperation; readonly lane: string; readonly capture: string | null | undefined }[] = [];

  /**
   * Issues an operation to a stream. @param stream null for an access of the host itself
   * @param early whether the launch may start before the one before it in the stream has ended
   * @returns the order after it, and the pairs with earlier operations
   */
  issue(order: HostOrder, operation: LoggedOperation, stream: HostStream | null, early: boolean): LoggedOrder {
    const number = this.#all.length + 1;
    const ownCapture = captureOf(order, stream);
    this.#all.push({ operation, lane: stream?.key ?? hostLane, capture: ownCapture });
    const before: Clock = stream ? afterIssue(order, stream, number).before : order.host;
    const isOpen = (earlier: number): boolean => {
      const { lane } = this.#all[earlier - 1]!;
      return !includes(order.host, lane, earlier);
    };
    const pending = order.pending.filter(isOpen);
    const open: HostOrder = { ...order, pending };
    const pairs: LoggedPair[] = [];
    // An unknown device has its own order; a captured operation runs when its graph is launched.
    if (order.device !== null && ownCapture !== undefined)
      for (const earlier of pending) {
        const { operation: first, lane, capture } = this.#all[earlier - 1]!;
        if (capture !== ownCapture || includes(before, lane, earlier)) continue;
        if (sharesMemory(first, operation) && mayBothHappen(first.facts, operation.facts))
          pairs.push({ kind: operation.kind === 'host' ? 'host' : 'streams', first, second: operation });
      }
    const earlier: number[] = [];
    if (early && stream) {
      const last = lastOf(order, stream);
      const first = typeof last === 'number' ? this.#all[last - 1]! : null;
      const isPair = first === null || (first.operation.kind === 'launch' && first.capture === ownCapture);
      // A copy before it is waited for, and so is what precedes the launch of a graph.
      if (last !== 'none' && isPair && ownCapture !== undefined) {
        pairs.push({ kind: 'programmatic', first: first && first.operation, second: operation });
        if (typeof last === 'number') earlier.push(last, ...launchesBeforeLast(order, stream).filter(isOpen));
        const launches = earlier.map((one) => this.#all[one - 1]!.operation);
        for (const [at, one] of launches.entries())
          if (at > 0) pairs.push({ kind: 'chain', first: one, between: launches.slice(0, at), second: operation });
      }
    }
    pairs.push(...this.#again(order, operation));
    const written = [...memoryOf(operation)].flatMap(([memory, isWritten]) => (isWritten ? [memory] : []));
    const isKnown = !operation.launch || operation.launch.arguments?.every(({ kind }) => kind !== 'record') === true;
    const known: HostOrder = isKnown ? open : { ...open, lastUses: new Map() };
    const used = afterUse(known, written, operation.launch ? number : null);
    return { order: stream ? afterIssue(used, stream, number, early ? earlier : undefined).order : afterHostAccess(used, number), pairs };
  }

  /** Earlier launches of the same kernel that are the last to use memory that this one is given. */
  #again({ lastUses }: HostOrder, operation: LoggedOperation): readonly LoggedPair[] {
    if (!operation.launch) return [];
    const found = new Map<number, string[]>();
    for (const memory of memoryOf(operation).keys())
      for (const number of lastUses.get(memory) ?? []) found.set(number, [...(found.get(number) ?? []), memory]);
    return [...found].flatMap(([number, memories]): LoggedPair[] => {
      const { operation: first } = this.#all[number - 1]!;
      const isPair = first.name === operation.name && mayBothHappen(first.facts, operation.facts);
      return isPair ? [{ kind: 'again', first, second: operation, memories }] : [];
    });
  }

  /** Adds a node to a graph. @param after handles of the nodes that it depends on; null if they are unknown */
  addNode(order: HostOrder, operation: LoggedOperation, handle: string, graph: string, after: readonly string[] | null): LoggedOrder {
    const number = this.#all.length + 1;
    this.#all.push({ operation, lane: graph, capture: null });
    const { order: next, concurrent } = nodeAdded(order, { handle, graph, after, number });
    const pairs = concurrent.flatMap((one): LoggedPair[] => {
      const { operation: first } = this.#all[one - 1]!;
      const isPair = sharesMemory(first, operation) && mayBothHappen(first.facts, operation.facts);
      return isPair ? [{ kind: 'streams', first, second: operation }] : [];
    });
    return { order: next, pairs };
  }
}

/** Whether two operations access one memory, and one may write it. */
function sharesMemory(first: LoggedOperation, second: LoggedOperation): boolean {
  if (!first.launch && !second.launch)
    return first.touches.some((one) =>
      second.touches.some(
        (other) =>
          one.memory.id === other.memory.id && (one.isWrite || other.isWrite) && !storeOneValue(one, other) && mayOverlap(one, other),
      ),
    );
  const [a, b] = [memoryOf(first), memoryOf(second)];
  return [...a].some(([id, isWritten]) => {
    const other = b.get(id);
    return other !== undefined && (isWritten || other);
  });
}

/** Whether two fills store the same value. */
function storeOneValue({ stored: one }: HostTouch, { stored: other }: HostTouch): boolean {
  return one !== undefined && other !== undefined && isSame(one, other);
}

/** Whether ranges of one memory may share a byte. */
function mayOverlap(first: HostTouch, second: HostTouch): boolean {
  const [a, b] = [first, second].map(({ offset, bytes }) => [offset, bytes].map((term) => (term ? termConstant(term) : undefined)));
  const [[from, length], [start, size]] = [a!, b!];
  const isKnown = from !== undefined && length !== undefined && start !== undefined && size !== undefined;
  return !isKnown || (from < start + size && start < from + length);
}

/** Memory that an operation accesses, by its identity, and whether it may write it. */
function memoryOf({ launch, touches }: LoggedOperation): ReadonlyMap<string, boolean> {
  const all = new Map<string, boolean>();
  for (const { memory, isWrite } of touches) all.set(memory.id, isWrite || all.get(memory.id) === true);
  for (const { id } of (launch?.arguments ?? []).flatMap(memoriesIn)) if (id !== 'null') all.set(id, true);
  return all;
}

/**
 * Whether one run may make two operations. Conditions that are not understood may exclude each other if both operations have one
 * that the other has not.
 */
function mayBothHappen(first: readonly Fact[], second: readonly Fact[]): boolean {
  const [own, other] = [first.filter((one) => !second.includes(one)), second.filter((one) => !first.includes(one))];
  if (own.some((one) => other.some((fact) => isSame(fact, negatedFact(one))))) return false;
  return !(own.some(isUnknown) && other.some(isUnknown));
}

function isUnknown(fact: Fact): boolean {
  if (fact.kind === 'not') return isUnknown(fact.operand);
  return fact.kind === 'unknown' || ((fact.kind === 'and' || fact.kind === 'or') && (isUnknown(fact.left) || isUnknown(fact.right)));
}
