import type { Dim3 } from '../../base/dim3.ts';
/**
 * Interface between scheduler and back end: resident blocks, and the operands of the instructions at which their
 * threads wait.
 */
import type { Program } from './program.ts';

/**
 * Status of a thread: 0 or more: the segment to continue with; {@link exitedStatus}; below that, the suspension at
 * which the thread waits.
 */
type ThreadStatus = number;

export const exitedStatus = -1;
/** Result for several threads with different statuses. */
export const mixedStatus = -0x80000000;

/** The status of a thread that waits at a suspension; the same function gives the suspension of a status. */
export function waitingAt(index: number): number {
  return -2 - index;
}

/** Time slice in instructions if a thread may be waiting for another one. */
const shortTurn = 1 << 9;

/**
 * Time slice, for one thread and for all threads of its block, if no thread waits for another one in a loop; in
 * instructions.
 */
const longTurn = { thread: 1 << 16, block: 1 << 21 } as const;

/**
 * Time slice of a thread in instructions; it ends at the first back edge after that number. The time slice is long if
 * no thread waits for another one in a loop, so that a thread completes a long loop in one time slice.
 * @param threads of a block
 */
export function timeSlice({ mayWait }: Pick<Program, 'mayWait'>, threads: number): number {
  return mayWait ? shortTurn : Math.max(shortTurn, Math.min(longTurn.thread, Math.floor(longTurn.block / threads)));
}

/** A block that has started and not yet ended. */
export interface ResidentBlock {
  /** Index of the block among the blocks to run. */
  readonly ordinal: number;
  /** By thread; may be replaced by another array when a block starts or threads run. */
  readonly status: Int32Array;
  /**
   * By thread: the basic block at which the thread left the part of the kernel from which barriers are reachable; -1:
   * not left.
   */
  readonly left: Int32Array;
  /**
   * The iterations of a loop, an index into the program's `countedLoops`, that each thread has begun in this execution
   * of the loop.
   */
  rounds(loop: number): Int32Array;
  /**
   * Runs threads `first` to `last`, all of them at `segment`, one after the other, each until it waits or exits or its
   * time slice ends. Throws to end the run.
   * @returns the resulting status common to all threads, or `mixedStatus`
   */
  run(segment: number, first: number, last: number): ThreadStatus;
  /**
   * Runs the ready threads of one warp, numbered from `first` to before `end`, in the order of an observer. Absent
   * without an observer.
   */
  readonly runWarp?: ((first: number, end: number) => void) | undefined;
  /** Source `index` of the instruction at which the thread waits: a signed 32-bit number, a bigint or a boolean. */
  operand(suspension: number, index: number, thread: number): unknown;
  /** Sets the results of the instruction at which the thread waits. */
  setResults(suspension: number, thread: number, results: readonly unknown[]): void;
  /**
   * Source `index` if it has 32 bits or is a predicate: an array by thread, or the constant of all threads. Null: the
   * caller has to query single operands.
   */
  operandWords(suspension: number, index: number): Int32Array | number | null;
  /**
   * Array for result `index`, by thread. Null if no instruction reads the result, or if it must be set for each thread.
   */
  resultWords(suspension: number, index: number): Int32Array | null;
  /** Counts a barrier that the whole block has passed, and barriers of its warps. */
  passedBarrier(): void;
  passedWarpBarrier(warp: number): void;
  /** Releases the memory of a block that has ended. */
  release(): void;
}

export interface BackEnd {
  /** Maximum number of resident blocks. */
  readonly mostResident: number;
  /** Starts a block with all threads at segment 0. */
  start(ordinal: number, position: Dim3): ResidentBlock;
}
