/**
 * Enumerates the executions of a few threads that the PTX memory model allows (PTX ISA 9.0, sections 8.7 to 8.10), and
 * checks whether conflicting accesses are ordered in them. A set of events is a bit mask.
 */
import type { ConflictKind } from '../../memory-model/conflict.ts';
import { bytesOfElement } from '../../memory-model/conflict.ts';
import { acquires, releases } from '../../memory-model/fence.ts';
import { type Reach, reachOf } from '../../memory-model/scope.ts';
import { NotFollowed, type ThreadStep } from './thread-traces.ts';

/** An event: a step of one of the threads. `readAt` is the index of the event that reads for an atomic. */
export interface Happening {
  readonly thread: number;
  readonly step: ThreadStep;
  readonly readAt: number | null;
}

/** A relation: for each event, the bit mask of the events that come after it. */
type Successors = Int32Array;

/** The events of the threads, and the relations that the launch determines. */
interface Question {
  readonly events: readonly Happening[];
  /** The closest common scope of two threads. */
  readonly distance: (a: number, b: number) => Reach;
  /** How two events conflict, if their race is of interest; null otherwise. */
  readonly conflict: (a: Happening, b: Happening) => ConflictKind | null;
  /** The initial value of the word that a read accesses. */
  readonly initial: (step: ThreadStep) => bigint | null;
  /** Counts an examined execution. @throws if there are too many */
  readonly count: () => void;
}

/** Limit on the events of one execution, so that a set of events is one 32-bit word. */
export const maxEvents = 31;

const maxFences = 8;

/** Whether some consistent execution of these events has a race. */
export function mayRace(question: Question): boolean {
  if (question.events.length > maxEvents) throw new NotFollowed('events');
  return new Executions(question).haveRace();
}

function has(set: number, event: number): boolean {
  return ((set >>> event) & 1) !== 0;
}

function close(successors: Successors): Successors {
  for (let via = 0; via < successors.length; via++)
    for (let from = 0; from < successors.length; from++) if (has(successors[from]!, via)) successors[from]! |= successors[via]!;
  return successors;
}

function hasCycle(successors: Successors): boolean {
  return close(new Int32Array(successors)).some((set, event) => has(set, event));
}

class Executions {
  readonly #q: Question;
  readonly #size: number;
  /** Program order. */
  readonly #after: Successors;
  readonly #strong: Successors;
  readonly #samePlace: Successors;
  readonly #barriers: Successors;
  readonly #writes: number;
  readonly #conflicts: readonly (readonly [number, number, ConflictKind])[];

  constructor(question: Question) {
    this.#q = question;
    const { events } = question;
    const size = events.length;
    this.#size = size;
    [this.#after, this.#strong, this.#samePlace, this.#barriers] = [0, 1, 2, 3].map(() => new Int32Array(size)) as [
      Successors,
      Successors,
      Successors,
      Successors,
    ];
    const conflicts: [number, number, ConflictKind][] = [];
    let writes = 0;
    for (const [a, one] of events.entries()) {
      if (one.step.kind === 'write') writes |= 1 << a;
      for (const [b, other] of events.entries()) {
        if (one.step.access && one.step.place === other.step.place) this.#samePlace[a]! |= 1 << b;
        if (a < b && one.thread === other.thread) this.#after[a]! |= 1 << b;
        if (this.#areMorallyStrong(one, other)) this.#strong[a]! |= 1 << b;
        const isBarrierPair = one.step.kind === 'arrive' && other.step.kind === 'pass' && one.step.barrier === other.step.barrier;
        if (isBarrierPair && question.distance(one.thread, other.thread) === 0) this.#barriers[a]! |= 1 << b;
        if (a >= b || one.thread === other.thread || !one.step.access || one.step.place !== other.step.place) continue;
        const conflict = one.step.kind === 'read' && other.step.kind === 'read' ? null : question.conflict(one, other);
        if (conflict) conflicts.push([a, b, conflict]);
      }
    }
    this.#writes = writes;
    this.#conflicts = conflicts;
  }

  /** Whether two events are morally strong (PTX ISA 8.7.1). */
  #areMorallyStrong(a: Happening, b: Happening): boolean {
    const [one, other] = [a.step.access, b.step.access];
    if (one && other && (a.step.place !== b.step.place || bytesOfElement(one) !== bytesOfElement(other))) return false;
    if (a.thread === b.thread) return true;
    const distance = this.#q.distance(a.thread, b.thread);
    return [a.step, b.step].every(({ access, fence }) => {
      const scope = fence ? fence.scope : (access?.strong ?? null);
      return scope !== null && reachOf[scope] >= distance;
    });
  }

