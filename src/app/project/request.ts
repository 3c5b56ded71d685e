import type { CheckResult, CheckRequest } from '../../check/question/request.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { KernelResources } from '../../toolchain/ptxas-report.ts';
import type { Unassembled } from '../../toolchain/resources.ts';
import type { Assets } from './assets.ts';
import type { Configuration } from '../../settings/configuration.ts';
import type { Unit } from './inputs.ts';
import type { CheckSettings } from '../workers/check-pool.ts';
import type { Options } from '../../settings/options.ts';
import type { SourceTree } from './source-tree.ts';

export type BuildKind = 'verification' | 'production';

export interface BuiltUnit {
  /** Missing where the unit does not compile. */
  readonly ptx?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Makes the PTX of a unit, with a compiler or from what is bundled. */
export interface UnitBuilder {
  /** For the report; null where no compiler runs. */
  readonly compiler: string | null;
  /** Whether it can build other texts than those of the files. */
  readonly compiles: boolean;
  /** @param text in place of what the file of the unit holds */
  readonly build: (unit: Unit, kind: BuildKind, arch: string, text?: string) => Promise<BuiltUnit>;
  /** What the flags of a unit come to, as text: a change of it touches the unit's kernels. */
  readonly flags: (unit: Unit) => string;
  /** The files of the tree that a unit includes, with its own; empty where that cannot be found out. */
  readonly dependencies: (unit: Unit, arch: string) => Promise<readonly string[]>;
  /**
   * What the assembler says of the kernels of a PTX text, or why it says nothing; missing where there is none.
   * @param unit - whose flags count
   */
  readonly resources?: (
    ptx: string,
    arch: string,
    unit?: Unit,
  ) => Promise<ReadonlyMap<string, KernelResources> | Unassembled>;
  /** Stops what is running, whose builds then reject, and waits for its end. Whoever made the builder calls it. */
  readonly close: () => Promise<void>;
}

/** A defect of ours: what happened, and the input that shows it. */
export interface Defect {
  readonly kernel: string;
  readonly error: unknown;
  /** Name and text of the files that reproduce it. */
  readonly files: ReadonlyMap<string, string>;
}

/** How the driver tells of what goes on; nothing of it enters the report. */
export interface Progress {
  readonly log: (line: string) => void;
  readonly defect: (defect: Defect) => void;
}

export interface AnalysisRequest {
  readonly tree: SourceTree;
  readonly units: readonly Unit[];
  readonly configuration: Configuration | undefined;
  readonly options: Options;
  readonly builder: UnitBuilder;
  /** What the user gave nvcc on the command line. */
  readonly nvccArguments?: readonly string[];
  readonly progress: Progress;
  readonly assets: Assets;
  /** `YYYY-MM-DD`, for suppressions that end. */
  readonly today: string;
  /** Diagnostics of earlier phases, for the report. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether launches are looked for in the whole tree, or in the units alone. */
  readonly wholeTree: boolean;
  /** The analysis rejects, with its reason, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The value of PATH, for programs other than the compiler. */
  readonly searchPath?: string | undefined;
  /** Where and how long kernels are checked, for tests. */
  readonly checking?: Pick<CheckSettings, 'limits' | 'entry'>;
  /** In place of the real one, for tests. */
  readonly check?: (request: CheckRequest) => Promise<CheckResult>;
}
