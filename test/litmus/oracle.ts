/**
 * Decides a litmus program by the PTX memory model (PTX ISA 9.0, section 8), by brute force: every path through its
 * threads, every write that each read may have read from, every order of `fence.sc` operations and of writes. It shares
 * no code with the prover or the race detector.
 */
import { leftBy, type LitmusProgram, type Place, type Scope } from './program.ts';
import { type Event, shareBarrier, valuesOf, type ProgramPath, programPaths } from './event.ts';
import { closed, composed, emptyRelation, isAcyclic, isIrreflexive, isRelated, relate, type Relation, union } from './relation.ts';

export interface Judgement {
  /** Pairs of statements that race in some consistent execution: `0:0.1 1:0.0` for statement 1 of thread 0 … */
  readonly races: ReadonlySet<string>;
  /** Pairs that race only in C++: one is volatile, and only the value of a volatile access orders them. */
  readonly volatileRaces: ReadonlySet<string>;
  /** Values read in executions in which no thread waits for ever: `0:0.1=1 1:0.0=0`. */
  readonly outcomes: ReadonlySet<string>;
  /** Number of consistent executions; 0 if only the races were requested. */
  readonly executions: number;
}

/** Properties of a set of events that do not depend on the values read. */
interface Frame extends ProgramPath {
  readonly places: readonly Place[];
  readonly programOrder: Relation;
  readonly morallyStrong: Relation;
  readonly sameLocation: Relation;
  /** Pairs that a barrier puts in order. */
  readonly met: Relation;
  /** From the reading half of an atomic to the writing one. */
  readonly halves: Relation;
}

/**
 * Judges a program.
 * @param question `races`: executions without a race are not counted, and outcomes are not collected
 */
export function decideProgram(program: LitmusProgram, question: 'all' | 'races' = 'races'): Judgement {
  const races = new Set<string>();
  const volatileRaces = new Set<string>();
  const outcomes = new Set<string>();
  let executions = 0;
  for (const ways of programPaths(program)) {
    const frame = frameOf(program, ways);
    const isWhole = program.threads.every(({ segments }, thread) => isFinished(ways.events, thread, segments));
    for (const sources of sourcesOf(frame)) {
      const values = valuesOf(ways.events, sources);
      if (!values || !ways.conditions.every(({ read, value, isEqual }) => (values[read] === value) === isEqual)) continue;
      const rf = emptyRelation(ways.events.length);
      for (const [read, source] of sources.entries()) if (source >= 0) relate(rf, source, read);
      if (!isFromSomewhere(frame, rf)) continue;
      for (const fenceOrder of ordersOf(frame, isFenceSc)) {
        const order = causalityOf(frame, rf, fenceOrder);
        if (!isIrreflexive(order.causality) || !isIrreflexive(composed(rf, order.causality))) continue;
        const found = racesOf(frame, order);
        const isNew = found.races.some((pair) => !races.has(pair)) || found.volatileRaces.some((pair) => !volatileRaces.has(pair));
        if (question === 'races' && !isNew) continue;
        const consistent = coherentOrders(frame, rf, sources, order.causality, question === 'all');
        if (consistent === 0) continue;
        executions += question === 'all' ? consistent : 0;
        for (const pair of found.races) races.add(pair);
        for (const pair of found.volatileRaces) volatileRaces.add(pair);
        if (question === 'all' && isWhole) outcomes.add(outcomeOf(frame, values));
      }
    }
  }
  for (const pair of races) volatileRaces.delete(pair);
  return { races, volatileRaces, outcomes, executions };
}

/** Whether a path reaches the end of a thread: the test of every wait was satisfied, and every barrier was passed. */
function isFinished(events: readonly Event[], thread: number, segments: readonly unknown[]): boolean {
  const own = events.filter((event) => event.thread === thread);
  return own.filter(({ kind }) => kind === 'wait').length === segments.length - 1;
}

const isMemory = ({ kind }: Event): boolean => kind === 'read' || kind === 'write';
const isFenceSc = ({ kind, order }: Event): boolean => kind === 'fence' && order === 'sc';
const isWrite = ({ kind }: Event): boolean => kind === 'write';

