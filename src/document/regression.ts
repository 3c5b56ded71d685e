import type { Severity } from '../source/severity.ts';
import type { Code } from '../source/codes.ts';
import type { Location } from '../source/location.ts';
import type { ComparedMetric } from '../settings/cost-policy.ts';

/** A cost that is worse than that of the base, or than a limit (then `base` is null). */
export interface Regression {
  readonly code: Code;
  /** `notice` where no threshold is configured. */
  readonly severity: Severity;
  readonly fingerprint: string;
  /** Its name in the head. */
  readonly kernel: string;
  /** Where several architectures were analysed. */
  readonly arch?: string;
  readonly metric: ComparedMetric;
  /** Of bounds: what was written, or what runs. */
  readonly build?: 'source' | 'production';
  /** Bounds as text, resources as numbers; null where there is none. */
  readonly base: string | number | null;
  readonly head: string | number | null;
  /** Bounds at the arguments of `at`. */
  readonly baseValue?: number;
  readonly headValue?: number;
  /** Reference arguments, or sizes of our choosing where some are not known. */
  readonly at?: Readonly<Record<string, number>>;
  /** The head in the base; null where the base is 0. */
  readonly ratio?: number | null;
  /** Grows with another order. */
  readonly asymptotic?: true;
  /** The name with which it grows faster. */
  readonly growsWith?: string;
  readonly location?: Location;
  /** Why the line costs that. */
  readonly reason?: string;
  /** The threshold or limit that it exceeds, as configured. */
  readonly limit?: string;
  /** What is worse, in the words of a sentence without its end. */
  readonly message: string;
  /** Why somebody wants to be silent about it. */
  readonly suppressed?: string;
}
