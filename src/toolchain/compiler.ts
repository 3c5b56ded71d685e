import { constants } from 'node:fs';
import { access, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Diagnostic } from '../source/diagnostic.ts';
import { confinedEnvironment } from './environment.ts';
import { isInside } from './file-place.ts';
import { runProcess, type ProcessLimits } from '../system/child-process.ts';

interface CompilerVersion {
  readonly major: number;
  readonly minor: number;
  /** The version as nvcc prints it: `13.0.88`. */
  readonly text: string;
}

/** A working nvcc, and its features. */
export interface Compiler {
  /** Absolute path of nvcc. */
  readonly path: string;
  readonly version: CompilerVersion;
  /** Absolute path of the ptxas of the same toolkit. */
  readonly ptxas: string | null;
  /** Folders of nvcc and of its host compiler, which form the PATH of every run. */
  readonly searchPath: readonly string[];
  readonly features: CompilerFeatures;
}

interface CompilerFeatures {
  /** `--Ofast-compile`, since 12.9: the documented option for an unoptimised build. */
  readonly fastCompile: boolean;
  /** `--brief-diagnostics`: messages without lines of source. */
  readonly briefDiagnostics: boolean;
  /** Whether the halves of `cicc` can be run separately, as in `one-front-end.ts`. */
  readonly separateFrontEnd: boolean;
}

type CompilerSearch = { readonly compiler: Compiler } | { readonly diagnostic: Diagnostic };

interface CompilerQuery {
  /** Path from the user: nvcc itself, or the folder of a toolkit. If it is given, no other place is searched. */
  readonly path?: string | undefined;
  /** Environment, from which PATH, CUDA_HOME and CUDA_PATH are used. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A program inside this folder is never run: the workspace of a pull request. */
  readonly outside?: string;
  /** Toolkit folders that are tried last; the usual ones by default. */
  readonly folders?: readonly string[];
}

/** Versions that `one-front-end.test.ts` has tested: the interface between the halves of `cicc` is undocumented. */
const separated: ReadonlySet<string> = new Set(['13.0.88']);

const questionLimits: ProcessLimits = { milliseconds: 30_000, outputBytes: 4 << 20 };

/**
 * Finds nvcc: the given path, otherwise PATH, CUDA_HOME, CUDA_PATH, the usual folders; the first one that works.
 * @returns the compiler, or the diagnostic `compile/no-compiler`
 */
export async function findCompiler(query: CompilerQuery): Promise<CompilerSearch> {
  const candidates = await candidatePaths(query);
  let refusal = '';
  for (const path of candidates) {
    if (!(await isExecutable(path)) || (await isInWorkspace(path, query.outside))) continue;
    const found = await askCompiler(path, query);
    if (typeof found !== 'string') return { compiler: found };
    refusal ||= found;
  }
  const why = query.path === undefined ? '' : `${query.path} is not an nvcc that runs here. `;
  return { diagnostic: { severity: 'error', code: 'compile/no-compiler', message: why + (refusal || '') + threeWays } };
}

const threeWays =
  'Selvage found no nvcc. In a workflow, add a step that installs it, such as Jimver/cuda-toolkit with sub-packages ["nvcc", "cudart"]; ' +
  'on your own machine, install the package cuda-nvcc (apt from the CUDA repository, or conda from the channel nvidia); ' +
  'or name a compiler with --nvcc PATH or CUDA_HOME. PTX files (.ptx) need no compiler.';

async function candidatePaths({ path, env, folders }: CompilerQuery): Promise<string[]> {
  if (path !== undefined) {
    const absolute = resolve(path);
    return [absolute, join(absolute, 'nvcc'), join(absolute, 'bin', 'nvcc')];
  }
  const roots = [env['CUDA_HOME'], env['CUDA_PATH'], ...(folders ?? (await usualFolders()))];
  const bins = roots.flatMap((root) => (root && isAbsolute(root) ? [join(root, 'bin')] : []));
  return [...pathFolders(env), ...bins].map((folder) => join(folder, 'nvcc'));
}

/** The absolute folders of PATH. Relative ones are left out, because they could refer to the checked folder. */
function pathFolders(env: CompilerQuery['env']): string[] {
  return (env['PATH'] ?? '').split(':').filter((folder) => isAbsolute(folder));
}

async function usualFolders(): Promise<string[]> {
  const installed = await readdir('/usr/local').catch(() => []);
  const versioned = installed.filter((name) => /^cuda-[\d.]+$/.test(name));
  versioned.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return ['/usr/local/cuda', ...versioned.map((name) => `/usr/local/${name}`), '/opt/cuda', '/usr', '/usr/lib/cuda'];
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function isInWorkspace(path: string, workspace: string | undefined): Promise<boolean> {
  if (workspace === undefined) return false;
  const root = await realpath(workspace);
  return isInside(root, await realpath(path)) || isInside(root, path) || isInside(resolve(workspace), path);
}

/** @returns the compiler, or why it cannot be used */
async function askCompiler(path: string, query: CompilerQuery): Promise<Compiler | string> {
  const temporary = await mkdtemp(join(tmpdir(), 'selvage-'));
  try {
    const searchPath = await compilerSearchPath(path, query);
    const env = confinedEnvironment(searchPath, temporary);
    const ask = (option: string) => runProcess({ executable: path, args: [option], cwd: temporary, env, limits: questionLimits });
    const version = parseVersion((await ask('--version')).stdout);
    if (!version) return `${path} does not print its version as nvcc does. `;
    // Since 13.0, nvcc has all queried features, so the query is skipped: starting a program takes as long as reading a
    // small kernel.
    const help = version.major >= 13 ? null : (await ask('--help')).stdout;
    const beside = join(dirname(path), 'ptxas');
    return {
      path,
      version,
      ptxas: (await isExecutable(beside)) ? beside : null,
      searchPath,
      features: {
        fastCompile: help?.includes('--Ofast-compile') ?? true,
        briefDiagnostics: help?.includes('--brief-diagnostics') ?? true,
        separateFrontEnd: separated.has(version.text),
      },
    };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Parses the output of `nvcc --version`. */
export function parseVersion(text: string): CompilerVersion | null {
  const match = /release (\d+)\.(\d+), V(\d[\d.]*)/.exec(text);
  return match ? { major: Number(match[1]), minor: Number(match[2]), text: match[3]! } : null;
}

async function compilerSearchPath(path: string, query: CompilerQuery): Promise<string[]> {
  const folders = [dirname(path)];
  for (const folder of pathFolders(query.env)) {
    const host = join(folder, 'gcc');
    if (!(await isExecutable(host)) || (await isInWorkspace(host, query.outside))) continue;
    folders.push(folder);
    break;
  }
  return [...new Set([...folders, '/usr/bin', '/bin'])];
}