/** Whether the scope of an operation includes a thread (8.5). */
function includes(scope: Scope, own: Place, other: Place): boolean {
  if (scope === 'gpu' || scope === 'sys') return true;
  return scope === 'cta' ? own.block === other.block : own.cluster === other.cluster;
}

function frameOf(program: LitmusProgram, ways: ProgramPath): Frame {
  const { events } = ways;
  const places = program.threads.map(({ place }) => place);
  const size = events.length;
  if (size > 32) throw new Error(`${size} events are too many for the oracle`);
  const [programOrder, morallyStrong, sameLocation, met, halves] = Array.from({ length: 5 }, () => emptyRelation(size));
  for (const [a, first] of events.entries()) {
    for (const [b, second] of events.entries()) {
      const [one, other] = [places[first.thread]!, places[second.thread]!];
      const isSame = isMemory(first) && first.at === second.at;
      if (isSame) relate(sameLocation!, a, b);
      if (a < b && first.thread === second.thread) relate(programOrder!, a, b);
      if (isMorallyStrong(first, second, one, other)) relate(morallyStrong!, a, b);
      const isMeeting = first.kind === 'arrive' && second.kind === 'wait' && first.barrier === second.barrier;
      if (isMeeting && shareBarrier(one, other, first.order)) relate(met!, a, b);
      if (typeof second.value === 'object' && second.value.read === a) relate(halves!, a, b);
    }
  }
  return {
    ...ways,
    places,
    programOrder: programOrder!,
    morallyStrong: morallyStrong!,
    sameLocation: sameLocation!,
    met: met!,
    halves: halves!,
  };
}

/** 8.7.1: of one thread, or both strong, each with a scope that includes the other's thread; of memory, the same bytes. */
function isMorallyStrong(a: Event, b: Event, one: Place, other: Place): boolean {
  if (isMemory(a) && isMemory(b) && a.at !== b.at) return false;
  if (a.thread === b.thread) return true;
  const areStrong = [a, b].every((event) => event.kind === 'fence' || (isMemory(event) && event.order !== 'weak'));
  return areStrong && includes(reach(a), one, other) && includes(reach(b), other, one);
}

/** A volatile operation is a relaxed one of system scope (9.7.9.8). */
function reach({ order, scope }: Event): Scope {
  return order === 'volatile' ? 'sys' : scope;
}

/** For each event the write it reads from, in every combination; -1 if it reads the initial value. */
function* sourcesOf(frame: Frame): Iterable<readonly number[]> {
  const { events, programOrder, halves } = frame;
  const known = knownValues(frame);
  const reads = [...events.keys()].filter((event) => events[event]!.kind === 'read');
  const choices = reads.map((read) =>
    [
      -1,
      ...[...events.keys()].filter(
        (write) =>
          isWrite(events[write]!) &&
          events[write]!.at === events[read]!.at &&
          !isRelated(programOrder, read, write) &&
          !isRelated(halves, read, write),
      ),
    ].filter((source) => mayGive(frame, read, source === -1 ? 0 : known[source]!)),
  );
  const sources = events.map(() => -1);
  function* choose(index: number): Iterable<readonly number[]> {
    if (index === reads.length) {
      yield sources;
      return;
    }
    const read = reads[index]!;
    for (const source of choices[index]!) {
      if (reads.slice(0, index).some((other) => sources[other] === source && excludeEachOther(frame, read, other, source))) continue;
      sources[read] = source;
      yield* choose(index + 1);
    }
  }
  yield* choose(0);
}

/** Two atomics that reach each other do not both read from one write that reaches them (8.10.3). */
function excludeEachOther({ halves, morallyStrong }: Frame, a: number, b: number, source: number): boolean {
  if (halves[a] === 0 || halves[b] === 0 || !isRelated(morallyStrong, a, b)) return false;
  return source === -1 || (isRelated(morallyStrong, source, a) && isRelated(morallyStrong, source, b));
}

