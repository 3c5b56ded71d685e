import type { Severity } from '../source/severity.ts';
import type { Code } from '../source/codes.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';
import { type Metric, metricTable } from '../cost/model/metrics.ts';

/** A cost that is higher than in the base, or above a limit (then `base` is null). */
export interface Regression {
  readonly code: Code;
  /** `notice` unless a threshold is configured. */
  readonly severity: Severity;
  readonly fingerprint: string;
  /** Its name in the head. */
  readonly kernel: string;
  /** Set if several architectures were analysed. */
  readonly arch?: string;
  readonly metric: Metric;
  /** For bounds: of the source as written, or of the optimised build. */
  readonly build?: 'source' | 'production';
  /** A bound as text, a resource as a number; null if missing. */
  readonly base: string | number | null;
  readonly head: string | number | null;
  /**
   * Unit of the counts: the whole launch on both sides, or each access if the grid is unspecified. Absent: the values
   * are those of bounds of one warp.
   */
  readonly of?: 'launch' | 'access';
  /** The launch of the head that it is about, if there are several, or if it differs from that of the base. */
  readonly launch?: { readonly block: Dim3; readonly grid: Dim3 };
  /** At the arguments of `at`. */
  readonly baseValue?: number;
  readonly headValue?: number;
  /** Reference arguments, or sizes that Selvage chose if some are missing. */
  readonly at?: Readonly<Record<string, number>>;
  /** Head divided by base; null if the base is 0. */
  readonly ratio?: number | null;
  /** Grows with another order. */
  readonly asymptotic?: true;
  /** The parameter or dimension with which the cost grows faster. */
  readonly growsWith?: string;
  readonly location?: Location;
  /** Why the line has this cost. */
  readonly reason?: string;
  /** The threshold or limit that it exceeds, as configured. */
  readonly limit?: string;
  /** Description of the regression: a sentence without its full stop. */
  readonly message: string;
  /** Reason of the suppression. */
  readonly suppressed?: string;
}

/** Whether it is about a limit: of the configuration, or of launch bounds. */
export function isOfLimit({ code }: Pick<Regression, 'code'>): boolean {
  return code.startsWith('limit/');
}

/** Whether it is about how the kernel is launched. */
export function concernsLaunch({ code }: Pick<Regression, 'code'>): boolean {
  return code === 'launch/refused' || code === 'limit/launch-bounds';
}

/** Whether a code is about costs: a regression of a metric, a limit, or a rejected launch. */
export function isCostCode(code: string): boolean {
  return metricCodes.has(code) || /^limit\/|^launch\/refused$/.test(code);
}

const metricCodes: ReadonlySet<string> = new Set(Object.values(metricTable).map(({ code }) => code));
