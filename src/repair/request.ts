/** Request and result of a repair of one kernel. */
import type { CudaSource } from '../cuda/syntax/syntax.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import type { BarrierChange, BuildCost } from './build-cost.ts';
import type { Explanation, LeftOpen, NoRepair, Note, EditRefusal } from './explanation.ts';
import type { Location } from '../source/location.ts';
import type { MissingOrder } from '../verdict/finding.ts';
import type { Reason } from '../verdict/reason.ts';
import type { Subject } from './repair-target.ts';
import type { WeightPolicy } from './weight.ts';

/** A marked copy, compiled. */
export interface MarkedBuild {
  readonly subjects: readonly Subject[];
  /** Markers in the code of other kernels of the file. */
  readonly shared: ReadonlySet<number>;
}

export type Verification =
  | {
      readonly verified: true;
      readonly notes: readonly Note[];
      /** Findings that a partial repair leaves unchanged. */
      readonly leaves: readonly LeftOpen[];
      /** Of an edit of the width of indices: why the kernel is not proved, as before the edit. */
      readonly open?: Reason;
    }
  | {
      readonly verified: false;
      readonly refusal: EditRefusal;
    };

/**
 * Kind of edit: one that changes statements has to preserve the values that a thread computes. One that changes
 * communication between threads has to leave the same memory `as` another edited text, which was verified. One of the `widths` of
 * indices may change what a thread accesses, where an index wraps around. `waits`: accesses come after the wait for the kernels before.
 */
export type Change = 'barriers' | 'statements' | 'widths' | 'waits' | { readonly as: string };

/** How many of the findings an edit has to remove: `some` means one or more, and the others do not get worse. */
export type Extent = 'all' | 'some';

/** An access of a race that is to be repaired. */
export interface RacingAccess {
  readonly file: string | undefined;
  readonly line: number;
  /** Source text of the access; undefined if it could not be found. */
  readonly expression: string | undefined;
}

/** An access of which an index, computed in 32 bits on some lines, may wrap around. */
export interface NarrowAccess {
  readonly location: Location;
  readonly computedAt: readonly Location[];
  /** The size from which on it does; absent if it does at the given launch. */
  readonly when?: string;
}

export interface RepairRequest {
  readonly source: CudaSource;
  /** The instances of the unedited kernel. */
  readonly kernels: readonly Kernel[];
  readonly racing: readonly RacingAccess[];
  /** All pairs of accesses of the races that are to be repaired. */
  readonly shown: readonly (readonly RacingAccess[])[];
  /** The orders that these findings name as missing, so that the edit agrees with their text. */
  readonly missing: readonly MissingOrder[];
  /** The accesses of which an index may wrap around: at the given launch, or from sizes on, and the sizes of findings. */
  readonly narrow: () => Promise<{ readonly accesses: readonly NarrowAccess[]; readonly sizes: readonly string[] }>;
  /** Where kernels wait for the kernels before them. */
  readonly waits: readonly Location[];
  readonly weights: WeightPolicy;
  /** Barriers of the grid may be proposed: they are configured, and every launch is cooperative. */
  readonly gridLevel: boolean;
  /** Compiles a marked copy for the instances of the kernel; null if it does not compile. */
  readonly build: (text: string) => Promise<MarkedBuild | null>;
  /** Final verification of an edited text: both builds, the same launches, and the results of the other kernels. */
  readonly verify: (text: string, change: Change, extent?: Extent) => Promise<Verification>;
  /**
   * Whether only a part of the findings is repaired: `verify` then accepts an edit if some findings are gone and
   * nothing else gets worse.
   */
  readonly isPartial?: boolean;
  /** Begins to compile an edited text that is to be verified. */
  readonly prepare: (text: string) => void;
  /**
   * Maximum cost of the kernel over its instances in the production build, for the original or an edited text; null if
   * unknown.
   */
  readonly cost: (text?: string) => Promise<BuildCost | null>;
  /** Reads an edited text. */
  readonly parse: (text: string) => Promise<CudaSource>;
  /** Whether a repair of some findings is wanted if none repairs all. */
  readonly mayBePartial: boolean;
  readonly expired: () => boolean;
}

/** An edit that was verified. */
export interface Repair extends BarrierChange, Explanation {
  /** The edited source. */
  readonly text: string;
  readonly gridLevel: boolean;
}

export type RepairOutcome =
  | ({
      readonly status: 'repaired' | 'optimised';
      readonly effort: Effort;
      /** Other verified edits with the same effect. */
      readonly alternatives?: readonly Repair[];
    } & Repair)
  | {
      readonly status: 'unrepairable' | 'timeout';
      readonly why: Extract<NoRepair, { readonly kind: 'unrepairable' | 'timeout' }>;
      readonly effort: Effort;
    }
  | { readonly status: 'not-needed' };

/** Effort of a repair; incremented during it. */
export interface Effort {
  /** Clauses from witnesses: one of the barriers between two accesses is needed. */
  clauses: number;
  /** Number of switch settings that were queried. */
  iterations: number;
  /** Checks of an instance under a launch. */
  checks: number;
  /** Marked copies that were compiled, and edits that were tried. */
  compiled: number;
}
