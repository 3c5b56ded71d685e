/** What a kernel costs, as reports hold it. Names are fixed by the published schema. */
import type { OccupancyLimiter } from '../cost/occupancy.ts';
import type { Metric } from '../cost/metric.ts';
import type { Location } from '../source/location.ts';
import type { ComparedMetric } from './cost-policy.ts';
import type { Regression } from './report.ts';

export interface LineCost {
  readonly location: Location;
  readonly bound: string;
  /** At the reference arguments; null where they are not known. */
  readonly value: number | null;
  readonly reason?: string;
}

export interface BoundReport {
  /** Of one warp, in the worst case; null where there is none. */
  readonly bound: string | null;
  /** By name: how it grows. */
  readonly degree?: Readonly<Record<string, number>>;
  readonly value?: number | null;
  readonly reason?: string;
  /** The dearest first. */
  readonly lines?: readonly LineCost[];
}

export type BoundsReport = Readonly<Record<Metric, BoundReport>>;

export interface ResourcesReport {
  readonly registers: number;
  /** Static and dynamic; in bytes, as all of these. */
  readonly sharedBytes: number;
  readonly localBytes: number;
  readonly constantBytes: number;
  readonly spillStoreBytes: number;
  readonly spillLoadBytes: number;
  /** 0 to 1. */
  readonly occupancy?: number;
  readonly limiter?: OccupancyLimiter;
}

/** A configured limit, and how the kernel stands to it. */
export interface LimitReport {
  readonly metric: ComparedMetric;
  /** As configured. */
  readonly limit: string;
  readonly standing: 'kept' | 'exceeded' | 'not-compared';
  /** The arguments that decided, where expressions did not. */
  readonly at?: Readonly<Record<string, number>>;
}

export interface CostReport {
  readonly bounds: { readonly source?: BoundsReport; readonly production?: BoundsReport };
  readonly resources?: ResourcesReport;
  readonly limits?: readonly LimitReport[];
  /** Limits that are exceeded or could not be compared, and launches that fail; `base` is null. */
  readonly violations?: readonly Regression[];
}
