import { compareText, messageOf } from '../../base/text.ts';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { CompileRequest, CompileResult, DependencyRequest } from '../../toolchain/compile.ts';
import type { CompileCommands } from '../../toolchain/compile-commands.ts';
import type { Compiler } from '../../toolchain/compiler.ts';
import type { EditedHeaders } from '../../toolchain/edited-copy.ts';
import type { FlagGroup, Trust } from '../../toolchain/flags.ts';
import { clock } from '../../system/clock.ts';
import { keepingBuilds } from '../cache/kept-builds.ts';
import type { ResultStore } from '../cache/result-store.ts';
import type { Assets } from '../project/assets.ts';
import type { Configuration } from '../../settings/configuration.ts';
import type { Unit } from '../project/input-files.ts';
import { limiter } from '../../base/limiter.ts';
import { configurationName, type Options } from '../../settings/options.ts';
import type { Progress } from '../project/progress.ts';
import type { BuildKind, BuiltText, UnitBuilder } from '../project/unit-builder.ts';
import { kindOf, largestSource, relativeTo, type SourceTree } from '../project/source-tree.ts';

export interface BuilderRequest {
  readonly tree: SourceTree;
  readonly configuration: Configuration;
  readonly options: Options;
  /**
   * Flags after `--`, or flags in the action's inputs from the owner of the workflow; with the folder they are relative
   * to.
   */
  readonly userFlags: Pick<FlagGroup, 'args' | 'directory' | 'trust'> & { readonly origin?: string };
  readonly trust: Trust;
  readonly assets: Assets;
  readonly progress: Progress;
  /** Folder that contains the compilation database and is the prefix of its paths; usually the root of the tree. */
  readonly databaseRoot: string;
  /** Cache of results between runs; without it nothing is cached. */
  readonly results?: ResultStore | undefined;
  /** Aborts running compilations. */
  readonly signal?: AbortSignal | undefined;
}

/** Result of `findCompiler`: a compiler, or the reason for its absence. */
type CompilerAnswer = { readonly compiler: Compiler } | { readonly diagnostic: Diagnostic };

/**
 * Looks for nvcc.
 * @param outside a folder from which no program is executed: the workspace of a pull request
 * @param usualFolders whether to search the usual folders of toolkits in addition to PATH and CUDA_HOME
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

/** Reads `.ptx` files unchanged; cannot compile CUDA. */
export const readingBuilder: UnitBuilder = {
  compiler: null,
  compiles: false,
  flags: () => '',
  build: async (unit) => (unit.kind === 'ptx' ? readPtx(unit) : { diagnostics: [] }),
  dependencies: async () => [],
  close: async () => undefined,
};

