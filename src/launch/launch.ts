import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';

export type LaunchSource =
  'option' | 'config' | 'annotation' | 'launch-site' | 'launch-bounds' | 'reqntid' | 'symbolic';

/** One launch to analyse. Null is symbolic: any legal value. */
export interface Launch {
  readonly source: LaunchSource;
  readonly block: Dim3 | null;
  readonly grid: Dim3 | null;
  readonly cluster: Dim3 | null;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes: number | null;
  readonly cooperative: boolean;
  readonly location?: Location;
  /** Known scalar arguments by parameter index: the bits of the parameter as a little-endian integer. */
  readonly scalars: ReadonlyMap<number, bigint>;
  /** Pairs of pointer parameters (by index, ascending) to which a launch site passes pointers into the same object. */
  readonly aliases: readonly (readonly [number, number])[];
  /** Those of the pairs that are the same pointer. */
  readonly samePointers?: readonly (readonly [number, number])[];
}
