/** Interface by which counters and traces observe a run. */
import type { MemoryAccess, WatchedProgram } from './program.ts';
import type { Thread } from './thread.ts';

/** A contiguous part of global, constant or parameter memory. */
export interface NamedMemory {
  readonly name: string;
  readonly base: number;
  /** Size in bytes; null: unbounded. */
  readonly bytes: number | null;
}

/** Observes a run of the JavaScript back end, and decides the order in which the lanes of a warp run. */
export interface RunObserver {
  /** Whether each instruction has to be a separate segment, with all values in registers. */
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
  /** Called before a lane accesses memory. */
  accessed(thread: Thread, access: MemoryAccess, address: number): void;
}
