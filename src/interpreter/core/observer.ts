/** How counters and traces see a run. */
import type { MemoryAccess, WatchedProgram } from './program.ts';
import type { Thread } from './thread.ts';

/** A stretch of global, constant or parameter memory. */
export interface NamedMemory {
  readonly name: string;
  readonly base: number;
  /** Null: no end. */
  readonly bytes: number | null;
}

/** Sees a run of the JavaScript back end, and decides in which order the lanes of a warp run. */
export interface RunObserver {
  /** Each instruction is to be a segment of its own, with all values in registers. */
  readonly singly: boolean;
  /** What is going to run, and what its addresses mean. */
  start(program: WatchedProgram, memory: readonly NamedMemory[]): void;
  /**
   * Runs the ready lanes of a warp until each waits or has exited, or the turn of the warp is over.
   * @param step runs one segment of a ready lane, or a turn of as many steps as are stated
   * @param turn how many steps the turn of the next ready lane has ({@link isTurnOver}), asked for once for each; null: as
   *   many as the observer likes
   */
  runWarp(warp: readonly Thread[], step: (thread: Thread, turn?: number) => void, turn: (() => number) | null): void;
  /** A lane is about to access memory. */
  accessed(thread: Thread, access: MemoryAccess, address: number): void;
}
