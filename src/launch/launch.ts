import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';

export type LaunchSource =
  'option' | 'config' | 'annotation' | 'launch-site' | 'launch-bounds' | 'reqntid' | 'symbolic';

/** One launch to analyse: null is symbolic (any legal value). */
export interface Launch {
  readonly source: LaunchSource;
  readonly block: Dim3 | null;
  readonly grid: Dim3 | null;
  readonly cluster: Dim3 | null;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes: number | null;
  readonly cooperative: boolean;
  readonly location?: Location;
  /** Scalar arguments that are known, by parameter index: the bit pattern, little-endian value of the parameter. */
  readonly scalars: ReadonlyMap<number, bigint>;
  /** Pairs of pointer parameters (by index, ascending) that a launch site passes pointers into one object to. */
  readonly aliases: readonly (readonly [number, number])[];
  /** Of these, the ones that are the same pointer. */
  readonly samePointers?: readonly (readonly [number, number])[];
}
