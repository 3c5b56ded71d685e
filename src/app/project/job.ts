/** What an analysis is given: what is analysed, what is asked of it, and who does the work. */
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Options } from '../../settings/options.ts';
import type { Settings } from '../../settings/settings.ts';
import type { KernelChecks } from '../workers/check-pool.ts';
import type { Assets } from './assets.ts';
import type { Unit } from './inputs.ts';
import type { Progress } from './progress.ts';
import type { SourceTree } from './source-tree.ts';
import type { UnitBuilder } from './unit-builder.ts';

export interface Job {
  readonly project: Project;
  readonly settings: Settings;
  readonly tools: Tools;
}

/** A source tree, the units of it that are analysed, and what builds them. */
export interface Project {
  readonly tree: SourceTree;
  readonly units: readonly Unit[];
  /** Whether launches are looked for in the whole tree, or in the units alone. */
  readonly wholeTree: boolean;
  readonly builder: UnitBuilder;
  /** What was found wrong while it was opened. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Who does the work, whatever the project. */
export interface Tools {
  /** Makes the places in which kernels are checked; whoever calls it closes them. */
  readonly openChecks: (options: Options) => Promise<KernelChecks>;
  readonly assets: Pick<Assets, 'grammar'>;
  /** Where the index of launches is kept, and the environment that git runs in. */
  readonly index: {
    readonly folder: string | undefined;
    readonly environment: Readonly<Record<string, string | undefined>>;
  };
  readonly progress: Progress;
  /** The analysis rejects, with its reason, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}
