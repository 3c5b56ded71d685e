/**
 * The order in which operations of a host program end: what the host has waited for, what streams and events wait for.
 * It is an upper bound: nothing makes an operation end that the order does not include.
 *
 * Rules: CUDA programming guide, "Asynchronous Concurrent Execution"; CUDA runtime API, "Stream synchronization behavior"
 * (the legacy default stream) and "API synchronization behavior".
 */

/** By stream the number of the last operation that something may have waited for; numbers grow in the order in which operations are issued. */
export type Clock = ReadonlyMap<string, number>;

/** How a stream and the legacy default stream wait for each other: `legacy` is that stream, `separate` does not wait. */
export type StreamKind = 'legacy' | 'waiting' | 'separate' | 'unknown';

/** A stream, by the identity of its handle. */
export interface HostStream {
  readonly key: string;
  /** For messages. */
  readonly label: string;
  /** `unknown`: it may be any stream. */
  readonly kind: StreamKind;
}

/** Operations of the host itself are in a stream that is always complete. */
export const hostLane = 'host';

interface Lane {
  readonly kind: StreamKind;
  /** What ends before its next operation, its own operations included. */
  readonly clock: Clock;
  /** The operation before the next one; null if it is unknown. */
  readonly last: number | null;
  /** Present if that is a launch that may start early: launches before it that may not have ended when it started, the latest first. */
  readonly earlier?: readonly number[];
  /** Present if an event was recorded or waited for after it. */
  readonly hasEvent?: true;
}

/** A node of a graph that the program builds. */
interface GraphNode {
  readonly graph: string;
  readonly number: number;
  /** By number, the nodes that end before it. */
  readonly after: ReadonlySet<number>;
}

/** The order on one path. Immutable. */
export interface HostOrder {
  /** What the host has waited for. */
  readonly host: Clock;
  readonly lanes: ReadonlyMap<string, Lane>;
  /** What may have had to end before each event, by its handle. */
  readonly events: ReadonlyMap<string, Clock>;
  /** The same for events that were recorded by a handle that is not known. */
  readonly anyEvent: Clock;
  /** Nodes of graphs, by their handles. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Operations on this path that the host may not have waited for, by number. */
  readonly pending: readonly number[];
  /** The device that operations are issued to; undefined until one is chosen, null if it may be one of several. */
  readonly device: string | null | undefined;
  /** Captures of graphs, by the streams and the events that are part of one; null if they are not known. */
  readonly captures: ReadonlyMap<string, string> | null;
  /** By memory: the launches that are the last operation that uses it on the paths up to here, by number. */
  readonly lastUses: ReadonlyMap<string, ReadonlySet<number>>;
  /** Whether nothing was added that may not have ended. */
  readonly isExact: boolean;
}

export const noOrder: HostOrder = {
  host: new Map(),
  lanes: new Map(),
  events: new Map(),
  anyEvent: new Map(),
  nodes: new Map(),
  pending: [],
  device: undefined,
  captures: new Map(),
  lastUses: new Map(),
  isExact: true,
};

/** Maximum number of launches before one that starts early. */
const maxEarlier = 3;
/** Maximum number of operations that an operation is compared with: the latest ones. */
const maxPending = 64;

/** Numbers of two ascending lists, ascending. */
function latestOfBoth(first: readonly number[], second: readonly number[]): readonly number[] {
  if (first === second) return first;
  const all: number[] = [];
  for (let [a, b] = [0, 0]; a < first.length || b < second.length;) {
    const [x, y] = [first[a] ?? Infinity, second[b] ?? Infinity];
    all.push(Math.min(x, y));
    if (x <= y) a++;
    if (y <= x) b++;
  }
  return all.slice(-maxPending);
}

/** Both clocks: what may have ended by one of them. */
function eitherClock(first: Clock, second: Clock): Clock {
  if (first === second || second.size === 0) return first;
  if (first.size === 0) return second;
  const all = new Map(first);
  for (const [lane, number] of second) if ((all.get(lane) ?? 0) < number) all.set(lane, number);
  return all;
}

/** Whether an operation of a stream may have ended by a clock. */
export function includes(clock: Clock, lane: string, number: number): boolean {
  return number <= (clock.get(lane) ?? 0);
}

