import type { BlockId } from '../../ir/form/kernel.ts';
import type { Page } from './global-memory.ts';

/** Context of the code of a thread in its block. */
export interface ThreadContext {
  readonly ordinal: number;
  readonly position: readonly [number, number, number];
  readonly shared: Page;
  /** Bytes of shared memory. */
  readonly sharedBytes: number;
}

type ThreadStatus = 'ready' | 'waiting' | 'exited';

/** A thread of the interpreter. */
export class Thread {
  readonly home: ThreadContext;
  /** Number in the launch: ordinal of the block times threads per block, plus number in the block. */
  readonly id: number;
  /** Number within the block. */
  readonly number: number;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly lane: number;
  readonly warp: number;
  readonly registers: unknown[];
  status: ThreadStatus = 'ready';
  /** Segment to run next. */
  pc = 0;
  /** Index of the suspension at which the thread waits, in the program's suspensions. Then its sources. */
  suspension = -1;
  operands: readonly unknown[] = [];
  /**
   * The basic block at which the thread left the part of the kernel from which barriers are reachable; -1: not left.
   */
  left: BlockId | -1 = -1;
  /** Iterations begun since the thread entered the loop, minus 1; by index into the program's `countedLoops`. */
  readonly rounds: Int32Array;
  local: Page | null = null;

  constructor(home: ThreadContext, number: number, block: readonly [number, number, number], registers: number, loops: number) {
    this.home = home;
    this.number = number;
    this.id = home.ordinal * block[0] * block[1] * block[2] + number;
    this.x = number % block[0];
    this.y = Math.floor(number / block[0]) % block[1];
    this.z = Math.floor(number / (block[0] * block[1]));
    this.lane = number & 31;
    this.warp = number >> 5;
    this.rounds = new Int32Array(loops);
    this.registers = new Array<unknown>(registers).fill(0);
  }
}