/** Builds units with nvcc, a few at a time; `.ptx` files are read unchanged. */
export async function compilingBuilder(compiler: Compiler, request: BuilderRequest): Promise<UnitBuilder> {
  const { tree, options, trust, assets, progress } = request;
  const { compileUnit, unitDependencies } = await import('../../toolchain/compile.ts');
  const { assembledUnit } = await import('../../toolchain/resources.ts');
  const { compilerLimits: limits } = await import('../../toolchain/confinement.ts');
  const database = await readDatabase(request);
  const ending = new AbortController();
  const { signal } = ending;
  const end = (): void => ending.abort(request.signal?.reason);
  if (request.signal?.aborted) end();
  request.signal?.addEventListener('abort', end);
  const kept = request.results && keepingBuilds(request.results, compiler);
  const common = {
    compiler,
    root: tree.root,
    trust,
    limits,
    include: assets.include,
    onLog: eachOnce(progress.log),
    signal,
    kept: kept?.code,
    ...(request.configuration.nvcc.stubsMissingHeaders && { stubs: new Map() }),
  };
  const inTurn = limiter(options.jobs);
  const running = new Set<Promise<unknown>>();
  const run = async <Result>(compile: () => Promise<Result>): Promise<Result> => {
    const job = inTurn(async () => {
      signal.throwIfAborted();
      const result = await compile();
      // The result of an aborted compilation is incomplete.
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
  const dependencies: UnitBuilder['dependencies'] = async (unit, arch) => {
    if (unit.kind === 'ptx' || database.diagnostics.length > 0) return [];
    const asked: DependencyRequest = { ...settingOf(unit), arch };
    return (await run(() => unitDependencies(asked))).dependencies;
  };
  const included = new Map<string, Promise<readonly string[]>>();
  /**
   * Edited headers that a unit includes, and the other dependencies of the unit; undefined if it includes no edited
   * header.
   */
  const edited = async (unit: Unit, arch: string, texts: ReadonlyMap<string, string>): Promise<EditedHeaders | undefined> => {
    const key = JSON.stringify([unit.path, arch]);
    const listed = included.get(key) ?? dependencies(unit, arch);
    included.set(key, listed);
    const files = await listed;
    return files.some((path) => texts.has(path)) ? { texts, files } : undefined;
  };
  const askedAtOnce = gathering();
  const listeners: ((host: string, path: string) => void)[] = [];
  /** Adds the time of a compilation to the cost of its unit, unless the code was cached. */
  const compile = (asked: CompileRequest): Promise<CompileResult> =>
    run(async () => {
      const started = clock();
      let isMade = false;
      const result = await compileUnit({ ...asked, onCompiled: () => void (isMade = true) });
      if (isMade) request.results?.addCost(relativeTo(tree.root, resolve(tree.root, asked.file)), clock() - started);
      return result;
    });
  return {
    compiler: compiler.version.text,
    compiles: true,
    kept: kept?.code,
    onPreprocessed: (listener) => void listeners.push(listener),
    flags: (unit) => JSON.stringify(flagsFor(unit, request, database).map(({ args }) => args)),
    definitions(path) {
      const recorded = database.lookUp({ path, file: resolve(tree.root, path), kind: 'cuda' });
      return recorded && 'group' in recorded && recorded.sibling === undefined ? macrosOf(recorded.group.args) : [];
    },
    async build(unit, kind, arch, text, texts) {
      if (unit.kind === 'ptx') return readPtx(unit);
      const recorded = database.lookUp(unit);
      const problems = recorded && 'problem' in recorded ? [recorded.problem] : database.diagnostics;
      if (problems.length > 0) return { diagnostics: problems };
      const both = await askedAtOnce([unit.path, arch, text, texts && [...texts]], kind);
      const headers = texts && (await edited(unit, arch, texts));
      const isOfFiles = text === undefined && headers === undefined;
      const asked: CompileRequest = {
        ...settingOf(unit),
        build: kind,
        arch,
        text,
        headers,
        ...(isOfFiles && { onHost: (host: string) => listeners.forEach((listener) => listener(host, unit.path)) }),
      };
      // A kernel with restrict pointers needs a separate front-end run for each build; two processors can run them in
      // parallel.
      const isOfOne = both.kinds.size > 1 && compiler.features.separateFrontEnd && !(text ?? tree.text(unit.path))?.includes('restrict');
      const compileIt = isOfOne ? fromOneFrontEnd(both, compile) : compile;
      const built = await compileIt(asked);
      if (built.ptx !== undefined || !recorded || !('sibling' in recorded)) return built;
      return { ...built, diagnostics: [...built.diagnostics, siblingNote(unit, recorded)] };
    },
    dependencies,
    async lower(unit, arch) {
      const { lowerHost } = await import('../../lowering/lower-host.ts');
      return run(() => lowerHost({ ...settingOf(unit), arch }));
    },
    resources(ptx, arch, unit, fewer) {
      const mostRegisters = fewer ?? (unit && registerCap(flagsFor(unit, request, database)));
      const assemble = () => run(() => assembledUnit(compiler, ptx, arch, limits, signal, mostRegisters));
      return kept ? kept.resources([ptx, arch, mostRegisters], assemble) : assemble();
    },
    async close() {
      request.signal?.removeEventListener('abort', end);
      ending.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Requests for builds of the same text within one iteration of the event loop. */
interface AskedAtOnce {
  readonly kinds: Set<BuildKind>;
  readonly end: Promise<void>;
  /** The compilation that serves all of these requests. */
  made?: Promise<CompileResult>;
}

/** Groups requests of one iteration of the event loop, so that one compilation can serve several. */
function gathering(): (text: unknown, kind: BuildKind) => Promise<AskedAtOnce> {
  const gathered = new Map<string, AskedAtOnce>();
  return async (text, kind) => {
    const key = JSON.stringify(text);
    const group = gathered.get(key) ?? { kinds: new Set(), end: setImmediate() };
    gathered.set(key, group);
    group.kinds.add(kind);
    await group.end;
    gathered.delete(key);
    return group;
  };
}

/**
 * Compiles both builds of a text if they were requested together: the compilation of the production build may yield
 * both.
 */
function fromOneFrontEnd(
  group: AskedAtOnce,
  compile: (asked: CompileRequest) => Promise<CompileResult>,
): (asked: CompileRequest) => Promise<CompileResult> {
  return async (asked) => {
    group.made ??= compile({ ...asked, build: 'production', withVerification: true });
    const { verification, unoptimised, host, ...made } = await group.made;
    if (asked.build === 'production') return { ...made, ...(host !== undefined && { host }) };
    return verification === undefined ? compile(asked) : { ...made, ptx: verification, ...(unoptimised && { unoptimised }) };
  };
}

/** Macros that the flags define and do not undefine. */
function macrosOf(args: readonly string[]): string[] {
  const macros = new Map<string, string>();
  for (const [at, word] of args.entries()) {
    const [, kind, joined = ''] = /^-([DU])([^]*)$/.exec(word) ?? [];
    const definition = joined === '' ? args[at + 1] : joined;
    if (kind === undefined || definition === undefined) continue;
    const name = definition.replace(/=[^]*$/, '');
    if (kind === 'D') macros.set(name, definition);
    else macros.delete(name);
  }
  return [...macros.values()];
}

/** Value of the last `-maxrregcount` of the flags. */
function registerCap(groups: readonly FlagGroup[]): number | undefined {
  const caps = groups.flatMap(({ args }) =>
    [...args.join(' ').matchAll(/(?:^| )--?maxrregcount[ =](\d+)/g)].map(([, value]) => Number(value)),
  );
  return caps.at(-1);
}

/** A log that forwards each message once: the builds of a unit, and units with a common header, repeat messages. */
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
    const message = `Selvage cannot read ${unit.path}: ${messageOf(error)}.`;
    return { diagnostics: [{ severity: 'error', code: 'input/unreadable', message }] };
  }
}

/** Flags of a unit in the compilation database, or why they cannot be used. */
type Recorded = { readonly group: FlagGroup; readonly sibling?: string } | { readonly problem: Diagnostic };

interface Database {
  readonly lookUp: (unit: Unit) => Recorded | null;
  /** Why no entry of the compilation database can be used. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Flags of a unit: compilation database, then configuration, then the user's own, which take precedence. */
function flagsFor(unit: Unit, request: BuilderRequest, database: Database): FlagGroup[] {
  const { tree, configuration, options, userFlags, databaseRoot } = request;
  const origin = options.config === undefined ? configurationName : relativeTo(databaseRoot, resolve(options.config));
  const configured: FlagGroup = { args: configuration.nvcc.args, origin, directory: tree.root };
  const recorded = database.lookUp(unit);
  const own: FlagGroup = { origin: 'the command line', ...userFlags };
  return [...(recorded && 'group' in recorded ? [recorded.group] : []), configured, own].filter(({ args }) => args.length > 0);
}

/** Reports, after a failed build, the unit whose flags were used for a unit missing in the compilation database. */
function siblingNote({ path }: Unit, { group, sibling }: { group: FlagGroup; sibling?: string }): Diagnostic {
  const message = `${group.origin} has no entry for ${path}, so Selvage compiled it with the flags of ${sibling}.`;
  return { severity: 'notice', code: 'compile/commands', message, location: { file: path, line: 1 } };
}

/** Usual places of a compilation database below the root; the first one that exists is used. */
function usualDatabases(root: string): string[] {
  const name = 'compile_commands.json';
  let folders: string[] = [];
  try {
    folders = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && /^(?:cmake-)?build/.test(entry.name))
      .map((entry) => entry.name)
      .sort(compareText);
  } catch {
    // The root cannot be read.
  }
  return [name, ...[...folders, 'out'].map((folder) => `${folder}/${name}`)];
}

/** In bytes. The compilation database of ten thousand files with long commands has a tenth of this size. */
const largestDatabase = 512 * 1024 * 1024;

/** Text of a regular file, not of a pipe or a device; undefined if it has more bytes or cannot be read. */
function readBounded(file: string, mostBytes: number): string | undefined {
  try {
    return kindOf(file) === 'file' && statSync(file).size <= mostBytes ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

async function readDatabase({ tree, configuration, databaseRoot, progress }: BuilderRequest): Promise<Database> {
  const named = configuration.nvcc.compileCommands;
  const isFound = named.length === 0;
  const [usual] = isFound ? usualDatabases(databaseRoot).filter((file) => kindOf(resolve(databaseRoot, file)) === 'file') : [];
  const paths = usual === undefined ? named : [usual];
  if (paths.length === 0) return { lookUp: () => null, diagnostics: [] };
  const [{ parseCompileCommands, joinedCommands, flagsOf }, { isPrivatePlace }] = await Promise.all([
    import('../../toolchain/compile-commands.ts'),
    import('../../toolchain/flags.ts'),
  ]);
  const read = (path: string): CompileCommands => {
    const text = readBounded(resolve(databaseRoot, path), largestDatabase);
    if (text !== undefined) return parseCompileCommands(text, path, databaseRoot);
    const message = `Selvage cannot read the compilation database ${path} that the configuration names; generate it first.`;
    const problem: Diagnostic = { severity: 'error', code: 'compile/commands', message };
    return { commands: new Map(), root: databaseRoot, diagnostics: isFound ? [] : [problem] };
  };
  const commands = joinedCommands(paths.map(read), databaseRoot);
  if (isFound && commands.diagnostics.length > 0) {
    // The user's configuration does not name this file.
    progress.log(`Selvage compiles without ${usual}, which is not a compilation database.`);
    return { lookUp: () => null, diagnostics: [] };
  }
  const moved = (word: string): string => word.replaceAll(`${databaseRoot}/`, `${tree.root}/`);
  // The database may be untrusted, and diagnostics quote the rejected contents of such a file: files outside of the
  // root, credentials that a checkout stores in `.git`, and endless files are not read.
  const readText = (file: string): string | undefined => {
    const real = kindOf(file) === 'file' ? realpathSync(file) : undefined;
    if (real === undefined || isAbsolute(relativeTo(databaseRoot, real)) || isPrivatePlace(real)) return undefined;
    return readBounded(real, largestSource);
  };
  const known = new Map<string, Recorded | null>();
  const lookUp = (unit: Unit): Recorded | null => {
    const found = flagsOf(commands, resolve(databaseRoot, unit.path), readText);
    if (!found) return null;
    if ('problem' in found) {
      const { problem, origin } = found;
      const message = `Selvage does not compile ${unit.path} as ${origin} specifies: ${problem}. Generate the database again.`;
      return { problem: { severity: 'error', code: 'compile/commands', message, location: { file: origin, line: 1 } } };
    }
    const { args, origin, directory, sibling } = found;
    const group = {
      args: args.map(moved),
      isFound,
      origin,
      directory: moved(`${directory}/`).replace(/\/$/, ''),
    };
    return { group, ...(sibling === undefined ? {} : { sibling: relativeTo(databaseRoot, sibling) }) };
  };
  return {
    lookUp: (unit) => {
      if (!known.has(unit.path)) known.set(unit.path, lookUp(unit));
      return known.get(unit.path) ?? null;
    },
    diagnostics: commands.diagnostics,
  };
}
