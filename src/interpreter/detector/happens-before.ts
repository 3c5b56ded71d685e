/**
 * The happens-before order of the memory accesses of one run, by the PTX memory model (PTX ISA 9.0, section 8): program
 * order, barriers, and release patterns that acquire patterns observe. Each thread has a clock of the events before its
 * next instruction; barriers of whole blocks and warps are counted once for all of their threads.
 *
 * `fence.sc` operations are in some order, of which a run shows only one possibility. A fence X is certain to come
 * before a fence Y if X comes before a strong access, Y after a later one of the same location, and one of them writes:
 * in the other order the first access would come before the second, which contradicts what they read and wrote. Any
 * order that keeps these pairs is possible, so two accesses race if these pairs do not order them.
 *
 * In addition to the certain (must) order there is a presumed (may) order: exchanges within a warp (`shfl.sync`,
 * `vote.sync` …) synchronize threads without ordering their accesses, and in kernels with fences of several kinds all
 * `fence.sc` operations are presumed to be in the order of the run.
 */
import type { Instruction } from '../../ir/form/kernel.ts';
import { groupsLeftBy } from '../../isa/model/effect.ts';
import type { CopyEffect, GroupEffect, Scope, Semantics } from '../../isa/model/operation.ts';
import type { CopyGroup, StartedCopies } from './block-order.ts';
import type { ByReach } from './release-pattern.ts';
import type { DetectorMemory } from './detector-memory.ts';
import type { AccessHistory } from './access-history.ts';
import type { PhaseClock, SyncMemory } from './sync-memory.ts';
import { BlockOrder } from './block-order.ts';
import { type VectorClock, clockKey, clockKinds, join, includesEpoch, withCount } from './vector-clock.ts';
import { ReleasedKnowledge, joinByReach, nothingByReach, upTo } from './release-pattern.ts';
import { type Fence, acquires, fenceOf, releases } from '../../memory-model/fence.ts';
import { type Reach, reachOf, reachesOver } from '../../memory-model/scope.ts';
import { type OrderClocks, both, orderClocksOf, nothing, withKnown } from './order-clocks.ts';
import { SyncLocation, maxChains } from './sync-memory.ts';

/** Certainty with which one access comes before another. */
export const precedence = { no: 0, presumed: 1, definite: 2 } as const;
type Precedence = (typeof precedence)[keyof typeof precedence];

/** Why one access presumably comes before another. */
export type Presumption =
  /** Between them, both threads passed a `fence.sc`; another run may have those in the other order. */
  | 'fence-order'
  /** Between them, both threads took part in a `shfl.sync`, `vote.sync` or the like. */
  | 'warp-exchange';

/** Properties of the kernel, and the required precision, that determine what the order tracks. */
interface OrderOptions {
  /** Whether accesses acquire themselves; otherwise the values read of a location are relevant only to fences. */
  readonly hasAcquires: boolean;
  /** Whether accesses release themselves. */
  readonly hasReleases: boolean;
  /** Narrowest reach of a fence or strong access. */
  readonly narrowest: Reach;
  /**
   * Whether it tracks the presumed order. Without it, races that another execution would have ordered are not reported;
   * {@link HappensBefore.hasPresumed} states whether such races may exist.
   */
  readonly presumes: boolean;
  /** Whether all fences of the kernel are `fence.sc` and, like all strong accesses, reach the whole launch. */
  readonly isSequential: boolean;
  /** For data read by WebAssembly code; null without such code. */
  readonly memory: DetectorMemory | null;
}

const synchronising = { hasAcquires: true, hasReleases: true } as const;
const allTold: OrderOptions = { ...synchronising, narrowest: 0, presumes: true, isSequential: false, memory: null };

