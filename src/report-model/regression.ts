import type { Severity } from '../source/severity.ts';
import type { Code } from '../source/codes.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';
import { type Metric, metricTable } from '../cost/model/metrics.ts';

/** A cost that is higher than in the base, or above a limit (then `base` is null). */
export interface Regression {
  readonly code: Code;
  /** Severity; `notice` unless a threshold is configured. */
  readonly severity: Severity;
  readonly fingerprint: string;
  /** Name of the kernel in the head. */
  readonly kernel: string;
  /** Architecture, if several were analysed. */
  readonly arch?: string;
  readonly metric: Metric;
  /** Build to which a bound applies: `source` is the verification build. */
  readonly build?: 'source' | 'production';
  /** Value of the base: a bound as text, a resource as a number; null if missing. */
  readonly base: string | number | null;
  readonly head: string | number | null;
  /**
   * Unit of the counts: the whole launch on both sides, or each access if the grid is unspecified. If absent, the
   * values are bounds for one warp.
   */
  readonly of?: 'launch' | 'access';
  /**
   * Name of the values of this metric that are comparable between commits: of this kernel and architecture, under this
   * launch. Absent for bounds at arguments that Selvage chose.
   */
  readonly series?: string;
  /** The launch of the head, if there are several or if it differs from that of the base. */
  readonly launch?: { readonly block: Dim3; readonly grid: Dim3 };
  /** Value of the base at the arguments `at`. */
  readonly baseValue?: number;
  readonly headValue?: number;
  /** Reference arguments, or sizes that Selvage chose if some are missing. */
  readonly at?: Readonly<Record<string, number>>;
  /** Head divided by base; null if the base is 0. */
  readonly ratio?: number | null;
  /** Whether the bound of the head has a higher order of growth. */
  readonly asymptotic?: true;
  /** The parameter or dimension with which the cost grows faster. */
  readonly growsWith?: string;
  readonly location?: Location;
  /** Reason for the cost of the line. */
  readonly reason?: string;
  /** The exceeded threshold or limit, as configured. */
  readonly limit?: string;
  /** Description of the regression: a sentence without its full stop. */
  readonly message: string;
  /** Reason of the suppression. */
  readonly suppressed?: string;
}

/** Whether a regression is an exceeded limit of the configuration or of launch bounds. */
export function isOfLimit({ code }: Pick<Regression, 'code'>): boolean {
  return code.startsWith('limit/');
}

/** Whether a regression concerns the execution configuration of a launch. */
export function concernsLaunch({ code }: Pick<Regression, 'code'>): boolean {
  return code === 'launch/refused' || code === 'limit/launch-bounds';
}

/** Whether a code is about costs: a regression of a metric, a limit, or a rejected launch. */
export function isCostCode(code: string): boolean {
  return metricCodes.has(code) || /^limit\/|^launch\/refused$/.test(code);
}

const metricCodes: ReadonlySet<string> = new Set(Object.values(metricTable).map(({ code }) => code));
