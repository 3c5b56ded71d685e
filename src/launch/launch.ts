import type { Dim3 } from '../base/dim3.ts';
import type { AxisExtents } from '../cuda/launches/extents.ts';
import type { Location } from '../source/location.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import type { StatedAssumption } from './parameter-source.ts';

export type LaunchSource =
  | 'option'
  | 'config'
  | 'annotation'
  | 'launch-site'
  | 'launch-bounds'
  | 'reqntid'
  | 'symbolic';

/** Two pointers into one object: the lowest one into it, another, and the bytes from the one to the other, more than 0. */
export type PointerDistance = readonly [from: number, to: number, bytes: number];

/** One launch to analyse. Null is symbolic: any legal value. */
export interface Launch {
  readonly source: LaunchSource;
  readonly block: Dim3 | null;
  readonly grid: Dim3 | null;
  /** Single axes that the launch site specifies of a block or grid that is not known as a whole. */
  readonly axes?: AxisExtents;
  readonly cluster: Dim3 | null;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes: number | null;
  readonly cooperative: boolean;
  /** It may start before the kernel before it in the stream has ended (programmatic dependent launch). */
  readonly startsEarly?: true;
  readonly location?: Location;
  /** Known scalar arguments by parameter index: the bits of the parameter as a little-endian integer. */
  readonly scalars: ReadonlyMap<number, bigint>;
  /** Pairs of pointer parameters (by index, ascending) to which a launch site passes pointers into the same object. */
  readonly aliases: readonly (readonly [number, number])[];
  /** The pairs that are the same pointer. */
  readonly samePointers?: readonly (readonly [number, number])[];
  /** The pairs with a known distance: the lower pointer, the upper one, the bytes between. */
  readonly distances?: readonly PointerDistance[];
  /** Constraints of the host program on non-constant dimensions and arguments: `gridDim.x == (n + 255) / 256`. */
  readonly ties?: readonly StatedAssumption[];
  /** Parameters, by index, that are quotients of a size of the host program, and the divisor: 4 for `n / 4`. */
  readonly parts?: readonly (readonly [number, number])[];
  /** The contents of memory when the kernel starts, if the host program fills it visibly. */
  readonly contents?: LaunchContents;
}

/** The contents of memory when a kernel starts. */
interface LaunchContents {
  /** The elements of array parameters, all of them, by index. */
  readonly arrays: ReadonlyMap<number, readonly number[]>;
  /** The bytes of variables in global and constant memory, by their name in the source. */
  readonly variables: ReadonlyMap<string, Uint8Array>;
}

/**
 * Blocks of a cluster of a launch; null if unspecified. A launch without clusters has one block per cluster (CUDA
 * programming guide, thread block clusters).
 */
export function clusterOf({ grid, cluster }: Launch, kernel: Pick<Kernel, 'needsCluster'>): Dim3 | null {
  return cluster ?? (grid === null || kernel.needsCluster === true ? null : [1, 1, 1]);
}

/**
 * The extent of one axis of a block or grid; null if unspecified.
 * @param isRead whether the kernel reads an index of it: an unspecified axis that it does not read is 1
 */
export function extentOfAxis(launch: Launch, of: 'block' | 'grid', axis: 0 | 1 | 2, isRead: boolean): number | null {
  const said = launch[of]?.[axis] ?? launch.axes?.[of][axis] ?? (isRead ? 'computed' : 1);
  return said === 'computed' ? null : said;
}
