import type { Dim3 } from '../base/dim3.ts';
import { maximumBlock, maximumClusterBlocks, maximumGrid, maximumThreads } from '../device/hardware-limits.ts';

type DimensionKind = 'block' | 'grid' | 'cluster';

/**
 * Parses `X[,Y[,Z]]`; missing extents are 1.
 * @returns the extents, or the problem as the end of a sentence
 */
export function parseDimensions(kind: DimensionKind, text: string): Dim3 | { readonly problem: string } {
  const parts = text.split(/[,x]/).map((part) => part.trim());
  if (parts.length > 3) return { problem: `has ${parts.length} dimensions; give at most three: X,Y,Z` };
  if (parts.some((part) => !/^\d+$/.test(part))) {
    return { problem: 'is not a list of whole numbers; write X, X,Y or X,Y,Z, for example 16,16' };
  }
  const [x = 1, y = 1, z = 1] = parts.map(Number);
  const dimensions: Dim3 = [x, y, z];
  const problem = dimensionsProblem(kind, dimensions);
  return problem === undefined ? dimensions : { problem };
}

/** Why a launch with these extents is invalid, as the end of a sentence; undefined if it is valid. */
export function dimensionsProblem(kind: DimensionKind, dimensions: Dim3): string | undefined {
  if (dimensions.some((extent) => !Number.isSafeInteger(extent) || extent < 1)) {
    return 'has a dimension below 1; each dimension must be at least 1';
  }
  const product = dimensions[0] * dimensions[1] * dimensions[2];
  if (kind === 'cluster') {
    return product > maximumClusterBlocks ? `has ${product} blocks; a cluster holds at most ${maximumClusterBlocks}` : undefined;
  }
  const limits = kind === 'block' ? maximumBlock : maximumGrid;
  for (const [index, axis] of (['x', 'y', 'z'] as const).entries()) {
    const extent = dimensions[index] ?? 1;
    const limit = limits[index] ?? 1;
    if (extent > limit) return `has ${axis} = ${extent}; the limit of a ${kind} in ${axis} is ${limit}`;
  }
  if (kind === 'block' && product > maximumThreads) {
    return `has ${product} threads; a block holds at most ${maximumThreads}`;
  }
  return undefined;
}
