/**
 * Small programs of a few threads, run in every interleaving of their steps, once under the race detector and once
 * against happens-before as the PTX ISA defines it (9.0, section 8), computed directly: relations between all events of
 * a finished run, closed transitively.
 */
import assert from 'node:assert/strict';
import type { AccessSite, Conflict, WatchedPage } from '../../../src/interpreter/detector/race-detector.ts';
import type { BlockOrder } from '../../../src/interpreter/detector/block-order.ts';
import type { InstructionId } from '../../../src/ir/form/kernel.ts';
import type { Scope, Semantics } from '../../../src/isa/model/operation.ts';
import { type Reach, reachOf } from '../../../src/memory-model/scope.ts';
import { RaceDetector } from '../../../src/interpreter/detector/race-detector.ts';

export type Registers = Record<string, number>;

/** Locations are words named by their place, 0 to 3; a pair of them is 8 bytes. */
export interface AccessStep {
  readonly kind: 'read' | 'write' | 'atomic';
  readonly at: number;
  readonly bytes: 4 | 8;
  readonly semantics: Semantics;
  readonly scope: Scope;
  /** The written value, as a function of the old one. */
  readonly value?: (old: number) => number;
  /** The register for the old value. */
  readonly into?: string;
  /** Waits for this value, as the last iteration of a loop does. */
  readonly until?: number | ((registers: Registers) => number);
  readonly when?: (registers: Registers) => boolean;
}

/** A step of a thread. */
export type Step =
  | AccessStep
  | { readonly kind: 'fence'; readonly semantics: 'sc' | 'acq_rel' | 'acquire' | 'release'; readonly scope: Scope }
  /** All threads of the block, or of the warp, that have not exited; `shuffle` orders no accesses. */
  | { readonly kind: 'barrier' | 'warp-barrier' | 'shuffle' }
  /** Some of the block's threads wait for each other and for those that arrive. */
  | { readonly kind: 'part-barrier' | 'arrive'; readonly number: number; readonly count: number };

export interface LitmusThread {
  readonly block: number;
  /** Number of the block's cluster; absent: that of the block, the only one of its cluster. */
  readonly cluster?: number;
  /** Number in the block; 32 numbers are a warp. */
  readonly thread: number;
  readonly steps: readonly Step[];
  /** Index of an earlier thread with the same steps: its instructions are those of that one. */
  readonly like?: number;
}

/** Pairs of accesses by the names of their steps: `0.2 1.1` is step 2 of thread 0 and step 1 of thread 1. */
export interface Races {
  /** Unordered pairs. */
  readonly certain: ReadonlySet<string>;
  /** Only the order of `fence.sc` operations, or an exchange within the warp. */
  readonly presumed: ReadonlySet<string>;
}

interface Event {
  readonly thread: number;
  readonly step: Step;
  readonly name: string;
  /** For events that synchronize threads: equal for the participants. */
  readonly meeting: number;
  /** Event whose value it read; -1: the initial one. */
  readonly source: number;
}

const threadsPerBlock = 64;
const none = -1;

/**
 * Runs the program in the order that `choose` returns; null if it deadlocks.
 * @param volatileRaces whether volatile accesses race, as in CUDA C++
 */
