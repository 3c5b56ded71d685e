/** Where the threads of a block stand in the order of a run. Threads are numbered within the block. */
import type { ByReach } from './release-pattern.ts';
import type { SyncLocation } from './sync-memory.ts';
import { type Knowledge, nothing } from './knowledge.ts';

/** Accesses of asynchronous copies, until their thread waits for them. */
export interface CopyGroup {
  readonly id: number;
  /** The moment at which the issuing thread waited for it; null: not yet. */
  done: {
    readonly time: number;
    readonly barriers: number;
    readonly warpBarriers: number;
    readonly exchanges: number;
  } | null;
}

interface Copies {
  open: CopyGroup | null;
  /** Groups that were committed and not waited for, oldest first. */
  readonly committed: CopyGroup[][];
  /** Parts of the group to be committed next that an mbarrier waits for already. */
  parts: CopyGroup[];
}

/** The bulk copies that a thread started together: what they read is done with before what they write. */
export interface BulkGroup {
  readonly reads: CopyGroup;
  readonly writes: CopyGroup;
}

interface BulkCopies {
  open: BulkGroup | null;
  /** Groups that were committed and not waited for, oldest first. */
  readonly committed: BulkGroup[];
}

/** The order of a block's threads; a part of {@link HappensBefore}. Threads are numbered within the block. */
export class BlockOrder {
  readonly ordinal: number;
  readonly cluster: number;
  /** Barriers that all of the block passed. */
  barriers = 0;
  /** By warp: barriers, and exchanges, that all of the warp passed. */
  readonly warpBarriers: Int32Array;
  readonly exchanges: Int32Array;
  /** By thread: how often it has handed its clock on. */
  readonly times: Int32Array;
  readonly known: Knowledge[];
  /** By thread: clocks at its last releasing fence, by reach. */
  readonly released: (ByReach | undefined)[] = [];
  /** By thread: what its strong reads have observed, which the next acquiring fence takes. */
  readonly observed: (ByReach | undefined)[] = [];
  /** By thread and location, for an acquire of the location itself. */
  readonly observedAt: (Map<SyncLocation, ByReach> | undefined)[] = [];
  readonly copies: (Copies | undefined)[] = [];
  readonly bulkCopies: (BulkCopies | undefined)[] = [];
  /** By barrier: clocks of the threads that arrived without waiting. */
  readonly arrived = new Map<number, Knowledge>();

  constructor(ordinal: number, cluster: number, threads: number) {
    this.ordinal = ordinal;
    this.cluster = cluster;
    const warps = Math.ceil(threads / 32);
    this.warpBarriers = new Int32Array(warps);
    this.exchanges = new Int32Array(warps);
    this.times = new Int32Array(threads);
    this.known = new Array<Knowledge>(threads).fill(nothing);
  }
}