export class HappensBefore {
  readonly #threads: number;
  readonly #warps: number;
  readonly #fences = new ReleasedKnowledge();
  readonly #clusterArrivals = new Map<number, OrderClocks>();
  readonly #clusterPassed = new Map<number, OrderClocks>();
  /** Cluster by block. */
  readonly #clusters: number[] = [];
  /** Orders of blocks that have ended, and of those that run, by ordinal. */
  readonly #ended: BlockOrder[] = [];
  readonly #running = new Map<number, BlockOrder>();
  /** Events before the `fence.sc` operations of blocks that have ended. */
  #fencedByEnded: VectorClock = null;
  #chains = 0;
  #groups = 0;
  /** Whether fences, and exchanges, have made the presumed order larger than the certain one. */
  #hasFenceOrder = false;
  #hasPartExchanges = false;
  #hasExchanges = false;
  /** Whether some clock counts barriers of blocks, or of warps. */
  #countsBlocks = false;
  #countsWarps = false;

  readonly #hasAcquires: boolean;
  readonly #narrowest: Reach;
  readonly #presumes: boolean;
  readonly #isSequential: boolean;
  readonly #memory: DetectorMemory | null;
  /** Whether accesses synchronize only through fences, and all fences reach the whole launch. */
  readonly #isPlain: boolean;
  /** Whether fences reach the whole launch, and no presumed order is tracked. */
  readonly #isWide: boolean;

