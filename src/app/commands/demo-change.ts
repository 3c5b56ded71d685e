import { defaultConfiguration } from '../../settings/defaults.ts';
import type { ChangeSide } from '../compare/change-request.ts';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileDiff } from '../../source/diff.ts';
import type { Assets } from '../project/assets.ts';
import { askForCompiler, compilingBuilder } from '../build/builder.ts';
import { analyseChange } from '../compare/change.ts';
import type { ChangeAnalysis } from '../compare/change-request.ts';
import type { Options } from '../../settings/options.ts';
import type { Progress } from '../project/progress.ts';
import type { UnitBuilder } from '../project/unit-builder.ts';
import { toolsOf } from '../build/open-project.ts';
import { openSourceTree, type SourceTree } from '../project/source-tree.ts';

/** Hashes of the two commits of the example in texts. */
export const demoCommits = { base: 'b'.repeat(40), head: 'a'.repeat(40) } as const;

interface DemoRequest {
  readonly options: Options;
  readonly nvccArguments: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly assets: Assets;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Analyses the bundled example pull request: with nvcc if PATH, CUDA_HOME or the options locate one, otherwise from the
 * PTX that is bundled with it.
 */
export async function analyseDemo({
  options,
  nvccArguments,
  environment,
  assets,
  progress,
  signal,
}: DemoRequest): Promise<ChangeAnalysis & { readonly compiled: boolean }> {
  const [baseTree, headTree] = [openSourceTree(join(assets.demo, 'base')), openSourceTree(join(assets.demo, 'head'))];
  const found = await askForCompiler(options, environment, { usualFolders: false });
  if ('diagnostic' in found) {
    if (options.nvcc !== undefined) progress.log(found.diagnostic.message);
    progress.log('Selvage found no nvcc on PATH, so the demo uses the bundled PTX.');
  }
  const builders: UnitBuilder[] = [];
  const sideOf = async (tree: SourceTree): Promise<ChangeSide> => {
    const builder =
      'diagnostic' in found
        ? bundledBuilder(tree)
        : await compilingBuilder(found.compiler, {
            tree,
            configuration: defaultConfiguration,
            options,
            userFlags: { args: nvccArguments, directory: tree.root },
            trust: 'user',
            assets,
            progress,
            databaseRoot: tree.root,
            signal,
          });
    builders.push(builder);
    return {
      project: { tree, wholeTree: true, builder, diagnostics: [] },
      settings: { options, configuration: defaultConfiguration, nvccArguments: [], today: '2026-01-01' },
    };
  };
  const tools = toolsOf({ environment, assets, signal }, progress);
  try {
    const [base, head] = [await sideOf(baseTree), await sideOf(headTree)];
    const diff = await differenceOf(baseTree, headTree);
    const analysis = await analyseChange({ base, head, tools, names: demoCommits, diff });
    return { ...analysis, compiled: !('diagnostic' in found) };
  } finally {
    await Promise.all(builders.map((builder) => builder.close()));
  }
}

/** Reads `NAME.verification.ptx` and `NAME.production.ptx` next to `NAME.cu`. */
function bundledBuilder(tree: SourceTree): UnitBuilder {
  return {
    compiler: null,
    compiles: false,
    flags: () => '',
    dependencies: async () => [],
    close: async () => undefined,
    async build(unit, kind) {
      const path = unit.path.replace(/\.cu$/, `.${kind}.ptx`);
      return { ptx: await readFile(join(tree.root, path), 'utf8'), diagnostics: [] };
    },
  };
}

async function differenceOf(base: SourceTree, head: SourceTree): Promise<FileDiff[]> {
  const { structuredPatch } = await import('diff');
  const names = async ({ root }: SourceTree): Promise<string[]> => (await readdir(root)).filter((name) => name.endsWith('.cu'));
  const paths = [...new Set([...(await names(base)), ...(await names(head))])].sort();
  return paths.flatMap((path): FileDiff[] => {
    const [before, after] = [base.text(path), head.text(path)];
    if (before === after) return [];
    const { hunks } = structuredPatch(path, path, before ?? '', after ?? '', '', '', { context: 3 });
    const status = before === undefined ? 'added' : after === undefined ? 'removed' : 'modified';
    return [{ path, status, hunks }];
  });
}
