/** Inputs of an analysis: the project, the settings, and the services that do the work. */
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Options } from '../../settings/options.ts';
import type { Settings } from '../../settings/settings.ts';
import type { KernelChecks } from '../workers/check-pool.ts';
import type { Assets } from './assets.ts';
import type { Unit } from './input-files.ts';
import type { Progress } from './progress.ts';
import type { SourceTree } from './source-tree.ts';
import type { UnitBuilder } from './unit-builder.ts';

export interface Job {
  readonly project: Project;
  readonly settings: Settings;
  readonly tools: Tools;
}

/** A source tree, its analysed units, and their builder. */
export interface Project {
  readonly tree: SourceTree;
  readonly units: readonly Unit[];
  /** Whether launches are searched for in the whole tree, or only in the units. */
  readonly wholeTree: boolean;
  readonly builder: UnitBuilder;
  /** Diagnostics of opening the project. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Services that do not depend on the project. */
export interface Tools {
  /** Creates the executors of checks; the caller closes them. */
  readonly openChecks: (options: Options) => Promise<KernelChecks>;
  readonly assets: Pick<Assets, 'grammar'>;
  /** Folder of the cached index of launches, and the environment of git. */
  readonly index: {
    readonly folder: string | undefined;
    readonly environment: Readonly<Record<string, string | undefined>>;
  };
  readonly progress: Progress;
  /** Aborts the analysis, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}
