/** One warp of a block, and the known values of its lanes. */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { LoopId } from '../../ir/form/kernel.ts';
import { warpSize } from '../../device/hardware-limits.ts';

export interface Warp {
  readonly index: number;
  /** By lane: the index of its thread in the block; null if the dimensions of the block are unknown. */
  readonly threads: readonly (readonly [bigint, bigint, bigint])[] | null;
  /** Mask of the lanes that have a thread. */
  readonly lanes: number;
}

/** The current iteration of each loop: a number if iterations are analysed separately. */
export type Rounds = ReadonlyMap<LoopId, number | null>;

/** The position of a warp at which a term is evaluated. */
export interface WarpPosition {
  readonly warp: Warp;
  /** Iterations of the enclosing loops; the warp has left all other loops. */
  readonly rounds: Rounds;
}

/**
 * The warps of a block. A one-dimensional block of unknown size has the warps of the largest possible block. For a
 * block of several dimensions and unknown shape, one warp represents all.
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
