/** Plans of representative launches: how one launch instance differs from the next one, fixed or sampled. */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Random } from '../../base/random.ts';
import type { IndexShape } from '../shape/index-shape.ts';
import type { StrideOrder } from '../shape/nesting.ts';

/** How one launch instance differs from the others. */
export interface LaunchPlan {
  readonly isLarge: boolean;
  /** Whether all sizes are 1. */
  readonly isTiny?: true;
  /** Index of the shape of the thread block in the list of representative shapes. */
  readonly shape: number;
  /** Number of blocks along each axis. */
  readonly grid: Dim3;
  /** Idle threads of the last block, in sixteenths of the block. */
  readonly rest: number;
  /**
   * Whether the elements of a size that the kernel divides by a constant fill whole blocks, and only the remainder of
   * the division is left.
   */
  readonly isWhole?: boolean;
  /** Trip count of a loop over a guarded range, in quarters. */
  readonly trips: number;
  /** Excess of a stride over its minimum. */
  readonly pad: bigint;
  /** Values of the scalars that are neither sizes nor strides: 1, small, larger than the sizes, or any of these. */
  readonly others: 'one' | 'few' | 'large' | 'sampled';
  readonly order: NonNullable<StrideOrder>;
  /** Source of sampled values; absent: no value is sampled. */
  readonly random?: Random;
  /** Whether the sizes may leave a single block of several along an axis. */
  readonly hasIdleBlocks?: boolean;
}

/** Small launch instances come first: their witnesses are the easiest to follow. */
export const plans: readonly LaunchPlan[] = [
  { isLarge: false, shape: -1, grid: [2, 2, 1], rest: 5, trips: 5, pad: 0n, others: 'one', order: 'last' },
  { isLarge: false, isTiny: true, shape: -1, grid: [2, 2, 1], rest: 0, trips: 4, pad: 0n, others: 'one', order: 'last' },
  { isLarge: false, shape: -1, grid: [3, 2, 2], rest: 9, trips: 6, pad: 1n, others: 'few', order: 'first' },
  { isLarge: true, shape: 0, grid: [5, 3, 2], rest: 7, trips: 13, pad: 0n, others: 'large', order: 'last' },
  { isLarge: true, shape: 0, grid: [2, 5, 3], rest: 3, trips: 15, pad: 5n, others: 'one', order: 'first' },
  { isLarge: true, shape: 1, grid: [4, 3, 2], rest: 11, trips: 14, pad: 0n, others: 'few', order: 'last' },
  { isLarge: true, shape: 2, grid: [3, 4, 2], rest: 5, trips: 13, pad: 16n, others: 'large', order: 'first' },
  { isLarge: true, isWhole: true, shape: 0, grid: [2, 3, 2], rest: 3, trips: 13, pad: 0n, others: 'large', order: 'last' },
];

/** Number of samples, and the seed of their random values. */
export const samples = { count: 200, seed: 200 } as const;

/**
 * A random plan of a large launch.
 * @param hasIdleBlocks whether all blocks but one may be idle along each axis, and not only the last one
 */
export function sampledPlan(random: Random, hasIdleBlocks: boolean): LaunchPlan {
  const grid: Dim3 = [random.between(2, 4), random.between(2, 4), random.between(2, 3)];
  return {
    isLarge: true,
    shape: random.below(3),
    grid,
    rest: random.between(1, hasIdleBlocks ? 16 * Math.min(...grid) - 1 : 15),
    trips: random.between(12, 19),
    pad: BigInt(random.pick([0, 0, 1, 3, 16, 37])),
    others: 'sampled',
    order: random.pick(['first', 'last']),
    isWhole: random.chance(0.25),
    random,
    hasIdleBlocks,
  };
}

/** A positive number, small ones as likely as large ones. */
export function sampleUpTo(random: Random, most: bigint): bigint {
  return BigInt(Math.max(1, Math.floor(2 ** (random.next() * Math.log2(Number(most) + 1)))));
}

/** The number of groups into which a kernel divides the blocks: at least two, and half of the blocks at most. */
export function groupsOfBlocks({ random }: LaunchPlan, grid: Dim3): bigint {
  const most = Math.max(2, Math.floor(Math.max(...grid) / 2));
  return BigInt(random ? random.between(2, most) : most);
}

/** The plan's grid, enlarged in large launch instances so that it covers the modulus of indices. */
export function gridOf({ grid }: Dimensions, { ring, scalars }: IndexShape, plan: LaunchPlan, block: Dim3): Dim3 {
  const [x, y, z] = grid.map((size, axis) => size ?? plan.grid[axis]!) as [number, number, number];
  const isAlong = grid[0] === null && (grid[1] ?? 1) * (grid[2] ?? 1) === 1;
  // One more block than needed, since the last block may be almost idle.
  const least = Math.floor(Number(ring) / block[0]) + 2;
  const isDivided = grid[0] === null && scalars.some(({ dividesBlocks }) => dividesBlocks);
  const along = plan.isLarge && isDivided ? x + 3 : x;
  return [plan.isLarge && isAlong && ring > 1n ? Math.max(along, least) : along, y, z];
}
