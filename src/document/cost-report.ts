/** The cost of a kernel in reports. The published schema fixes the names. */
import type { Regression } from './regression.ts';
import type { OccupancyLimiter } from '../device/occupancy.ts';
import type { CostAssumption } from '../cost/model/cost-assumption.ts';
import type { BoundMetric, Metric, SummedMetric } from '../cost/model/metrics.ts';
import type { Location } from '../source/location.ts';

export interface LineCost {
  readonly location: Location;
  readonly bound: string;
  /** The value at the reference arguments; null if there are none. */
  readonly value: number | null;
  readonly reason?: string;
}

export interface BoundReport {
  /** For one warp in its worst case; null if there is no bound. */
  readonly bound: string | null;
  /** How the bound grows with each name. */
  readonly degree?: Readonly<Record<string, number>>;
  readonly value?: number | null;
  readonly reason?: string;
  /** Whether in every launch of this size some warp reaches the bound. */
  readonly exact?: boolean;
  /** The lines with the highest cost first. */
  readonly lines?: readonly LineCost[];
}

export type BoundsReport = Readonly<Record<BoundMetric, BoundReport>>;

/** Upper bounds for the whole launch at the reference arguments; null if a bound or a value is unknown. */
export interface LaunchTotals extends Readonly<Record<SummedMetric, number | null>> {
  readonly blocks: number;
  readonly warps: number;
  /** Bytes that the sectors transfer, and the fewest that the same accesses could transfer. */
  readonly bytes: number | null;
  readonly leastBytes: number | null;
  /** Floating-point operations. */
  readonly operations: number | null;
  /** Operations for each byte. */
  readonly intensity: number | null;
  /** Cycles of a block that has a multiprocessor to itself: work / P + span. */
  readonly blockCycles: number | null;
}

/** What one of several launches of a kernel costs. */
export interface LaunchCost {
  /** For one warp in its worst case, of what runs; null where there is no bound. */
  readonly bounds: Readonly<Record<BoundMetric, string | null>>;
  /** Of what runs; absent where a dimension is not known. */
  readonly totals?: LaunchTotals;
}

/** What a bound assumes. */
export interface CostAssumptionReport {
  readonly kind: CostAssumption | 'user';
  readonly text: string;
}

export interface ResourcesReport {
  readonly registers: number;
  /** Static and dynamic; in bytes, as all of these. */
  readonly sharedBytes: number;
  /** Null if the launch adds an unknown amount. The occupancy is then an upper bound. */
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

/** What the assembler made of one source line. */
export interface CodeLine {
  readonly location: Location;
  readonly instructions: number;
  /** What they do: `load global 32`, `store shared 128`, `spill load`, `double`, `barrier` …, each with its number. */
  readonly work: Readonly<Record<string, number>>;
}

/** The machine code of a kernel (SASS), as it runs. */
export interface CodeReport {
  readonly instructions: number;
  /** Instructions that Selvage does not know on this architecture. */
  readonly unknown: number;
  /** Whether barriers, fences, atomics and the order of accesses were held against the PTX; if not, why. */
  readonly translation: { readonly checked: boolean; readonly reason?: string };
  /** Those with the most instructions first. */
  readonly lines: readonly CodeLine[];
}

/** A configured limit, and whether the kernel is within it. */
export interface LimitReport {
  readonly metric: Metric;
  /** As configured. */
  readonly limit: string;
  readonly standing: 'kept' | 'exceeded' | 'not-compared';
  /** The build whose bound is within the limit; the bound of the other build may not be. */
  readonly build?: 'source' | 'production';
  /** The arguments that decided, if the expressions did not. */
  readonly at?: Readonly<Record<string, number>>;
}

export interface CostReport {
  readonly bounds: { readonly source?: BoundsReport; readonly production?: BoundsReport };
  readonly totals?: { readonly source?: LaunchTotals; readonly production?: LaunchTotals };
  /** Of the bounds of both builds. */
  readonly assumptions?: readonly CostAssumptionReport[];
  readonly resources?: ResourcesReport;
  readonly code?: CodeReport;
  readonly limits?: readonly LimitReport[];
  /** The time limit ended the search for bounds early. */
  readonly nondeterministic?: boolean;
  /** Limits that are exceeded or could not be compared, and launches that fail; `base` is null. */
  readonly violations?: readonly Regression[];
}
