/** A run that records global memory at chosen steps, as if the launch had been stopped there. */
import { type Random, seededRandom } from '../../base/random.ts';
import { sharedWindow } from '../../isa/model/address-window.ts';
import type { GlobalMemory } from '../../interpreter/core/global-memory.ts';
import type { RunObserver } from '../../interpreter/core/observer.ts';
import type { MemoryAccess } from '../../interpreter/core/program.ts';
import { RunStop } from '../../interpreter/core/run-stop.ts';
import type { Thread, ThreadContext } from '../../interpreter/core/thread.ts';
import { copyMemory } from '../../interpreter/javascript/memory-image.ts';
import { ClobberTest } from './clobber.ts';

/** Order of execution of the lanes of a warp: sequentially, interleaved by instruction, or mixed. */
export type LaneOrder = 'one-by-one' | 'in-turn' | 'mixed';

/** The memory that a launch leaves if it is stopped after a number of thread-instructions. */
export interface Stop {
  readonly step: number;
  readonly memory: GlobalMemory;
}

export interface Stopping {
  /** Ascending numbers of thread-instructions; memory is recorded at the next write after each. */
  readonly at: readonly number[];
  /** Memory is recorded at each end of a block, up to this many times. */
  readonly blockEnds: number;
  /** Thread-instructions after which the run ends. */
  readonly last?: number;
}

/** Whether bytes are within an array of the launch. */
export type IsInside = (address: number, bytes: number) => boolean;

const sharedStart = Number(sharedWindow);

/** Instructions that a warp executes per time slice. */
const turn = 1 << 12;
/** Maximum number of consecutive instructions of one lane in mixed order. */
const longestBurst = 12;

export class StoppedRun implements RunObserver {
  readonly singly = true;
  readonly stops: Stop[] = [];
  readonly clobbers: ClobberTest;
  /** Thread-instructions executed. */
  steps = 0;
  /** Whether an access was outside the arrays of the launch. */
  hasLeft = false;
  readonly #memory: GlobalMemory;
  readonly #order: LaneOrder;
  readonly #random: Random;
  readonly #stopping: Stopping;
  readonly #isInside: IsInside | null;
  #next = 0;
  #ends = 0;
  /** Whether memory has changed since the last record. */
  #isChanged = false;
  #block: ThreadContext | null = null;

  /** @param memory that the run works on */
  constructor(memory: GlobalMemory, order: LaneOrder, seed: number, stopping: Stopping, isInside: IsInside | null) {
    this.#memory = memory;
    this.#order = order;
    this.#random = seededRandom(seed);
    this.#stopping = stopping;
    this.#isInside = isInside;
    this.clobbers = new ClobberTest(memory);
  }

  start(): void {
    // Nothing to initialise: the constructor was given the memory of the run.
  }

  runWarp(warp: readonly Thread[], step: (thread: Thread) => void): void {
    const home = warp[0]?.home ?? null;
    this.#settle();
    if (home !== this.#block && this.#block && this.#ends < this.#stopping.blockEnds && this.#keep()) this.#ends++;
    this.#block = home;
    let left = turn;
    const go = (thread: Thread): void => {
      left--;
      step(thread);
      this.#stepped();
    };
    if (this.#order === 'one-by-one') {
      for (const thread of warp) while (left > 0 && thread.status === 'ready') go(thread);
      return;
    }
    for (;;) {
      const ready = warp.filter(({ status }) => status === 'ready');
      if (ready.length === 0 || left <= 0) return;
      if (this.#order === 'in-turn') {
        for (const thread of ready) go(thread);
        continue;
      }
      const thread = this.#random.pick(ready);
      for (let burst = this.#random.between(1, longestBurst); burst > 0 && thread.status === 'ready'; burst--) go(thread);
    }
  }

  accessed(_thread: Thread, access: MemoryAccess, address: number): void {
    const { space } = access;
    if (space === 'shared' || space === 'local' || (space === 'generic' && address >= sharedStart)) return;
    if (this.#isInside && !this.#isInside(address, access.bytes)) this.hasLeft = true;
    this.clobbers.announce(access, address);
  }

  /** The run has ended. */
  finish(): void {
    this.#settle();
  }

  #stepped(): void {
    this.steps++;
    this.#settle();
    const { at, last } = this.#stopping;
    if (this.#isChanged && this.steps >= (at[this.#next] ?? Infinity)) {
      while ((at[this.#next] ?? Infinity) <= this.steps) this.#next++;
      this.#keep();
    }
    if (last !== undefined && this.steps >= last) throw new RunStop('budget');
  }

  #settle(): void {
    if (this.clobbers.settle()) this.#isChanged = true;
  }

  #keep(): boolean {
    if (!this.#isChanged) return false;
    this.#isChanged = false;
    this.stops.push({ step: this.steps, memory: copyMemory(this.#memory) });
    return true;
  }
}
