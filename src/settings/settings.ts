/** Settings of an analysis: the options of the command line, and the configuration of the repository. */
import type { BaselineEntry } from './baseline-file.ts';
import type { Configuration } from './configuration.ts';
import type { Options } from './options.ts';

export interface Settings {
  readonly options: Options;
  readonly configuration: Configuration;
  /** Arguments for nvcc from the command line. */
  readonly nvccArguments: readonly string[];
  /** Current date, `YYYY-MM-DD`, to decide which suppressions have expired. */
  readonly today: string;
  /** Findings of the baseline, which are not reported again. */
  readonly baseline?: readonly BaselineEntry[];
}

/** The architectures to compile for, at least one. */
export function architecturesOf({ options, configuration }: Pick<Settings, 'options' | 'configuration'>): readonly string[] {
  return options.arch.length > 0 ? options.arch : configuration.arch;
}
