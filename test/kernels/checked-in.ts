/** Analyses the test kernels from their checked-in PTX, so that no compiler is needed. */
import { defaultConfiguration } from '../../src/settings/defaults.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findAssets } from '../../src/app/project/assets.ts';
import { findInputs } from '../../src/app/project/input-files.ts';
import { defaultOptions, type Options } from '../../src/settings/options.ts';
import { checkProject } from '../../src/app/pipeline/project-check.ts';
import type { Report } from '../../src/report-model/report.ts';
import type { BuildKind } from '../../src/app/project/unit-builder.ts';
import type { CheckSettings } from '../../src/app/workers/check-pool.ts';
import { type CheckFunction, checksBy } from '../app/workers/checks-by.ts';
import { openSourceTree } from '../../src/app/project/source-tree.ts';
import { ptxFile, root } from './portable-ptx.ts';

export interface CheckedInOptions {
  readonly options?: Partial<Options>;
  /** Makes the text of a build that is not checked in. */
  readonly compile?: (kind: BuildKind) => Promise<string>;
  /** Replaces the checked-in text of a build. */
  readonly ptx?: (kind: BuildKind, text: string) => string;
  readonly check?: CheckFunction;
  readonly checking?: Pick<CheckSettings, 'limits' | 'entry'>;
}

/** The PTX of a build of a test kernel, as it is checked in. */
export function checkedInPtx(file: string, kind: BuildKind): string {
  return readFileSync(ptxFile(file, kind), 'utf8');
}

/** The report on one file of test kernels. */
export async function analyseCheckedIn(file: string, { options, compile, ptx, check, checking }: CheckedInOptions = {}): Promise<Report> {
  const tree = openSourceTree(root);
  const { units } = findInputs([join(root, file)], root, tree, { include: [], exclude: [] });
  return checkProject({
    project: {
      tree,
      units,
      wholeTree: false,
      builder: {
        compiler: null,
        compiles: false,
        flags: () => '',
        build: async (_unit, kind) => {
          const text = compile ? await compile(kind) : checkedInPtx(file, kind);
          return { ptx: ptx ? ptx(kind, text) : text, diagnostics: [] };
        },
        dependencies: async () => [],
        close: async () => undefined,
      },
      diagnostics: [],
    },
    settings: {
      // A worker would use its own check.
      options: { ...defaultOptions(), timeout: 600_000, ...(check && { jobs: 1 }), ...options },
      configuration: defaultConfiguration,
      nvccArguments: [],
      today: '2026-01-01',
    },
    tools: {
      openChecks: checksBy(check, checking),
      assets: findAssets(new URL('../../src/cli.ts', import.meta.url).href),
      index: { folder: undefined, environment: {} },
      progress: {
        log: () => undefined,
        defect: ({ error }) => {
          throw error;
        },
      },
    },
  });
}
