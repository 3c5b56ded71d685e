import type { Dim3 } from '../base/dim3.ts';
import type { IntegerExpression } from '../assumptions/expression.ts';
import type { AxisExtents } from '../cuda/launches/extents.ts';
import type { Location } from '../source/location.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import type { StatedAssumption } from './parameter-source.ts';

export type LaunchSource = 'option' | 'config' | 'annotation' | 'launch-site' | 'launch-bounds' | 'reqntid' | 'symbolic';

/**
 * Two pointers into one object, and their distance in bytes, in the names of the kernel: `4 * n` for `a` and `a + n`.
 * It is positive if all names are; `from` is then the lowest pointer into the object.
 */
type PointerDistance = readonly [from: number, to: number, bytes: IntegerExpression];

/** One launch to analyse. A dimension that is null is symbolic: it has any legal value. */
export interface Launch {
  readonly source: LaunchSource;
  readonly block: Dim3 | null;
  readonly grid: Dim3 | null;
  /** Axes specified by the launch site, if the block or grid is not known as a whole. */
  readonly axes?: AxisExtents;
  readonly cluster: Dim3 | null;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes: number | null;
  /** The same as an expression over dimensions and arguments, if it is not a constant. */
  readonly sharedSize?: IntegerExpression;
  readonly cooperative: boolean;
  /**
   * Whether the launch may start before the previous kernel in the stream has ended (programmatic dependent launch).
   */
  readonly startsEarly?: true;
  /** Present if launches and copies in other streams may overlap with it. */
  readonly mayOverlap?: true;
  readonly location?: Location;
  /** Known scalar arguments by parameter index: the bits of the parameter as a little-endian integer. */
  readonly scalars: ReadonlyMap<number, bigint>;
  /** Pointer parameters, by index, to which a launch site passes null. */
  readonly nulls?: readonly number[];
  /** Pairs of pointer parameters (by index, ascending) to which a launch site passes pointers into the same object. */
  readonly aliases: readonly (readonly [number, number])[];
  /** Those pairs of aliases that are the same pointer. */
  readonly samePointers?: readonly (readonly [number, number])[];
  /** Those pairs of aliases with a known positive distance. */
  readonly distances?: readonly PointerDistance[];
  /** Pointer parameters that the launch site passes at known multiples of 16 bytes from the start of their memory. */
  readonly starts?: readonly number[];
  /** Constraints of the host program on non-constant dimensions and arguments: `gridDim.x == (n + 255) / 256`. */
  readonly ties?: readonly StatedAssumption[];
  /** Why extents are neither constant nor constrained by an argument, for reports. */
  readonly reasons?: readonly string[];
  /** Parameters that are a size of the host program divided by a constant: index and divisor, 4 for `n / 4`. */
  readonly parts?: readonly (readonly [number, number])[];
  /** The contents of memory when the kernel starts, as far as the host program fills it with known values. */
  readonly contents?: LaunchContents;
}

/** The contents of memory when a kernel starts. */
interface LaunchContents {
  /** All elements of array parameters, by parameter index. */
  readonly arrays: ReadonlyMap<number, readonly number[]>;
  /** The bytes of variables in global and constant memory, by their name in the source. */
  readonly variables: ReadonlyMap<string, Uint8Array>;
}

/**
 * Blocks per cluster of a launch; null if unspecified. A launch without clusters has one block per cluster (CUDA
 * programming guide, thread block clusters).
 */
export function clusterOf({ grid, cluster }: Launch, kernel: Pick<Kernel, 'needsCluster'>): Dim3 | null {
  return cluster ?? (grid === null || kernel.needsCluster === true ? null : [1, 1, 1]);
}

/**
 * The extent of one axis of a block or grid; null if unspecified.
 * @param isRead whether the kernel reads the index along this axis; if not, an unspecified extent is 1
 */
export function extentOfAxis(launch: Launch, of: 'block' | 'grid', axis: 0 | 1 | 2, isRead: boolean): number | null {
  const said = launch[of]?.[axis] ?? launch.axes?.[of][axis] ?? (isRead ? 'computed' : 1);
  return said === 'computed' ? null : said;
}
