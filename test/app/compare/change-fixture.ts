import { defaultConfiguration } from '../../../src/settings/defaults.ts';
import type { ChangeSide } from '../../../src/app/compare/change-request.ts';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findAssets } from '../../../src/app/project/assets.ts';
import { defaultOptions } from '../../../src/settings/options.ts';
import type { Options } from '../../../src/settings/options.ts';
import type { Configuration } from '../../../src/settings/configuration.ts';
import type { Progress } from '../../../src/app/project/progress.ts';
import type { UnitBuilder } from '../../../src/app/project/unit-builder.ts';
import type { Tools } from '../../../src/app/project/job.ts';
import { lowerHost } from '../../../src/lowering/lower-host.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { compilerLimits } from '../../../src/toolchain/confinement.ts';
import { checksBy } from '../workers/checks-by.ts';
import { openSourceTree, type SourceTree } from '../../../src/app/project/source-tree.ts';

export const assets = findAssets(new URL('../../../src/cli.ts', import.meta.url).href);

/** Reads the PTX that is next to each unit, as the demo does. */
export function readingBeside(tree: SourceTree): UnitBuilder {
  return {
    compiler: null,
    compiles: false,
    flags: () => '',
    dependencies: async () => [],
    close: async () => undefined,
    async build({ path }, kind) {
      try {
        return { ptx: readFileSync(join(tree.root, path.replace(/\.cu$/, `.${kind}.ptx`)), 'utf8'), diagnostics: [] };
      } catch {
        const location = { file: path, line: 1 };
        return {
          diagnostics: [{ severity: 'error', code: 'compile/failed', message: `${path} does not compile`, location }],
        };
      }
    },
  };
}

/** The same with the host code of files, which nvcc and GCC lower. */
export async function loweringBeside(tree: SourceTree): Promise<UnitBuilder> {
  const found = await findCompiler({ env: process.env });
  if (!('compiler' in found)) throw new Error(found.diagnostic.message);
  const { compiler } = found;
  const common = {
    compiler,
    root: tree.root,
    trust: 'user' as const,
    limits: compilerLimits,
    include: assets.include,
    flags: [],
    onLog: () => undefined,
  };
  return { ...readingBeside(tree), lower: ({ file }, arch) => lowerHost({ ...common, file, arch }) };
}

export interface Defects extends Progress {
  readonly kernels: string[];
}

export function recordingProgress(): Defects {
  const kernels: string[] = [];
  return { kernels, log: () => undefined, defect: ({ kernel }) => void kernels.push(kernel) };
}

/** A copy of one side of the example pull request, to be changed by a test. */
export class ExampleTree {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-change-')));

  constructor(side: 'base' | 'head') {
    cpSync(join(assets.demo, side), this.root, { recursive: true });
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  replace(path: string, from: string | RegExp, to: string): void {
    this.write(path, this.read(path).replace(from, to));
  }

  remove(path = '.'): void {
    rmSync(join(this.root, path), { recursive: true });
  }

  side({ configuration = defaultConfiguration, options = defaultOptions(), builder }: SideChanges = {}): ChangeSide {
    const tree = openSourceTree(this.root);
    return {
      project: { tree, wholeTree: true, builder: builder ?? readingBeside(tree), diagnostics: [] },
      settings: { options, configuration, nvccArguments: [], today: '2026-06-01' },
    };
  }
}

export interface SideChanges {
  readonly configuration?: Configuration;
  readonly options?: Options;
  readonly builder?: UnitBuilder;
}

/** Tools that analyse the example. */
export function exampleTools(openChecks: Tools['openChecks'] = checksBy(), progress = recordingProgress()): Tools {
  return { openChecks, assets, index: { folder: undefined, environment: {} }, progress };
}
