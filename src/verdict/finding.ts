/** Results of the checks, in the shapes and names of the JSON report. */
import type { Severity } from '../source/severity.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';

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
  /** Done by an asynchronous copy, until its thread has waited for it. */
  readonly isCopy?: true;
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

/** What would have kept the two accesses of a race apart. */
export interface MissingOrder {
  /**
   * - `block-barrier`: `__syncthreads()`, or another barrier of the block;
   * - `warp-barrier`: `__syncwarp()`, as only threads of one warp meet;
   * - `fence`: the accesses are made under `lock`, which lacks its `__threadfence()`;
   * - `copy-wait`: the thread that copies asynchronously waits for that, and the others for the thread;
   * - `grid-order`: what orders threads of different blocks;
   * - `scope`: an atomic whose scope takes in both threads;
   * - `size`: atomics of one size.
   */
  readonly kind: 'block-barrier' | 'warp-barrier' | 'fence' | 'copy-wait' | 'grid-order' | 'scope' | 'size';
  readonly lock?: string;
  /** The end of the sentence that says what happens. */
  readonly text: string;
}

export interface InterleavingStep {
  /** Who takes it, as indices into the threads of the interleaving. */
  readonly threads: readonly number[];
  /** `pass`: all of them have passed a barrier; `wait`: at a barrier; `exit`: has returned, or ended; `run`: goes on. */
  readonly action: 'pass' | 'read' | 'write' | 'atomic' | 'wait' | 'exit' | 'run';
  /** What a thread does, in the third person. */
  readonly text: string;
  /** Of `pass`: how often they have, where that is more than once. */
  readonly times?: number;
  readonly location?: Location;
}

/**
 * What the threads of a finding did in the run that showed it. The two accesses of a race are the last steps; nothing
 * orders them, and they stand as that run performed them.
 */
export interface Interleaving {
  /** `name` is short where the launch has one dimension: `thread 31`. One thread where it races with its own copy. */
  readonly threads: readonly { readonly thread: Dim3; readonly block: Dim3; readonly name: string }[];
  readonly steps: readonly InterleavingStep[];
  /** Of a race. */
  readonly missing?: MissingOrder;
}

/** The bytes that both accesses of a race touch. */
export interface Overlap {
  /** From the start of the array. */
  readonly offset: number;
  readonly bytes: number;
  /** As the source would name them, filled in by the driver where its declaration tells: `s[32]`. */
  readonly element?: string;
}

/** What is stated of a kernel. */
export interface Statement {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  /** In the language of assumptions. */
  readonly assume: readonly string[];
  /** By parameter index. */
  readonly scalars: ReadonlyMap<number, bigint>;
}

/** A fact that would decide what is not decided. */
export interface DecidingFact {
  /** What is to be known, in words that follow a colon. */
  readonly text: string;
  /** How it is stated: a comment for above the kernel, or options where there is no source. */
  readonly statement?: string;
  /** The same as data; not in reports. */
  readonly change?: Statement;
  /**
   * What the check found when it was repeated with the statement: the kernel proved, this finding gone, or neither.
   * Absent: there is no statement to try.
   */
  readonly tried?: 'proved' | 'settled' | 'open';
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
  /** Of a confirmed finding. */
  readonly overlap?: Overlap;
  /** The launch and scalars that were chosen, in words; not in reports. */
  readonly chosen?: string;
  /** Of a confirmed finding. */
  readonly interleaving?: Interleaving;
  /** Of a finding that is not confirmed. */
  readonly wouldDecide?: DecidingFact;
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
  /** Of a confirmed finding. */
  readonly interleaving?: Interleaving;
  /** Of a finding that is not confirmed. */
  readonly wouldDecide?: DecidingFact;
  readonly message: string;
  readonly reproduce?: string;
  /** Why somebody suppressed it; `severity` is then notice. Filled in by the driver. */
  readonly suppressed?: string;
}

export interface RaceResult {
  readonly verdict: RaceVerdict;
  readonly reason?: string;
  /** What would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: DecidingFact;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly RaceFinding[];
  readonly nondeterministic?: boolean;
}

export interface DivergenceResult {
  readonly verdict: DivergenceVerdict;
  readonly reason?: string;
  /** What would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: DecidingFact;
  readonly assumptions?: readonly Assumption[];
  readonly findings: readonly DivergenceFinding[];
  readonly nondeterministic?: boolean;
}