  /** @param threads number of threads of a block */
  constructor(threads: number, options: OrderOptions = allTold) {
    const { hasAcquires, hasReleases, narrowest, presumes, isSequential, memory } = options;
    this.#isWide = narrowest === 2 && !presumes;
    this.#isPlain = narrowest === 2 && !hasAcquires && !hasReleases;
    this.#hasAcquires = hasAcquires;
    this.#narrowest = narrowest;
    this.#presumes = presumes;
    this.#isSequential = isSequential;
    this.#memory = memory;
    if (this.#isWide) memory?.set('isWide', 1);
    this.#threads = threads;
    this.#warps = Math.ceil(threads / 32);
  }

  /** Whether some event orders accesses only in the presumed order. */
  get hasPresumed(): boolean {
    return this.#hasFenceOrder || this.#hasExchanges || (!this.#isSequential && this.#memory?.get('hasFenceOrder') === 1);
  }

  /**
   * The order of a block that starts.
   * @param cluster number of its cluster; blocks without one form separate clusters
   */
  startBlock(ordinal: number, cluster = ordinal): BlockOrder {
    this.#clusters[ordinal] = cluster;
    const block = new BlockOrder(ordinal, cluster, this.#threads, this.#narrowest, this.#memory, this.#ended.pop());
    this.#running.set(ordinal, block);
    return block;
  }

  /** Called when all threads of a block have exited; its order must not be used afterwards. */
  endBlock(block: BlockOrder): void {
    for (let thread = 0; this.#isSequential && thread < this.#threads; thread++)
      this.#fencedByEnded = join(this.#fencedByEnded, this.#fencedBy(block, thread));
    this.#running.delete(block.ordinal);
    this.#ended.push(block);
  }

  /** The cluster of a block that has started. */
  clusterOf(ordinal: number): number {
    return this.#clusters[ordinal]!;
  }

  /**
   * Whether an access comes before the next instruction of a thread.
   * @param byValue whether a strong write comes before reads of its value, without release and acquire, as in PTX
   */
  precedes(moments: AccessHistory, at: number, block: BlockOrder, thread: number, byValue = true): Precedence {
    const group = moments.copyOf(at);
    if (group && !group.done) return this.#isCopied(group, block, thread) ? precedence.definite : precedence.no;
    const time = group?.done ?? null;
    const { definite, presumed } = block.known[thread]!;
    const warp = thread >> 5;
    let sameWarp = false;
    if (moments.block(at) === block.ordinal) {
      const other = moments.thread(at);
      if (other === thread) return precedence.definite;
      if ((time?.barriers ?? moments.barriers(at)) < block.barriers) return precedence.definite;
      sameWarp = other >> 5 === warp;
      if (sameWarp && (time?.warpBarriers ?? moments.warpBarriers(at)) < block.warpBarriers[warp]!) {
        return precedence.definite;
      }
    }
    if (definite !== null && this.#isKnown(definite, moments, at, time, byValue)) return precedence.definite;
    if (sameWarp && (time?.exchanges ?? moments.exchanges(at)) < block.exchanges[warp]!) return precedence.presumed;
    return presumed !== definite && this.#isKnown(presumed, moments, at, time, byValue) ? precedence.presumed : precedence.no;
  }

  /** Reasons for which a moment presumably comes before the next instruction of a thread. */
  presumptions(moments: AccessHistory, at: number, block: BlockOrder, thread: number): readonly Presumption[] {
    const warp = thread >> 5;
    const sameWarp = moments.block(at) === block.ordinal && moments.thread(at) >> 5 === warp;
    const exchanges = moments.copyOf(at)?.done?.exchanges ?? moments.exchanges(at);
    if (sameWarp && exchanges < block.exchanges[warp]!) return ['warp-exchange'];
    if (!this.#hasFenceOrder) return ['warp-exchange'];
    return this.#hasPartExchanges ? ['fence-order', 'warp-exchange'] : ['fence-order'];
  }

  #isKnown(clock: VectorClock, moments: AccessHistory, at: number, done: CopyGroup['done'], byValue: boolean): boolean {
    const ordinal = moments.block(at);
    const thread = moments.thread(at);
    const warp = ordinal * this.#warps + (thread >> 5);
    const chain = byValue ? moments.chain(at) : 0;
    return (
      includesEpoch(clock, clockKey(clockKinds.thread, ordinal * this.#threads + thread), (done?.time ?? moments.time(at)) + 1) ||
      (this.#countsBlocks && includesEpoch(clock, clockKey(clockKinds.block, ordinal), (done?.barriers ?? moments.barriers(at)) + 1)) ||
      (this.#countsWarps && includesEpoch(clock, clockKey(clockKinds.warp, warp), (done?.warpBarriers ?? moments.warpBarriers(at)) + 1)) ||
      (this.#hasExchanges && includesEpoch(clock, clockKey(clockKinds.exchange, warp), (done?.exchanges ?? moments.exchanges(at)) + 1)) ||
      (chain !== 0 && includesEpoch(clock, clockKey(clockKinds.chain, chain), moments.write(at)))
    );
  }

  /**
   * Clock of all events before the thread's next instruction, to be published; later accesses of the thread are not
   * included.
   */
  #snapshot(block: BlockOrder, thread: number): OrderClocks {
    const { ordinal } = block;
    const warp = thread >> 5;
    const time = ++block.times[thread]!;
    let knowledge = this.#withFences(block, thread);
    if (block.barriers > 0) {
      this.#countsBlocks = true;
      knowledge = withKnown(knowledge, clockKey(clockKinds.block, ordinal), block.barriers);
    }
    const warpKey = ordinal * this.#warps + warp;
    const warpBarriers = block.warpBarriers[warp]!;
    if (warpBarriers > 0) {
      this.#countsWarps = true;
      knowledge = withKnown(knowledge, clockKey(clockKinds.warp, warpKey), warpBarriers);
    }
    // Added last, since queries begin with the last operand.
    knowledge = withKnown(knowledge, clockKey(clockKinds.thread, ordinal * this.#threads + thread), time);
    const exchanges = block.exchanges[warp]!;
    if (exchanges === 0 || !this.#presumes) return knowledge;
    const presumed = withCount(knowledge.presumed, clockKey(clockKinds.exchange, warpKey), exchanges);
    return orderClocksOf(knowledge.definite, presumed, knowledge.fenced, knowledge.pending);
  }

  /** What a thread knows, with the events before its own last `fence.sc`. */
  #withFences(block: BlockOrder, thread: number): OrderClocks {
    const known = block.known[thread]!;
    const own = this.#isSequential ? this.#released(block, thread, 2) : undefined;
    if (own === undefined) return known;
    return orderClocksOf(known.definite, known.presumed, join(known.fenced, own.definite), known.pending);
  }

  /**
   * Publishes the events before a thread's next instruction, as a release, to operations of a reach and narrower ones.
   */
  #release(block: BlockOrder, thread: number, reach: Reach): void {
    const warp = thread >> 5;
    const isCounted = block.barriers > 0 || block.warpBarriers[warp]! > 0 || (this.#presumes && block.exchanges[warp]! > 0);
    const snapshot = isCounted ? this.#snapshot(block, thread) : undefined;
    const known = snapshot && this.#isSequential ? afterFence(snapshot) : snapshot;
    const time = isCounted ? 0 : ++block.times[thread]!;
    // Clocks that a thread has published before are included in the ones published now.
    for (let at = this.#narrowest; at <= reach; at++) {
      if (known !== undefined) block.released[at]![thread] = known;
      block.releasedAt[at]![thread] = time;
    }
  }

  /** Clocks published by the last release of a thread of at least this reach. */
  #released(block: BlockOrder, thread: number, reach: Reach): OrderClocks | undefined {
    const time = block.releasedAt[reach]![thread]!;
    if (time === 0) return block.released[reach]![thread];
    const known = time > 0 ? block.known[thread]! : block.released[reach]![thread]!;
    const own = clockKey(clockKinds.thread, block.ordinal * this.#threads + thread);
    const clock = this.#isSequential ? afterFence(withKnown(known, own, Math.abs(time))) : withKnown(known, own, Math.abs(time));
    for (let at = this.#narrowest; at <= 2; at++) {
      if (block.releasedAt[at]![thread] !== time) continue;
      block.released[at]![thread] = clock;
      block.releasedAt[at]![thread] = 0;
    }
    return clock;
  }

  #learn(block: BlockOrder, thread: number, knowledge: OrderClocks): void {
    block.know(thread, both(block.known[thread]!, knowledge));
  }

  /** Records that a thread executes a fence, or an arrival or wait without other threads. */
  event(block: BlockOrder, thread: number, { operation, arguments: sources }: Instruction): void {
    const { effect } = operation;
    const fence = fenceOf(effect);
    if (fence) this.fence(block, thread, fence.semantics, fence.scope);
    else if (effect.kind === 'cluster-barrier' && effect.form === 'arrive') {
      if (effect.semantics !== 'relaxed') this.arriveAtCluster(block, thread);
    } else if (effect.kind === 'group' && effect.form !== 'fence') {
      this.groupEvent(block, thread, effect, groupsLeftBy(effect, sources[0]) ?? null);
    }
  }

  // Barriers

  /** Records that all threads of a block pass a barrier; threads that have exited count as passing it. */
  fullBarrier(block: BlockOrder): void {
    block.barriers++;
    this.#passOnFences(block, 0, this.#threads);
    shareClocks(block, 0, this.#threads);
  }

  /**
   * Records that some threads of a block have waited at a barrier that is complete.
   * @param barrier its number; threads that have called `arrive` with it participate
   */
  partBarrier(block: BlockOrder, barrier: number, threads: readonly number[]): void {
    let all = block.arrived?.get(barrier) ?? nothing;
    block.arrived?.delete(barrier);
    for (const thread of threads) all = both(all, this.#snapshot(block, thread));
    for (const thread of threads) this.#learn(block, thread, all);
  }

  /** Records that a thread arrives at a barrier without waiting (`bar.arrive`). */
  arrive(block: BlockOrder, barrier: number, thread: number): void {
    const arrived = (block.arrived ??= new Map<number, OrderClocks>());
    arrived.set(barrier, both(arrived.get(barrier) ?? nothing, this.#snapshot(block, thread)));
  }

  /** Before threads share their clocks: adds what came before their own fences. */
  #passOnFences(block: BlockOrder, first: number, end: number): void {
    if (!this.#isSequential) return;
    for (let thread = first; thread < end; thread++) {
      const own = this.#released(block, thread, 2);
      if (own === undefined || own === block.passedOn[thread]) continue;
      block.passedOn[thread] = own;
      block.know(thread, this.#withFences(block, thread));
    }
  }

  /** Records that lanes pass `bar.warp.sync`. @param threads null: all that have not exited */
  warpBarrier(block: BlockOrder, warp: number, threads: readonly number[] | null): void {
    if (threads === null) {
      block.warpBarriers[warp]!++;
      const end = Math.min(32 * warp + 32, this.#threads);
      this.#passOnFences(block, 32 * warp, end);
      shareClocks(block, 32 * warp, end);
      return;
    }
    let all = nothing;
    for (const thread of threads) all = both(all, this.#snapshot(block, thread));
    for (const thread of threads) this.#learn(block, thread, all);
  }

  /**
   * Records that lanes exchange values, which orders no memory access. @param threads null: all that have not exited
   */
  exchange(block: BlockOrder, warp: number, threads: readonly number[] | null): void {
    const { known } = block;
    let presumed: VectorClock = null;
    this.#hasExchanges = true;
    if (threads === null) block.exchanges[warp]!++;
    if (!this.#presumes) return;
    if (threads === null) {
      const end = Math.min(32 * warp + 32, this.#threads);
      for (let thread = 32 * warp; thread < end; thread++) presumed = join(presumed, known[thread]!.presumed);
      for (let thread = 32 * warp; thread < end; thread++) presume(block, thread, presumed);
    } else {
      this.#hasPartExchanges = true;
      for (const thread of threads) presumed = join(presumed, this.#snapshot(block, thread).presumed);
      for (const thread of threads) presume(block, thread, presumed);
    }
  }

  /** Records a `barrier.cluster.arrive` that is not `.relaxed`. */
  arriveAtCluster(block: BlockOrder, thread: number): void {
    const arrivals = this.#clusterArrivals.get(block.cluster) ?? nothing;
    this.#clusterArrivals.set(block.cluster, both(arrivals, this.#snapshot(block, thread)));
  }

  /** Records that all threads of a cluster have arrived. */
  completeClusterBarrier(cluster: number): void {
    this.#clusterPassed.set(cluster, this.#clusterArrivals.get(cluster) ?? nothing);
    this.#clusterArrivals.delete(cluster);
  }

  /** Records that a thread has completed `barrier.cluster.wait`. */
  passClusterBarrier(block: BlockOrder, thread: number): void {
    this.#learn(block, thread, this.#clusterPassed.get(block.cluster) ?? nothing);
  }

  // Fences and strong accesses

  fence(block: BlockOrder, thread: number, semantics: Fence['semantics'], scope: Scope): void {
    if (this.#isWide) {
      this.#fenceWidely(block, thread, semantics);
      return;
    }
    const reach = reachOf[scope];
    if (this.#isSequential) this.#followFences(block, thread);
    if (acquires(semantics)) {
      for (let at = this.#narrowest; at <= reach; at++) {
        const observed = block.observed[at]!;
        const seen = observed[thread]!;
        if (seen === nothing) continue;
        this.#learn(block, thread, seen);
        // A later fence would acquire nothing more from these observations.
        observed[thread] = nothing;
      }
    }
    if (!releases(semantics)) return;
    if (semantics !== 'sc') {
      this.#release(block, thread, reach);
      return;
    }
    if (this.#isSequential) {
      this.#release(block, thread, reach);
      return;
    }
    this.#hasFenceOrder = true;
    if (this.#presumes) presume(block, thread, this.#fences.take(reach, block, this.#narrowest).presumed);
    this.#release(block, thread, reach);
    if (!this.#presumes) return;
    const { presumed } = this.#released(block, thread, reach)!;
    this.#fences.add(orderClocksOf(null, presumed), reach, block, this.#narrowest);
  }

  /** {@link fence} if all fences and strong accesses reach the whole launch, and no presumed order is tracked. */
  #fenceWidely(block: BlockOrder, thread: number, semantics: Fence['semantics']): void {
    if (this.#isSequential) this.#followFences(block, thread);
    if (semantics !== 'release') {
      const observed = block.observed[2]!;
      const seen = observed[thread]!;
      if (seen !== nothing) {
        this.#learn(block, thread, seen);
        observed[thread] = nothing;
      }
      block.hasObserved[thread] = 0;
    }
    if (semantics === 'acquire') return;
    if (semantics === 'sc' && !this.#isSequential) this.#hasFenceOrder = true;
    this.#release(block, thread, 2);
  }

  /** A `fence.sc` comes after all those that it must follow. */
  #followFences(block: BlockOrder, thread: number): void {
    const { definite, presumed, fenced, pending } = block.known[thread]!;
    if (fenced === null && pending === null) return;
    // What was fenced is published by the new fence, too.
    block.know(thread, orderClocksOf(join(definite, pending), definite === presumed ? join(definite, pending) : join(presumed, pending)));
  }

  /** Whether strong reads of a thread determine the order of fences. */
  ordersFences(block: BlockOrder, thread: number): boolean {
    return this.#isSequential && this.#fencedBy(block, thread) !== null;
  }

  #fencedBy(block: BlockOrder, thread: number): VectorClock {
    const own = this.#released(block, thread, 2);
    const { fenced } = block.known[thread]!;
    return own === undefined ? fenced : join(fenced, own.definite);
  }

  /**
   * Records that an access races with an earlier one of another thread. What the two read and wrote determines the order
   * of fences, too: which is taken for certain of those that the other thread has executed since, as well.
   */
  orderFencesOfRace(block: BlockOrder, thread: number, otherBlock: number, otherThread: number): void {
    if (!this.#isSequential) return;
    const other = this.#running.get(otherBlock);
    this.#follow(block, thread, other ? this.#fencedBy(other, otherThread) : this.#fencedByEnded);
  }

  /** Records that a strong access follows earlier ones of its location, and so do later fences those before these. */
  #orderFences(block: BlockOrder, thread: number, location: SyncLocation, writes: boolean): void {
    if (!this.#isSequential) return;
    const earlier = writes ? join(location.fencedWrites, location.fencedReads) : location.fencedWrites;
    const own = this.#fencedBy(block, thread);
    if (writes) {
      location.fencedWrites = join(earlier, own);
      location.fencedReads = null;
    } else location.fencedReads = join(location.fencedReads, own);
    this.#follow(block, thread, earlier);
  }

  /** Adds events that come before the next `fence.sc` of a thread. */
  #follow(block: BlockOrder, thread: number, earlier: VectorClock): void {
    const known = block.known[thread]!;
    const pending = join(known.pending, earlier);
    if (pending === known.pending) return;
    block.know(thread, orderClocksOf(known.definite, known.presumed, known.fenced, pending));
    block.hasObserved[thread] = 1;
  }

  /** The location of a strong write that is about to happen. */
  locationAt(memory: SyncMemory, offset: number, bytes: number): SyncLocation {
    let location = memory.find(offset, bytes);
    if (!location) {
      location = new SyncLocation(offset, bytes);
      memory.add(location);
    }
    return location;
  }

  /** Records the synchronization of a strong access to one location, without storing the access. */
  access(
    block: BlockOrder,
    thread: number,
    location: SyncLocation,
    operation: 'read' | 'write' | 'atomic',
    semantics: Semantics,
    reach: Reach,
  ): void {
    if (this.#isPlain) {
      this.#accessPlainly(block, thread, location, operation);
      return;
    }
    if (operation !== 'write' && this.strongRead(block, thread, location, semantics, reach) && location.isNamed) {
      this.observed(block, thread, location.chain, location.writes);
    }
    if (operation === 'read') return;
    this.beginWrite(block, location, reach, operation === 'atomic');
    this.endWrite(block, thread, location, semantics, reach);
  }

  /** The same if only fences release and acquire. */
  #accessPlainly(block: BlockOrder, thread: number, location: SyncLocation, operation: 'read' | 'write' | 'atomic'): void {
    const { handover } = location;
    this.#orderFences(block, thread, location, operation !== 'read');
    if (operation !== 'write' && location.writer !== null) {
      const seen = handover.wide;
      if (seen !== nothing) block.observe(thread, 2, seen);
      if (location.isNamed) this.observed(block, thread, location.chain, location.writes);
    }
    if (operation === 'read') return;
    if (operation === 'write' || location.writer === null) this.#beginChain(location);
    location.writer = block;
    location.writerReach = 2;
    location.writes++;
    const released = this.#released(block, thread, 2);
    if (released) handover.addWide(released);
  }

  /** Begins a release sequence: the value about to be written continues no earlier one. */
  #beginChain(location: SyncLocation): void {
    location.handover.clear();
    if (location.chains >= maxChains) return;
    location.chains++;
    location.chain = ++this.#chains;
    location.writes = 0;
  }

  /**
   * Records that a strong read, or the read of an atomic, observes the value of a location. Called before the write of
   * the atomic.
   * @returns whether the read may observe a write; then the thread acquires it after the access
   */
  strongRead(block: BlockOrder, thread: number, location: SyncLocation, semantics: Semantics, reach: Reach): boolean {
    this.#orderFences(block, thread, location, false);
    const { writer } = location;
    const observes = writer !== null && reachesOver(Math.min(reach, location.writerReach), writer, block);
    const isAcquire = acquires(semantics);
    let all = nothing;
    if (observes) {
      for (let at = this.#narrowest; at <= 2; at++) {
        const seen = location.handover.at(at, block);
        if (seen === nothing) continue;
        block.observe(thread, at, seen);
        if (isAcquire && at <= reach) all = both(all, seen);
      }
      if (this.#hasAcquires && !isAcquire) this.#observeAt(block, thread, location);
    }
    if (!isAcquire) return observes;
    const earlier = block.observedAt[thread]?.get(location);
    this.#learn(block, thread, earlier ? both(all, upTo(earlier, reach)) : all);
    return observes;
  }

  /** Stores the clocks that a thread has observed at a location for a later acquire. */
  #observeAt(block: BlockOrder, thread: number, location: SyncLocation): void {
    const { handover } = location;
    const seen = [handover.at(0, block), handover.at(1, block), handover.at(2, block)] as const;
    if (seen.every((knowledge) => knowledge === nothing)) return;
    const places = (block.observedAt[thread] ??= new Map<SyncLocation, ByReach>());
    places.set(location, joinByReach(places.get(location) ?? nothingByReach, seen));
  }

  /**
   * Observed writes come before the events after the read, not before the read itself: the first and the last atomic of
   * a release sequence need not be morally strong (PTX ISA, observation and causality order).
   * @param writes number of writes of the release sequence
   */
  observed(block: BlockOrder, thread: number, chain: number, writes: number): void {
    block.know(thread, withKnown(block.known[thread]!, clockKey(clockKinds.chain, chain), writes));
  }

  /** Begins a strong write; the moment of the access may refer to it by `chain` and `writes`. */
  beginWrite(block: BlockOrder, location: SyncLocation, reach: Reach, isAtomic: boolean): void {
    const { writer, writerReach } = location;
    if (!isAtomic || writer === null || !reachesOver(Math.min(reach, writerReach), writer, block)) {
      this.#beginChain(location);
    }
    location.writer = block;
    location.writerReach = reach;
    location.writes++;
  }

  /** Completes the strong write, or the write of the atomic, that `beginWrite` began. */
  endWrite(block: BlockOrder, thread: number, location: SyncLocation, semantics: Semantics, reach: Reach): void {
    const { handover } = location;
    this.#orderFences(block, thread, location, true);
    for (let at = this.#narrowest; at <= 2; at++) {
      const released = this.#released(block, thread, at);
      if (released) handover.add(released, at, block, this.#narrowest);
    }
    if (location.releases === null && !releases(semantics)) return;
    const key = block.ordinal * this.#threads + thread;
    const own = (location.releases ??= new Map<number, ByReach>());
    if (releases(semantics)) {
      const clock = this.#snapshot(block, thread);
      const [, cluster, wide] = own.get(key) ?? nothingByReach;
      own.set(key, [clock, reach >= 1 ? clock : cluster, reach === 2 ? clock : wide]);
    }
    const released = own.get(key);
    if (!released) return;
    for (let at = this.#narrowest; at <= 2; at++) handover.add(released[at], at, block, this.#narrowest);
  }

  // Copies

  /** The group of a copy that the thread is about to issue. */
  issueCopy(block: BlockOrder, thread: number, completion: CopyEffect['completion']): StartedCopies {
    const copies = block.copiesOf(thread, completion);
    if (!copies.open) {
      const id = ++this.#groups;
      copies.open = { reads: { id, done: null }, writes: { id, done: null } };
    }
    return copies.open;
  }

  /**
   * Records a commit of a group, or a wait: all committed groups except for the last `left` are complete, or with
   * `onlyReads` their reads.
   * @param left null: the number is unknown, so that nothing is known to be complete
   */
  groupEvent(block: BlockOrder, thread: number, { group, form, onlyReads }: GroupEffect, left: number | null): void {
    const copies = block.copiesOf(thread, group);
    if (form === 'commit' || form === 'wait-all') {
      copies.committed.push(copies.open ? [...copies.parts, copies.open] : copies.parts);
      copies.parts = [];
      copies.open = null;
    }
    if (left === null) return;
    const count = Math.max(0, copies.committed.length - left);
    const done = onlyReads ? copies.committed.slice(0, count) : copies.committed.splice(0, count);
    this.#finish(
      block,
      thread,
      done.flat().flatMap(({ reads, writes }) => (onlyReads ? [reads] : [reads, writes])),
    );
  }

  #finish(block: BlockOrder, thread: number, group: readonly CopyGroup[]): void {
    const warp = thread >> 5;
    const done = {
      time: block.times[thread]!,
      barriers: block.barriers,
      warpBarriers: block.warpBarriers[warp]!,
      exchanges: block.exchanges[warp]!,
    };
    for (const part of group) part.done ??= done;
  }

  // mbarriers

  /** Adds the clocks published by an arrival at an mbarrier. */
  arriveAt(object: PhaseClock, block: BlockOrder, thread: number): void {
    object.arriving = both(object.arriving, this.#snapshot(block, thread));
  }

  /**
   * The copies of a group that the thread has issued arrive at an mbarrier on completion, or, with `mbarrier`, the copies
   * that it has issued since the last call.
   */
  arriveWhenCopied(object: PhaseClock, block: BlockOrder, thread: number, completion: CopyEffect['completion']): void {
    const copies = block.copiesOf(thread, completion);
    if (copies.open) copies.parts.push(copies.open);
    copies.open = null;
    for (const { writes } of [...copies.parts, ...copies.committed.flat()]) {
      object.arriving = withKnown(object.arriving, clockKey(clockKinds.copy, writes.id), 1);
    }
    if (completion === 'mbarrier') copies.parts = [];
  }

  /** Records a successful wait for the phase that was completed last. */
  waitFor(object: PhaseClock, block: BlockOrder, thread: number): void {
    this.#learn(block, thread, object.passed);
  }

  /** Whether a copy for which its thread has not waited is known to be complete. */
  #isCopied(group: CopyGroup, block: BlockOrder, thread: number): boolean {
    return includesEpoch(block.known[thread]!.definite, clockKey(clockKinds.copy, group.id), 1);
  }
}

function presume(block: BlockOrder, thread: number, presumed: VectorClock): void {
  const own = block.known[thread]!;
  const joined = join(own.presumed, presumed);
  if (joined !== own.presumed) block.know(thread, orderClocksOf(own.definite, joined, own.fenced, own.pending));
}

/** The clocks that a `fence.sc` publishes. */
function afterFence({ definite, presumed }: OrderClocks): OrderClocks {
  return orderClocksOf(definite, presumed, definite);
}

/** Joins the clocks of threads `first` to before `end`: each thread then knows all that any of them knew. */
function shareClocks(block: BlockOrder, first: number, end: number): void {
  const { known } = block;
  let all = known[first]!;
  let differ = false;
  for (let thread = first + 1; thread < end; thread++) {
    const own = known[thread]!;
    if (own === all) continue;
    differ = true;
    all = both(all, own);
  }
  if (!differ) return;
  for (let thread = first; thread < end; thread++) block.know(thread, all);
}
