/** Results of the checks, as data: `report-model/finding.ts` has them worded for reports. */
import type { Severity } from '../source/severity.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';
import type { DecidingFact } from './deciding-fact.ts';
import type { Reason } from './reason.ts';

export type RaceVerdict = 'proved' | 'race' | 'possible' | 'unknown' | 'skipped';
export type DivergenceVerdict = 'proved' | 'divergent' | 'possible' | 'unknown' | 'skipped';

/**
 * Assumptions of a verdict:
 *
 * - `launch`: dimensions and arguments of a launch; `user`: stated by the user;
 * - `precondition`: satisfied by intended launches, such as a positive size;
 * - `no-alias`: different pointers do not alias;
 * - `no-wrap`: index arithmetic does not wrap around;
 * - `in-bounds`: an index stays in its object;
 * - `stable-memory`: memory that the kernel does not write does not change while it runs;
 * - `initial`: locks, counters and flags start at 0;
 * - `contents`: contents of arrays; bounds and pointers in memory;
 * - `no-effect`: a call without a body touches none of this memory;
 * - `texture-apart`: textures and surfaces are bound to memory that the kernel does not write;
 * - `equal-value-writes`: threads that store equal values to one element at once leave that value in it;
 * - `warp-lockstep`: the threads of a warp execute each instruction together.
 */
type AssumptionKind =
  | 'launch'
  | 'user'
  | 'precondition'
  | 'no-alias'
  | 'no-wrap'
  | 'in-bounds'
  | 'stable-memory'
  | 'initial'
  | 'contents'
  | 'no-effect'
  | 'texture-apart'
  | 'equal-value-writes'
  | 'warp-lockstep';

export interface Assumption {
  readonly kind: AssumptionKind;
  readonly text: string;
  readonly location?: Location;
}

export interface AccessDescription {
  readonly operation: 'read' | 'write' | 'atomic';
  /** Done by an asynchronous copy, until its thread has waited for it. */
  readonly isCopy?: true;
  readonly memory: 'global' | 'shared' | 'local' | 'generic';
  readonly bytes?: number;
  /** Source text of the access, filled in by the driver if found. */
  readonly expression?: string;
  readonly location?: Location;
  readonly thread?: Dim3;
  readonly block?: Dim3;
  /** Which access of this kind on this array at this line it is, from 0 in order of evaluation; not in reports. */
  readonly ordinal?: number;
  /** How many accesses of this kind on this array the line has; not in reports. */
  readonly alike?: number;
}

/**
 * The missing order of the two accesses of a race:
 *
 * - `block-barrier`: `__syncthreads()`, or another barrier of the block;
 * - `warp-barrier`: `__syncwarp()`, as only threads of one warp overlap; with `betweenBlocks` these lines race between
 *   blocks too, which no barrier of a block orders;
 * - `fence`: the accesses are protected by `lock`, which lacks its `__threadfence()`;
 * - `copy-wait`: the thread that copies asynchronously waits for that, and the others for the thread;
 * - `grid-order`: an order of threads of different blocks;
 * - `atomic`: atomics instead of volatile accesses, or a barrier;
 * - `scope`: an atomic whose scope includes both threads, if that of one is `narrow`;
 * - `size`: atomics of one size.
 */
export type MissingOrder =
  | { readonly kind: 'block-barrier' | 'warp-barrier'; readonly betweenBlocks?: true }
  | { readonly kind: 'copy-wait' | 'grid-order' | 'atomic' | 'size' }
  | { readonly kind: 'scope'; readonly narrow: 'block' | 'cluster' }
  | { readonly kind: 'fence'; readonly lock: string }
  /** One of the threads waits for a flag before its access. */
  | { readonly kind: 'hand-over'; readonly flag: string };

/** A step of the threads of an interleaving, by their indices in it. */
export type InterleavingStep = { readonly threads: readonly number[]; readonly location?: Location } & (
  | {
      /** All of them have passed a barrier. */
      readonly action: 'pass';
      readonly of: 'block' | 'grid';
      /** How often they have. */
      readonly times: number;
    }
  /** The accesses of a race: the first such step is the first access. */
  | { readonly action: 'read' | 'write' | 'atomic' }
  /** At the barrier, with the number of others, in another iteration of its loop, or elsewhere. */
  | { readonly action: 'wait'; readonly at: 'barrier'; readonly others: number }
  | { readonly action: 'wait'; readonly at: 'other-barrier' | 'other-round' }
  | { readonly action: 'wait'; readonly at: 'instruction'; readonly mnemonic: string }
  | { readonly action: 'exit'; readonly how: 'returned' | 'ended' }
  | { readonly action: 'run' }
);

/**
 * The steps of the threads of a finding in the run that showed it. The two accesses of a race are the last steps; they
 * are unordered, and listed as that run performed them.
 */
export interface Interleaving {
  /** `name` is short if the launch has one dimension: `thread 31`. One thread if it races with its own copy. */
  readonly threads: readonly { readonly thread: Dim3; readonly block: Dim3; readonly name: string }[];
  readonly steps: readonly InterleavingStep[];
  /** For a race. */
  readonly missing?: MissingOrder;
  /** The run delayed stores: a thread read the value before another one's store. */
  readonly holdsStores?: true;
  /** The steps before, in the order of that run; absent if it was too long to be recorded. */
  readonly recording?: readonly RecordedStep[];
}

