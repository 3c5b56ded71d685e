/** The cost of a kernel in reports. The published schema fixes the names. */
import type { Regression } from './regression.ts';
import type { OccupancyLimiter } from '../device/occupancy.ts';
import type { CostAssumption } from '../cost/model/cost-assumption.ts';
import type { MixKind } from '../cost/model/mix-kinds.ts';
import type { BoundMetric, Metric, SummedMetric } from '../cost/model/metrics.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Location } from '../source/location.ts';

export interface LineCost {
  readonly location: Location;
  readonly bound: string;
  /** The value at the reference arguments; null without these. */
  readonly value: number | null;
  readonly reason?: string;
}

export interface BoundReport {
  /** For one warp in its worst case; null without a bound. */
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
  /** Bytes that the sectors transfer, and the minimum that the same accesses could transfer. */
  readonly bytes: number | null;
  readonly leastBytes: number | null;
  /** Floating-point operations. */
  readonly operations: number | null;
  /** Operations for each byte. */
  readonly intensity: number | null;
  /** Cycles of a block that has a multiprocessor to itself: work / P + span. */
  readonly blockCycles: number | null;
}

/** Cost of one of several launches of a kernel. */
export interface LaunchCost {
  /** For one warp in its worst case, of the production build; null without a bound. */
  readonly bounds: Readonly<Record<BoundMetric, string | null>>;
  /** Totals of the production build; absent if a dimension is unknown. */
  readonly totals?: LaunchTotals;
}

/** Assumption of a bound. */
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

/** A bound in the parameters of the kernel, and its value at the reference sizes if they determine it. */
export interface AmountReport {
  readonly bound: string;
  readonly value: number | null;
}

/** Machine code of one source line. */
export interface CodeLine {
  readonly location: Location;
  readonly instructions: number;
  /** Maximum iterations of the innermost loop around them each time it is entered, and of all loops together. */
  readonly roundBounds?: { readonly inner: AmountReport; readonly all: AmountReport };
  /** These if they are numbers that do not depend on the parameters. */
  readonly rounds?: { readonly inner: number; readonly all: number };
  /** Maximum number of them that a warp executes if diverged lanes reconverge; absent if unknown. */
  readonly steps?: AmountReport;
  /** Kinds of work: `load global 32`, `store shared 128`, `spill load`, `double`, `barrier` …, each with its count. */
  readonly work: Readonly<Record<string, number>>;
  /** The first of them: `LDS.128 R4-R7 <- R2`, the registers that are written and those that are read. */
  readonly listing: readonly string[];
}

/** Machine code (SASS) of a kernel. */
export interface CodeReport {
  readonly instructions: number;
  /** Maximum number of them that a warp executes if diverged lanes reconverge; absent if unknown. */
  readonly steps?: AmountReport;
  /** Instructions that Selvage does not know on this architecture. */
  readonly unknown: number;
  /** The maximum number of live registers, and a line where it occurs; absent if the code does not determine it. */
  readonly live?: { readonly registers: number; readonly location?: Location };
  /** Accesses of the PTX that ptxas merged, and their number in the code. */
  readonly merged?: { readonly accesses: number; readonly into: number };
  /** Whether barriers, fences, atomics and the order of accesses were validated against the PTX; if not, why. */
  readonly translation: { readonly checked: boolean; readonly reason?: string };
  /** Lines with the most instructions first. */
  readonly lines: readonly CodeLine[];
}

/** Instructions of an expensive kind in the production build. */
export interface MixReport {
  readonly kind: MixKind;
  /** In the PTX, whether or not they are executed. */
  readonly instructions: number;
  /** Executed by a thread on average, if a run was counted. */
  readonly perThread?: number;
  /** Lines with the most instructions first. */
  readonly lines: readonly { readonly location: Location; readonly instructions: number }[];
}

/** A constant of double precision that makes arithmetic of floats double. */
export interface WidenedReport {
  readonly location: Location;
  /** As written: `0.5`. */
  readonly literal: string;
}

/** Registers that the code of a line spills to memory. */
export interface SpillReport {
  readonly location: Location;
  /** Instructions. */
  readonly stores: number;
  readonly loads: number;
}

/** The smallest reduction of registers that raises the occupancy, and the result of the assembler with that limit. */
export interface RegisterStep {
  readonly registers: number;
  /** 0 to 1. */
  readonly occupancy: number;
  /** Additional bytes of spills compared with all registers; absent if the assembler did not report it. */
  readonly spillBytes?: number;
}

/** Counts of a run of a launch, extrapolated from the executed blocks to all blocks. */
export interface CountedLaunch {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Whether the grid is that of a launch, not one that Selvage chose. */
  readonly isGridGiven: boolean;
  readonly at: Readonly<Record<string, number>>;
  /** Bytes of global memory that accesses transfer, and those if each block transfers a sector once. */
  readonly bytes: number;
  readonly blockBytes: number;
  /** Floating-point operations by precision; `tensor`: of matrices. */
  readonly operations: { readonly single: number; readonly double: number; readonly tensor: number };
  /** Operations for each byte of `blockBytes`; null for zero bytes. */
  readonly intensity: number | null;
  /** Threads of the launch, and of a warp, that update one address by one atomic; in shared memory those of a block. */
  readonly contention?: {
    readonly location?: Location;
    readonly space: 'global' | 'shared';
    readonly updates: number;
    readonly ofWarp: number;
  };
}

/** Position of a launch on the roofline of a GPU, and its utilisation. */
export interface GpuReport {
  readonly name: string;
  /** Resource that takes longer at the GPU's peaks. */
  readonly bound: 'memory' | 'arithmetic';
  /** Time of the other resource as a share of that time: 0 to 1. */
  readonly share: number;
  /** Absent if the grid or the occupancy is unknown. */
  readonly waves?: {
    /** Number of resident blocks of the GPU. */
    readonly blocks: number;
    readonly count: number;
    /** Share of the GPU that the last wave fills: 0 to 1. */
    readonly last: number;
  };
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
  /** Assumptions of the bounds of both builds. */
  readonly assumptions?: readonly CostAssumptionReport[];
  readonly resources?: ResourcesReport;
  readonly registerStep?: RegisterStep;
  readonly spills?: readonly SpillReport[];
  readonly mix?: readonly MixReport[];
  readonly widened?: readonly WidenedReport[];
  readonly counted?: CountedLaunch;
  readonly gpu?: GpuReport;
  readonly code?: CodeReport;
  readonly limits?: readonly LimitReport[];
  /** The time limit ended the search for bounds early. */
  readonly nondeterministic?: boolean;
  /** Limits that are exceeded or could not be compared, and launches that fail; `base` is null. */
  readonly violations?: readonly Regression[];
}
