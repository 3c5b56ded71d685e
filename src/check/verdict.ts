/** Results of the checks, in the shapes and names of the JSON report. */
import type { Severity } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import type { Dim3 } from './launch.ts';

export type RaceVerdict = 'proved' | 'race' | 'possible' | 'unknown' | 'skipped';
export type DivergenceVerdict = 'proved' | 'divergent' | 'possible' | 'unknown' | 'skipped';

export type AssumptionKind =
  | 'launch' | 'user' | 'no-alias' | 'no-wrap' | 'in-bounds' | 'stable-memory' | 'equal-value-writes' | 'warp-lockstep'; // prettier-ignore

export interface Assumption {
  readonly kind: AssumptionKind;
  readonly text: string;
  readonly location?: Location;
}

export interface AccessDescription {
  readonly operation: 'read' | 'write' | 'atomic';
  readonly memory: 'global' | 'shared' | 'local' | 'generic';
  readonly bytes?: number;
  /** Source text of the access, filled in by the driver where it could be found. */
  readonly expression?: string;
  readonly location?: Location;
  readonly thread?: Dim3;
  readonly block?: Dim3;
  /** Which access of this kind on this array at this line it is, from 0 in order of evaluation; not in reports. */
  readonly ordinal?: number;
  /** How many accesses of this kind on this array the line has; not in reports. */
  readonly alike?: number;
}

export type WitnessArgument =
  | number
  | string
  | boolean
  | {
      readonly type: string;
      readonly length: number;
      readonly fill?: number | string;
      readonly values?: Readonly<Record<string, number | string>>;
    }
  /** The same pointer as another argument, by its name. */
  | { readonly same: string };

/** Launch and arguments that show a finding; also the input of `selvage run --input`. */
export interface Witness {
  readonly kernel: string;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly cluster?: Dim3;
  readonly sharedBytes?: number;
  /** Numbers of the blocks that ran. */
  readonly schedule?: { readonly blocks?: readonly number[] };
  /** By parameter name (`param0`, … where no source names them). */
  readonly args: Readonly<Record<string, WitnessArgument>>;
}

export interface RaceFinding {
  readonly code: 'race/shared' | 'race/global' | 'race/generic';
  readonly severity: Severity;
  readonly fingerprint: string;
  readonly kind: 'read-write' | 'write-write' | 'atomic-read' | 'atomic-write' | 'scope';
  readonly memory: 'global' | 'shared' | 'generic';
  readonly scope?: 'warp' | 'block' | 'cluster' | 'grid';
  readonly array?: string;
  readonly sameValue?: boolean;
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  readonly confirmed: boolean;
  readonly witness?: Witness;
  readonly witnessOrigin?: 'given' | 'chosen';
  readonly message: string;
  readonly reproduce?: string;
  /** Why somebody suppressed it; `severity` is then notice. Filled in by the driver. */
  readonly suppressed?: string;
}

export interface DivergenceFinding {
  readonly code: 'barrier/divergent' | 'barrier/early-exit';
  readonly severity: Severity;
  readonly fingerprint: string;
  readonly kind: 'divergent' | 'early-exit' | 'partial-arrival' | 'deadlock';
  readonly barrier: Location;
  readonly condition?: string;
  readonly confirmed: boolean;
  readonly witness?: Witness;
  readonly witnessOrigin?: 'given' | 'chosen';
  readonly message: string;
  readonly reproduce?: string;
  /** Why somebody suppressed it; `severity` is then notice. Filled in by the driver. */
  readonly suppressed?: string;
}

export interface RaceResult {
  readonly verdict: RaceVerdict;
  readonly reason?: string;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly RaceFinding[];
  readonly nondeterministic?: boolean;
}

export interface DivergenceResult {
  readonly verdict: DivergenceVerdict;
  readonly reason?: string;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly DivergenceFinding[];
  readonly nondeterministic?: boolean;
}
