/** Input and progress reports of a run of the reference interpreter. */
import type { Dim3 } from '../../base/dim3.ts';
import type { RaceEvent } from './run-result.ts';
import type { GlobalBuffer, Argument } from './arguments.ts';
import type { InstructionId, Kernel } from '../../ir/form/kernel.ts';
import type { RunObserver } from './observer.ts';

/** The back end; `auto` selects one by the size of the run. All have the same results. */
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
  /**
   * Whether volatile accesses race with each other and with atomics, as in CUDA C++; absent: they behave like relaxed
   * atomics.
   */
  readonly volatileRaces?: boolean;
  /**
   * Number of blocks of a cluster along each axis, for scopes only: memory and barriers of clusters are not modelled.
   * Null: unknown; absent: each block is a cluster.
   */
  readonly cluster?: Dim3 | null;
  /** Whether accesses by two instructions of one warp never race. */
  readonly warpLockstep?: boolean;
  /** Names of the buffers and variables whose races are reported; default: all. */
  readonly track?: readonly string[];
  /** Number of distinct races after which the run stops; default 64. */
  readonly maxRaces?: number;
  /**
   * Receives each race, and returns whether the races so far suffice. The run then ends with outcome `race-limit`:
   * after some steps without a further race, or at its budget.
   */
  readonly watch?: () => (race: RaceEvent) => boolean;
  /** Seed for pseudorandom unknown values; absent: unknown values are 0. */
  readonly havocSeed?: number;
  /**
   * Seed for pseudorandom initial contents of shared and local memory; absent: zeros. Needs the JavaScript back end.
   */
  readonly contentsSeed?: number;
  /**
   * A shuffle whose undefined values are pseudorandom; absent: a lane that reads an undefined value gets its own one.
   */
  readonly undefinedValue?: { readonly instruction: InstructionId; readonly seed: number };
  /** Seed of the order of blocks and warps; absent: in ascending order of their numbers. */
  readonly seed?: number;
  /** Requested back end; absent: `auto`. */
  readonly backend?: BackEndName;
  /** Receives the progress of the run at intervals. */
  readonly onProgress?: (progress: RunProgress) => void;
  /** Observer of the run. Needs the JavaScript back end. */
  readonly observer?: RunObserver;
}

export interface RunProgress {
  /** Thread-instructions executed. */
  readonly steps: number;
  /** Blocks that have ended, of all to run. */
  readonly endedBlocks: number;
  readonly blocks: number;
}
