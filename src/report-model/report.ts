/** The JSON report of check, repair, cost, review, compare and demo. The published schema fixes the names. */
import type { Dim3 } from '../base/dim3.ts';
import type { Regression } from './regression.ts';
import type { LaunchSource } from '../launch/launch.ts';
import type { DivergenceReport, RaceReport } from './finding.ts';
import type { BuildCost } from '../repair/build-cost.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { CodeDifference, CodeLinesOfKernel } from './comparison-code.ts';
import type { Location } from '../source/location.ts';
import type { CostReport, LaunchCost } from './cost-report.ts';
import type { IdempotencyReport } from './idempotency-report.ts';

export interface LaunchReport {
  readonly source: LaunchSource;
  readonly block?: Dim3 | null;
  readonly grid?: Dim3 | null;
  readonly cluster?: Dim3 | null;
  readonly sharedBytes?: number | null;
  readonly cooperative?: boolean;
  readonly location?: Location;
  /** Integer scalar arguments, by name; as text if JSON cannot represent the value exactly. */
  readonly args?: Readonly<Record<string, number | string>>;
  /** Constraints on dimensions and arguments that are not constants, in the language of assumptions. */
  readonly ties?: readonly string[];
  /** Why extents are neither constant nor constrained by an argument: `gridDim.x depends on the result of atoi()`. */
  readonly open?: readonly string[];
  /** Preconditions of the proof that the launch never satisfies. */
  readonly broken?: readonly string[];
  readonly race: RaceReport;
  readonly divergence: DivergenceReport;
  /** Cost of this launch, if a kernel has several. */
  readonly cost?: LaunchCost;
}

export interface KernelReport {
  readonly name: string;
  readonly symbol: string;
  readonly location?: Location;
  /** Architecture, if several were analysed. */
  readonly arch?: string;
  /** The worst race verdict over `launches`. */
  readonly race: RaceReport;
  readonly divergence: DivergenceReport;
  readonly repair: RepairReport;
  readonly cost?: CostReport;
  readonly idempotency?: IdempotencyReport;
  /**
   * Why the races were decided on a build that is not optimised at all (`-Xcicc -O0`): `-Ofc max` takes too long for
   * functions that are `large`, or did not end in time.
   */
  readonly unoptimised?: 'large' | 'late';
  readonly launches: readonly LaunchReport[];
  readonly timings?: Readonly<Record<string, number>>;
}

/** An edit that replaces whole lines. */
export interface RepairEdit {
  readonly file: string;
  readonly startLine: number;
  /** Inclusive; `startLine - 1` for a pure insertion before `startLine`. */
  readonly endLine: number;
  readonly replacement: string;
  readonly reason?: string;
}

/** Cost of the edits in the production build. */
export interface RepairCost {
  /** Difference of the costs as text: `+1 barrier in the loop, 0 registers`. */
  readonly text: string;
  readonly before: BuildCost;
  readonly after: BuildCost;
}

export interface RepairReport {
  /** `not-needed`: proved without edits. `optimised`: also proved without some of its barriers. */
  readonly status: 'not-needed' | 'repaired' | 'optimised' | 'unrepairable' | 'timeout' | 'skipped';
  /** The edited source was compiled again and proved; with `leaves`, the findings of `fixes` are proved absent. */
  readonly verified?: true;
  readonly barriersAdded?: number;
  readonly barriersRemoved?: number;
  readonly gridLevel?: boolean;
  /** Effort of the search: queries to the checker, clauses, checks of an instance, compilations of an edited text. */
  readonly iterations?: number;
  readonly clauses?: number;
  readonly checks?: number;
  readonly compilations?: number;
  readonly cost?: RepairCost;
  readonly edits?: readonly RepairEdit[];
  readonly reason?: string;
  /** Fingerprints of the findings that the edits remove. */
  readonly fixes?: readonly string[];
  /**
   * Fingerprints of findings that remain after a partial repair. Empty if no finding remains although the kernel is not
   * proved.
   */
  readonly leaves?: readonly string[];
  readonly alternatives?: readonly RepairAlternative[];
}

/** An alternative verified edit that fixes the same findings. It is applied only by the user. */
export interface RepairAlternative {
  readonly reason: string;
  readonly verified: true;
  readonly cost?: RepairCost;
  readonly edits: readonly RepairEdit[];
}

export interface NotAnalysed {
  readonly what: string;
  readonly reason: string;
  readonly location?: Location;
}

export interface FixedFinding {
  readonly fingerprint: string;
  readonly code: string;
  /** Name of the kernel in the base. */
  readonly kernel: string;
  readonly memory?: string;
  readonly array?: string;
  /** Location in the base. */
  readonly location?: Location;
}

/** Costs of a kernel that were not compared, or only at sizes that Selvage chose: a sentence without its full stop. */
export interface CostNote {
  readonly kernel: string;
  readonly message: string;
  /** Whether the time limit ended the comparison early. */
  readonly nondeterministic?: boolean;
}

export interface Comparison {
  readonly base?: string;
  readonly head?: string;
  /** Date of the commit of the head: `2027-06-30`. */
  readonly date?: string;
  readonly new: readonly string[];
  readonly fixed: readonly string[];
  readonly unchanged: readonly string[];
  /** Details of the findings in `fixed` that a run of the base had confirmed. */
  readonly fixedFindings?: readonly FixedFinding[];
  readonly regressions: readonly Regression[];
  /** Costs that are lower than in the base, in the same form as regressions. */
  readonly improvements?: readonly Regression[];
  /** Changes in the SASS of kernels, the largest of each kernel first. */
  readonly code?: readonly CodeDifference[];
  /** Changes by source line, for the kernels in `code`. */
  readonly codeLines?: readonly CodeLinesOfKernel[];
  /** Costs of a kernel that were not compared, or at unspecified sizes. */
  readonly costNotes?: readonly CostNote[];
  readonly addedKernels?: readonly string[];
  readonly removedKernels?: readonly string[];
  readonly renamedKernels?: readonly { readonly base: string; readonly head: string }[];
}

export interface Report {
  readonly schema: 1;
  readonly tool: { readonly name: 'selvage'; readonly version: string };
  readonly toolchain: {
    readonly compiler?: string | null;
    readonly arch?: readonly string[];
    readonly solver?: string | null;
  };
  readonly kernels: readonly KernelReport[];
  readonly diagnostics: readonly Diagnostic[];
  readonly timings?: Readonly<Record<string, number>>;
  readonly comparison?: Comparison;
  readonly notAnalysed?: readonly NotAnalysed[];
  /** CUDA files that the change affects and `paths` of the configuration leaves out. */
  readonly excluded?: readonly string[];
}