/** All operations so far. */
function everything({ host, lanes }: HostOrder): Clock {
  return [...lanes.values()].reduce((all, { clock }) => eitherClock(all, clock), host);
}

/** What ends before an operation that is now issued to a stream. */
function clockBefore(order: HostOrder, { key, kind }: Pick<HostStream, 'key' | 'kind'>): Clock {
  const own = eitherClock(order.host, order.lanes.get(key)?.clock ?? new Map<string, number>());
  return [...order.lanes].reduce(
    (all, [other, lane]) => (other !== key && mayWait(kind, lane.kind) ? eitherClock(all, lane.clock) : all),
    own,
  );
}

/** Whether an operation of a stream may wait for those that were issued to another one. */
function mayWait(kind: StreamKind, other: StreamKind): boolean {
  if (kind === 'unknown' || other === 'unknown') return true;
  return kind !== other && kind !== 'separate' && other !== 'separate';
}

function withLatest(pending: readonly number[], number: number): readonly number[] {
  return [...pending.slice(1 - maxPending), number];
}

/**
 * Issues an operation to a stream.
 * @param earlier launches of the stream that may not have ended when it starts, the latest first
 * @returns the order after it, and what ends before it
 */
export function afterIssue(
  order: HostOrder,
  stream: HostStream,
  number: number,
  earlier?: readonly number[],
): { readonly order: HostOrder; readonly before: Clock } {
  const before = clockBefore(order, stream);
  const clock = eitherClock(before, new Map([[stream.key, number]]));
  const lanes = new Map(order.lanes);
  // The stream whose handle is unknown may be any.
  for (const [key, lane] of order.lanes)
    if (key !== stream.key && (stream.kind === 'unknown' || lane.kind === 'unknown')) lanes.set(key, { ...lane, last: null });
  lanes.set(stream.key, { kind: stream.kind, clock, last: number, ...(earlier && { earlier: earlier.slice(0, maxEarlier) }) });
  const isExact = order.isExact && stream.kind !== 'unknown' && order.pending.length < maxPending;
  return { order: { ...order, lanes, pending: withLatest(order.pending, number), isExact }, before };
}

/** The host itself accesses memory. */
export function afterHostAccess(order: HostOrder, number: number): HostOrder {
  return { ...order, host: eitherClock(order.host, new Map([[hostLane, number]])) };
}

/** The host waits for a stream. */
export function hostWaitsFor(order: HostOrder, stream: HostStream): HostOrder {
  if (stream.kind === 'unknown') return { ...hostMayWait(order), isExact: false };
  const [own, all] = [
    eitherClock(order.host, order.lanes.get(stream.key)?.clock ?? new Map()),
    eitherClock(order.host, clockBefore(order, stream)),
  ];
  // It may also wait for what the default stream does.
  const isOwn = [...all].every(([lane, number]) => includes(own, lane, number));
  return { ...order, host: all, isExact: order.isExact && isOwn };
}

/** The host may have waited for everything. */
export function hostMayWait(order: HostOrder): HostOrder {
  return order.pending.length === 0 && order.lanes.size === 0 ? order : { ...order, host: everything(order), pending: [] };
}

/** Code that is not known: it may have waited for everything, in all streams, and launched kernels. */
export function unknownCode(order: HostOrder): HostOrder {
  if (order.lanes.size === 0 && order.events.size === 0) return order;
  const all = everything(order);
  return {
    ...order,
    host: all,
    lanes: new Map([...order.lanes].map(([key, lane]) => [key, { ...lane, last: null }])),
    events: new Map([...order.events].map(([key]) => [key, all])),
    anyEvent: all,
    pending: [],
    lastUses: new Map(),
    isExact: false,
  };
}

/** An operation uses memory. @param number of a launch; null for any other operation */
export function afterUse(order: HostOrder, memories: Iterable<string>, number: number | null): HostOrder {
  const lastUses = new Map(order.lastUses);
  for (const memory of memories) {
    if (number === null) lastUses.delete(memory);
    else lastUses.set(memory, new Set([number]));
  }
  return { ...order, lastUses };
}