  haveRace(): boolean {
    if (this.#conflicts.length === 0) return false;
    const sources = new Int32Array(this.#size).fill(-1);
    const reads = [...this.#q.events.keys()].filter((event) => this.#q.events[event]!.step.kind === 'read');
    const candidates = reads.map((read) => this.#sourcesOf(read));
    const choose = (index: number): boolean => {
      if (index === reads.length) return this.#racesWith(sources);
      const read = reads[index]!;
      return candidates[index]!.some((source) => {
        if (reads.slice(0, index).some((other) => sources[other] === source && this.#bothChange(read, other, source))) return false;
        sources[read] = source;
        return choose(index + 1);
      });
    };
    return choose(0);
  }

  /** The writes that a read may read from. -1 denotes the initial value. */
  #sourcesOf(read: number): readonly number[] {
    const { step } = this.#q.events[read]!;
    const sources: number[] = this.#q.initial(step) === step.value ? [-1] : [];
    for (const [event, { step: other, readAt }] of this.#q.events.entries()) {
      const isCandidate = other.kind === 'write' && has(this.#samePlace[read]!, event) && readAt !== read;
      if (isCandidate && !has(this.#after[read]!, event) && other.value === step.value) sources.push(event);
    }
    return sources;
  }

  /** Whether two atomics would both directly follow one write, which atomicity excludes. */
  #bothChange(a: number, b: number, source: number): boolean {
    const halves = [a, b].map((read) => this.#q.events.findIndex(({ readAt }) => readAt === read));
    if (halves.includes(-1) || !has(this.#strong[halves[0]!]!, halves[1]!)) return false;
    // The initial value precedes both atomics. A write precedes them if it is morally strong with both of their writes.
    return source === -1 || halves.every((half) => has(this.#strong[source]!, half));
  }

  /** Whether some consistent execution with these sources of the reads has a race. */
  #racesWith(sources: Int32Array): boolean {
    const fences = [...this.#q.events.keys()].filter((event) => this.#q.events[event]!.step.fence?.semantics === 'sc');
    const pairs = fences.flatMap((a) =>
      fences.filter((b) => a < b && has(this.#strong[a]!, b) && !has(this.#after[a]!, b)).map((b) => [a, b] as const),
    );
    if (pairs.length > maxFences) throw new NotFollowed('fences');
    for (let choice = 0; choice < 1 << pairs.length; choice++) {
      this.#q.count();
      const inOrder = new Int32Array(this.#size);
      for (const [index, [a, b]] of pairs.entries()) {
        const [first, second] = has(choice, index) ? [b, a] : [a, b];
        inOrder[first]! |= 1 << second;
      }
      const { base, causality } = this.#orders(sources, inOrder);
      if (causality.some((set, event) => has(set, event))) continue;
      const isOrdered = (order: Successors, a: number, b: number): boolean => has(order[a]!, b) || has(order[b]!, a);
      const races = this.#conflicts.some(([a, b, kind]) => !isOrdered(kind === 'volatile' ? base : causality, a, b));
      if (races && this.#isConsistent(sources, causality)) return true;
    }
    return false;
  }

  /** Base causality order and causality order (8.9.5). */
  #orders(sources: Int32Array, fenceOrder: Successors): { readonly base: Successors; readonly causality: Successors } {
    const { events } = this.#q;
    const size = this.#size;
    // Observation order (8.9.2), by write.
    const observed = new Int32Array(size);
    for (const [event, { step }] of events.entries()) {
      if (step.kind !== 'read') continue;
      const source = sources[event]!;
      if (source !== -1 && has(this.#strong[source]!, event)) observed[source]! |= 1 << event;
    }
    for (let changed = true; changed;) {
      changed = false;
      for (const [event, { readAt }] of events.entries()) {
        if (readAt === null) continue;
        for (let write = 0; write < size; write++) {
          if (!has(observed[write]!, readAt)) continue;
          const all = observed[write]! | observed[event]!;
          if (all !== observed[write]) changed = true;
          observed[write] = all;
        }
      }
    }
    const base = new Int32Array(size);
    for (let event = 0; event < size; event++) base[event] = this.#after[event]! | this.#barriers[event]! | fenceOrder[event]!;
    for (let write = 0; write < size; write++) {
      if (observed[write] === 0) continue;
      for (let read = 0; read < size; read++) {
        if (!has(observed[write]!, read)) continue;
        for (let first = 0; first < size; first++) {
          if (!this.#beginsRelease(first, write)) continue;
          for (let last = 0; last < size; last++)
            if (has(this.#strong[first]!, last) && this.#endsAcquire(read, last)) base[first]! |= 1 << last;
        }
      }
    }
    close(base);
    const causality = new Int32Array(base);
    for (let write = 0; write < size; write++)
      for (let read = 0; read < size; read++) if (has(observed[write]!, read)) causality[write]! |= base[read]!;
    return { base, causality };
  }

  /** Whether an event begins a release pattern that ends with a write (8.8). */
  #beginsRelease(first: number, write: number): boolean {
    const { step } = this.#q.events[first]!;
    if (step.fence) return releases(step.fence.semantics) && has(this.#after[first]!, write);
    if (step.kind !== 'write' || !releases(step.access!.semantics)) return false;
    return first === write || (has(this.#after[first]!, write) && has(this.#samePlace[first]!, write));
  }

  /** Whether an event ends an acquire pattern that begins with a read (8.8). */
  #endsAcquire(read: number, last: number): boolean {
    const { step } = this.#q.events[last]!;
    if (step.fence) return acquires(step.fence.semantics) && has(this.#after[read]!, last);
    if (step.kind !== 'read' || !acquires(step.access!.semantics)) return false;
    return last === read || (has(this.#after[read]!, last) && has(this.#samePlace[read]!, last));
  }

  /** Whether some coherence order of the writes satisfies the axioms (8.10). */
  #isConsistent(sources: Int32Array, causality: Successors): boolean {
    const { events } = this.#q;
    for (const [read, { step }] of events.entries())
      if (step.kind === 'read' && sources[read] !== -1 && has(causality[read]!, sources[read]!)) return false;
    const order = new Int32Array(this.#size);
    for (let write = 0; write < this.#size; write++)
      if (has(this.#writes, write)) order[write] = (causality[write]! | this.#after[write]!) & this.#samePlace[write]! & this.#writes;
    return this.#canOrder(order, sources, causality);
  }

  /** Whether a partial order of the writes can be extended to a coherence order that satisfies the axioms. */
  #canOrder(order: Successors, sources: Int32Array, causality: Successors): boolean {
    this.#q.count();
    close(order);
    if (order.some((set, event) => has(set, event))) return false;
    for (let a = 0; a < this.#size; a++) {
      if (!has(this.#writes, a)) continue;
      const others = this.#writes & this.#samePlace[a]! & this.#strong[a]!;
      for (let b = a + 1; b < this.#size; b++) {
        if (!has(others, b) || has(order[a]!, b) || has(order[b]!, a)) continue;
        if (!this.#meetsAxioms(order, sources, causality)) return false;
        return [
          [a, b],
          [b, a],
        ].some(([first, second]) => {
          const next = new Int32Array(order);
          next[first!]! |= 1 << second!;
          return this.#canOrder(next, sources, causality);
        });
      }
    }
    return this.#meetsAxioms(order, sources, causality);
  }

  /** Whether the axioms hold for an order. An extension of a violating order violates them, too. */
  #meetsAxioms(order: Successors, sources: Int32Array, causality: Successors): boolean {
    const { events } = this.#q;
    const size = this.#size;
    const communication = new Int32Array(size);
    for (let event = 0; event < size; event++) communication[event] = order[event]!;
    for (const [read, { step }] of events.entries()) {
      if (step.kind !== 'read') continue;
      const source = sources[read]!;
      if (source !== -1) communication[source]! |= 1 << read;
      const half = events.findIndex(({ readAt }) => readAt === read);
      let later = source === -1 ? this.#samePlace[read]! & this.#writes : order[source]!;
      if (half !== -1) later &= ~(1 << half);
      communication[read]! |= later;
      // Causality: a read does not see a write that another write, ordered before the read, overwrites.
      for (let write = 0; write < size; write++) {
        if (!has(later, write)) continue;
        if (has(causality[write]!, read)) return false;
        // Atomicity: no write comes between the read and the write of an atomic.
        if (half !== -1 && has(this.#strong[read]!, write) && has(this.#strong[write]!, half) && has(order[write]!, half)) return false;
      }
    }
    for (let event = 0; event < size; event++)
      communication[event] = (communication[event]! & this.#strong[event]!) | (this.#after[event]! & this.#samePlace[event]!);
    return !hasCycle(communication);
  }
}
