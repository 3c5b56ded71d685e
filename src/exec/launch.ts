/** What a run of the reference machine is given, and what it reports. */
import type { InstructionId, BlockId, Kernel } from '../ir/kernel.ts';
import type { RunObserver } from './observer.ts';

export type Dim3 = readonly [number, number, number];

/** Global memory that a pointer argument refers to. */
export interface GlobalBuffer {
  readonly name: string;
  /** Length in bytes; null: no end, every address near it is in bounds. */
  readonly bytes: number | null;
  /** Bytes of an element: 1, 2, 4, 8 or 16. */
  readonly elementBytes: number;
  /** Bit pattern of every element that `values` does not list. */
  readonly fill: bigint;
  /** By element index, where they differ from `fill`. */
  readonly values: ReadonlyMap<number, bigint>;
  /** All contents, little-endian, in place of `fill` and `values`. */
  readonly initial?: Uint8Array;
  /** A read of a byte that no thread has written is a fault. */
  readonly uninitialised?: boolean;
}

/** The value of a kernel parameter; `buffer` is an index into the request's buffers, `offset` in bytes. */
export type Argument =
  | { readonly kind: 'scalar'; readonly value: bigint }
  | { readonly kind: 'pointer'; readonly buffer: number; readonly offset: bigint }
  | {
      readonly kind: 'struct';
      readonly bytes: Uint8Array;
      /** Pointers to put at byte `at`. */
      readonly pointers: readonly { readonly at: number; readonly buffer: number; readonly offset: bigint }[];
    };

/** What executes the instructions; `auto` takes the one that suits the size of the run. All give the same results. */
export type BackEndName = 'auto' | 'reference' | 'javascript' | 'webassembly';

export interface RunRequest {
  readonly kernel: Kernel;
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes: number;
  readonly buffers: readonly GlobalBuffer[];
  /** By parameter index. */
  readonly arguments: readonly Argument[];
  /** Linear indices of the blocks to run, in this order; default: all. */
  readonly blocks?: readonly number[];
  /** Thread-instructions after which the run stops with outcome `budget`. */
  readonly steps: number;
  readonly detectRaces: boolean;
  /** What two instructions of one warp access does not race. */
  readonly warpLockstep?: boolean;
  /** Names of the buffers and variables whose races are of interest; default: all. */
  readonly track?: readonly string[];
  /** Stop once this many distinct races are found; default 64. */
  readonly maxRaces?: number;
  /**
   * Makes what is told of each race, and says whether those so far are all that the run is made for. From then on the
   * run ends, with outcome `race-limit`, once it has gone on for a while without another, or at its budget.
   */
  readonly watch?: () => (race: RaceEvent) => boolean;
  /** Unknown values are 0, or pseudorandom if a seed is given. */
  readonly havocSeed?: number;
  /** Blocks and warps run in an order that the seed decides; absent: by their numbers. */
  readonly seed?: number;
  /** Absent: `auto`. */
  readonly backend?: BackEndName;
  /** Told now and then how far the run is. */
  readonly onProgress?: (progress: RunProgress) => void;
  /** Needs the JavaScript back end. */
  readonly observer?: RunObserver;
}

export interface RunProgress {
  /** Thread-instructions executed. */
  readonly steps: number;
  /** Blocks that have ended, of all to run. */
  readonly endedBlocks: number;
  readonly blocks: number;
}

/** The thread that a run ended at, and the basic block that it was in. */
export interface StopPlace {
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly at: BlockId;
}

export interface AccessEvent {
  readonly instruction: InstructionId;
  readonly operation: 'read' | 'write' | 'atomic';
  readonly block: Dim3;
  readonly thread: Dim3;
}

/**
 * What may order accesses although the detector does not take it to.
 *
 * - `fence-order`: both threads passed a `fence.sc` (`__threadfence()`) between the accesses; those are in some order,
 *   of which a run shows one possibility;
 * - `warp-exchange`: both took part in a shuffle, vote or the like between the accesses, which orders no memory;
 * - `cluster`: barriers, scopes and memory of a cluster, of accesses of two blocks.
 */
