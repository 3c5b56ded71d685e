import type { ChangeAnalysis, ChangeSide, UnitSelection } from './change-request.ts';
import { realpathSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { analyseChange } from './change.ts';
import type { Assets } from '../project/assets.ts';
import { askForCompiler, compilingBuilder, readingBuilder } from '../build/builder.ts';
import { defaultConfiguration } from '../../settings/defaults.ts';
import type { BaselineEntry } from '../../settings/baseline-file.ts';
import type { Configuration, DefaultsText } from '../../settings/configuration.ts';
import {
  changedFiles,
  dayOf,
  checkOut,
  folderInRepository,
  isCheckedOut,
  mergeBase,
  resolveCommit,
  type Repository,
} from '../project/git.ts';
import { configurationName, type Options } from '../../settings/options.ts';
import { baselineIn, defaultsFrom, readConfiguration, resultsOf, today, toolsOf } from '../build/open-project.ts';
import type { Progress } from '../project/progress.ts';
import type { UnitBuilder } from '../project/unit-builder.ts';
import { kindOf, openSourceTree, relativeTo, type SourceTree } from '../project/source-tree.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { diffWithin, type FileDiff } from '../../source/diff.ts';

export interface RangeRequest {
  /** Top of the repository, or a folder in it that limits the analysis; absolute. */
  readonly root: string;
  readonly base: string;
  readonly head: string;
  /** True: from the merge base of the branch (three dots). False: the two revisions as they are. */
  readonly fromMergeBase?: boolean;
  /** If `base`, the configuration of the head has no effect, as for pull requests of untrusted authors. */
  readonly configurationFrom: 'base' | 'head';
  readonly trust: 'user' | 'pull-request';
  /** Changes in the whole repository if the caller knows them (GitHub); otherwise git is queried. */
  readonly changedFiles?: readonly FileDiff[];
  /** Only paths at or below these, relative to the root. */
  readonly paths?: readonly string[];
  /** Selects the affected units that are analysed; if missing, all are. */
  readonly select?: UnitSelection | undefined;
  readonly options: Options;
  /** Defaults of the organisation for all its repositories; if missing, those of `--defaults`. */
  readonly defaults?: DefaultsText | undefined;
  /** Arguments of the user, or of the owner of the workflow: they are trusted. */
  readonly nvccArguments?: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly assets: Assets;
  readonly progress: Progress;
  /** Aborts the analysis, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the analysis without repairs if repairs are still to be searched for. */
  readonly decided?: (analysis: ChangeAnalysis) => Promise<void>;
}

export interface RangeAnalysis extends ChangeAnalysis {
  readonly baseSha: string;
  readonly headSha: string;
  /** The files of the head that a rendering can quote. */
  readonly texts: ReadonlyMap<string, string | undefined>;
}

/**
 * Analyses the commits between two revisions. Both sides are compiled here, by the same compiler.
 * @throws UsageError if a revision or the configuration is wrong
 */
export async function analyseRange(request: RangeRequest): Promise<RangeAnalysis> {
  const { options, assets, progress, trust, signal } = request;
  const repository: Repository = { root: request.root, environment: request.environment };
  const headSha = await resolveCommit(repository, request.head);
  const named = await resolveCommit(repository, request.base);
  const baseSha = request.fromMergeBase === false ? named : await mergeBase(repository, named, headSha);
  const changed = request.changedFiles ?? (await changedFiles(repository, baseSha, headSha));
  const day = await dayOf(repository, headSha);
  const diff = diffWithin(changed, await folderInRepository(repository));

  // Disposals in order of creation: compilers end before the trees that they read are removed.
  const disposals: (() => Promise<void>)[] = [];
  const treeAt = async (commit: string): Promise<SourceTree> => {
    if (await isCheckedOut(repository, commit)) return openSourceTree(request.root);
    const { root, dispose } = await checkOut(repository, commit);
    disposals.push(dispose);
    return openSourceTree(root);
  };
  try {
    const headTree = await treeAt(headSha);
    const baseTree = await treeAt(baseSha);
    const configurations = await configurationsOf(request, baseTree, headTree);
    // The baseline comes from the same side as the configuration: a baseline of an untrusted author has no effect.
    const before = baselineBefore(baseTree, options);
    const baselines = {
      base: before,
      head: request.configurationFrom === 'base' ? before : baselineIn(headTree, options),
    };
    const outside = trust === 'pull-request' ? { outside: request.root } : {};
    const found = await askForCompiler(options, request.environment, outside);
    const databaseRoot = openSourceTree(request.root).root;
    const builderOf = async (tree: SourceTree, configuration: Configuration): Promise<UnitBuilder> => {
      if ('diagnostic' in found) return readingBuilder;
      const builder = await compilingBuilder(found.compiler, {
        tree,
        configuration,
        options,
        userFlags: {
          args: request.nvccArguments ?? [],
          directory: tree.root,
          ...(trust === 'pull-request' && { origin: 'the input nvcc-args', trust: 'user' }),
        },
        trust,
        assets,
        progress,
        databaseRoot,
        results: resultsOf(request.environment, options),
        signal,
      });
      disposals.unshift(builder.close);
      return builder;
    };
    const sideOf = async (
      tree: SourceTree,
      configuration: Configuration,
      baseline: readonly BaselineEntry[],
      diagnostics: readonly Diagnostic[],
    ): Promise<ChangeSide> => ({
      project: {
        tree,
        wholeTree: true,
        builder: await builderOf(tree, configuration),
        diagnostics: 'diagnostic' in found ? [...diagnostics, found.diagnostic] : diagnostics,
      },
      settings: { options, configuration, nvccArguments: [], today: today(), baseline },
    });
    const analysis = await analyseChange({
      base: await sideOf(baseTree, configurations.base, baselines.base, []),
      head: await sideOf(headTree, configurations.head, baselines.head, configurations.diagnostics),
      tools: toolsOf(request, progress),
      names: { base: baseSha, head: headSha, ...(day !== undefined && { date: day }) },
      diff,
      ...(request.paths ? { paths: request.paths } : {}),
      ...(request.select ? { select: request.select } : {}),
      ...(request.decided ? { decided: request.decided } : {}),
    });
    // Trees are removed after the analysis, but renderings need the texts of their files.
    const texts = new Map(textFiles(analysis).map((file) => [file, headTree.text(file)]));
    return { ...analysis, baseSha, headSha, texts, source: (file) => texts.get(file) };
  } finally {
    for (const dispose of disposals) await dispose();
  }
}

async function configurationsOf(
  { root, configurationFrom, trust, options, defaults = defaultsFrom(options, root) }: RangeRequest,
  baseTree: SourceTree,
  headTree: SourceTree,
): Promise<{
  base: Configuration;
  head: Configuration;
  diagnostics: readonly Diagnostic[];
}> {
  const { config } = options;
  const named = config === undefined ? undefined : resolve(root, config);
  const inside = named === undefined ? undefined : pathInside(root, named);
  // A configuration that the user names applies to both sides, and so does one outside of the repository, which no
  // commit can change.
  if (named !== undefined && (trust === 'user' || inside === undefined)) {
    const { configuration, diagnostics } = await readConfiguration(headTree, { file: named, defaults });
    return { base: configuration, head: configuration, diagnostics };
  }
  const read = (tree: SourceTree) => readConfiguration(tree, { file: inside, isConfined: trust === 'pull-request', defaults });
  if (configurationFrom === 'base') {
    const { configuration, diagnostics } = await read(baseTree);
    const ignored = ignoredConfiguration(inside ?? configurationName, baseTree, headTree);
    return { base: configuration, head: configuration, diagnostics: [...diagnostics, ...ignored] };
  }
  const { configuration, diagnostics } = await read(headTree);
  let base = defaultConfiguration;
  try {
    base = (await read(baseTree)).configuration;
  } catch (error) {
    // The configuration of the base is invalid; the head may correct it.
    if (!(error instanceof UsageError)) throw error;
  }
  return { base, head: configuration, diagnostics };
}

/** The baseline file of the base commit. An invalid one counts as empty, because the head may correct it. */
function baselineBefore(tree: SourceTree, options: Options): readonly BaselineEntry[] {
  try {
    return baselineIn(tree, options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [];
  }
}

/** Notice that the configuration of the head has no effect, if it differs. */
function ignoredConfiguration(file: string, baseTree: SourceTree, headTree: SourceTree): Diagnostic[] {
  if (headTree.text(file) === baseTree.text(file)) return [];
  const message = `This pull request comes from a fork, so its changes to ${file} have no effect: Selvage uses the version of the base commit.`;
  return [{ severity: 'notice', code: 'review/configuration-ignored', message, location: { file, line: 1 } }];
}

/** Real path of a file in the repository, with links resolved; undefined if it is outside. */
function pathInside(root: string, file: string): string | undefined {
  const real = kindOf(file) === undefined ? file : realpathSync(file);
  const paths = [relativeTo(root, file), relativeTo(realpathSync(root), real)];
  return paths.find((path) => !isAbsolute(path));
}

/** The files of the head that a rendering can quote. */
function textFiles({ report, diff }: ChangeAnalysis): string[] {
  const files = new Set(diff.map(({ path }) => path));
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('file' in value && typeof value.file === 'string') files.add(value.file);
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(report.kernels);
  return [...files];
}
