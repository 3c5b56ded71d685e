/** Posts of a review of a range of commits, as data: `plan.ts` creates it, `publish.ts` posts it. */
import type { ExitCode } from '../../report-model/exit-code.ts';
import type { Severity } from '../../source/severity.ts';
import type { EarlierFinding, Settlement } from './settlement.ts';
import type { Anchor } from './anchor.ts';
import type { Offer } from './suggestion.ts';
import type { RunHost } from '../text/run-host.ts';
import type { Annotation } from '../text/workflow-command.ts';

/** A comment on a line of the diff, on the side of the head. */
export interface InlineComment extends Anchor {
  readonly side: 'RIGHT';
  readonly body: string;
  readonly fingerprints: readonly string[];
}

/** A new finding as the review shows it. */
export interface PlannedFinding {
  readonly fingerprints: readonly string[];
  /** Keys of the kernels with the finding (`settlement.ts`). */
  readonly kernels: readonly string[];
  readonly severity: Severity;
  /** File of the finding; empty if its location is unknown. */
  readonly path: string;
  /** Location of the finding, as a link. */
  readonly place: string;
  readonly comment: InlineComment | null;
  /** Why the finding has no separate comment. */
  readonly withoutComment: 'not-in-diff' | 'too-many';
  /** The repair that the comment suggests. */
  readonly suggested?: Offer;
  /** The body of a comment on the finding at given lines of the head. */
  readonly bodyAt: (lines: Anchor) => string;
  /** Markdown for the body of the review, used if the finding has no inline comment. */
  readonly entry: string;
  /** A hash of the entry, without the parts that name the commit. */
  readonly entryText: string;
}

export interface PlannedReview {
  readonly event: 'COMMENT';
  readonly body: string;
  readonly comments: readonly InlineComment[];
}

export interface CheckPlan {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly conclusion: 'success' | 'neutral' | 'failure' | 'cancelled';
  readonly annotations: readonly Annotation[];
}

export interface ReviewPlan {
  /** The name of the job: only comments with this name are its own. */
  readonly name: string;
  readonly headSha: string;
  /** What runs Selvage; a job if undefined. */
  readonly host?: RunHost | undefined;
  /** False if the search for repairs is not finished: posted texts with repairs are then left unchanged. */
  readonly isWhole: boolean;
  /** A hash of the verdicts: equal for two plans that differ only in repairs. */
  readonly verdicts: string;
  /** Exit code as in the README; 0 passes. Findings that the base commit already has do not count. */
  readonly exitCode: ExitCode;
  /** The findings of the review, worst first. */
  readonly findings: readonly PlannedFinding[];
  /** Introduction of the review body. */
  readonly reviewIntroduction: string;
  /** Review of the first run on this commit; null if there is nothing to post. */
  readonly review: PlannedReview | null;
  /** If `createIfMissing` is false, the run only updates an earlier summary. */
  readonly summary: {
    readonly body: string;
    /** The body with the number of findings of earlier commits that are settled. */
    readonly withSettled: (settled: number) => string;
    readonly createIfMissing: boolean;
  };
  readonly check: CheckPlan;
  readonly jobSummary: string;
  /** For runs that cannot write to GitHub. `leftOver` counts the annotations beyond GitHub's limit. */
  readonly workflowCommands: { readonly commands: readonly string[]; readonly leftOver: number };
  /** Plain text, one item per finding or error. Only for the log: error messages may quote the compiler. */
  readonly log: readonly string[];
  /** The outputs of the action, by name. */
  readonly outputs: Readonly<Record<string, string>>;
  /** What became of the finding of an earlier comment. */
  readonly settle: (earlier: EarlierFinding) => Settlement;
}