export type Unmodelled = 'fence-order' | 'warp-exchange' | 'cluster';

export interface RaceEvent {
  /** The access that this run performed first. */
  readonly first: AccessEvent;
  readonly second: AccessEvent;
  readonly space: 'global' | 'shared';
  /** Name of the buffer, or symbol of the object. */
  readonly object: string;
  /** Bytes from the start of the object to the first byte that both access. */
  readonly offset: number;
  /** Bytes that both access. */
  readonly bytes: number;
  /** Both write, and stored equal bytes in every occurrence. */
  readonly sameValue: boolean;
  /** Not empty: the accesses may be ordered after all. */
  readonly unmodelled: readonly Unmodelled[];
  /** The last barrier of the whole block, or between blocks of the grid, that both threads passed before; null: none. */
  readonly passed: PassedBarrier | null;
}

/** A barrier that all threads of a block, or of the grid, have passed. */
export interface PassedBarrier {
  readonly instruction: InstructionId;
  /** How often they have. */
  readonly times: number;
}

/** Where a thread is that did not arrive. */
export type Whereabouts =
  | { readonly kind: 'exited' }
  | { readonly kind: 'barrier'; readonly instruction: InstructionId }
  | { readonly kind: 'running'; readonly block: BlockId };

export interface DivergenceEvent {
  /**
   * - `divergent`: threads of a block wait at different barrier instructions or iterations, or passed the barrier by
   *   and went on with code that the others execute after it;
   * - `early-exit`: some threads exited before it;
   * - `partial-arrival`: fewer threads than the barrier's count arrive, and no other can;
   * - `deadlock`: threads wait for each other.
   */
  readonly kind: 'divergent' | 'early-exit' | 'deadlock' | 'partial-arrival';
  readonly barrier: InstructionId | null;
  readonly block: Dim3;
  /** Some of the threads that wait at `barrier`, lowest first. */
  readonly arrived: readonly Dim3[];
  readonly arrivedCount: number;
  readonly absent: { readonly thread: Dim3; readonly where: Whereabouts } | null;
  /** All other threads of the block, by where they are: how many, and some of them, lowest first. */
  readonly others: readonly {
    readonly where: Whereabouts;
    readonly threads: readonly Dim3[];
    readonly count: number;
  }[];
}

export interface FaultEvent {
  readonly kind:
    'out-of-bounds' | 'misaligned' | 'read-only' | 'uninitialised' | 'unknown-operation' | 'unknown-control';
  readonly instruction: InstructionId | null;
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly message: string;
}

/** An array, or variable of shared memory, whose locations have a shadow word each. */
export interface ShadowUse {
  readonly object: string;
  readonly space: 'global' | 'shared';
  /** The narrowest access to the array, in bytes: what one shadow word stands for. */
  readonly locationBytes: number;
  readonly bytesPerLocation: number;
}

export type RunOutcome = 'finished' | 'budget' | 'stuck' | 'trap' | 'fault' | 'race-limit';

export interface RunResult {
  /** `stuck`: some block stopped at a divergent barrier or a deadlock. */
  readonly outcome: RunOutcome;
  /** Thread-instructions executed. */
  readonly steps: number;
  readonly races: readonly RaceEvent[];
  readonly divergences: readonly DivergenceEvent[];
  readonly faults: readonly FaultEvent[];
  /** Instructions with unknown values that were executed; not empty: the run is one of many. */
  readonly havocs: readonly InstructionId[];
  /** Assumptions in the code (`selvage.assume`) that did not hold: the run means nothing. */
  readonly brokenAssumptions: readonly InstructionId[];
  /** Where outcome `budget`, `trap` or `fault` came about. */
  readonly stopped: StopPlace | null;
  /** Bytes of a buffer after the run, as a little-endian number; `bytes` is 1, 2, 4 or 8. */
  readonly read: (buffer: number, offset: number, bytes: number) => bigint;
  /** What the race detector keeps for each array; absent where it keeps lists of accesses instead. */
  readonly shadow?: readonly ShadowUse[];
  /** `count` bytes of a buffer after the run. */
  readonly readBytes: (buffer: number, offset: number, count: number) => Uint8Array;
}