function run(
  threads: readonly LitmusThread[],
  volatileRaces: boolean,
  choose: (ready: readonly number[]) => number,
): { readonly events: readonly Event[]; readonly found: Races } | null {
  const sites: AccessSite[] = [];
  const siteOf: number[][] = [];
  for (const [thread, { steps, like }] of threads.entries()) {
    const own = steps.map((step, index) => {
      if (step.kind !== 'read' && step.kind !== 'write' && step.kind !== 'atomic') return none;
      const strong = step.semantics === 'weak' ? null : step.scope;
      const instruction = (100 * thread + index) as InstructionId;
      const { kind: operation, bytes, semantics } = step;
      return sites.push({ index: sites.length, instruction, operation, bytes, strong, semantics }) - 1;
    });
    siteOf.push(like === undefined ? own : siteOf[like]!);
  }
  const certain = new Set<string>();
  const presumed = new Set<string>();
  const brief = new Set<string>();
  const nameOf = ({ instruction }: AccessSite): string => `${Math.floor(instruction / 100)}.${instruction % 100}`;
  const pairOf = ({ first, second }: Conflict<WatchedPage>): string => [nameOf(first), nameOf(second)].sort().join(' ');
  const buffer = new ArrayBuffer(32);
  const words = new Int32Array(buffer);
  const options = { threads: threadsPerBlock, onlyBarriers: false, volatileRaces };
  const reaches = threads.flatMap(({ steps }) =>
    steps.flatMap((step) => ('scope' in step && step.semantics !== 'weak' ? [reachOf[step.scope]] : [])),
  );
  const narrowest = reaches.reduce<Reach>((least, reach) => (reach < least ? reach : least), 2);
  const isSequential = areSequential(threads);
  const watchers = [
    new RaceDetector<WatchedPage>(sites, { ...options, narrowest, isSequential }, (conflict) => {
      (conflict.presumed.length > 0 ? presumed : certain).add(pairOf(conflict));
    }),
    // The first pass when words are sifted: it finds the same pairs, without the distinction.
    new RaceDetector<WatchedPage>(sites, { ...options, narrowest, isSequential, presumes: false }, (conflict) => {
      brief.add(pairOf(conflict));
    }),
  ].map((detector) => {
    const page: WatchedPage = {
      u8: new Uint8Array(buffer),
      i32: words,
      heads: null,
      cellShift: 2,
      sync: null,
      hasCopies: false,
    };
    const blocks = new Map<number, BlockOrder>();
    for (const { block, cluster } of threads) if (!blocks.has(block)) blocks.set(block, detector.order.startBlock(block, cluster ?? block));
    const blockOf = (thread: number): BlockOrder => blocks.get(threads[thread]!.block)!;
    return { detector, order: detector.order, page, blockOf };
  });

  const events: Event[] = [];
  const position = threads.map(() => 0);
  const registers = threads.map((): Registers => ({}));
  const memory = new Int32Array(4);
  const lastWrite = [none, none, none, none];
  /** Threads that wait at their step, in the order in which they came. */
  const waiting = new Set<number>();
  const arrived = new Map<string, number[]>();
  let meetings = 0;

  const stepOf = (thread: number): Step | undefined => threads[thread]!.steps[position[thread]!];
  const wordsOf = (step: AccessStep): number[] => (step.bytes === 8 ? [step.at, step.at + 1] : [step.at]);
  const nameAt = (thread: number): string => `${threads[thread]!.like ?? thread}.${position[thread]}`;

  const isReady = (thread: number): boolean => {
    const step = stepOf(thread);
    if (!step || waiting.has(thread)) return false;
    if (!('until' in step) || step.until === undefined) return true;
    return memory[step.at] === (typeof step.until === 'number' ? step.until : step.until(registers[thread]!));
  };

  const access = (thread: number, step: AccessStep): void => {
    const { block: _, thread: number } = threads[thread]!;
    const accessed = wordsOf(step);
    // If the words have different writers, it reads the value of none.
    const writers = new Set(accessed.map((word) => lastWrite[word]!));
    const source = step.kind === 'write' || writers.size > 1 ? none : lastWrite[step.at]!;
    if (step.into !== undefined) registers[thread]![step.into] = memory[step.at]!;
    const value = step.value?.(memory[step.at]!) ?? 0;
    events.push({ thread, step, name: nameAt(thread), meeting: none, source });
    if (step.kind !== 'read') {
      for (const word of accessed) {
        memory[word] = words[word] = value;
        lastWrite[word] = events.length - 1;
      }
    }
    const site = sites[siteOf[thread]![position[thread]!]!]!;
    for (const { detector, page, blockOf } of watchers) detector.record(page, 4 * step.at, site, blockOf(thread), number, false);
  };

  const synchronize = (members: readonly number[], arrivals: readonly number[], act: () => void): void => {
    act();
    const meeting = meetings++;
    for (const thread of [...arrivals, ...members]) {
      const step = stepOf(thread)!;
      if (members.includes(thread)) {
        events.push({ thread, step, name: nameAt(thread), meeting, source: none });
        waiting.delete(thread);
        position[thread]!++;
      }
    }
  };

  /** Lets threads go on whose barrier is complete. */
  const settle = (): void => {
    for (const thread of waiting) {
      const step = stepOf(thread);
      if (!step || !waiting.has(thread)) continue;
      const own = threads[thread]!;
      const peers = threads.flatMap((peer, index) =>
        peer.block === own.block && (step.kind === 'barrier' || step.kind === 'part-barrier' || peer.thread >> 5 === own.thread >> 5)
          ? [index]
          : [],
      );
      const there = peers.filter((peer) => waiting.has(peer) && stepOf(peer)!.kind === step.kind);
      if (step.kind === 'part-barrier') {
        const key = `${own.block} ${step.number}`;
        const early = arrived.get(key) ?? [];
        const same = there.filter((peer) => (stepOf(peer) as typeof step).number === step.number);
        if (same.length + early.length < step.count) continue;
        arrived.delete(key);
        const numbers = same.map((peer) => threads[peer]!.thread);
        // The events of arrivals participate in the synchronization: they are marked when it completes.
        const meeting = meetings;
        for (const event of early) events[event] = { ...events[event]!, meeting };
        synchronize(same, [], () => {
          for (const { order, blockOf } of watchers) order.partBarrier(blockOf(thread), step.number, numbers);
        });
        continue;
      }
      if (there.length < peers.filter((peer) => stepOf(peer)).length) continue;
      const warp = own.thread >> 5;
      synchronize(there, [], () => {
        for (const { order, blockOf } of watchers) {
          if (step.kind === 'barrier') order.fullBarrier(blockOf(thread));
          else if (step.kind === 'warp-barrier') order.warpBarrier(blockOf(thread), warp, null);
          else order.exchange(blockOf(thread), warp, null);
        }
      });
    }
  };

  for (;;) {
    for (const [thread] of threads.entries()) {
      for (let step = stepOf(thread); step && 'when' in step && step.when && !step.when(registers[thread]!); step = stepOf(thread)) {
        position[thread]!++;
      }
    }
    // The order of arrivals at a barrier of all threads has no effect.
    for (const thread of threads.keys()) {
      if (['barrier', 'warp-barrier', 'shuffle'].includes(stepOf(thread)?.kind ?? '')) waiting.add(thread);
    }
    settle();
    const ready = [...threads.keys()].filter(isReady);
    if (ready.length === 0) {
      if (threads.some((_, thread) => stepOf(thread))) return null;
      assert.deepEqual(brief, new Set([...certain, ...presumed]));
      return { events, found: { certain, presumed } };
    }
    const thread = choose(ready);
    const step = stepOf(thread)!;
    switch (step.kind) {
      case 'read':
      case 'write':
      case 'atomic':
        access(thread, step);
        break;
      case 'fence':
        events.push({ thread, step, name: nameAt(thread), meeting: none, source: none });
        for (const { order, blockOf } of watchers) order.fence(blockOf(thread), threads[thread]!.thread, step.semantics, step.scope);
        break;
      case 'arrive': {
        const key = `${threads[thread]!.block} ${step.number}`;
        events.push({ thread, step, name: nameAt(thread), meeting: none, source: none });
        arrived.set(key, [...(arrived.get(key) ?? []), events.length - 1]);
        for (const { order, blockOf } of watchers) order.arrive(blockOf(thread), step.number, threads[thread]!.thread);
        break;
      }
      default:
        waiting.add(thread);
        continue;
    }
    position[thread]!++;
  }
}

