/** Findings and verdicts as reports show them: the data of `verdict/`, with text. */
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
  /** Threads that take it, as indices into the threads of the interleaving. */
  readonly threads: readonly number[];
  /** `pass`: all have passed a barrier; `wait`: at a barrier; `exit`: has returned, or ended; `run`: continues. */
  readonly action: InterleavingStep['action'];
  /** Action of a thread, in the third person. */
  readonly text: string;
  /** Number of passes for `pass`, if more than one. */
  readonly times?: number;
  readonly location?: Location;
}

export interface ReportedInterleaving {
  readonly threads: Interleaving['threads'];
  readonly steps: readonly ReportedStep[];
  /** Preceding moves, in the order of that run. */
  readonly recording?: readonly ReportedMove[];
  /** Missing order of a race; `text` is the end of the sentence that describes the consequence. */
  readonly missing?: {
    readonly kind: MissingOrder['kind'];
    readonly betweenBlocks?: true;
    readonly lock?: string;
    readonly flag?: string;
    readonly text: string;
  };
}

/** An action of one thread before a finding. */
export interface ReportedMove {
  /** Index into the threads of the interleaving. */
  readonly thread: number;
  readonly action: RecordedStep['action'];
  /** In the third person. */
  readonly text: string;
  readonly location: Location;
  /** Element of an access, its value after the access (before an atomic), and whether both threads race on it. */
  readonly cell?: { readonly name: string; readonly value?: number | string; readonly isShared?: true };
}

/** A fact that would decide an undecided verdict. */
export interface ReportedFact {
  /** The unknown fact, or the action to take. */
  readonly text: string;
  readonly statement?: string;
  readonly tried?: NonNullable<DecidingFact['tried']>;
}

/** Fields of both kinds of findings in a report. */
interface Told {
  readonly interleaving?: ReportedInterleaving;
  readonly wouldDecide?: ReportedFact;
  readonly message: string;
  /** The command that runs the witness. */
  readonly reproduce?: string;
  /** Reason of the suppression; `severity` is then notice. */
  readonly suppressed?: string;
}

/** A pair of accesses that races for the same reason as those of its finding. */
export interface OtherPair {
  /** Fingerprint of a separate finding for it. */
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
