/** Ranges of thread and block indices and of dimensions, for one launch or all. */
import { maximumBlock, maximumGrid, maximumThreads } from '../../device/hardware-limits.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { Bounds } from '../../term/linear.ts';

/** Dimensions under analysis; null for any legal value. */
export interface Dimensions {
  readonly block: readonly [number | null, number | null, number | null];
  readonly grid: readonly [number | null, number | null, number | null];
}

/** The range of blockDim along an axis. */
export function blockSizeBounds(dimensions: Dimensions, axis: 0 | 1 | 2, kernel: Kernel): Bounds {
  const size = dimensions.block[axis];
  if (size !== null) return { low: BigInt(size), high: BigInt(size) };
  return { low: 1n, high: BigInt(Math.min(maximumBlock[axis], threadLimit(kernel))) };
}

/** Maximum number of threads of a block: `.maxntid` bounds the product of the extents, for any block shape. */
export function threadLimit({ maximumThreads: bound }: Kernel): number {
  const product = bound ? bound[0] * bound[1] * bound[2] : 0;
  return product > 0 ? Math.min(product, maximumThreads) : maximumThreads;
}

/** The range of gridDim along an axis. */
export function gridSizeBounds(dimensions: Dimensions, axis: 0 | 1 | 2): Bounds {
  const size = dimensions.grid[axis];
  return size !== null ? { low: BigInt(size), high: BigInt(size) } : { low: 1n, high: BigInt(maximumGrid[axis]) };
}
