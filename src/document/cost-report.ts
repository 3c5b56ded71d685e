/** What a kernel costs, as reports hold it. Names are fixed by the published schema. */
import type { Regression } from './regression.ts';
import type { OccupancyLimiter } from '../device/occupancy.ts';
import type { CostAssumption } from '../cost/model/cost-assumption.ts';
import type { CountedMetric, Metric } from '../cost/model/metric.ts';
import type { Location } from '../source/location.ts';
import type { ComparedMetric } from '../settings/cost-policy.ts';

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
  /** Whether some warp costs as much in every launch of this size. */
  readonly exact?: boolean;
  /** The dearest first. */
  readonly lines?: readonly LineCost[];
}

export type BoundsReport = Readonly<Record<Metric, BoundReport>>;

/** At most, of the whole launch at the reference arguments; null where something has no bound or no value. */
export interface LaunchTotals extends Readonly<Record<CountedMetric | 'work', number | null>> {
  readonly blocks: number;
  readonly warps: number;
  /** That the sectors move, and that would be moved if accesses filled theirs. */
  readonly bytes: number | null;
  readonly leastBytes: number | null;
  /** Of floating-point arithmetic. */
  readonly operations: number | null;
  /** Operations for each byte. */
  readonly intensity: number | null;
  /** Cycles of a block on a multiprocessor of its own: work / P + span. */
  readonly blockCycles: number | null;
}

/** What bounds take for granted: kinds of their own, or what the user states. */
export interface CostAssumptionReport {
  readonly kind: CostAssumption | 'user';
  readonly text: string;
}

export interface ResourcesReport {
  readonly registers: number;
  /** Static and dynamic; in bytes, as all of these. */
  readonly sharedBytes: number;
  /** Null: the launch adds some, and it is not known how much; then the occupancy is the most there may be. */
  readonly dynamicSharedBytes: number | null;
  readonly localBytes: number;
  readonly constantBytes: number;
  readonly spillStoreBytes: number;
  readonly spillLoadBytes: number;
  /** Hardware barriers of a block. */
  readonly barriers: number;
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
  /** Whose bound keeps it; the other one's may not. */
  readonly build?: 'source' | 'production';
  /** The arguments that decided, where expressions did not. */
  readonly at?: Readonly<Record<string, number>>;
}

export interface CostReport {
  readonly bounds: { readonly source?: BoundsReport; readonly production?: BoundsReport };
  readonly totals?: { readonly source?: LaunchTotals; readonly production?: LaunchTotals };
  /** Of the bounds of both builds. */
  readonly assumptions?: readonly CostAssumptionReport[];
  readonly resources?: ResourcesReport;
  readonly limits?: readonly LimitReport[];
  /** A clock cut the search for bounds short. */
  readonly nondeterministic?: boolean;
  /** Limits that are exceeded or could not be compared, and launches that fail; `base` is null. */
  readonly violations?: readonly Regression[];
}
