/** Memory that threads synchronise by: locations with strong writes, and mbarriers. */
import type { BlockInCluster, Reach } from '../../memory-model/scope.ts';
import { type ByReach, ReleasedKnowledge } from './release-pattern.ts';
import { both, nothing } from './order-clocks.ts';

/** A location with strong writes: its value, and the clocks that a read of this value acquires. */
export class SyncLocation {
  /** Names the writes since the last that did not continue the one before it: all of them are observed by a reader. */
  chain = 0;
  chains = 0;
  /** The last chain with a write in the access history: observers of others are irrelevant. */
  namedChain = 0;
  /** First byte and number of bytes. */
  readonly offset: number;
  readonly bytes: number;
  /** Strong writes of the chain so far. */
  writes = 0;
  /** The block of the thread that wrote its value, or null if that was not a strong write of this location. */
  writer: BlockInCluster | null = null;
  writerReach: Reach = 0;
  /** Clocks of the release patterns whose write the value stems from, through atomics. */
  readonly handover = new ReleasedKnowledge();
  /** By thread: of its releases of this location, which its later strong writes to it continue. */
  releases: Map<number, ByReach> | null = null;

  constructor(offset: number, bytes: number) {
    this.offset = offset;
    this.bytes = bytes;
  }

  /** Whether some access is remembered that reading its value may order. */
  get isNamed(): boolean {
    return this.namedChain === this.chain;
  }
}

/** Maximum number of distinguished chains of a location; later ones count as one, of which a reader observes all. */
export const maxChains = 64;

const bucketShift = 4;

/** The locations of a stretch of memory that have had strong writes, and its mbarriers. */
export class SyncMemory {
  /** By offset / 16, which no strong access straddles. */
  readonly #buckets = new Map<number, SyncLocation[]>();
  #locations = 0;
  /** The last one found: a lock is looked up repeatedly. */
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

  /** A write ends the publication by the values that it overwrites. */
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

  /** Its phase is complete. */
  complete(): void {
    this.passed = both(this.passed, this.arriving);
    this.arriving = nothing;
  }
}
