/** One warp of a block, and the known values of its lanes. */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { LoopId } from '../../ir/form/kernel.ts';
import { warpSize } from '../../device/hardware-limits.ts';

export interface Warp {
  readonly index: number;
  /** By lane: the index of its thread in the block; null if the shape of the block is not known. */
  readonly threads: readonly (readonly [bigint, bigint, bigint])[] | null;
  /** A bit for each lane that there is. */
  readonly lanes: number;
}

/** The iteration that a loop is in: a number if iterations are analysed separately. */
export type Rounds = ReadonlyMap<LoopId, number | null>;

/** Where a warp is when something is evaluated. */
export interface WarpPosition {
  readonly warp: Warp;
  /** Iterations of the loops around; other loops have been left. */
  readonly rounds: Rounds;
}

/**
 * The warps of a block. Of a block of one dimension and unknown size they are those of the largest one; of a block of
 * several dimensions and unknown shape one warp represents all.
 */
export function warpsOf({ block: [x, y, z] }: Dimensions, threadLimit: number): readonly Warp[] {
  const isLine = y === 1 && z === 1;
  if (!isLine && (x === null || y === null || z === null)) return [{ index: 0, threads: null, lanes: -1 }];
  const width = x ?? threadLimit;
  const count = isLine ? width : width * y * z;
  const warps: Warp[] = [];
  for (let first = 0; first < count; first += warpSize) {
    const threads = Array.from({ length: Math.min(warpSize, count - first) }, (_, lane) => {
      const thread = first + lane;
      const row = Math.floor(thread / width);
      return [BigInt(thread % width), BigInt(row % (y ?? 1)), BigInt(Math.floor(row / (y ?? 1)))] as const;
    });
    warps.push({ index: first / warpSize, threads, lanes: threads.length === 32 ? -1 : (1 << threads.length) - 1 });
  }
  return warps;
}

/** The lanes of a mask. */
export function lanesInMask(mask: number): number[] {
  const lanes: number[] = [];
  for (let lane = 0; lane < warpSize; lane++) if ((mask >>> lane) & 1) lanes.push(lane);
  return lanes;
}
