/** Findings and verdicts as reports show them: the data of `verdict/`, and what it comes to in words. */
import type { Location } from '../source/location.ts';
import type { DecidingFact } from '../verdict/deciding-fact.ts';
import type {
  AccessDescription,
  DivergenceFinding,
  DivergenceResult,
  Interleaving,
  InterleavingStep,
  MissingOrder,
  RaceFinding,
  RaceResult,
  RecordedStep,
} from '../verdict/finding.ts';

export interface ReportedStep {
  /** Who takes it, as indices into the threads of the interleaving. */
  readonly threads: readonly number[];
  /** `pass`: all of them have passed a barrier; `wait`: at a barrier; `exit`: has returned, or ended; `run`: goes on. */
  readonly action: InterleavingStep['action'];
  /** What a thread does, in the third person. */
  readonly text: string;
  /** Of `pass`: how often they have, where that is more than once. */
  readonly times?: number;
  readonly location?: Location;
}

export interface ReportedInterleaving {
  readonly threads: Interleaving['threads'];
  readonly steps: readonly ReportedStep[];
  /** What led there, in the order of that run. */
  readonly recording?: readonly ReportedMove[];
  /** Of a race; `text` is the end of the sentence that says what happens. */
  readonly missing?: {
    readonly kind: MissingOrder['kind'];
    readonly betweenBlocks?: true;
    readonly lock?: string;
    readonly flag?: string;
    readonly text: string;
  };
}

/** What one thread did on the way to a finding. */
export interface ReportedMove {
  /** As an index into the threads of the interleaving. */
  readonly thread: number;
  readonly action: RecordedStep['action'];
  /** In the third person. */
  readonly text: string;
  readonly location: Location;
  /** Of an access: the element, its value after the access (of an atomic before it), and whether both threads race on it. */
  readonly cell?: { readonly name: string; readonly value?: number | string; readonly isShared?: true };
}

/** A fact that would decide what is not decided. */
export interface ReportedFact {
  /** What is not known, or what to do about it. */
  readonly text: string;
  readonly statement?: string;
  readonly tried?: NonNullable<DecidingFact['tried']>;
}

/** What both kinds of findings have in a report. */
interface Told {
  readonly interleaving?: ReportedInterleaving;
  readonly wouldDecide?: ReportedFact;
  readonly message: string;
  /** The command that runs the witness. */
  readonly reproduce?: string;
  /** Why somebody suppressed it; `severity` is then notice. */
  readonly suppressed?: string;
}

/** A pair of accesses that races for the same reason as those of its finding. */
export interface OtherPair {
  /** What its own finding would have. */
  readonly fingerprint: string;
  readonly first: AccessDescription;
  readonly second: AccessDescription;
}

export interface ReportedRace
  extends Omit<RaceFinding, 'interleaving' | 'wouldDecide' | 'chosen' | 'reason' | 'more'>, Told {
  /** The other pairs of accesses of its cause. */
  readonly also?: readonly OtherPair[];
}

export interface ReportedDivergence
  extends Omit<DivergenceFinding, 'interleaving' | 'wouldDecide' | 'among' | 'chosen'>, Told {}

export interface RaceReport extends Omit<RaceResult, 'reason' | 'wouldDecide' | 'findings'> {
  readonly reason?: string;
  /** What would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: ReportedFact;
  readonly findings: readonly ReportedRace[];
}

export interface DivergenceReport extends Omit<DivergenceResult, 'reason' | 'wouldDecide' | 'findings'> {
  readonly reason?: string;
  /** What would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: ReportedFact;
  readonly findings: readonly ReportedDivergence[];
}
