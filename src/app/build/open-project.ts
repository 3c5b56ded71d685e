import { messageOf } from '../../base/text.ts';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Assets } from '../project/assets.ts';
import { askForCompiler, compilingBuilder, readingBuilder, type BuilderRequest } from './builder.ts';
import { cacheFolder } from '../../system/cache-folder.ts';
import { loadCompiled } from '../../system/code-cache.ts';
import { baselineName, parseBaseline, type BaselineEntry } from '../../settings/baseline-file.ts';
import type { Configuration, DefaultsText, KernelConfiguration } from '../../settings/configuration.ts';
import { findInputs, type Unit } from '../project/input-files.ts';
import { defaultConfiguration } from '../../settings/defaults.ts';
import { configurationName, type Options } from '../../settings/options.ts';
import type { Job, Tools } from '../project/job.ts';
import type { Progress } from '../project/progress.ts';
import type { UnitBuilder } from '../project/unit-builder.ts';
import { keepingChecks } from '../cache/kept-checks.ts';
import { openResults, type ResultStore } from '../cache/result-store.ts';
import { multipliedBudget } from '../../check/request/check-budget.ts';
import { openChecks } from '../workers/check-pool.ts';
import { kindOf, openSourceTree, relativeTo, repositoryRoot, type SourceTree } from '../project/source-tree.ts';
import { UsageError } from '../../base/usage-error.ts';

interface ProjectRequest {
  readonly paths: readonly string[];
  readonly nvccArguments: readonly string[];
  readonly options: Options;
  readonly progress: Progress;
  readonly services: {
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly assets: Assets;
    readonly signal?: AbortSignal | undefined;
  };
}

/**
 * Finds the root, the configuration, the inputs and the compiler for paths on the command line. The caller closes the
 * builder.
 * @throws UsageError if paths or configuration are wrong
 */
export async function openProject({ paths, nvccArguments, options, progress, services }: ProjectRequest): Promise<Job> {
  const { cwd, environment, assets, signal } = services;
  const { root, repository } = rootOf(paths, cwd);
  const tree = openSourceTree(root);
  const { configuration: configured, diagnostics } = await readConfiguration(tree, {
    file: options.config && resolve(cwd, options.config),
    defaults: defaultsFrom(options, cwd),
  });
  const facts = await factsFrom(options, cwd);
  // Of several entries for a kernel, the last one takes precedence.
  const configuration = facts.length > 0 ? { ...configured, kernels: [...configured.kernels, ...facts] } : configured;
  const inputs = findInputs(paths, cwd, tree, configuration.paths);
  const { builder, problems } = await builderFor(inputs.units, environment, {
    tree,
    configuration,
    options,
    userFlags: { args: nvccArguments, directory: cwd },
    trust: 'user',
    assets,
    progress,
    databaseRoot: tree.root,
    results: resultsOf(services.environment, options),
    signal,
  });
  return {
    project: {
      tree,
      units: inputs.units,
      wholeTree: repository,
      builder,
      diagnostics: [...diagnostics, ...inputs.diagnostics, ...problems],
    },
    settings: { options, configuration, nvccArguments, today: today(), baseline: baselineIn(tree, options) },
    tools: toolsOf(services, progress),
  };
}

/**
 * The baseline of a tree; empty without a file or with `--no-baseline`.
 * @throws UsageError if the file is not a baseline
 */
export function baselineIn(tree: SourceTree, { baseline }: Pick<Options, 'baseline'>): readonly BaselineEntry[] {
  const text = baseline ? tree.text(baselineName) : undefined;
  return text === undefined ? [] : parseBaseline(text, baselineName);
}

/** Current date in the format of suppressions: `YYYY-MM-DD`. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Services of an analysis in this process. */
export function toolsOf(
  { environment, assets, signal }: Pick<ProjectRequest['services'], 'environment' | 'assets' | 'signal'>,
  progress: Progress,
): Tools {
  const searchPath = environment['PATH'];
  return {
    openChecks: async (options) => {
      const { solver, jobs, timeout, effort } = options;
      const limits = { counted: multipliedBudget(effort) };
      const checks = await openChecks({ solver, jobs, timeout, searchPath, signal, limits });
      const results = resultsOf(environment, options);
      return results ? keepingChecks(checks, results, options) : checks;
    },
    assets,
    index: { folder: cacheFolder(environment, 'launches'), environment },
    progress,
    signal,
  };
}

/** Cache of results; undefined if caching is disabled. */
export function resultsOf(
  environment: Readonly<Record<string, string | undefined>>,
  { cache }: Pick<Options, 'cache'>,
): ResultStore | undefined {
  return cache ? openResults(environment) : undefined;
}

async function builderFor(
  units: readonly Unit[],
  environment: Readonly<Record<string, string | undefined>>,
  request: BuilderRequest,
): Promise<{ builder: UnitBuilder; problems: Diagnostic[] }> {
  const isRead = units.every(({ kind }) => kind === 'ptx');
  // PTX needs no compiler. A request for costs without verdicts uses the assembler next to nvcc, if there is one.
  const { checks } = request.options;
  if (isRead && (!checks.includes('cost') || checks.includes('race'))) return { builder: readingBuilder, problems: [] };
  const found = await askForCompiler(request.options, environment);
  if ('diagnostic' in found) return { builder: readingBuilder, problems: isRead ? [] : [found.diagnostic] };
  return { builder: await compilingBuilder(found.compiler, request), problems: [] };
}

/**
 * Repository of the first path (or of the working directory); otherwise the working directory if it contains all paths,
 * or the folder that contains them.
 */
