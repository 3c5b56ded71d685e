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
  /** Value of the bound at the reference arguments; null if these are unknown. */
  readonly value: number | null;
  readonly reason?: string;
}

export interface BoundReport {
  /** Bound for one warp in the worst case; null if none exists. */
  readonly bound: string | null;
  /** Degree of growth of the bound in each name. */
  readonly degree?: Readonly<Record<string, number>>;
  readonly value?: number | null;
  readonly reason?: string;
  /** Whether in every launch of this size some warp reaches the bound. */
  readonly exact?: boolean;
  /** Lines, those with the highest cost first. */
  readonly lines?: readonly LineCost[];
}

export type BoundsReport = Readonly<Record<BoundMetric, BoundReport>>;

/** Upper bounds for the whole launch at the reference arguments; null if a bound or a value is unknown. */
export interface LaunchTotals extends Readonly<Record<SummedMetric, number | null>> {
  readonly blocks: number;
  readonly warps: number;
  /**
   * Bytes that the touched sectors contain, and the minimum number of bytes with which the same accesses are possible.
   */
  readonly bytes: number | null;
  readonly leastBytes: number | null;
  /** Number of floating-point operations. */
  readonly operations: number | null;
  /** Floating-point operations per byte. */
  readonly intensity: number | null;
  /** Upper bound in cycles for a block that occupies a multiprocessor exclusively: work / P + span. */
  readonly blockCycles: number | null;
}

/** Cost of one of several launches of a kernel. */
export interface LaunchCost {
  /** Bounds of the production build for one warp in the worst case; null if none exists. */
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
  /** Static and dynamic shared memory. All sizes in this interface are in bytes. */
  readonly sharedBytes: number;
  /** Null if the dynamic shared memory of the launch is unknown. The occupancy is then an upper bound. */
  readonly dynamicSharedBytes: number | null;
  readonly localBytes: number;
  readonly constantBytes: number;
  readonly spillStoreBytes: number;
  readonly spillLoadBytes: number;
  /** Number of hardware barriers of a block. */
  readonly barriers: number;
  /** Resident warps as a share of the maximum, from 0 to 1. */
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
  /**
   * Maximum trip counts of the loops around the line: of the innermost loop each time it is entered, and of all loops
   * multiplied.
   */
  readonly roundBounds?: { readonly inner: AmountReport; readonly all: AmountReport };
  /** The same trip counts, if they are numbers that do not depend on the parameters. */
  readonly rounds?: { readonly inner: number; readonly all: number };
  /**
   * Maximum number of instructions of the line that a warp executes if diverged lanes reconverge; absent if unknown.
   */
  readonly steps?: AmountReport;
  /** Kinds of work: `load global 32`, `store shared 128`, `spill load`, `double`, `barrier` …, each with its count. */
  readonly work: Readonly<Record<string, number>>;
  /**
   * The first instructions of the line: `LDS.128 R4-R7 <- R2`, with the registers that are written and those that are
   * read.
   */
  readonly listing: readonly string[];
}

/** Machine code (SASS) of a kernel. */
export interface CodeReport {
  readonly instructions: number;
  /** Maximum number of instructions that a warp executes if diverged lanes reconverge; absent if unknown. */
  readonly steps?: AmountReport;
  /** Number of instructions that Selvage does not know on this architecture. */
  readonly unknown: number;
  /** The maximum number of live registers, and a line where it occurs; absent if the code does not determine it. */
  readonly live?: { readonly registers: number; readonly location?: Location };
  /** Number of accesses of the PTX that ptxas merged, and number of machine instructions that they became. */
  readonly merged?: { readonly accesses: number; readonly into: number };
  /** Whether barriers, fences, atomics and the order of accesses were validated against the PTX; if not, why. */
  readonly translation: { readonly checked: boolean; readonly reason?: string };
  /** Lines with the most instructions first. */
  readonly lines: readonly CodeLine[];
}

/** Instructions of an expensive kind in the production build. */
export interface MixReport {
  readonly kind: MixKind;
  /** Number of instructions in the PTX, regardless of whether they are executed. */
  readonly instructions: number;
  /** Average number of executed instructions per thread, if a run was counted. */
  readonly perThread?: number;
  /** Lines with the most instructions first. */
  readonly lines: readonly { readonly location: Location; readonly instructions: number }[];
}

/** A double-precision constant that converts float arithmetic to double. */
export interface WidenedReport {
  readonly location: Location;
  /** The constant as written: `0.5`. */
  readonly literal: string;
}

/** Registers that the code of a line spills to memory. */
export interface SpillReport {
  readonly location: Location;
  /** Number of instructions that store to spill memory. */
  readonly stores: number;
  readonly loads: number;
}

/**
 * The smallest reduction of the register count that raises the occupancy, and the result of the assembler with that
 * limit.
 */
export interface RegisterStep {
  readonly registers: number;
  /** Occupancy with the reduced register count, from 0 to 1. */
  readonly occupancy: number;
  /**
   * Additional bytes of spills compared with the unlimited register count; absent if the assembler did not report them.
   */
  readonly spillBytes?: number;
}

/** Counts of a run of a launch, extrapolated from the executed blocks to all blocks. */
export interface CountedLaunch {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Whether the grid is that of a launch; false if Selvage chose it. */
  readonly isGridGiven: boolean;
  readonly at: Readonly<Record<string, number>>;
  /**
   * Bytes of global memory that the accesses transfer, and the bytes if each block transferred each sector only once.
   */
  readonly bytes: number;
  readonly blockBytes: number;
  /** Number of floating-point operations by precision; `tensor`: of matrix instructions. */
  readonly operations: { readonly single: number; readonly double: number; readonly tensor: number };
  /** Operations per byte of `blockBytes`; null if that is zero. */
  readonly intensity: number | null;
  /**
   * Maximum number of threads of the launch, and of a warp, that update the same address with one atomic instruction.
   * In shared memory, threads of a block.
   */
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
  /** The resource that takes longer if both reach the GPU's peak rates. */
  readonly bound: 'memory' | 'arithmetic';
  /** Time of the other resource as a share of the longer time, from 0 to 1. */
  readonly share: number;
  /** Number of waves of blocks; absent if the grid or the occupancy is unknown. */
  readonly waves?: {
    /** Number of blocks that are resident on the whole GPU. */
    readonly blocks: number;
    readonly count: number;
    /** Share of the GPU that the last wave fills: 0 to 1. */
    readonly last: number;
  };
}

/** A configured limit, and whether the kernel satisfies it. */
export interface LimitReport {
  readonly metric: Metric;
  /** The limit as configured. */
  readonly limit: string;
  readonly standing: 'kept' | 'exceeded' | 'not-compared';
  /** The build whose bound satisfies the limit. The bound of the other build may exceed it. */
  readonly build?: 'source' | 'production';
  /** Arguments at which the limit was decided, if the expressions did not decide it. */
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
  /** Whether the time limit ended the search for bounds early. */
  readonly nondeterministic?: boolean;
  /** Limits that are exceeded or could not be compared, and launches that fail; `base` is null. */
  readonly violations?: readonly Regression[];
}
