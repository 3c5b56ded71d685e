/** Clocks of the threads of a block in the order of a run. Threads are numbered within the block. */
import type { CopyEffect } from '../../isa/model/operation.ts';
import type { Reach } from '../../memory-model/scope.ts';
import type { ByReach } from './release-pattern.ts';
import type { SyncLocation } from './sync-memory.ts';
import type { DetectorMemory } from './detector-memory.ts';
import { BlockNumbers } from './block-numbers.ts';
import { type OrderClocks, both, nothing } from './order-clocks.ts';
import { clockKey, clockKinds, noKey } from './vector-clock.ts';

/** Accesses of asynchronous copies, stored until their thread waits for them. */
export interface CopyGroup {
  /** Equal for the reads and the writes of the same copies. */
  readonly id: number;
  /** The moment at which the issuing thread waited for the group; null: not yet. */
  done: {
    readonly time: number;
    readonly barriers: number;
    readonly warpBarriers: number;
    readonly exchanges: number;
  } | null;
}

/** Copies that a thread started together: a wait may be only for their reads. */
export interface StartedCopies {
  readonly reads: CopyGroup;
  readonly writes: CopyGroup;
}

interface Copies {
  open: StartedCopies | null;
  /** Groups that were committed and not yet waited for, oldest first. */
  readonly committed: StartedCopies[][];
  /** Parts of the next group to commit that were already made to arrive at an mbarrier. */
  parts: StartedCopies[];
}

/** The order of a block's threads; a part of {@link HappensBefore}. Threads are numbered within the block. */
export class BlockOrder {
  readonly ordinal: number;
  readonly cluster: number;
  /** The arrays of numbers of this order. */
  readonly numbers: BlockNumbers;
  /** Number of barriers that the whole block has passed. */
  barriers = 0;
  /** By warp: number of barriers, and of exchanges, that the whole warp has passed. */
  readonly warpBarriers: Int32Array;
  readonly exchanges: Int32Array;
  /** By thread: number of times that it has published its clock. */
  readonly times: Int32Array;
  readonly known: OrderClocks[];
  /** By thread: the key and the count that were added last to its certain clock. */
  readonly lasts: Int32Array;
  /**
   * By reach, then by thread: the clocks published by its last releasing fence of at least this reach. Most fences are
   * followed by another one before an acquire, so the clocks are computed on demand.
   */
  readonly released: readonly (OrderClocks | undefined)[][];
  /**
   * By reach, then by thread: the time of that fence, if `released` lacks it; the thread's own accesses up to that time
   * come before the release. Above 0: `released` also lacks the clocks of the thread, which are unchanged. Below 0:
   * minus the time.
   */
  readonly releasedAt: readonly Int32Array[];
  /** By reach, then by thread: clocks observed by its strong reads, for the next acquiring fence. */
  readonly observed: readonly OrderClocks[][];
  /** By thread: 0 if it has observed nothing, at any reach. */
  readonly hasObserved: Int32Array;
  /** By thread and location: clocks observed, for an acquire of that location. */
  readonly observedAt: (Map<SyncLocation, ByReach> | undefined)[];
  /** By thread, then by the name of the groups, or `mbarrier`. */
  readonly #copies: (Map<string, Copies> | undefined)[] = [];
  /** By barrier: clocks of the threads that arrived without waiting. */
  arrived: Map<number, OrderClocks> | null = null;
  /** By thread: the clocks of its last `fence.sc` that the barriers of the block have passed on. */
  readonly passedOn: (OrderClocks | undefined)[] = [];
  readonly #narrowest: Reach;

  /**
   * @param narrowest narrowest reach of an operation of the kernel
   * @param memory for data read by WebAssembly code; null: no such code
   * @param former unused order of the same number of threads, whose arrays are reused
   */
  constructor(ordinal: number, cluster: number, threads: number, narrowest: Reach, memory: DetectorMemory | null, former?: BlockOrder) {
    this.#narrowest = narrowest;
    this.ordinal = ordinal;
    this.cluster = cluster;
    const numbers = former?.numbers ?? new BlockNumbers(threads, narrowest, memory);
    numbers.start(ordinal, clockKey(clockKinds.thread, ordinal * threads));
    this.numbers = numbers;
    this.warpBarriers = numbers.warpBarriers;
    this.exchanges = numbers.exchanges;
    this.times = numbers.times;
    this.lasts = numbers.lasts;
    this.hasObserved = numbers.hasObserved;
    this.releasedAt = numbers.releasedAt;
    this.known = (former?.known ?? new Array<OrderClocks>(threads)).fill(nothing);
    this.released = former?.released ?? byReach<OrderClocks | undefined>(threads, narrowest);
    this.observed = former?.observed ?? byReach<OrderClocks>(threads, narrowest);
    for (const released of this.released) released.fill(undefined);
    for (const observed of this.observed) observed.fill(nothing);
    this.observedAt = former?.observedAt.length === 0 ? former.observedAt : [];
  }

  /** The copies of a thread that complete with a group of one name, or at mbarriers. */
  copiesOf(thread: number, completion: CopyEffect['completion']): Copies {
    const all = (this.#copies[thread] ??= new Map<string, Copies>());
    const name = completion === 'mbarrier' ? completion : completion.name;
    let copies = all.get(name);
    if (!copies) all.set(name, (copies = { open: null, committed: [], parts: [] }));
    return copies;
  }

  /** Adds clocks observed by a strong read of a thread: published to operations of a reach. */
  observe(thread: number, reach: Reach, knowledge: OrderClocks): void {
    const observed = this.observed[reach]!;
    observed[thread] = both(observed[thread]!, knowledge);
    this.hasObserved[thread] = 1;
  }

  /** Adds clocks to all that a thread knows from now on. */
  know(thread: number, knowledge: OrderClocks): void {
    for (let at = this.#narrowest; at <= 2; at++) {
      const times = this.releasedAt[at]!;
      if (times[thread]! <= 0) continue;
      this.released[at]![thread] = this.known[thread]!;
      times[thread] = -times[thread]!;
    }
    this.known[thread] = knowledge;
    const { definite } = knowledge;
    this.lasts[2 * thread] = definite === null ? noKey : definite.key;
    this.lasts[2 * thread + 1] = definite === null ? 0 : definite.count;
  }
}

/** An array of threads for each reach from the narrowest on. */
function byReach<Each>(threads: number, narrowest: Reach): Each[][] {
  return [0, 1, 2].map((reach) => (reach < narrowest ? [] : new Array<Each>(threads)));
}
