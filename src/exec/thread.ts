import type { BlockId, InstructionId } from '../ir/kernel.ts';
import type { Unmodelled } from './launch.ts';
import type { Accessor } from './race-detector.ts';
import type { Page } from './memory.ts';

/** Bits of a set of constructs that the race detector does not model. */
export const tagBits: Readonly<Record<Unmodelled, number>> = {
  fence: 1,
  acquire: 2,
  release: 4,
  'warp-barrier': 8,
  'async-copy': 16,
  'named-barrier': 32,
  'cluster-barrier': 64,
  mbarrier: 128,
};

/** The constructs whose bits (`tagBits`) are set. */
export function tagNames(bits: number): readonly Unmodelled[] {
  return (Object.keys(tagBits) as Unmodelled[]).filter((name) => bits & tagBits[name]);
}

/** What the code of a thread sees of its block. */
export interface ThreadHome {
  readonly ordinal: number;
  readonly position: readonly [number, number, number];
  readonly shared: Page;
  /** Bytes of shared memory. */
  readonly sharedBytes: number;
  /** Full barriers passed. */
  epoch: number;
  /** Tags of all its threads since the kernel started. */
  tags: number;
}

export type ThreadStatus = 'ready' | 'waiting' | 'exited';

/** A thread of the machine. */
export class Thread implements Accessor {
  readonly home: ThreadHome;
  /** Number in the launch: ordinal of the block times threads of a block, plus number in the block. */
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
  /** Where it waits, an index into the program's suspensions; its sources. */
  suspension = -1;
  operands: readonly unknown[] = [];
  /** Tags since the last full barrier. */
  tags = 0;
  /** The block from which it left the part of the kernel from which barriers can be reached; -1: it has not. */
  left: BlockId | -1 = -1;
  local: Page | null = null;
  /** How often it arrived at each barrier. */
  readonly arrivals = new Map<InstructionId, number>();

  constructor(home: ThreadHome, number: number, block: readonly [number, number, number], registers: number) {
    this.home = home;
    this.number = number;
    this.id = home.ordinal * block[0] * block[1] * block[2] + number;
    this.x = number % block[0];
    this.y = Math.floor(number / block[0]) % block[1];
    this.z = Math.floor(number / (block[0] * block[1]));
    this.lane = number & 31;
    this.warp = number >> 5;
    this.registers = new Array<unknown>(registers).fill(0);
  }

  get blockOrdinal(): number {
    return this.home.ordinal;
  }

  get epoch(): number {
    return this.home.epoch;
  }
}
