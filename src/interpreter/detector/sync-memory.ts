/** Memory that threads synchronise by: locations with strong writes, and mbarriers. */
import type { BlockInCluster, Reach } from '../../memory-model/scope.ts';
import { type ByReach, ReleasedKnowledge } from './release-pattern.ts';
import { both, nothing } from './order-clocks.ts';
import type { VectorClock } from './vector-clock.ts';

/** A location with strong writes: its value, and the clocks that a read of this value acquires. */
export class SyncLocation {
  /**
   * Number of the current release sequence of the location: a reader of its value observes all writes of the sequence.
   */
  chain = 0;
  chains = 0;
  /**
   * The last release sequence with a write in the access history; it is irrelevant whether other sequences were
   * observed.
   */
  namedChain = 0;
  /** Offset of the first byte, and number of bytes. */
  readonly offset: number;
  readonly bytes: number;
  /** Number of strong writes of the release sequence so far. */
  writes = 0;
  /** The block of the thread that wrote the value; null if the write was not a strong write of this location. */
  writer: BlockInCluster | null = null;
  writerReach: Reach = 0;
  /** Clocks of the release patterns of the release sequence that the value belongs to, also through atomics. */
  readonly handover = new ReleasedKnowledge();
  /**
   * Events before `fence.sc` operations that come before some write of the location, or some read since the last write:
   * a fence after a later strong access follows those fences.
   */
  fencedWrites: VectorClock = null;
  fencedReads: VectorClock = null;
  /** By thread: clocks of its releases of this location, which its later strong writes to the location continue. */
  releases: Map<number, ByReach> | null = null;

  constructor(offset: number, bytes: number) {
    this.offset = offset;
    this.bytes = bytes;
  }

  /** Whether the access history contains an access that a read of the value may order. */
  get isNamed(): boolean {
    return this.namedChain === this.chain;
  }
}

/**
 * Maximum number of distinguished release sequences of a location; later ones count as one, and a reader observes all
 * of that.
 */
export const maxChains = 64;

const bucketShift = 4;

/** The locations with strong writes, and the mbarriers, of a contiguous part of memory. */
export class SyncMemory {
  /** Locations by offset / 16; no strong access crosses a multiple of 16 bytes. */
  readonly #buckets = new Map<number, SyncLocation[]>();
  #locations = 0;
  /** The location found last; cached, since a lock is looked up repeatedly. */
  #last: SyncLocation | null = null;
  /** Phases of mbarriers, by offset. */
  readonly #phases = new Map<number, PhaseClock>();

  phaseAt(offset: number): PhaseClock {
    let phase = this.#phases.get(offset);
    if (!phase) this.#phases.set(offset, (phase = new PhaseClock()));
    return phase;
  }

  find(offset: number, bytes: number): SyncLocation | undefined {
    const last = this.#last;
    if (last !== null && last.offset === offset && last.bytes === bytes) return last;
    const bucket = this.#buckets.get(offset >> bucketShift);
    if (bucket === undefined) return undefined;
    for (let at = 0; at < bucket.length; at++) {
      const location = bucket[at]!;
      if (location.offset === offset && location.bytes === bytes) {
        this.#last = location;
        return location;
      }
    }
    return undefined;
  }

  add(location: SyncLocation): void {
    this.#locations++;
    const bucket = this.#buckets.get(location.offset >> bucketShift);
    if (bucket) bucket.push(location);
    else this.#buckets.set(location.offset >> bucketShift, [location]);
  }

  /** Ends the publication by the values that a write overwrites. */
  overwrite(offset: number, bytes: number, except: SyncLocation | null): void {
    if (except !== null && this.#locations === 1) return;
    const end = offset + bytes;
    for (let at = offset >> bucketShift; at <= (end - 1) >> bucketShift; at++) {
      const bucket = this.#buckets.get(at);
      if (bucket === undefined) continue;
      for (let index = 0; index < bucket.length; index++) {
        const location = bucket[index]!;
        if (location === except || location.writer === null) continue;
        if (location.offset < end && offset < location.offset + location.bytes) {
          location.writer = null;
          location.handover.clear();
        }
      }
    }
  }
}

/** The clocks of an mbarrier. */
export class PhaseClock {
  arriving = nothing;
  passed = nothing;

  /** Completes the current phase. */
  complete(): void {
    this.passed = both(this.passed, this.arriving);
    this.arriving = nothing;
  }
}
