import type { OverlapClause } from '../idempotency/model/kernel-idempotency.ts';
import type { Location } from '../source/location.ts';
import type { Witness } from '../verdict/finding.ts';

/** Idempotency of a kernel: which of its launches may be stopped anywhere and run again. */
export interface IdempotencyReport {
  /** Class of the kernel; `unknown` if it is undecided. */
  readonly kernel: 'idempotent' | 'conditional' | 'non-idempotent' | 'unknown';
  /** Condition under which a launch of a conditional kernel is idempotent, in the names of the source. */
  readonly condition?: string;
  /** The arrays of the condition, each with the read and the write that must be disjoint. */
  readonly overlaps?: readonly OverlapClause[];
  /** Obstacles to idempotency: sentences without locations. */
  readonly reasons: readonly string[];
  /** The same obstacles with the kind and the locations of each. */
  readonly details?: readonly IdempotencyDetail[];
  /** Assumptions in addition to the condition. */
  readonly assumptions?: readonly string[];
  /** A change that would make the kernel idempotent, as a sentence. The changed kernel was classified to verify it. */
  readonly remedy?: string;
  /** Classification of the launches in the repository. */
  readonly launches?: readonly LaunchIdempotencyReport[];
  /** A launch of a kernel that is not idempotent. Its re-execution gives another result. */
  readonly witness?: Witness;
  /** Whether the time limit ended the analysis early. */
  readonly nondeterministic?: boolean;
}

interface IdempotencyDetail {
  readonly kind: string;
  readonly text: string;
  readonly locations: readonly Location[];
}

/** Whether a launch of the repository may be stopped anywhere and run again. */
export interface LaunchIdempotencyReport {
  readonly location: Location;
  readonly verdict: 'idempotent' | 'non-idempotent' | 'undecided';
  /** Why the launch is undecided. */
  readonly reason?: string;
  /** Assumptions for an idempotent launch, in addition to the condition. */
  readonly assumptions?: readonly string[];
  /** Bytes of the written allocations that a checkpoint before the launch need not contain, if the sizes are known. */
  readonly savedBytes?: number;
}
