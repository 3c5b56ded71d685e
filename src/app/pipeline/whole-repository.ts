/** The check of a whole repository as checked out, without a change. */
import { resolve } from 'node:path';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Report } from '../../report-model/report.ts';
import type { DefaultsText } from '../../settings/configuration.ts';
import type { Options } from '../../settings/options.ts';
import { askForCompiler, compilingBuilder, readingBuilder } from '../build/builder.ts';
import { baselineIn, defaultsFrom, readConfiguration, resultsOf, today, toolsOf } from '../build/open-project.ts';
import type { Assets } from '../project/assets.ts';
import { findInputs } from '../project/input-files.ts';
import type { Progress } from '../project/progress.ts';
import { openSourceTree } from '../project/source-tree.ts';
import { comparableCosts, type MeasuredCost } from './cost/cost-series.ts';
import { checkKernels } from './project-check.ts';

interface RepositoryRequest {
  /** Absolute path of the repository. */
  readonly root: string;
  readonly options: Options;
  /** Arguments of the workflow's owner, which are trusted; those of the configuration must pass an allow-list. */
  readonly nvccArguments: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly assets: Assets;
  /** The configuration of the organisation for all its repositories. */
  readonly defaults?: DefaultsText | undefined;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

interface RepositoryAnalysis {
  readonly report: Report;
  /** Costs of the kernels that are comparable between commits. */
  readonly costs: readonly MeasuredCost[];
  readonly source: (file: string) => string | undefined;
}

/**
 * Checks all units of a repository. Nothing is repaired.
 * @throws UsageError if the configuration is wrong
 */
export async function analyseRepository(request: RepositoryRequest): Promise<RepositoryAnalysis> {
  const { root, nvccArguments, environment, assets, progress, signal } = request;
  const options: Options = { ...request.options, checks: request.options.checks.filter((check) => check !== 'repair') };
  const tree = openSourceTree(root);
  const file = options.config === undefined ? undefined : resolve(root, options.config);
  const { defaults = defaultsFrom(options, root) } = request;
  const { configuration, diagnostics } = await readConfiguration(tree, { file, isConfined: file === undefined, defaults });
  const inputs = findInputs(['.'], tree.root, tree, configuration.paths);
  const found = await askForCompiler(options, environment, { outside: root });
  const builder =
    'diagnostic' in found
      ? readingBuilder
      : await compilingBuilder(found.compiler, {
          tree,
          configuration,
          options,
          userFlags: { args: nvccArguments, directory: tree.root, origin: 'the input nvcc-args', trust: 'user' },
          trust: 'pull-request',
          assets,
          progress,
          databaseRoot: tree.root,
          results: resultsOf(environment, options),
          signal,
        });
  try {
    const isCompiled = inputs.units.some(({ kind }) => kind === 'cuda');
    const problems: readonly Diagnostic[] = 'diagnostic' in found && isCompiled ? [found.diagnostic] : [];
    // The user does not name these headers explicitly.
    const fromInputs = inputs.diagnostics.map((one) => (one.code === 'input/no-unit' ? { ...one, severity: 'notice' as const } : one));
    const { report, kernels } = await checkKernels({
      project: { tree, units: inputs.units, wholeTree: true, builder, diagnostics: [...diagnostics, ...fromInputs, ...problems] },
      settings: { options, configuration, nvccArguments: [], today: today(), baseline: baselineIn(tree, options) },
      tools: toolsOf({ environment, assets, signal }, progress),
    });
    const costs = new Map(kernels.flatMap(({ entry, report: { cost } }) => (cost ? [...comparableCosts(entry, cost)] : [])));
    return { report, costs: [...costs].map(([series, head]) => ({ series, head })), source: (path) => tree.text(path) };
  } finally {
    await builder.close();
  }
}
