/** Blocks of a grid that represent all of them, as linear indices. */
import { type Dim3, extentProduct } from '../../base/dim3.ts';

/** The first and the last block. */
export function endsOf(grid: Dim3): readonly number[] {
  return [...new Set([0, extentProduct(grid) - 1])];
}

/** The first two blocks and the last one along each axis. */
export function cornersOf([x, y, z]: Dim3): readonly number[] {
  const along = (size: number): number[] => [...new Set([0, Math.min(1, size - 1), size - 1])];
  return along(z).flatMap((c) => along(y).flatMap((b) => along(x).map((a) => a + x * (b + y * c))));
}

/** The index of a block along each axis. */
export function blockAt([x, y]: Dim3, number: number): Dim3 {
  return [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))];
}
