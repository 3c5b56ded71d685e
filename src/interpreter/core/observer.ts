/** The view of counters and traces on a run. */
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
  /** Each instruction is to be a separate segment, with all values in registers. */
  readonly singly: boolean;
  /** Begins a program; `memory` names its address ranges. */
  start(program: WatchedProgram, memory: readonly NamedMemory[]): void;
  /**
   * Runs the ready lanes of a warp until each waits or has exited, or the time slice of the warp is over.
   * @param step runs one segment of a ready lane, or a time slice of the stated number of steps
   * @param turn number of steps of the time slice of the next ready lane, called once for each; null: as
   *   many as the observer likes
   */
  runWarp(warp: readonly Thread[], step: (thread: Thread, turn?: number) => void, turn: (() => number) | null): void;
  /** A lane is about to access memory. */
  accessed(thread: Thread, access: MemoryAccess, address: number): void;
}