/** A step of one thread in a recorded run. */
export interface RecordedStep {
  /** As an index into the threads of the interleaving. */
  readonly thread: number;
  /** `pass`, `wait`: a barrier; `go`: a branch to the line `to`; `exit`: the thread has ended. */
  readonly action: 'read' | 'write' | 'atomic' | 'pass' | 'wait' | 'go' | 'exit';
  readonly location: Location;
  /** For a branch. */
  readonly to?: Location;
  /** For an access. */
  readonly cell?: RecordedCell;
}

/** The bytes of a recorded access, and their value after it; for an atomic before it. */
export interface RecordedCell {
  readonly array: string;
  /** From the start of the array. */
  readonly offset: number;
  readonly bytes: number;
  /** Absent if the run does not determine it: for an asynchronous copy, or an access of several elements. */
  readonly bits?: bigint;
  /** Both threads of the race access it. */
  readonly isShared?: true;
  /** Its name in the source, and its value in its type; filled in by the driver if a declaration determines them. */
  readonly element?: string;
  readonly value?: number | string;
}

/** The bytes that both accesses of a race touch. */
export interface Overlap {
  /** From the start of the array. */
  readonly offset: number;
  readonly bytes: number;
  /** Their name in the source, filled in by the driver if the declaration determines it: `s[32]`. */
  readonly element?: string;
}

/** The unspecified values that a finding depends on: parts of the launch, or if it is all given, contents of arrays. */
export interface ChosenLaunch {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  /** Arguments by name. */
  readonly scalars: readonly (readonly [name: string, value: string | number])[];
  /** If nothing else was chosen: the contents of arrays, and arrays with other contents. */
  readonly contents?: ChosenContents;
}

interface ChosenContents {
  /** A value, or how values ascend or descend. */
  readonly value: number | string;
  /** Arrays with another value, by that value. */
  readonly others: readonly { readonly value: number; readonly arrays: readonly string[] }[];
}

/** Length of an array of a witness, unless its size is stated: as if unbounded. */
export const endlessElements = 1 << 20;

export type WitnessArgument =
  | number
  | string
  | boolean
  | {
      readonly type: string;
      readonly length: number;
      readonly fill?: number | string;
      readonly values?: Readonly<Record<string, number | string>>;
      /** How `selvage run` generates the values from a seed, if they are generated; pointers have no values. */
      readonly drawn?: string;
    }
  /** The same pointer as another argument, by its name, or one at an offset in bytes from it. */
  | { readonly same: string; readonly bytes?: number };

/** Launch and arguments that show a finding; also the input of `selvage run --input`. */
export interface Witness {
  readonly kernel: string;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly cluster?: Dim3;
  readonly sharedBytes?: number;
  /** Indices of the blocks that ran, and the schedule of blocks and warps, as `selvage run --schedule` takes it. */
  readonly schedule?: { readonly blocks?: readonly number[]; readonly order?: number };
  /** By parameter name (`param0`, … if no source names them). */
  readonly args: Readonly<Record<string, WitnessArgument>>;
  /** Names of the scalars among them that are unspecified: chosen by Selvage. */
  readonly chosen?: readonly string[];
}

export interface RaceFinding {
  /** `memory/out-of-bounds`: a single access, `first` equal to `second`, that leaves its object. */
  readonly code: 'race/shared' | 'race/global' | 'race/generic' | 'race/volatile' | 'memory/out-of-bounds';
  readonly severity: Severity;
  readonly fingerprint: string;
  readonly kind: 'read-write' | 'write-write' | 'atomic-read' | 'atomic-write' | 'scope' | 'out-of-bounds';
  readonly memory: 'global' | 'shared' | 'generic';
  readonly scope?: 'warp' | 'block' | 'cluster' | 'grid';
  readonly array?: string;
  readonly sameValue?: boolean;
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  readonly confirmed: boolean;
  readonly witness?: Witness;
  readonly witnessOrigin?: 'given' | 'chosen';
  /** For an access out of bounds: from the start of the object, and its size, in bytes. */
  readonly left?: { readonly offset: number; readonly bytes: number };
  /** If only some representative launches show it: the condition, in the language of assumptions. */
  readonly when?: string;
  /** For a confirmed finding. */
  readonly overlap?: Overlap;
  readonly chosen?: ChosenLaunch;
  /** For a confirmed finding. */
  readonly interleaving?: Interleaving;
  /** For a finding that is not confirmed. */
  readonly wouldDecide?: DecidingFact;
  /** For a finding that is not confirmed: the reason. */
  readonly reason?: Reason;
  /** How many more such findings of the array there are, which are not listed. */
  readonly more?: number;
  /** The number of its cause, if other findings of the launch have the same one. Reports show a cause once. */
  readonly cause?: number;
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
  /** If only some representative launches show it: the condition, in the language of assumptions. */
  readonly when?: string;
  /** For a confirmed finding. */
  readonly interleaving?: Interleaving;
  /** For a finding that is not confirmed. */
  readonly wouldDecide?: DecidingFact;
  /** The group whose members do not all reach the barrier. */
  readonly among: 'block' | 'grid';
  readonly chosen?: ChosenLaunch;
}

export interface RaceResult {
  readonly verdict: RaceVerdict;
  readonly reason?: Reason;
  /** The fact that would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: DecidingFact;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly RaceFinding[];
  readonly nondeterministic?: boolean;
}

export interface DivergenceResult {
  readonly verdict: DivergenceVerdict;
  readonly reason?: Reason;
  /** The fact that would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: DecidingFact;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly DivergenceFinding[];
  readonly nondeterministic?: boolean;
}
