import type { OverlapClause } from '../idempotency/model/kernel-idempotency.ts';
import type { Location } from '../source/location.ts';
import type { Witness } from '../verdict/finding.ts';

/** Which launches of a kernel may be stopped anywhere and run again. */
export interface IdempotencyReport {
  /** `unknown`: undecided. */
  readonly kernel: 'idempotent' | 'conditional' | 'non-idempotent' | 'unknown';
  /** Under which a launch is idempotent, in the names of the source; of conditional kernels. */
  readonly condition?: string;
  /** The arrays of the condition, each with the read and the write that must be disjoint. */
  readonly overlaps?: readonly OverlapClause[];
  /** Obstacles to idempotency: sentences without locations. */
  readonly reasons: readonly string[];
  /** The same with the kind and the locations of each. */
  readonly details?: readonly IdempotencyDetail[];
  /** Assumptions in addition to the condition. */
  readonly assumptions?: readonly string[];
  /** A change that would make the kernel idempotent, as a sentence: the changed kernel was classified. */
  readonly remedy?: string;
  /** Classification of the launches in the repository. */
  readonly launches?: readonly LaunchIdempotencyReport[];
  /** A launch whose re-execution differs; of kernels that are not idempotent. */
  readonly witness?: Witness;
  /** The time limit ended the analysis early. */
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
  /** Why it is undecided. */
  readonly reason?: string;
  /** Assumptions in addition to the condition, of a launch that is idempotent. */
  readonly assumptions?: readonly string[];
  /** Bytes of the allocations that it writes, which a prior checkpoint need not contain; if their sizes are known. */
  readonly savedBytes?: number;
}
