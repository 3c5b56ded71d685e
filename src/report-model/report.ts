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
  /** Scalar arguments that are numbers, by name; what JSON cannot hold exactly is text. */
  readonly args?: Readonly<Record<string, number | string>>;
  /** What ties dimensions and arguments that are not constants, in the language of assumptions. */
  readonly ties?: readonly string[];
  /** Preconditions of the proof that the launch never meets. */
  readonly broken?: readonly string[];
  readonly race: RaceReport;
  readonly divergence: DivergenceReport;
  /** Where a kernel has several launches: what this one costs. */
  readonly cost?: LaunchCost;
}

export interface KernelReport {
  readonly name: string;
  readonly symbol: string;
  readonly location?: Location;
  /** Set if several architectures were analysed. */
  readonly arch?: string;
  /** The worst over `launches`. */
  readonly race: RaceReport;
  readonly divergence: DivergenceReport;
  readonly repair: RepairReport;
  readonly cost?: CostReport;
  readonly idempotency?: IdempotencyReport;
  /**
   * That the races were decided on a build that is not optimised at all (`-Xcicc -O0`), and why: `-Ofc max` takes too long
   * for functions as `large`, or did not end in time.
   */
  readonly unoptimised?: 'large' | 'late';
  readonly launches: readonly LaunchReport[];
  readonly timings?: Readonly<Record<string, number>>;
}

/** Replaces whole lines. */
export interface RepairEdit {
  readonly file: string;
  readonly startLine: number;
  /** Inclusive; `startLine - 1` for a pure insertion before `startLine`. */
  readonly endLine: number;
  readonly replacement: string;
  readonly reason?: string;
}

/** What the edits cost in the production build. */
export interface RepairCost {
  /** `+1 barrier in the loop, 0 registers` */
  readonly text: string;
  readonly before: BuildCost;
  readonly after: BuildCost;
}

export interface RepairReport {
  /** `not-needed`: proved as it is. `optimised`: also proved without some of its barriers. */
  readonly status: 'not-needed' | 'repaired' | 'optimised' | 'unrepairable' | 'timeout' | 'skipped';
  /** The edited source was compiled again and proved; with `leaves`, the findings of `fixes` are shown to be gone. */
  readonly verified?: true;
  readonly barriersAdded?: number;
  readonly barriersRemoved?: number;
  readonly gridLevel?: boolean;
  /** Effort of the search: questions to the checker, clauses, checks of an instance, compilations of an edited text. */
  readonly iterations?: number;
  readonly clauses?: number;
  readonly checks?: number;
  readonly compilations?: number;
  readonly cost?: RepairCost;
  readonly edits?: readonly RepairEdit[];
  readonly reason?: string;
  /** Fingerprints of the findings that the edits remove. */
  readonly fixes?: readonly string[];
  /** Of a repair in part: fingerprints of the findings that stay. Empty where none does and the kernel is still not proved. */
  readonly leaves?: readonly string[];
  readonly alternatives?: readonly RepairAlternative[];
}

/** Verified edits that fix the same findings in another way. Only the user applies them. */
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
  /** Its name in the base. */
  readonly kernel: string;
  readonly memory?: string;
  readonly array?: string;
  /** In the base. */
  readonly location?: Location;
}

/** What of a kernel's costs was not compared, or only at sizes that Selvage chose: a sentence without its full stop. */
export interface CostNote {
  readonly kernel: string;
  readonly message: string;
  /** The time limit ended the comparison early. */
  readonly nondeterministic?: boolean;
}

export interface Comparison {
  readonly base?: string;
  readonly head?: string;
  /** Of the commit of the head: `2027-06-30`. */
  readonly date?: string;
  readonly new: readonly string[];
  readonly fixed: readonly string[];
  readonly unchanged: readonly string[];
  /** What the base had of `fixed` that a run had confirmed. */
  readonly fixedFindings?: readonly FixedFinding[];
  readonly regressions: readonly Regression[];
  /** Costs that are lower than in the base, in the form of those that are higher. */
  readonly improvements?: readonly Regression[];
  /** What changed in the machine code of kernels, what weighs most in each first. */
  readonly code?: readonly CodeDifference[];
  /** By line, of the kernels of which `code` says something. */
  readonly codeLines?: readonly CodeLinesOfKernel[];
  /** What of the costs of a kernel was not compared, or was at sizes that nobody gave. */
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
}
