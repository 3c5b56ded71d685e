/** Input and progress reports of a run of the reference interpreter. */
import type { Dim3 } from '../../base/dim3.ts';
import type { RaceEvent } from './run-result.ts';
import type { GlobalBuffer, Argument } from './arguments.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
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
  /** Volatile accesses race with each other and with atomics, as in CUDA C++; absent: they are as relaxed atomics. */
  readonly volatileRaces?: boolean;
  /**
   * Blocks of a cluster, as far as scopes go: memory and barriers of clusters are not modelled. Null: it is not known;
   * absent: each block is one.
   */
  readonly cluster?: Dim3 | null;
  /** Accesses of two instructions of one warp do not race. */
  readonly warpLockstep?: boolean;
  /** Names of the buffers and variables whose races are of interest; default: all. */
  readonly track?: readonly string[];
  /** Stop once this many distinct races are found; default 64. */
  readonly maxRaces?: number;
  /**
   * Receives each race, and returns whether those so far suffice. From then on the run ends, with outcome `race-limit`,
   * after some steps without another one, or at its budget.
   */
  readonly watch?: () => (race: RaceEvent) => boolean;
  /** Unknown values are 0, or pseudorandom if a seed is given. */
  readonly havocSeed?: number;
  /** Shared and local memory start with pseudorandom contents; absent: with zeros. Needs the JavaScript back end. */
  readonly contentsSeed?: number;
  /** Blocks and warps run in an order that the seed decides; absent: by their numbers. */
  readonly seed?: number;
  /** Absent: `auto`. */
  readonly backend?: BackEndName;
  /** Receives the progress of the run at intervals. */
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