/** Whether all fences are `fence.sc`, and all scopes include the launch: then the order of fences is certain where it is forced. */
function areSequential(threads: readonly LitmusThread[]): boolean {
  return threads.every(({ steps }) =>
    steps.every((step) => {
      if (!('scope' in step) || step.semantics === 'weak') return true;
      return reachOf[step.scope] === 2 && (step.kind !== 'fence' || step.semantics === 'sc');
    }),
  );
}

const isAcquire = (semantics: Semantics): boolean => ['acquire', 'acq_rel', 'sc'].includes(semantics);
const isRelease = (semantics: Semantics): boolean => ['release', 'acq_rel', 'sc'].includes(semantics);

/** Races of a run, from the definitions. */
function naiveRaces(threads: readonly LitmusThread[], events: readonly Event[], volatileRaces: boolean): Races {
  const count = events.length;
  const matrix = (): boolean[][] => Array.from({ length: count }, () => new Array<boolean>(count).fill(false));
  const isMemory = (event: Event): boolean => 'at' in event.step;
  const isFence = (event: Event): boolean => event.step.kind === 'fence';
  const reads = (event: Event): boolean => event.step.kind === 'read' || event.step.kind === 'atomic';
  const writes = (event: Event): boolean => event.step.kind === 'write' || event.step.kind === 'atomic';
  const semanticsOf = ({ step }: Event): Semantics => ('semantics' in step ? step.semantics : 'weak');
  const includes = (a: Event, b: Event): boolean => {
    if (!('scope' in a.step)) return false;
    const [one, other] = [threads[a.thread]!, threads[b.thread]!];
    if (a.step.scope === 'gpu' || a.step.scope === 'sys' || one.block === other.block) return true;
    return a.step.scope === 'cluster' && (one.cluster ?? one.block) === (other.cluster ?? other.block);
  };
  const isStrong = (event: Event): boolean => isFence(event) || (isMemory(event) && semanticsOf(event) !== 'weak');
  const place = ({ step }: Event): string => ('at' in step ? `${step.at} ${step.bytes}` : '');
  const morallyStrong = (a: Event, b: Event): boolean => {
    if (a.thread !== b.thread && !(isStrong(a) && isStrong(b) && includes(a, b) && includes(b, a))) return false;
    return !isMemory(a) || !isMemory(b) || place(a) === place(b);
  };
  const programOrder = (a: number, b: number): boolean => a < b && events[a]!.thread === events[b]!.thread;
  const pairs = (visit: (a: number, b: number) => void): void => {
    for (let a = 0; a < count; a++) for (let b = 0; b < count; b++) visit(a, b);
  };
  /** Closes a relation transitively, in place. */
  const close = (relation: boolean[][]): boolean[][] => {
    for (let via = 0; via < count; via++) {
      pairs((a, b) => {
        if (relation[a]![via] && relation[via]![b]) relation[a]![b] = true;
      });
    }
    return relation;
  };

  // Observation order (8.9.2). Events that read are at most `count` steps from the write.
  const observes = matrix();
  const directly = matrix();
  pairs((w, r) => {
    const event = events[r]!;
    if (reads(event) && event.source === w && isStrong(event) && isStrong(events[w]!) && morallyStrong(events[w]!, event)) {
      directly[w]![r] = true;
    }
  });
  const follow = (w: number, from: number): void => {
    for (let r = 0; r < count; r++) {
      if (!directly[from]![r] || observes[w]![r]) continue;
      observes[w]![r] = true;
      if (events[r]!.step.kind === 'atomic') follow(w, r);
    }
  };
  for (let w = 0; w < count; w++) follow(w, w);

  // Release and acquire patterns (8.8), and synchronization by them and by barriers (8.9.4).
  const base = matrix();
  const synchronize = (w: number, r: number): void => {
    const firsts: number[] = [];
    const lasts: number[] = [];
    for (let other = 0; other < count; other++) {
      const event = events[other]!;
      const sameAs = (access: number): boolean => isMemory(event) && place(event) === place(events[access]!);
      if ((other === w || programOrder(other, w)) && isRelease(semanticsOf(event))) {
        if (isFence(event) || (writes(event) && sameAs(w))) firsts.push(other);
      }
      if ((other === r || programOrder(r, other)) && isAcquire(semanticsOf(event))) {
        if (isFence(event) || (reads(event) && sameAs(r))) lasts.push(other);
      }
    }
    for (const first of firsts) {
      for (const last of lasts) if (morallyStrong(events[first]!, events[last]!)) base[first]![last] = true;
    }
  };
  pairs((a, b) => {
    if (observes[a]![b]) synchronize(a, b);
    const [first, second] = [events[a]!, events[b]!];
    if (programOrder(a, b)) base[a]![b] = true;
    if (a === b || first.meeting === none || first.meeting !== second.meeting || first.step.kind === 'shuffle') return;
    if (second.step.kind !== 'arrive') base[a]![b] = true;
  });
  const exchanged: (readonly [number, number])[] = [];
  // A thread that has ended comes before the barriers that its block or warp passes then.
  for (const [at, event] of events.entries()) {
    const { kind } = event.step;
    if (kind !== 'barrier' && kind !== 'warp-barrier' && kind !== 'shuffle') continue;
    const own = threads[event.thread]!;
    for (const [thread, other] of threads.entries()) {
      if (other.block !== own.block || (kind !== 'barrier' && other.thread >> 5 !== own.thread >> 5)) continue;
      for (const [before, earlier] of events.entries()) {
        if (earlier.thread === thread && before < at && !events.slice(at).some((later) => later.thread === thread)) {
          if (kind === 'shuffle') exchanged.push([before, at]);
          else base[before]![at] = true;
        }
      }
    }
  }
  // Causality order (8.9.5) and conflicts (8.7).
  const causes = (relation: readonly (readonly boolean[])[], a: number, b: number): boolean =>
    relation[a]![b]! || events.some((_, via) => observes[a]![via]! && relation[via]![b]!);
  /** Whether two accesses are of the same memory, by two threads, and one of them writes. */
  const conflict = (a: number, b: number): boolean => {
    const [first, second] = [events[a]!, events[b]!];
    if (first.thread === second.thread || !('at' in first.step) || !('at' in second.step)) return false;
    const [low, high] = [first.step, second.step];
    const overlap = low.at < high.at + high.bytes / 4 && high.at < low.at + low.bytes / 4;
    return overlap && (writes(first) || writes(second));
  };

  /**
   * A fence comes before another one if the other order contradicted what two accesses of one location read and wrote. If
   * these race, fences that the first thread has executed since count, too.
   */
  function orderFences(): void {
    const fences = events.flatMap((event, at) => (isFence(event) && semanticsOf(event) === 'sc' ? [at] : []));
    const follow = (until: number, from: number): boolean => {
      let isNew = false;
      for (const x of fences) {
        for (const y of fences) {
          if (x === y || (x !== until && !base[x]![until]) || !base[from]![y] || base[x]![y]) continue;
          base[x]![y] = true;
          isNew = true;
        }
      }
      return isNew;
    };
    const settle = (): void => {
      for (let changed = true; changed;) {
        changed = false;
        pairs((a, b) => {
          if (a < b && conflict(a, b) && morallyStrong(events[a]!, events[b]!) && follow(a, b)) changed = true;
        });
        if (changed) close(base);
      }
    };
    settle();
    for (const b of events.keys()) {
      for (let a = 0; a < b; a++) {
        if (!conflict(a, b) || morallyStrong(events[a]!, events[b]!) || causes(base, a, b)) continue;
        const last = events.findLastIndex((event, at) => at < b && event.thread === events[a]!.thread);
        if (!follow(last, b)) continue;
        close(base);
        settle();
      }
    }
  }

  const presumedBase = base.map((row) => [...row]);
  for (const [before, at] of exchanged) presumedBase[before]![at] = true;
  close(base);
  const areFences = (a: number, b: number): boolean =>
    [a, b].every((one) => isFence(events[one]!) && semanticsOf(events[one]!) === 'sc') && morallyStrong(events[a]!, events[b]!);
  const isSequential = areSequential(threads);
  if (isSequential) orderFences();
  if (isSequential)
    pairs((a, b) => {
      if (base[a]![b]) presumedBase[a]![b] = true;
    });
  pairs((a, b) => {
    const [first, second] = [events[a]!, events[b]!];
    if (!isSequential && areFences(a, b) && a < b) presumedBase[a]![b] = true;
    if (a !== b && first.step.kind === 'shuffle' && first.meeting === second.meeting) presumedBase[a]![b] = true;
  });
  close(presumedBase);

  const certain = new Set<string>();
  const presumed = new Set<string>();
  pairs((a, b) => {
    if (a >= b || !conflict(a, b)) return;
    const [first, second] = [events[a]!, events[b]!];
    const isStrongPair = morallyStrong(first, second);
    if (isStrongPair && !(volatileRaces && [first, second].some((event) => semanticsOf(event) === 'volatile'))) return;
    // Reading the value of a volatile write orders nothing in CUDA C++.
    const ordered = (relation: readonly (readonly boolean[])[], x: number, y: number): boolean =>
      isStrongPair ? relation[x]![y]! : causes(relation, x, y);
    if (ordered(base, a, b) || ordered(base, b, a)) return;
    const pair = [first.name, second.name].sort().join(' ');
    (ordered(presumedBase, a, b) || ordered(presumedBase, b, a) ? presumed : certain).add(pair);
  });
  return { certain, presumed };
}