/** The values of writes that do not depend on the reads-from relation; null for the others. */
function knownValues({ events, conditions }: Frame): readonly (number | null)[] {
  return events.map(({ value }) => {
    if (typeof value !== 'object') return value ?? null;
    const { operation, value: operand } = value.statement;
    const condition = conditions.find(({ read, isEqual }) => read === value.read && isEqual);
    if (condition) return leftBy(operation, condition.value, operand);
    return operation === 'exch' ? operand : null;
  });
}

/** Whether a read may find a value; one that is not known may be any. */
function mayGive({ conditions }: Frame, read: number, found: number | null): boolean {
  if (found === null) return true;
  return conditions.every((condition) => condition.read !== read || (condition.value === found) === condition.isEqual);
}

/** No thin air (8.10.4): no value is the reason for itself. */
function isFromSomewhere({ controls, halves }: Frame, rf: Relation): boolean {
  const dependence = union(rf, halves);
  for (const [event, reads] of controls.entries()) for (const read of reads) relate(dependence, read, event);
  return isAcyclic(dependence);
}

/** Every order of each pair of morally strong operations of a kind; those of one thread are in program order. */
function* ordersOf({ events, morallyStrong }: Frame, isOfKind: (event: Event) => boolean): Iterable<Relation> {
  const pairs: (readonly [number, number])[] = [];
  const fixed = emptyRelation(events.length);
  for (const [a, first] of events.entries()) {
    if (!isOfKind(first)) continue;
    for (let b = a + 1; b < events.length; b++) {
      if (!isOfKind(events[b]!) || !isRelated(morallyStrong, a, b)) continue;
      if (first.thread === events[b]!.thread) relate(fixed, a, b);
      else pairs.push([a, b]);
    }
  }
  for (let choice = 0; choice < 2 ** pairs.length; choice++) {
    const order = new Int32Array(fixed);
    for (const [index, [a, b]] of pairs.entries()) {
      if ((choice >> index) & 1) relate(order, b, a);
      else relate(order, a, b);
    }
    if (pairs.length === 0 || isAcyclic(order)) yield order;
  }
}

interface Order {
  readonly base: Relation;
  readonly causality: Relation;
}

const isRelease = ({ kind, order }: Event): boolean => kind === 'write' && (order === 'release' || order === 'acq_rel');
const isAcquire = ({ kind, order }: Event): boolean => kind === 'read' && (order === 'acquire' || order === 'acq_rel');
const isReleaseFence = ({ kind, order }: Event): boolean => kind === 'fence' && order !== 'acquire';
const isAcquireFence = ({ kind, order }: Event): boolean => kind === 'fence' && order !== 'release';

function causalityOf(frame: Frame, rf: Relation, fenceOrder: Relation): Order {
  const { events, programOrder, morallyStrong, sameLocation, met, halves } = frame;
  const size = events.length;
  // Observation order (8.9.2): morally strong reads of a value, through any number of atomics.
  const strongRf = emptyRelation(size);
  for (let write = 0; write < size; write++) strongRf[write] = rf[write]! & morallyStrong[write]!;
  const observation = composed(
    closed(union(strongRf, halves)),
    identity(events, ({ kind }) => kind === 'read'),
  );
  // Release patterns, from their first operation to the write; acquire patterns, from the read to the last (8.8).
  const release = emptyRelation(size);
  const acquire = emptyRelation(size);
  for (const [a, first] of events.entries()) {
    if (isRelease(first)) relate(release, a, a);
    if (isAcquire(first)) relate(acquire, a, a);
    for (const [b, second] of events.entries()) {
      if (!isRelated(programOrder, a, b)) continue;
      const isSame = isRelated(sameLocation, a, b);
      if (isWrite(second) && (isReleaseFence(first) || (isRelease(first) && isSame))) relate(release, a, b);
      if (first.kind === 'read' && (isAcquireFence(second) || (isAcquire(second) && isSame))) relate(acquire, a, b);
    }
  }
  const patterns = composed(composed(release, observedFromWrites(frame, observation)), acquire);
  for (let first = 0; first < size; first++) patterns[first]! &= morallyStrong[first]!;
  const base = closed(union(programOrder, met, fenceOrder, patterns));
  return { base, causality: union(base, composed(observation, base)) };
}

