/** Chooses values of scalars that satisfy the user's assumptions: representative values if possible, otherwise any. */
import type { Dim3 } from '../../base/dim3.ts';
import { threadLimit } from '../../analysis/values/launch-bounds.ts';
import { type ParameterField, isFloat } from '../../launch/parameter-field.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { givenScalar } from '../context/scalars.ts';
import { conditionsOf, scalarBounds } from '../premises/premises.ts';
import { satisfiesAssumptions } from './representative-launches.ts';

/**
 * Values of the scalars that satisfy the stated assumptions; null if none were found.
 * @param block if absent, the block of the launch, or a small one
 * @param grid if absent, the grid of the launch, or a small one
 * @param most maximum of the values, unless the statements require larger ones
 */
export function chooseScalars(
  context: KernelAndLaunch,
  block: Dim3 = someBlock(context),
  grid: Dim3 = someGrid(context),
  most?: bigint,
): ((field: ParameterField) => bigint) | null {
  const { launch, parameters, assumptions } = context.request;
  const conditions = conditionsOf(assumptions);
  const threads = BigInt(block[0] * block[1] * block[2]);
  const total = threads * BigInt(grid[0] * grid[1] * grid[2]);
  for (const wanted of [total, threads, BigInt(block[0]), 1024n, 64n, 32n, 16n, 2n, 1n, 0n]) {
    const common = most !== undefined && wanted > most ? most : wanted;
    const scalar = (field: ParameterField): bigint => {
      const given = givenScalar(launch, field.index, field.offset, field.bytes);
      if (given !== undefined) return given;
      const mask = (1n << BigInt(8 * field.bytes)) - 1n;
      if (isFloat(context.kernel, parameters, field)) return field.bytes === 8 ? 0x3ff0000000000000n : 0x3f800000n;
      if (conditions.length === 0) return common & mask;
      const bounds = scalarBounds(conditions, parameters, field.index, field.offset, field.bytes);
      return (common < bounds.low ? bounds.low : common > bounds.high ? bounds.high : common) & mask;
    };
    if (satisfiesAssumptions(context, { block, grid, scalar })) return scalar;
  }
  return null;
}

function someBlock({ dimensions, kernel }: KernelAndLaunch): Dim3 {
  const limit = threadLimit(kernel);
  const open = dimensions.block.filter((size) => size === null).length;
  for (let size = open <= 1 ? 64 : open === 2 ? 8 : 4; size > 1; size >>= 1) {
    const [x, y, z] = dimensions.block.map((along) => along ?? size) as [number, number, number];
    if (x * y * z <= limit) return [x, y, z];
  }
  const [x, y, z] = dimensions.block.map((along) => along ?? 1) as [number, number, number];
  return [x, y, z];
}

function someGrid({ dimensions }: KernelAndLaunch): Dim3 {
  const open = dimensions.grid.filter((size) => size === null).length;
  const [x, y, z] = dimensions.grid.map((size) => size ?? (open <= 1 ? 4 : 2)) as [number, number, number];
  return [x, y, z];
}
