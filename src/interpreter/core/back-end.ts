import type { Dim3 } from '../../base/dim3.ts';
/** Interface between scheduler and back end: blocks whose threads it can run, and the operands with which they wait. */
import type { Program } from './program.ts';

/**
 * Status of a thread: 0 or more: the segment to continue with; {@link exitedStatus}; below that, the suspension that it
 * waits at.
 */
type ThreadStatus = number;

export const exitedStatus = -1;
/** Instead of the status of several threads: they differ. */
export const mixedStatus = -0x80000000;

/** The status of a thread that waits at a suspension; the same function gives the suspension of a status. */
export function waitingAt(index: number): number {
  return -2 - index;
}

/** Time slice in instructions if a thread may be waiting for another one. */
const shortTurn = 1 << 9;

/** Time slice if no thread waits for another one in a loop, and limit for all threads of its block, in instructions. */
const longTurn = { thread: 1 << 16, block: 1 << 21 } as const;

/**
 * Time slice of a thread in instructions; it ends at the next back edge after them. It is long if no thread waits for
 * another one in a loop: a run then passes a long loop after the steps of one thread.
 * @param threads of a block
 */
export function timeSlice({ mayWait }: Pick<Program, 'mayWait'>, threads: number): number {
  return mayWait ? shortTurn : Math.max(shortTurn, Math.min(longTurn.thread, Math.floor(longTurn.block / threads)));
}

/** A block that has started and not ended. */
export interface ResidentBlock {
  /** Number of the block among those to run. */
  readonly ordinal: number;
  /** By thread; may be replaced by another array when a block starts or threads run. */
  readonly status: Int32Array;
  /** By thread: the block from which it left the part of the kernel that has barriers ahead; -1: it has not. */
  readonly left: Int32Array;
  /**
   * The iterations of a loop, an index into the program's `countedLoops`, that each thread has begun in this execution
   * of the loop.
   */
  rounds(loop: number): Int32Array;
  /**
   * Runs threads `first` to `last`, all of them at `segment`, one after the other, each until it waits or exits or its
   * time slice ends. Throws if the run ends.
   * @returns the status that all of them have then, or `mixedStatus`
   */
  run(segment: number, first: number, last: number): ThreadStatus;
  /**
   * Runs the ready threads among `first` to before `end`, which are of one warp, in the order of an observer. Absent
   * without an observer.
   */
  readonly runWarp?: ((first: number, end: number) => void) | undefined;
  /** Source `index` of the instruction that the thread waits at: a signed 32-bit number, a bigint or a truth. */
  operand(suspension: number, index: number, thread: number): unknown;
  /** Sets the results of the instruction that the thread waits at. */
  setResults(suspension: number, thread: number, results: readonly unknown[]): void;
  /**
   * Source `index` if it has 32 bits or is a truth: by thread, or the constant of all threads. Null: query single
   * operands.
   */
  operandWords(suspension: number, index: number): Int32Array | number | null;
  /** Array for result `index`, by thread. Null if no instruction reads it, or if it must be set separately. */
  resultWords(suspension: number, index: number): Int32Array | null;
  /** Full barriers that the block has passed, and barriers of the warp. */
  passedBarrier(): void;
  passedWarpBarrier(warp: number): void;
  /** The block has ended. */
  release(): void;
}

export interface BackEnd {
  /** Blocks that there is room for at a time. */
  readonly mostResident: number;
  /** Starts a block: all its threads are at segment 0. */
  start(ordinal: number, position: Dim3): ResidentBlock;
}