function rootOf(paths: readonly string[], cwd: string): { root: string; repository: boolean } {
  const existing = (paths.length > 0 ? paths : ['.']).map((path) => {
    const start = resolve(cwd, path.replace(/[*?[{].*$/, ''));
    return kindOf(start) !== undefined ? realpathSync(start) : cwd;
  });
  const [first = cwd] = existing;
  const ofInput = repositoryRoot(first);
  if (ofInput !== undefined) return { root: ofInput, repository: true };
  const isInside = (folder: string, path: string): boolean => path === folder || relativeTo(folder, path) !== path;
  if (existing.every((path) => isInside(cwd, path))) return { root: cwd, repository: false };
  let root = dirname(first);
  while (!existing.every((path) => isInside(root, path))) {
    const parent = dirname(root);
    // The whole file system is not a project.
    if (dirname(parent) === parent) return { root: dirname(first), repository: false };
    root = parent;
  }
  return { root, repository: false };
}

interface ConfigurationRequest {
  /** Configuration file that is read instead of the one at the root. Absolute or relative to the root; must exist. */
  readonly file?: string | undefined;
  /** Whether the configuration must be inside the tree after links are resolved, because the tree is untrusted. */
  readonly isConfined?: boolean;
  /** Values for keys that the configuration does not set. */
  readonly defaults?: DefaultsText | undefined;
}

interface ReadConfiguration {
  readonly configuration: Configuration;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the configuration of a tree; the default one if it has none.
 * @throws UsageError naming every error in it
 */
export async function readConfiguration(
  tree: SourceTree,
  { file, isConfined = false, defaults }: ConfigurationRequest = {},
): Promise<ReadConfiguration> {
  const path = resolve(tree.root, file ?? configurationName);
  const general = await parsedDefaults(defaults);
  let text: string;
  try {
    if (isConfined && isAbsolute(relativeTo(tree.root, realpathSync(path)))) throw new Error('it leads out of the tree');
    if (existsSync(path) && kindOf(path) !== 'file') throw new Error('it is not a regular file');
    if (isConfined && relativeTo(tree.root, realpathSync(path)).split('/')[0] === '.git') throw new Error('it leads into .git');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (missing && file === undefined) return general;
    const reason = missing ? 'the file does not exist' : messageOf(error);
    throw new UsageError(`The configuration ${file ?? configurationName} cannot be read: ${reason}.`);
  }
  const own = await parsedConfiguration(text, relativeTo(tree.root, path), general.configuration);
  return { ...own, diagnostics: [...general.diagnostics, ...own.diagnostics] };
}

/** The defaults that `--defaults` names. */
export function defaultsFrom({ defaults }: Pick<Options, 'defaults'>, cwd: string): DefaultsText | undefined {
  if (defaults === undefined) return undefined;
  try {
    return { file: defaults, text: readFileSync(resolve(cwd, defaults), 'utf8') };
  } catch (error) {
    const reason = messageOf(error);
    throw new UsageError(`The configuration ${defaults} cannot be read: ${reason}.`);
  }
}

/**
 * Kernel entries of the file that `--facts` names.
 * @throws UsageError naming every error in it
 */
async function factsFrom({ facts }: Pick<Options, 'facts'>, cwd: string): Promise<readonly KernelConfiguration[]> {
  if (facts === undefined) return [];
  let text: string;
  try {
    text = readFileSync(resolve(cwd, facts), 'utf8');
  } catch (error) {
    const reason = messageOf(error);
    throw new UsageError(`The facts in ${facts} cannot be read: ${reason}.`);
  }
  const { parseFacts } = await loadCompiled(() => import('../../settings/configuration-parser.ts'));
  const { kernels, diagnostics } = parseFacts(text, facts);
  requireNoErrors('The facts are wrong.', diagnostics, facts);
  return kernels;
}

/** Invalid or unavailable defaults are ignored with a diagnostic: one error must not stop all repositories. */
async function parsedDefaults(defaults: DefaultsText | undefined): Promise<ReadConfiguration> {
  if (defaults === undefined) return { configuration: defaultConfiguration, diagnostics: [] };
  const { file } = defaults;
  const leftOut = (why: string): ReadConfiguration => {
    const message = `The configuration ${file} of the organisation is not used, so only that of this repository applies: ${why}`;
    return {
      configuration: defaultConfiguration,
      diagnostics: [{ severity: 'warning', code: 'config/organisation', message }],
    };
  };
  if ('problem' in defaults) return leftOut(defaults.problem);
  try {
    return await parsedConfiguration(defaults.text, file);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return leftOut(
      error.message
        .replace(/^The configuration is wrong\.\n/, '')
        .split('\n')
        .slice(0, 3)
        .join(' '),
    );
  }
}

/**
 * Parses a configuration; most runs have no configuration and do not load the parser.
 * @throws UsageError naming every error in it
 */
export async function parsedConfiguration(text: string, path: string, defaults = defaultConfiguration): Promise<ReadConfiguration> {
  const { parseConfiguration } = await loadCompiled(() => import('../../settings/configuration-parser.ts'));
  const parsed = parseConfiguration(text, path, defaults);
  requireNoErrors('The configuration is wrong.', parsed.diagnostics, path);
  return parsed;
}

function requireNoErrors(title: string, diagnostics: readonly Diagnostic[], path: string): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const lines = errors.map(({ message, location }) => {
    const at = location ? `${location.file}:${location.line}:${location.column ?? 1}` : path;
    return `${at}: ${message}`;
  });
  throw new UsageError(`${title}\n${lines.join('\n')}`);
}
