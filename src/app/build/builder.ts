import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { CompileCommands } from '../../toolchain/compile-commands.ts';
import type { Compiler } from '../../toolchain/compiler.ts';
import type { FlagGroup, Trust } from '../../toolchain/flags.ts';
import type { Assets } from '../project/assets.ts';
import type { Configuration } from '../../settings/configuration.ts';
import type { Unit } from '../project/inputs.ts';
import { limiter } from '../../base/limiter.ts';
import { configurationName, type Options } from '../../settings/options.ts';
import type { Progress } from '../project/progress.ts';
import type { BuiltText, UnitBuilder } from '../project/unit-builder.ts';
import { relativeTo, type SourceTree } from '../project/source-tree.ts';

/** Of one run of nvcc: generous, since a unit with many templates takes minutes. */
const limits = { milliseconds: 600_000, outputBytes: 64 * 1024 * 1024 };

export interface BuilderRequest {
  readonly tree: SourceTree;
  readonly configuration: Configuration;
  readonly options: Options;
  /** What the user wrote after `--`, with the folder they are meant from. */
  readonly userFlags: { readonly args: readonly string[]; readonly directory: string };
  readonly trust: Trust;
  readonly assets: Assets;
  readonly progress: Progress;
  /** Where the compilation database lies and what its paths start with; the tree itself where they agree. */
  readonly databaseRoot: string;
  /** Stops what is being compiled when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** What `findCompiler` answers: a compiler, or why there is none. */
type CompilerAnswer = { readonly compiler: Compiler } | { readonly diagnostic: Diagnostic };

/**
 * Looks for nvcc.
 * @param outside a folder from which nothing is run: the workspace of a pull request
 * @param usualFolders whether to look where toolkits are usually installed, beside PATH and CUDA_HOME
 */
export async function askForCompiler(
  { nvcc }: Options,
  environment: Readonly<Record<string, string | undefined>>,
  { outside, usualFolders = true }: { readonly outside?: string; readonly usualFolders?: boolean } = {},
): Promise<CompilerAnswer> {
  const { findCompiler } = await import('../../toolchain/compiler.ts');
  return findCompiler({
    ...(nvcc === undefined ? {} : { path: nvcc }),
    env: environment,
    ...(outside === undefined ? {} : { outside }),
    ...(usualFolders ? {} : { folders: [] }),
  });
}

/** Reads `.ptx` files as they stand; CUDA does not compile with it. */
export const readingBuilder: UnitBuilder = {
  compiler: null,
  compiles: false,
  flags: () => '',
  build: async (unit) => (unit.kind === 'ptx' ? readPtx(unit) : { diagnostics: [] }),
  dependencies: async () => [],
  close: async () => undefined,
};

/** Builds units with nvcc, a few at a time; `.ptx` files are read as they stand. */
export async function compilingBuilder(compiler: Compiler, request: BuilderRequest): Promise<UnitBuilder> {
  const { tree, options, trust, assets, progress } = request;
  const { compileUnit, unitDependencies } = await import('../../toolchain/compile.ts');
  const { assembledResources } = await import('../../toolchain/resources.ts');
  const database = await readDatabase(request);
  const ending = new AbortController();
  const { signal } = ending;
  const end = (): void => ending.abort(request.signal?.reason);
  if (request.signal?.aborted) end();
  request.signal?.addEventListener('abort', end);
  const common = {
    compiler,
    root: tree.root,
    trust,
    limits,
    include: assets.include,
    onLog: eachOnce(progress.log),
    signal,
  };
  const inTurn = limiter(options.jobs);
  const running = new Set<Promise<unknown>>();
  const run = async <Result>(compile: () => Promise<Result>): Promise<Result> => {
    const job = inTurn(async () => {
      signal.throwIfAborted();
      const result = await compile();
      // What was stopped half-way is no answer.
      signal.throwIfAborted();
      return result;
    });
    running.add(job);
    try {
      return await job;
    } finally {
      running.delete(job);
    }
  };
  const settingOf = (unit: Unit) => ({ ...common, file: unit.file, flags: flagsFor(unit, request, database) });
  return {
    compiler: compiler.version.text,
    compiles: true,
    flags: (unit) => JSON.stringify(flagsFor(unit, request, database).map(({ args }) => args)),
    async build(unit, kind, arch, text) {
      if (unit.kind === 'ptx') return readPtx(unit);
      if (database.diagnostics.length > 0) return { diagnostics: database.diagnostics };
      return run(() => compileUnit({ ...settingOf(unit), build: kind, arch, text }));
    },
    async dependencies(unit, arch) {
      if (unit.kind === 'ptx' || database.diagnostics.length > 0) return [];
      return (await run(() => unitDependencies({ ...settingOf(unit), arch }))).dependencies;
    },
    resources(ptx, arch, unit) {
      const mostRegisters = unit && registerCap(flagsFor(unit, request, database));
      return run(() => assembledResources(compiler, ptx, arch, limits, signal, mostRegisters));
    },
    async close() {
      request.signal?.removeEventListener('abort', end);
      ending.abort();
      await Promise.allSettled(running);
    },
  };
}

/** What the last `-maxrregcount` of the flags says. */
function registerCap(groups: readonly FlagGroup[]): number | undefined {
  const caps = groups.flatMap(({ args }) =>
    [...args.join(' ').matchAll(/(?:^| )--?maxrregcount[ =](\d+)/g)].map(([, value]) => Number(value)),
  );
  return caps.at(-1);
}

/** Both builds of a unit say the same, and all units say the same of a header: each message is passed on once. */
function eachOnce(log: (text: string) => void): (text: string) => void {
  const known = new Set<string>();
  return (text) => {
    const fresh = text
      .trimEnd()
      .split(/\n{2,}/)
      .filter((message) => !known.has(message) && known.add(message));
    if (fresh.length > 0) log(fresh.join('\n\n'));
  };
}

async function readPtx(unit: Unit): Promise<BuiltText> {
  try {
    return { ptx: readFileSync(unit.file, 'utf8'), diagnostics: [] };
  } catch (error) {
    const message = `Selvage cannot read ${unit.path}: ${error instanceof Error ? error.message : String(error)}.`;
    return { diagnostics: [{ severity: 'error', code: 'input/unreadable', message }] };
  }
}

interface Database {
  readonly lookUp: (unit: Unit) => FlagGroup | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** The flags of a unit: compilation database, then configuration, then the user's own, so that the last word is theirs. */
function flagsFor(unit: Unit, request: BuilderRequest, database: Database): FlagGroup[] {
  const { tree, configuration, options, userFlags, databaseRoot } = request;
  const origin = options.config === undefined ? configurationName : relativeTo(databaseRoot, resolve(options.config));
  const configured: FlagGroup = { args: configuration.nvcc.args, origin, directory: tree.root };
  const recorded = database.lookUp(unit);
  const own: FlagGroup = { ...userFlags, origin: 'the command line' };
  return [...(recorded ? [recorded] : []), configured, own].filter(({ args }) => args.length > 0);
}

async function readDatabase({ tree, configuration, databaseRoot }: BuilderRequest): Promise<Database> {
  const path = configuration.nvcc.compileCommands;
  if (path === undefined) return { lookUp: () => null, diagnostics: [] };
  const { parseCompileCommands, flagsOf } = await import('../../toolchain/compile-commands.ts');
  let text: string;
  try {
    text = readFileSync(resolve(databaseRoot, path), 'utf8');
  } catch {
    const message = `Selvage cannot read the compilation database ${path} that the configuration names; generate it first.`;
    return { lookUp: () => null, diagnostics: [{ severity: 'error', code: 'compile/commands', message }] };
  }
  const commands: CompileCommands = parseCompileCommands(text, path, databaseRoot);
  const moved = (word: string): string => word.replaceAll(`${databaseRoot}/`, `${tree.root}/`);
  return {
    lookUp: (unit) => {
      const found = flagsOf(commands, resolve(databaseRoot, unit.path));
      if (!found) return null;
      return {
        args: found.args.map(moved),
        origin: path,
        directory: moved(`${found.directory}/`).replace(/\/$/, ''),
      };
    },
    diagnostics: commands.diagnostics,
  };
}
