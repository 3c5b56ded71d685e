import type { Dim3 } from '../../base/dim3.ts';
import type { BlockId, InstructionId } from '../../ir/form/kernel.ts';
import type { ConflictKind } from '../../memory-model/conflict.ts';

/** Results of a run. */
/** The thread and the basic block at which a run ended. */
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
 * Unmodelled order: events that may order accesses although the detector does not model this.
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
  readonly kind: ConflictKind;
  readonly space: 'global' | 'shared';
  /** Name of the buffer, or symbol of the variable. */
  readonly object: string;
  /** Offset in bytes from the start of the object to the first byte that both accesses touch. */
  readonly offset: number;
  /** Number of bytes that both accesses touch. */
  readonly bytes: number;
  /** Whether both accesses write, and stored equal bytes in every occurrence. */
  readonly sameValue: boolean;
  /** If not empty, the accesses may be ordered after all. */
  readonly unmodelled: readonly Unmodelled[];
  /**
   * The last barrier of the whole block, or of the grid for threads of different blocks, that both threads passed
   * before; null: none.
   */
  readonly passed: PassedBarrier | null;
}

/** A barrier that all threads of a block, or of the grid, have passed. */
export interface PassedBarrier {
  readonly instruction: InstructionId;
  /** Number of occurrences. */
  readonly times: number;
}

/** Location of a thread that did not arrive. */
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
   * - `deadlock`: threads wait for each other;
   * - `missing-lanes`: lanes wait at an instruction of a warp for a lane that cannot come any more, or has exited although
   *   all lanes have to execute the instruction;
   * - `outside-mask`: a lane executes an instruction of a warp whose mask does not name it.
   */
  readonly kind: 'divergent' | 'early-exit' | 'deadlock' | 'partial-arrival' | 'missing-lanes' | 'outside-mask';
  /** The barrier, or the instruction of a warp. */
  readonly barrier: InstructionId | null;
  /** The mask of the lanes that wait, for an instruction of a warp that has one. */
  readonly mask?: number;
  readonly block: Dim3;
  /** Some of the threads that wait at `barrier`, lowest first. */
  readonly arrived: readonly Dim3[];
  readonly arrivedCount: number;
  readonly absent: { readonly thread: Dim3; readonly where: Whereabouts } | null;
  /** All other threads of the block, by location: their number, and some of them, lowest first. */
  readonly others: readonly {
    readonly where: Whereabouts;
    readonly threads: readonly Dim3[];
    readonly count: number;
  }[];
}

/** A shuffle that returned an undefined value, since the source lane did not take part. */
export interface UndefinedRead {
  readonly instruction: InstructionId;
  readonly block: Dim3;
  /** The thread that received the value. */
  readonly thread: Dim3;
  /** The source lane. */
  readonly lane: number;
  /** Location of the source lane; null: the block has no such thread. */
  readonly where: Whereabouts | null;
  readonly mask: number;
}

/** Where an access was wrong, as far as that is known. */
export interface FaultPlace {
  /** For an access out of bounds: the object that its address belongs to. */
  readonly left?: LeftObject;
  /** For a read of memory that no thread has written: the object, and the offset of the first such byte. */
  readonly unwritten?: Omit<LeftObject, 'bytes'>;
}

export interface FaultEvent extends FaultPlace {
  readonly kind: 'out-of-bounds' | 'misaligned' | 'read-only' | 'uninitialised' | 'unknown-operation' | 'unknown-control';
  readonly instruction: InstructionId | null;
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly message: string;
}

/** The object, or the buffer, that an access is outside of. */
export interface LeftObject {
  /** Symbol of the object, or name of the buffer. */
  readonly object: string;
  /** Offset of the access from the start of the object in bytes; may be negative. */
  readonly offset: number;
  /** Size of the object in bytes. */
  readonly bytes: number;
}

/** An array, or variable of shared memory, with one shadow word for each of its locations. */
export interface ShadowUse {
  readonly object: string;
  readonly space: 'global' | 'shared';
  /** Bytes covered by one shadow word: those of the narrowest access to the array. */
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
  /** The first undefined value of each shuffle. */
  readonly undefinedReads: readonly UndefinedRead[];
  /** Instructions with unknown values that were executed. If there are any, the run is one of several possible ones. */
  readonly havocs: readonly InstructionId[];
  /**
   * Whether an execution with the same accesses may have races that the run does not show: the detector has forgotten accesses, or
   * other threads may take part in a barrier of some threads of the block.
   */
  readonly mayMissRaces: boolean;
  /** Violated assumptions of the code (`selvage.assume`). If there are any, the run is meaningless. */
  readonly brokenAssumptions: readonly InstructionId[];
  /** The place at which the run ended with outcome `budget`, `trap` or `fault`. */
  readonly stopped: StopPlace | null;
  /** Bytes of a buffer after the run, as a little-endian number; `bytes` is 1, 2, 4 or 8. */
  readonly read: (buffer: number, offset: number, bytes: number) => bigint;
  /** Shadow memory of the race detector for each array; absent if it stores lists of accesses instead. */
  readonly shadow?: readonly ShadowUse[];
  /** `count` bytes of a buffer after the run. */
  readonly readBytes: (buffer: number, offset: number, count: number) => Uint8Array;
}