/** An event is recorded in a stream. @param event null if it is unknown: then it may be any */
export function recorded(order: HostOrder, event: string | null, stream: HostStream): HostOrder {
  const clock = clockBefore(order, stream);
  const next = withLane(order, stream, clock);
  if (event !== null) {
    const capture = order.captures?.get(stream.key);
    const captures = order.captures && withEntry(order.captures, `event ${event}`, capture);
    return { ...next, events: new Map(order.events).set(event, clock), captures };
  }
  return {
    ...next,
    events: new Map([...order.events].map(([key, known]) => [key, eitherClock(known, clock)])),
    anyEvent: eitherClock(order.anyEvent, clock),
    captures: order.captures?.size === 0 ? order.captures : null,
    isExact: false,
  };
}

function withLane(order: HostOrder, { key, kind }: HostStream, clock: Clock): HostOrder {
  const last = order.lanes.get(key)?.last ?? null;
  return { ...order, lanes: new Map(order.lanes).set(key, { kind, clock, last, hasEvent: true }) };
}

function withEntry(all: ReadonlyMap<string, string>, key: string, value: string | undefined): ReadonlyMap<string, string> {
  if (all.get(key) === value) return all;
  const next = new Map(all);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}

/** What an event waits for; everything if it is unknown. */
function clockOf(order: HostOrder, event: string | null): Clock {
  if (event === null) return [...order.events.values(), order.anyEvent].reduce(eitherClock, everything(order));
  return order.events.get(event) ?? order.anyEvent;
}

/** A stream waits for an event: it is part of the capture in which the event was recorded. @param event null if it is unknown */
export function streamWaitsFor(order: HostOrder, stream: HostStream, event: string | null): HostOrder {
  const clock = eitherClock(clockBefore(order, stream), clockOf(order, event));
  const { captures } = order;
  const capture = event === null ? undefined : captures?.get(`event ${event}`);
  const isKnown = captures?.size === 0 || (event !== null && stream.kind !== 'unknown');
  return {
    ...withLane(order, stream, clock),
    captures: !captures || !isKnown ? null : capture === undefined ? captures : withEntry(captures, stream.key, capture),
    isExact: order.isExact && event !== null,
  };
}

/** A capture begins in a stream. */
export function captureBegun(order: HostOrder, { key, kind }: HostStream): HostOrder {
  const captures = kind === 'unknown' ? null : order.captures && withEntry(order.captures, key, key);
  return { ...order, captures, isExact: false };
}

/** The capture that began in a stream ends. */
export function captureEnded(order: HostOrder, { key }: HostStream): HostOrder {
  const left = order.captures && new Map([...order.captures].filter(([, capture]) => capture !== key));
  return { ...unknownCode(order), captures: left };
}

/** The capture that operations of a stream are part of; null without one, undefined if that is not known. */
export function captureOf({ captures }: HostOrder, stream: HostStream | null): string | null | undefined {
  if (!captures) return undefined;
  if (captures.size === 0 || !stream) return null;
  return stream.kind === 'unknown' ? undefined : (captures.get(stream.key) ?? null);
}

/** The host waits for an event. @param event null if it is unknown */
export function hostWaitsForEvent(order: HostOrder, event: string | null): HostOrder {
  return { ...order, host: eitherClock(order.host, clockOf(order, event)), isExact: order.isExact && event !== null };
}

/**
 * Adds a node to a graph.
 * @param after handles of the nodes that it depends on; null if they are unknown
 * @returns the order after it, and the nodes of the graph that may run at the same time, by number
 */
export function nodeAdded(
  order: HostOrder,
  node: { readonly handle: string; readonly graph: string; readonly after: readonly string[] | null; readonly number: number },
): { readonly order: HostOrder; readonly concurrent: readonly number[] } {
  const { handle, graph, number } = node;
  const others = [...order.nodes.values()].filter((one) => one.graph === graph);
  const known = node.after?.map((one) => order.nodes.get(one)) ?? [undefined];
  // A node that is not known may be any.
  const before = known.includes(undefined) ? others : known.map((one) => one!);
  const after = new Set(before.flatMap((one) => [one.number, ...one.after]));
  return {
    order: { ...order, nodes: new Map(order.nodes).set(handle, { graph, number, after }) },
    concurrent: others.map((one) => one.number).filter((one) => !after.has(one)),
  };
}

