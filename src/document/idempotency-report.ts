import type { Location } from '../source/location.ts';
import type { Witness } from '../verdict/finding.ts';

/** Which launches of a kernel may be stopped anywhere and run again. */
export interface IdempotencyReport {
  /** `unknown`: undecided. */
  readonly kernel: 'idempotent' | 'conditional' | 'non-idempotent' | 'unknown';
  /** Under which a launch is idempotent, in the words of the source; of conditional kernels. */
  readonly condition?: string;
  /** What stands in the way: sentences without places. */
  readonly reasons: readonly string[];
  /** The same with the kind of each and its places. */
  readonly details?: readonly IdempotencyDetail[];
  /** What is taken for granted beside the condition. */
  readonly assumptions?: readonly string[];
  /** A launch whose re-execution differs; of kernels that are not idempotent. */
  readonly witness?: Witness;
}

interface IdempotencyDetail {
  readonly kind: string;
  readonly text: string;
  readonly locations: readonly Location[];
}
