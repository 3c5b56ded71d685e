/** What a run of the reference machine is given, and what it reports. */
import type { InstructionId, BlockId, Kernel } from '../ir/kernel.ts';

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
  /** Stop once this many distinct races are found; default 64. */
  readonly maxRaces?: number;
  /** Unknown values are 0, or pseudorandom if a seed is given. */
  readonly havocSeed?: number;
}

export interface AccessEvent {
  readonly instruction: InstructionId;
  readonly operation: 'read' | 'write' | 'atomic';
  readonly block: Dim3;
  readonly thread: Dim3;
}

/** Synchronising constructs that the detector does not order accesses by. */
export type Unmodelled =
  'fence' | 'acquire' | 'release' | 'warp-barrier' | 'async-copy' | 'named-barrier' | 'cluster-barrier' | 'mbarrier';

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
  /**
   * What either thread executed since its block's last full barrier (accesses of one block), or either block since it
   * started (of two blocks). Not empty: the accesses may be ordered after all.
   */
  readonly unmodelled: readonly Unmodelled[];
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
}

export interface FaultEvent {
  readonly kind: 'out-of-bounds' | 'misaligned' | 'read-only' | 'unknown-operation' | 'unknown-control';
  readonly instruction: InstructionId | null;
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly message: string;
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
  /** Bytes of a buffer after the run, as a little-endian number; `bytes` is 1, 2, 4 or 8. */
  readonly read: (buffer: number, offset: number, bytes: number) => bigint;
}