/**
 * The operation before the next one in a stream that may not have ended when that starts: `none` if all have, null if it is
 * unknown.
 */
export function lastOf(order: HostOrder, { key, kind }: HostStream): number | 'none' | null {
  const lane = order.lanes.get(key);
  if (order.device === null) return 'none';
  if (!lane) return null;
  const own = lane.clock.get(key);
  const others = [...order.lanes].flatMap(([other, { kind: of, clock }]) => (other !== key && mayWait(kind, of) ? [clock] : []));
  const ended = own !== undefined && [order.host, ...others].some((clock) => includes(clock, key, own));
  if (ended && lane.last !== null) return 'none';
  return lane.hasEvent ? null : lane.last;
}

/** Launches of a stream that may not have ended when the last one started, the latest first. */
export function launchesBeforeLast(order: HostOrder, { key }: HostStream): readonly number[] {
  return order.lanes.get(key)?.earlier ?? [];
}

/** The order where two paths join: what may have ended on one of them. */
export function joinedOrder(first: HostOrder, second: HostOrder): HostOrder {
  if (first === second) return first;
  const lanes = new Map(first.lanes);
  for (const [key, lane] of second.lanes) {
    const own = first.lanes.get(key);
    lanes.set(
      key,
      own
        ? { ...lane, clock: eitherClock(own.clock, lane.clock), last: own.last === lane.last ? own.last : null }
        : { ...lane, last: null },
    );
  }
  for (const [key, lane] of first.lanes) if (!second.lanes.has(key)) lanes.set(key, { ...lane, last: null });
  const events = new Map(first.events);
  for (const [key, clock] of second.events) events.set(key, eitherClock(events.get(key) ?? first.anyEvent, clock));
  for (const [key, clock] of first.events) if (!second.events.has(key)) events.set(key, eitherClock(clock, second.anyEvent));
  return {
    host: eitherClock(first.host, second.host),
    lanes,
    events,
    anyEvent: eitherClock(first.anyEvent, second.anyEvent),
    nodes: new Map([...first.nodes, ...second.nodes]),
    pending: latestOfBoth(first.pending, second.pending),
    device: first.device === second.device ? first.device : null,
    captures: first.captures === second.captures ? first.captures : null,
    lastUses: joinedUses(first.lastUses, second.lastUses),
    isExact: false,
  };
}

/** Whether operations of an iteration may overlap with those of the next one. @param again at its end */
export function mayMeetNext(entry: HostOrder, again: HostOrder): boolean {
  const last = again.pending.at(-1);
  if (last === undefined || last === entry.pending.at(-1)) return false;
  return again.lanes.size > 1 || again.host.has(hostLane) || [...again.lanes.values()].some(({ earlier }) => earlier !== undefined);
}

function joinedUses(first: HostOrder['lastUses'], second: HostOrder['lastUses']): HostOrder['lastUses'] {
  if (first === second) return first;
  // Memory that one of the paths does not use is left out: the paths of two launches may exclude each other.
  const both = [...first].filter(([memory]) => second.has(memory));
  return new Map(both.map(([memory, numbers]) => [memory, new Set([...numbers, ...second.get(memory)!])]));
}

/**
 * The order at the start of any iteration of a loop, whose iterations are not executed one by one.
 * @param again at the end of an iteration
 */
export function orderOfAny(entry: HostOrder, again: HostOrder): HostOrder {
  if (entry === again) return entry;
  const all = joinedOrder(entry, again);
  // Operations before the loop that an iteration waits for.
  const grows = (before: Clock | undefined, after: Clock): boolean =>
    [...after].some(([lane, number]) => {
      const latest = (lane === hostLane ? entry.host : entry.lanes.get(lane)?.clock)?.get(lane) ?? 0;
      return Math.min(number, latest) > (before?.get(lane) ?? 0);
    });
  const isMore =
    grows(entry.host, all.host) ||
    [...all.lanes].some(([key, { clock }]) => grows(entry.lanes.get(key)?.clock, clock)) ||
    [...all.events].some(([key, clock]) => grows(entry.events.get(key), clock));
  return { ...(isMore ? unknownCode(all) : all), pending: isMore ? [] : entry.pending, lastUses: again.lastUses };
}