export interface Comparison {
  /** Runs that ended. */
  readonly runs: number;
  /** Races that the detector reported, over all runs. */
  readonly found: Races;
  /** By pair, an example: reported, but ordered by happens-before; and unreported, but unordered. */
  readonly falseAlarms: readonly string[];
  readonly missed: readonly string[];
}

/** Compares the detector with the definitions on runs that `choices` directs. */
function compare(threads: readonly LitmusThread[], volatileRaces: boolean, runs: Iterable<ReturnType<typeof run>>): Comparison {
  const found = { certain: new Set<string>(), presumed: new Set<string>() };
  const falseAlarms = new Set<string>();
  const missed = new Set<string>();
  let finished = 0;
  for (const result of runs) {
    if (!result) continue;
    finished++;
    const expected = naiveRaces(threads, result.events, volatileRaces);
    const trace = `in ${result.events.map(({ name }) => name).join(' ')}`;
    for (const kind of ['certain', 'presumed'] as const) {
      // If a pair races for certain, another occurrence that does not is ignored.
      const isKnown = (pair: string): boolean => kind === 'presumed' && expected.certain.has(pair);
      for (const pair of result.found[kind]) {
        found[kind].add(pair);
        if (!expected[kind].has(pair)) falseAlarms.add(`${kind} ${pair} ${trace}`);
      }
      for (const pair of expected[kind]) {
        if (!result.found[kind].has(pair) && !isKnown(pair)) missed.add(`${kind} ${pair} ${trace}`);
      }
    }
  }
  return { runs: finished, found, falseAlarms: [...falseAlarms], missed: [...missed] };
}

/** Runs a program in every order of its steps. */
export function everyOrder(threads: readonly LitmusThread[], volatileRaces = false): Comparison {
  function* orders(): Iterable<ReturnType<typeof run>> {
    // Each run follows the choices of the last one up to the last that had another possibility left.
    let path: { taken: number; readonly of: number }[] = [];
    do {
      let depth = 0;
      yield run(threads, volatileRaces, (ready) => {
        if (depth === path.length) path.push({ taken: 0, of: ready.length });
        return ready[path[depth++]!.taken]!;
      });
      while (path.length > 0 && path.at(-1)!.taken + 1 === path.at(-1)!.of) path = path.slice(0, -1);
      if (path.length > 0) path.at(-1)!.taken++;
    } while (path.length > 0);
  }
  return compare(threads, volatileRaces, orders());
}

/** Runs a program in some orders of its steps. */
export function someOrders(
  threads: readonly LitmusThread[],
  count: number,
  below: (bound: number) => number,
  volatileRaces = false,
): Comparison {
  function* orders(): Iterable<ReturnType<typeof run>> {
    for (let at = 0; at < count; at++) yield run(threads, volatileRaces, (ready) => ready[below(ready.length)]!);
  }
  return compare(threads, volatileRaces, orders());
}
