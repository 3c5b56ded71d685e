/** What a repair of one kernel is asked, and what it answers. */
import type { CudaSource } from '../cuda/syntax/syntax.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import type { BarrierChange, BuildCost } from './build-cost.ts';
import type { Explanation, LeftOpen, NoRepair, Note, EditRefusal } from './explanation.ts';
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
      /** Findings that the edit leaves as they were, of a repair in part. */
      readonly leaves: readonly LeftOpen[];
    }
  | {
      readonly verified: false;
      readonly refusal: EditRefusal;
    };

/**
 * What kind of edit it is: one that changes statements has to leave what a thread computes as it was. One that changes
 * what threads hand to each other has to leave the same memory `as` another edited text, which was verified.
 */
export type Change = 'barriers' | 'statements' | { readonly as: string };

/** How many of the findings an edit has to remove: `some` means one or more, and the others are no worse. */
export type Extent = 'all' | 'some';

/** An access of a race that is to be repaired. */
export interface RacingAccess {
  readonly file: string | undefined;
  readonly line: number;
  /** As it is written; undefined if that could not be found. */
  readonly expression: string | undefined;
}

export interface RepairRequest {
  readonly source: CudaSource;
  /** The instances of the kernel as they are. */
  readonly kernels: readonly Kernel[];
  readonly racing: readonly RacingAccess[];
  /** All pairs of accesses of the races that are to be repaired. */
  readonly shown: readonly (readonly RacingAccess[])[];
  readonly weights: WeightPolicy;
  /** Barriers of the grid may be proposed: they are configured, and every launch is cooperative. */
  readonly gridLevel: boolean;
  /** Compiles a marked copy for the instances of the kernel; null if it does not compile. */
  readonly build: (text: string) => Promise<MarkedBuild | null>;
  /** The final word on an edited text: both builds, the same launches, and what becomes of the other kernels. */
  readonly verify: (text: string, change: Change, extent?: Extent) => Promise<Verification>;
  /**
   * Whether a part of the findings is repaired, as all of them cannot be: `verify` then accepts what shows that some are
   * gone and makes nothing else worse.
   */
  readonly isPartial?: boolean;
  /** Begins to compile an edited text that is to be verified. */
  readonly prepare: (text: string) => void;
  /** Cost of the kernel in the production build, original or of an edited text, at worst; null if unknown. */
  readonly cost: (text?: string) => Promise<BuildCost | null>;
  /** Decides what the search for hitting sets gives up. */
  readonly lightestSets?: LightestSets;
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
      /** Other edits that were verified and do the same. */
      readonly alternatives?: readonly Repair[];
    } & Repair)
  | {
      readonly status: 'unrepairable' | 'timeout';
      readonly why: Extract<NoRepair, { readonly kind: 'unrepairable' | 'timeout' }>;
      readonly effort: Effort;
    }
  | { readonly status: 'not-needed' };

/** What a repair took; counted up as it goes. */
export interface Effort {
  /** Clauses that witnesses gave: of the barriers between two accesses, one. */
  clauses: number;
  /** Settings of the switches that were asked about. */
  iterations: number;
  /** Checks of an instance under a launch. */
  checks: number;
  /** Marked copies that were compiled, and edits that were tried. */
  compiled: number;
}

/**
 * Another search for the lightest set with an element of every clause, if the first one gives up.
 * @returns null if it finds none
 */
export type LightestSets = (
  clauses: readonly (readonly number[])[],
  weight: (element: number) => number,
) => Promise<readonly number[] | null>;