function observedFromWrites({ events }: Frame, observation: Relation): Relation {
  const only = new Int32Array(observation);
  for (const [event, { kind }] of events.entries()) if (kind !== 'write') only[event] = 0;
  return only;
}

function identity(events: readonly Event[], isMember: (event: Event) => boolean): Relation {
  const relation = emptyRelation(events.length);
  for (const [event, it] of events.entries()) if (isMember(it)) relate(relation, event, event);
  return relation;
}

/** Conflicts that are neither morally strong nor in causality order (8.7.2). */
function racesOf({ events, morallyStrong }: Frame, { base, causality }: Order): Record<'races' | 'volatileRaces', string[]> {
  const races: string[] = [];
  const volatileRaces: string[] = [];
  for (const [a, first] of events.entries()) {
    for (let b = a + 1; b < events.length; b++) {
      const second = events[b]!;
      if (first.thread === second.thread || first.at !== second.at || !isMemory(first) || !isMemory(second)) continue;
      if (!isWrite(first) && !isWrite(second)) continue;
      const isOrdered = (order: Relation): boolean => isRelated(order, a, b) || isRelated(order, b, a);
      const pair = `${first.thread}:${first.name} ${second.thread}:${second.name}`;
      if (!isRelated(morallyStrong, a, b)) {
        if (!isOrdered(causality)) races.push(pair);
      } else if ((first.order === 'volatile' || second.order === 'volatile') && !isOrdered(base)) volatileRaces.push(pair);
    }
  }
  return { races, volatileRaces };
}

/**
 * Number of orders of the writes that satisfy the axioms (8.10).
 * @param all without it, the search ends with the first
 */
function coherentOrders(frame: Frame, rf: Relation, sources: readonly number[], causality: Relation, all: boolean): number {
  const { events, sameLocation, morallyStrong, programOrder, halves } = frame;
  const size = events.length;
  const caused = emptyRelation(size);
  const sameProgramOrder = emptyRelation(size);
  let writes = 0;
  for (const [event, { kind }] of events.entries()) if (kind === 'write') writes |= 1 << event;
  for (let event = 0; event < size; event++) {
    if ((writes >>> event) & 1) caused[event] = causality[event]! & sameLocation[event]! & writes;
    sameProgramOrder[event] = programOrder[event]! & sameLocation[event]!;
  }
  let count = 0;
  for (const strongOrder of ordersOf(frame, isWrite)) {
    const coherence = closed(union(strongOrder, caused));
    if (!isIrreflexive(coherence)) continue;
    const fromReads = emptyRelation(size);
    for (const [read, { kind }] of events.entries()) {
      if (kind !== 'read') continue;
      const source = sources[read]!;
      fromReads[read] = source === -1 ? sameLocation[read]! & writes : coherence[source]!;
      // The writing half of an atomic comes after the write that it read.
      fromReads[read] &= ~(halves[read]! & writes);
    }
    const communication = union(rf, coherence, fromReads);
    for (let event = 0; event < size; event++) communication[event]! &= morallyStrong[event]!;
    if (!isAcyclic(union(communication, sameProgramOrder))) continue;
    if (!isIrreflexive(composed(fromReads, causality))) continue;
    if (!isAtomic(frame, fromReads, coherence)) continue;
    count++;
    if (!all) break;
  }
  return count;
}

/** No morally strong write comes between the halves of an atomic. */
function isAtomic({ events, halves, morallyStrong }: Frame, fromReads: Relation, coherence: Relation): boolean {
  for (const read of events.keys()) {
    if (halves[read] === 0) continue;
    for (const between of events.keys()) {
      const isAfter = isRelated(fromReads, read, between) && isRelated(morallyStrong, read, between);
      const isBefore = (coherence[between]! & halves[read]! & morallyStrong[between]!) !== 0;
      if (isAfter && isBefore) return false;
    }
  }
  return true;
}

/** Values of reads; for a statement that ran twice, the last one. */
function outcomeOf({ events }: Frame, values: readonly number[]): string {
  const found = new Map<string, number>();
  for (const [event, { kind, thread, name }] of events.entries()) if (kind === 'read') found.set(`${thread}:${name}`, values[event]!);
  return [...found].map(([name, value]) => `${name}=${value}`).join(' ');
}
