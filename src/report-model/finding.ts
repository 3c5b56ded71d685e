/** Findings and verdicts in the form of reports: the data of `verdict/`, with texts. */
import type { Location } from '../source/location.ts';
import type { DecidingFact } from '../verdict/deciding-fact.ts';
import type {
  AccessDescription,
  DivergenceFinding,
  DivergenceResult,
  Interleaving,
  InterleavingStep,
  MissingFence,
  MissingOrder,
  RaceFinding,
  RaceResult,
  RecordedStep,
} from '../verdict/finding.ts';

export interface ReportedStep {
  /** Threads that perform the step, as indices into the threads of the interleaving. */
  readonly threads: readonly number[];
  /**
   * `pass`: the threads have passed a barrier; `wait`: they wait at a barrier; `exit`: they have returned; `run`: they
   * continue.
   */
  readonly action: InterleavingStep['action'];
  /** Action of the threads, in the third person. */
  readonly text: string;
  /** Number of passes for `pass`, if more than one. */
  readonly times?: number;
  readonly location?: Location;
}

export interface ReportedInterleaving {
  readonly threads: Interleaving['threads'];
  readonly steps: readonly ReportedStep[];
  /** Recorded moves before the finding, in the order of the run. */
  readonly recording?: readonly ReportedMove[];
  /** Missing order of a race; `text` is the end of the sentence that describes the consequence. */
  readonly missing?: {
    readonly kind: MissingOrder['kind'];
    readonly betweenBlocks?: true;
    readonly nextIteration?: true;
    readonly indexFrom?: Location;
    readonly lock?: string;
    readonly flag?: string;
    readonly lacks?: MissingFence['lacks'];
    readonly text: string;
  };
  /** A fence of the block that has to be one of the device; of a race that occurs if stores are delayed. */
  readonly narrowFence?: Location;
}

/** An action of a single thread before a finding. */
export interface ReportedMove {
  /** Index into the threads of the interleaving. */
  readonly thread: number;
  readonly action: RecordedStep['action'];
  /** Action in the third person. */
  readonly text: string;
  readonly location: Location;
  /** Accessed element, its value after the access (for an atomic, before it), and whether both threads race on it. */
  readonly cell?: { readonly name: string; readonly value?: number | string; readonly isShared?: true };
}

/** A fact that would decide an undecided verdict. */
export interface ReportedFact {
  /** The unknown fact, or the action that would determine it. */
  readonly text: string;
  readonly statement?: string;
  readonly tried?: NonNullable<DecidingFact['tried']>;
}

/** Fields of both kinds of findings in a report. */
interface Told {
  readonly interleaving?: ReportedInterleaving;
  readonly wouldDecide?: ReportedFact;
  readonly message: string;
  /** Command that replays the witness. */
  readonly reproduce?: string;
  /** Reason of the suppression. The severity of a suppressed finding is notice. */
  readonly suppressed?: string;
}

/** A pair of accesses that races for the same reason as the pair of its finding. */
export interface OtherPair {
  /** Fingerprint that a separate finding for this pair would have. */
  readonly fingerprint: string;
  readonly first: AccessDescription;
  readonly second: AccessDescription;
}

export interface ReportedRace extends Omit<RaceFinding, 'interleaving' | 'wouldDecide' | 'chosen' | 'reason' | 'more'>, Told {
  /** The other pairs of accesses of the same cause. */
  readonly also?: readonly OtherPair[];
}

export interface ReportedDivergence extends Omit<DivergenceFinding, 'interleaving' | 'wouldDecide' | 'among' | 'chosen'>, Told {}

export interface RaceReport extends Omit<RaceResult, 'reason' | 'wouldDecide' | 'findings'> {
  readonly reason?: string;
  /** Fact that would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: ReportedFact;
  readonly findings: readonly ReportedRace[];
}

export interface DivergenceReport extends Omit<DivergenceResult, 'reason' | 'wouldDecide' | 'findings'> {
  readonly reason?: string;
  /** Fact that would decide a verdict of `possible` or `unknown`. */
  readonly wouldDecide?: ReportedFact;
  readonly findings: readonly ReportedDivergence[];
}
