import type { OverlapClause } from '../idempotency/model/kernel-idempotency.ts';
import type { Location } from '../source/location.ts';
import type { Witness } from '../verdict/finding.ts';

/** Which launches of a kernel may be stopped anywhere and run again. */
export interface IdempotencyReport {
  /** `unknown`: undecided. */
  readonly kernel: 'idempotent' | 'conditional' | 'non-idempotent' | 'unknown';
  /** Under which a launch is idempotent, in the words of the source; of conditional kernels. */
  readonly condition?: string;
  /** The arrays that the condition speaks of, each with the read and the write that must lie apart. */
  readonly overlaps?: readonly OverlapClause[];
  /** What stands in the way: sentences without places. */
  readonly reasons: readonly string[];
  /** The same with the kind of each and its places. */
  readonly details?: readonly IdempotencyDetail[];
  /** What is taken for granted beside the condition. */
  readonly assumptions?: readonly string[];
  /** What would make the kernel idempotent, as a sentence: the changed kernel was classified. */
  readonly remedy?: string;
  /** The launches that the repository makes, judged. */
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
  /** What is taken for granted beside the condition, of a launch that is idempotent. */
  readonly assumptions?: readonly string[];
  /** Bytes of the allocations that it writes: a checkpoint before it need not hold them. Where the program says their sizes. */
  readonly savedBytes?: number;
}
