import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import type { Diagnostic } from '../source/diagnostic.ts';
import { compileErrors, limitMessage, ranOutOfMemory } from './compiler-messages.ts';
import type { Compiler } from './compiler.ts';
import {
  embeddingFile,
  embedsByAssembler,
  fileOutside,
  filesOfPreprocessed,
  endlessInclude,
  largestText,
  ofPreprocessor,
  type Refusal,
  secondsAlone,
  withCpu,
} from './confinement.ts';
import { type EditedHeaders, editedCopy } from './edited-copy.ts';
import { confinedEnvironment } from './environment.ts';
import { isInside, isPlainPath, isShellSafe, pathIn, realPath, realPathNow } from './file-place.ts';
import { isPrivatePlace, selectFlags, type FlagGroup, type FlagSelection, type Trust, includedFolders, flagsOfBuild } from './flags.ts';
import { spellingOfPath } from '../ptx/debug-information.ts';
import { deviceCode, type DeviceCode, type Unoptimised, type WantedCode } from './device-code.ts';
import { includeFolders } from './include-folders.ts';
import { dependenciesOfCode, withFolders, withoutFolders, type KeptCode } from './kept-code.ts';
import { type KnownStubs, stubsOf, writeStubs } from './missing-headers.ts';
import type { StubbedUnit, Unstubbed } from './stubs/stub-search.ts';
import { stepsOf, type ProgramCall, type NvccSteps } from './nvcc-steps.ts';
import { ownText, restrictsPointers } from './preprocessed.ts';
import { exitedWell, runProcess, type ProcessLimits, type ProcessResult } from '../system/child-process.ts';
import { stubClassIn, stubDiagnostic } from './stubs/stub-report.ts';

/** The verification build keeps every access, barrier and loop of the source; the production build is what runs. */
export type Build = 'verification' | 'production';

export interface CompileRequest {
  readonly compiler: Compiler;
  /** Path of the unit: absolute, or relative to the root. */
  readonly file: string;
  /** Edited text that is compiled instead of the contents of the file. Nothing in the root is written. */
  readonly text?: string | undefined;
  /** Edited texts of included files. If the unit still reads one of the original files, it counts as not compiled. */
  readonly headers?: EditedHeaders | undefined;
  /** Absolute path of the repository, or of the working directory outside of a repository. */
  readonly root: string;
  readonly build: Build;
  /** Architecture: `sm_80`. */
  readonly arch: string;
  /** Flags in the order of nvcc's command line. Of two contradictory flags, the last one applies. */
  readonly flags: readonly FlagGroup[];
  readonly trust: Trust;
  /** Limits of each run of nvcc. */
  readonly limits: ProcessLimits;
  /** Whether a production build should also yield the verification build, if that needs no second front-end run. */
  readonly withVerification?: boolean;
  /** Why a verification build by nvcc must not be optimised at all; optimised if missing. */
  readonly unoptimised?: Unoptimised;
  /** Cache of results of compilers. */
  readonly kept?: KeptCode | undefined;
  /** Stubs of missing headers; missing: none are made. */
  readonly stubs?: KnownStubs | undefined;
  /** Called when a compiler had to run because its result was not cached. */
  readonly onCompiled?: (() => void) | undefined;
  /** Folder that contains `selvage.h`. */
  readonly include: string;
  /**
   * Receives the project's part of the preprocessed unit of a production build, if it is available before the PTX. At
   * that time it is unknown whether the unit compiles.
   */
  readonly onHost?: ((host: string) => void) | undefined;
  /** Receives the messages of the compiler. If the trust is `pull-request`, they are passed nowhere else. */
  readonly onLog: (text: string) => void;
  /** Stops nvcc when aborted. The unit then counts as not compiled. */
  readonly signal?: AbortSignal | undefined;
}

export interface CompileResult {
  /** Missing if the unit does not compile. */
  readonly ptx?: string;
  /** Part of the production build's preprocessed unit that comes from the project, host code included. */
  readonly host?: string;
  /** The PTX of the verification build, if the production build also yielded it. */
  readonly verification?: string;
  /** The unit and every included file inside the root, relative to it; sorted. */
  readonly dependencies: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** Why the verification build is not optimised at all; missing if it is optimised as usual. */
  readonly unoptimised?: Unoptimised;
}

export type DependencyRequest = Omit<CompileRequest, 'build'>;

/**
 * Compiles one unit to PTX for one architecture, like nvcc: step by step if its steps are known, so that a text that
 * was compiled before is not compiled again.
 *
 * Under the trust `pull-request` the source and the flags are not trusted: flags pass an allow-list, every file that is
 * read must be in the workspace, the toolkit or the folders of the host compiler (checked in the preprocessed text
 * before it is compiled), and diagnostics contain no text of the compiler.
 */
export async function compileUnit(request: CompileRequest): Promise<CompileResult> {
  return withSetting(request, request.build, async (setting) => {
    const kept = join(setting.temporary, 'kept');
    await rm(kept, { recursive: true, force: true });
    await mkdir(kept);
    const place: OutputPlace = { output: join(setting.temporary, 'unit.ptx'), kept };
    return (await compileBySteps(setting, request, place)) ?? compileByNvcc(setting, request, place);
  });
}

interface OutputPlace {
  /** Path of the PTX file to write. */
  readonly output: string;
  /** Folder for the preprocessed text. */
  readonly kept: string;
}

function wordsFor({ output, kept }: OutputPlace): readonly string[] {
  return ['-ptx', '--keep', '--keep-dir', kept, '-o', output];
}

/**
 * @returns null if nvcc does not print its steps, or a step fails. The caller then runs nvcc itself, which reports the
 *   reason
 */
async function compileBySteps(setting: Setting, request: CompileRequest, place: OutputPlace): Promise<CompileResult | null> {
  const { cwd, env, temporary } = setting;
  const { compiler, limits, signal, build } = request;
  const told = await runCompiler(setting, ['--dryrun', ...wordsFor(place)]);
  const steps = exitedWell(told) ? stepsOf(`${told.stdout}\n${told.stderr}`, compiler.ptxas) : null;
  if (steps === null) return null;
  const run = ([executable, ...args]: ProgramCall, within: ProcessLimits, onStart?: (pid: number) => void) =>
    runProcess({ executable, args, cwd, env, limits: within, signal, ...(onStart && { onStart }) });
  const said = await run(steps.preprocess, ofPreprocessor(limits));
  if (['time-limit', 'output-limit', 'aborted'].includes(said.end.kind) || ranOutOfMemory(said)) {
    return { dependencies: [], diagnostics: await failure(said, setting) };
  }
  if (!exitedWell(said)) return null;
  const preprocessed = await preprocessedUnit(place.kept, setting);
  const refused = await refusedPreprocessed(preprocessed, said, setting, true);
  if (refused) return { dependencies: [], diagnostics: [refused] };
  const [text] = preprocessed.texts ?? [];
  if (text === undefined) return null;
  // The host program is parsed while the compiler continues.
  const host = build === 'production' ? hostText(text, preprocessed.files, setting) : undefined;
  host?.then((part) => request.onHost?.(part)).catch(() => undefined);
  try {
    const dependencies = await inRoot(preprocessed.files, setting);
    const warnings = await macroWarnings(dependencies, setting);
    const asks = warnings.length > 0 || preprocessed.files.some((file) => basename(file) === 'selvage.h');
    const wanted: WantedCode = {
      production: build === 'production',
      // Without selvage.h and restrict pointers, the flags of the verification build do not change the text.
      verification: build === 'verification' || (request.withVerification === true && !asks && !restrictsPointers(text)),
      separates: compiler.features.separateFrontEnd,
    };
    const make = () => deviceCode({ ...wanted, steps, limits, run, temporary });
    const found = await compiledTexts(text, steps, wanted, make, setting);
    if (found === null) return null;
    if (found === 'too-large') return { dependencies, diagnostics: [...warnings, failed(tooMuchPtx, setting)] };
    if ('end' in found) {
      logged(joined(said, found), request);
      return { dependencies, diagnostics: [...warnings, ...(await failure(found, setting))] };
    }
    logged(joined(said, { ...said, ...found }), request);
    const { unoptimised, production, verification } = found;
    const common = { dependencies, ...builtAs(unoptimised, warnings, setting) };
    if (production === undefined) return { ...common, ptx: verification! };
    return {
      ...common,
      ptx: production,
      ...(verification !== undefined && { verification }),
      host: await host!,
    };
  } finally {
    await host?.catch(() => undefined);
  }
}

/**
 * The PTX of a preprocessed text, cached or compiled; the termination of an incomplete run; null if nvcc itself has to
 * report the reason.
 */
async function compiledTexts(
  text: string,
  steps: NvccSteps,
  wanted: WantedCode,
  make: () => Promise<DeviceCode | null>,
  setting: Setting,
): Promise<CompiledTexts | ProcessResult | 'too-large' | null> {
  const { kept, compiler, onCompiled } = setting.request;
  const parts = kept && (await dependenciesOfCode(text, steps, setting, kept, [wanted, compiler.version.text]));
  const before = parts && kept.read(parts);
  if (isCompiled(before)) return withFolders(before, setting);
  const made = await make();
  if (made === null || !exitedWell(made.result)) return made && made.result;
  const files = [made.production, made.verification].filter((file) => file !== undefined);
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  if (sizes.some((size) => size > largestText)) return 'too-large';
  const read = async (file: string | undefined): Promise<string | undefined> =>
    file === undefined ? undefined : placeless(await readFile(file, 'utf8'), setting);
  const { unoptimised, result } = made;
  const code = {
    production: await read(made.production),
    verification: await read(made.verification),
    unoptimised,
    stdout: result.stdout,
    stderr: result.stderr,
  };
  onCompiled?.();
  if (parts && unoptimised !== 'late') kept.write(parts, withoutFolders(code, setting));
  return code;
}

/** Results and messages of compilers for a preprocessed text. */
interface CompiledTexts {
  readonly production: string | undefined;
  readonly verification: string | undefined;
  readonly unoptimised: Unoptimised | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function isCompiled(value: unknown): value is CompiledTexts {
  if (typeof value !== 'object' || value === null) return false;
  const { production, verification, stdout, stderr } = value as Partial<Record<keyof CompiledTexts, unknown>>;
  const isText = (one: unknown): boolean => one === undefined || typeof one === 'string';
  return isText(production) && isText(verification) && typeof stdout === 'string' && typeof stderr === 'string';
}

const tooMuchPtx = 'The PTX of this file is larger than 256 MiB.';

function joined(first: ProcessResult, { end, stdout, stderr }: ProcessResult): ProcessResult {
  return { end, stdout: first.stdout + stdout, stderr: first.stderr + stderr };
}

/** Compiles with nvcc itself, one build at a time. */
async function compileByNvcc(setting: Setting, request: CompileRequest, place: OutputPlace): Promise<CompileResult> {
  const { trust, build } = request;
  if (trust === 'pull-request') {
    const before = await listDependencies(setting);
    if ('diagnostics' in before) return { dependencies: [], diagnostics: before.diagnostics };
    const refused =
      (await fileOutside(before.files, setting.roots)) ?? (await embeddingFile(await inRoot(before.files, setting), request.root));
    if (refused) return { dependencies: [], diagnostics: [refusal(refused, setting)] };
  }
  const isLimited = build === 'verification' && request.unoptimised === undefined;
  const limits = isLimited ? withCpu(request.limits, secondsAlone) : request.limits;
  const result = await runCompiler(setting, wordsFor(place), limits);
  if (isLimited && passedCpu(result)) return compileUnit({ ...request, unoptimised: 'late' });
  const preprocessed = await preprocessedUnit(place.kept, setting);
  const refused = await refusedPreprocessed(preprocessed, result, setting, false);
  if (refused) return { dependencies: [], diagnostics: [refused] };
  logged(result, request);
  const { files, texts } = preprocessed;
  const dependencies = await inRoot(files, setting);
  const warnings = await macroWarnings(dependencies, setting);
  if (!exitedWell(result)) {
    return { dependencies, diagnostics: [...warnings, ...(await failure(result, setting))] };
  }
  const size = await stat(place.output).catch(() => null);
  if (size === null || size.size > largestText) {
    const message = size === null ? 'nvcc wrote no PTX for this file.' : tooMuchPtx;
    return { dependencies, diagnostics: [...warnings, failed(message, setting)] };
  }
  const ptx = placeless(await readFile(place.output, 'utf8'), setting);
  request.onCompiled?.();
  const [text] = texts ?? [];
  const host = build === 'production' && text !== undefined ? await hostText(text, files, setting) : undefined;
  const found = { ptx, dependencies, ...builtAs(request.unoptimised, warnings, setting) };
  return host === undefined ? found : { ...found, host };
}

/**
 * Whether a time limit ended nvcc or one of its programs. If such a program is killed, nvcc exits with code 128 + 9.
 */
function passedCpu({ end }: ProcessResult): boolean {
  return end.kind === 'time-limit' || (end.kind === 'exited' && end.code === 128 + 9);
}

/** Why a preprocessed text must not be compiled, or why its result is rejected. */
export async function refusedPreprocessed(
  { texts, files }: PreprocessedUnit,
  result: ProcessResult,
  setting: Setting,
  isBefore: boolean,
): Promise<Diagnostic | undefined> {
  const { request, unit } = setting;
  if (texts === null) {
    const message = 'Selvage did not compile this file: together with its includes it is larger than 256 MiB.';
    return { severity: 'error', code: 'compile/limit', message, location: { file: unit, line: 1 } };
  }
  if (request.trust === 'pull-request') {
    const refused =
      (await fileOutside(files, setting.roots)) ?? (isBefore ? await embeddingFile(await inRoot(files, setting), request.root) : null);
    if (refused) return refusal(refused, setting);
    if (texts.length === 0 && exitedWell(result)) {
      return failed('nvcc wrote no preprocessed text, so Selvage cannot check the includes.', setting);
    }
    if (texts.some(embedsByAssembler)) return refusal({ kind: 'embedding', path: setting.file }, setting);
  }
  const stale = await unedited(files, setting);
  return stale === undefined ? undefined : failed(`It includes ${stale} itself instead of its edited copy.`, setting);
}

/** Reports how a verification build was made, unless it was optimised as usual. */
function builtAs(
  unoptimised: Unoptimised | undefined,
  diagnostics: readonly Diagnostic[],
  { unit }: Setting,
): Pick<CompileResult, 'diagnostics' | 'unoptimised'> {
  if (unoptimised === undefined) return { diagnostics };
  const reason = {
    large: 'one of its functions is so large that -Ofc max takes many times as long',
    late: 'with -Ofc max the compiler did not end in time; another run may build it otherwise',
  }[unoptimised];
  const message = `The verification build of this file is not optimised at all (-Xcicc -O0), because ${reason}.`;
  const location = { file: unit, line: 1 };
  return { unoptimised, diagnostics: [...diagnostics, { severity: 'notice', code: 'compile/unoptimised', message, location }] };
}

/** Preprocessed text of a unit. */
interface PreprocessedUnit {
  /** Preprocessed texts; null if they are too large to read. */
  readonly texts: readonly string[] | null;
  /** Absolute paths of all files that were read, as the preprocessor spells them. */
  readonly files: readonly string[];
}

/** @param folder of the preprocessed text */
async function preprocessedUnit(folder: string, setting: Setting): Promise<PreprocessedUnit> {
  return preprocessedFrom(await readPreprocessed(folder), setting);
}

/** Preprocessed texts with the files that they came from. */
export function preprocessedFrom(texts: readonly string[] | null, { cwd }: Setting): PreprocessedUnit {
  const files = [...new Set((texts ?? []).flatMap(filesOfPreprocessed))].map((path) => pathIn(cwd, path));
  return { texts, files };
}

/** Part of the preprocessed unit that comes from the project, as the compiler of host code sees it. */
async function hostText(preprocessed: string, files: readonly string[], setting: Setting): Promise<string> {
  const root = (await realPath(setting.request.root)) ?? setting.request.root;
  const names = new Map<string, string>([[setting.input, setting.unit]]);
  for (const file of files) {
    const real = realPathNow(file);
    if (real !== null && real !== root && isInside(root, real) && file !== setting.input) names.set(file, relative(root, real));
  }
  // The text, and file names in it, have one character per byte.
  const own = (path: string): string | undefined => {
    const name = names.get(pathIn(setting.cwd, Buffer.from(path, 'latin1').toString('utf8')));
    return name === undefined ? undefined : Buffer.from(name, 'utf8').toString('latin1');
  };
  let text = preprocessed;
  if (await readsArchitecture([...names.keys()])) {
    const asHost = await runCompiler(setting, ['-E', '-U__CUDA_ARCH__']);
    if (exitedWell(asHost)) text = Buffer.from(asHost.stdout, 'utf8').toString('latin1');
  }
  return Buffer.from(ownText(text, own), 'latin1').toString('utf8');
}

/** The first header that was read although an edited copy should have been. */
async function unedited(files: readonly string[], setting: Setting): Promise<string | undefined> {
  const { headers } = setting.request;
  if (!headers) return undefined;
  return (await inRoot(files, setting)).find((path) => path !== setting.unit && headers.texts.has(path));
}

/** Whether one of the files mentions `__CUDA_ARCH__`, so that its text may differ between device and host passes. */
async function readsArchitecture(files: readonly string[]): Promise<boolean> {
  for (const file of files) if ((await readFile(file, 'latin1').catch(() => '')).includes('__CUDA_ARCH__')) return true;
  return false;
}

/**
 * Lists the files that a unit includes (`nvcc -M`): which units a changed header affects.
 * @returns the unit and the files in the root, relative to it; sorted; empty if the unit cannot be preprocessed
 */
export async function unitDependencies(request: DependencyRequest): Promise<Omit<CompileResult, 'ptx'>> {
  return withSetting(request, 'verification', async (setting) => {
    const list = await listDependencies(setting);
    if ('diagnostics' in list) return { dependencies: [], diagnostics: list.diagnostics };
    const refused = request.trust === 'pull-request' ? await fileOutside(list.files, setting.roots) : null;
    if (refused) return { dependencies: [], diagnostics: [refusal(refused, setting)] };
    return { dependencies: await inRoot(list.files, setting), diagnostics: [] };
  });
}

/**
 * PTX that does not depend on the location of the checkout. Symbols of internal linkage contain a hash of the absolute
 * path of the unit. With the relative path instead, the same source has the same PTX in every checkout. Paths in the
 * folder of a compiled copy are replaced, and so are names of `#line` in the working directory of nvcc, which is
 * different each time.
 */
function placeless(ptx: string, { request, unit, input, file, mirror, temporary, cwd }: Setting): string {
  const named = withoutPlace(ptx, unit).replaceAll(spellingOfPath(input), spellingOfPath(file));
  const placed = mirror === null ? named : named.replaceAll(`${spellingOfPath(mirror)}/`, `${spellingOfPath(request.root)}/`);
  return cwd === temporary ? placed.replaceAll(`"${spellingOfPath(temporary)}/`, '"') : placed;
}

/** A text whose symbols of internal linkage contain a hash of the relative path of the unit instead of its place. */
export function withoutPlace(text: string, unit: string): string {
  const hash = createHash('sha256').update(unit).digest('hex').slice(0, 8);
  return text.replaceAll(/(?<=_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}(?=_\d+_)/g, hash);
}

/** Common inputs of all runs of nvcc for one unit. */
export interface Setting {
  readonly request: DependencyRequest;
  /** Root of the request, with links resolved. */
  readonly root: string;
  /** Absolute path of the unit. */
  readonly file: string;
  /** Input of nvcc: the file, or a copy with another text. */
  readonly input: string;
  /** Path of the copy of the root with edited headers; null if none exists. */
  readonly mirror: string | null;
  /** Path of the unit relative to the root, for messages. */
  readonly unit: string;
  readonly temporary: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders that may be read, links resolved; empty for trusted sources. */
  readonly roots: readonly string[];
  readonly flags: readonly string[];
  /** Why the launches of the unit must not be read, although it compiles. */
  readonly unreadLaunches?: string | null;
}

/** Runs something with the common inputs of all compilers of a unit, in a folder that is removed afterwards. */
export async function withSetting<Result extends Omit<CompileResult, 'ptx'>>(
  request: DependencyRequest,
  build: Build,
  use: (setting: Setting) => Promise<Result>,
): Promise<Result | Omit<CompileResult, 'ptx'>> {
  const { compiler, root, trust } = request;
  const file = resolve(root, request.file);
  const unit = relative(root, file);
  // Intermediate files and the working directory: never inside of the repository.
  const temporary = await mkdtemp(join(tmpdir(), 'selvage-'));
  try {
    const refused = await refusedPlace(request, file, unit, temporary);
    if (refused) return { dependencies: [], diagnostics: [refused] };
    const strangers = trust === 'pull-request';
    const cwd = strangers ? temporary : root;
    const env = confinedEnvironment(compiler.searchPath, temporary);
    const include = join(temporary, 'include');
    await mkdir(include);
    await copyFile(join(request.include, 'selvage.h'), join(include, 'selvage.h'));
    const own = await Promise.all([root, include].map(async (path) => (await realPath(path)) ?? path));
    const { text, headers } = request;
    const copy = await editedCopy({ file, root, text, headers, temporary });
    const folders = [...own, ...(copy?.folders ?? [])];
    const named = await Promise.all(request.flags.filter((group) => group.trust === 'user').map(includedFolders));
    const roots = strangers ? [...folders, ...named.flat(), ...(await includeFolders(compiler, request.limits))] : [];
    const selected = await Promise.all(request.flags.map((group) => selectFlags({ trust, ...group, roots })));
    const diagnostics = selected.flatMap((selection) => selection.diagnostics);
    if (diagnostics.length > 0) return { dependencies: [], diagnostics };
    if (strangers) {
      const searched = [...(await Promise.all(request.flags.map(includedFolders))).flat(), ...own];
      const endless = await endlessInclude(copy?.input ?? file, searched, roots, request.signal);
      if (endless) return { dependencies: [], diagnostics: [refusal(endless, { unit, request })] };
    }
    const notes = request.flags.flatMap(({ origin }, index) => droppedNotes(selected[index]!, origin));
    const words = selected.flatMap((selection) => selection.flags);
    const all = [...flagsOfBuild(words, build, request), `-I${include}`];
    const flags = copy?.wordsFor(all) ?? all;
    const { input = file, mirror = null } = copy ?? {};
    const plain: Setting = { request, root, file, input, mirror, unit, temporary, cwd, env, roots, flags };
    const stubs = request.stubs && (await stubsIn(plain, words, copy?.wordsFor, include, request.stubs));
    if (stubs) notes.push(stubDiagnostic(stubs, unit));
    const made = stubs && !('reason' in stubs) ? stubs : null;
    let result = await use(
      made ? { ...plain, flags: [...flags, `-I${join(include, stubFolder)}`], unreadLaunches: made.unreadLaunches } : plain,
    );
    const { ptx = '', verification = '' }: Partial<CompileResult> = result;
    const used = made ? stubClassIn(`${ptx} ${verification}`, made) : undefined;
    if (made && used !== undefined) {
      notes[notes.length - 1] = stubDiagnostic(
        { headers: made.headers, reason: `a kernel is instantiated with ${used}, which depends on the header` },
        unit,
      );
      result = await use(plain);
    }
    if ('ptx' in result ? result.ptx === undefined : result.diagnostics.length > 0) {
      notes.push(
        ...architectureNote(
          request,
          selected.flatMap(({ architectures }) => architectures),
        ),
      );
    }
    return notes.length === 0 ? result : { ...result, diagnostics: [...result.diagnostics, ...notes] };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Folder of stubs, in the folder of `selvage.h`. */
const stubFolder = 'stubs';

/** The stubs that a CUDA unit needs, written to their folder. */
async function stubsIn(
  setting: Setting,
  words: readonly string[],
  wordsFor: ((words: readonly string[]) => readonly string[]) | undefined,
  include: string,
  known: KnownStubs,
): Promise<StubbedUnit | Unstubbed | null> {
  const { request, file, unit, roots } = setting;
  if (!/\.cuh?$/.test(file)) return null;
  const folder = join(include, stubFolder);
  const key = JSON.stringify([file, request.arch, words]);
  const all = [...flagsOfBuild(words, 'production', request), `-I${include}`];
  const flags = [...(wordsFor?.(all) ?? all), `-I${folder}`];
  const limits = withCpu(ofPreprocessor(request.limits), 120);
  const inputs = [unit, request.arch, words, roots.length > 0, request.compiler.version.text];
  const find = async (): Promise<StubbedUnit | Unstubbed | null> =>
    stubsOf({
      ...setting,
      folder,
      words,
      systemFolders: await includeFolders(request.compiler, request.limits),
      isTrusted: request.trust === 'user',
      run: (more) => runCompiler({ ...setting, flags }, more, limits),
      isRefused: async (text, result) =>
        (await refusedPreprocessed(preprocessedFrom([text], setting), result, setting, true)) !== undefined,
      kept: request.kept,
      inputs,
    });
  const found = known.get(key) ?? find();
  known.set(key, found);
  const stubs = await found;
  if (stubs && !('reason' in stubs)) await writeStubs(folder, stubs);
  return stubs;
}

/** Diagnostics on flags that were left out. */
function droppedNotes({ dropped, refused }: FlagSelection, origin: string): Diagnostic[] {
  const note = (flags: readonly string[], why: string): Diagnostic[] => {
    if (flags.length === 0) return [];
    // Flags may be untrusted: they are shown as short printable ASCII.
    const shown = flags.join(', ').replaceAll(/[^\x20-\x7e]/g, '?');
    const list = shown.length > 120 ? `${shown.slice(0, 119)}…` : shown;
    const message = `Selvage leaves out these flags of ${origin}, ${why}: ${list}`;
    return [{ severity: 'notice', code: 'compile/flag-dropped', message }];
  };
  return [...note(dropped, 'which do not change device code'), ...note(refused, 'which a pull request may not set')];
}

/** Note on a unit that does not compile: its flags name architectures other than the requested one. */
function architectureNote({ arch, file, root }: DependencyRequest, named: readonly string[]): Diagnostic[] {
  const machines = [...new Set(named.map((name) => name.replace(/^[a-z]+/, 'sm')))];
  if (machines.length === 0 || machines.includes(arch)) return [];
  const message = `The flags of this file name ${machines.join(', ')}; Selvage compiled it for ${arch}. Give --arch ${machines[0]}, or set arch in .selvage.yml.`;
  const location = { file: relative(root, resolve(root, file)), line: 1 };
  return [{ severity: 'notice', code: 'compile/architecture', message, location }];
}

/** Rejects paths that must not be passed to nvcc, and a unit that is a link to a file outside of the root. */
async function refusedPlace(
  { compiler, root, arch, trust }: DependencyRequest,
  file: string,
  unit: string,
  temporary: string,
): Promise<Diagnostic | null> {
  const location = { file: unit, line: 1 };
  const unsafe =
    [compiler.path, root, temporary, file].some((path) => !isShellSafe(path)) || (trust === 'pull-request' && !isPlainPath(unit));
  if (unsafe) {
    const message =
      'Selvage did not compile this file: nvcc passes the path to a shell, and the path contains characters that a shell expands. Rename the file or folder.';
    return { severity: 'error', code: 'compile/unsafe-name', message, location };
  }
  if (!/^(sm|compute)_\d{2,3}[af]?$/.test(arch)) {
    const message = `The architecture is ${JSON.stringify(arch.slice(0, 40))}; write it as in sm_80.`;
    return { severity: 'error', code: 'compile/failed', message, location };
  }
  const [real, realRoot] = [await realPath(file), await realPath(root)];
  if (real === null || realRoot === null) {
    return { severity: 'error', code: 'compile/failed', message: 'The file does not exist.', location };
  }
  if (trust === 'pull-request' && (!isInside(realRoot, real) || isPrivatePlace(unit))) {
    return refusal({ kind: 'include-outside', path: file }, { unit, request: { root, trust } });
  }
  return null;
}

/** Runs nvcc on the unit. @param words in addition to its flags */
export async function runCompiler(
  { request, input, cwd, env, flags }: Setting,
  words: readonly string[],
  limits: ProcessLimits = request.limits,
): Promise<ProcessResult> {
  const args = [...flags, ...words, input];
  const { compiler, signal } = request;
  return runProcess({ executable: compiler.path, args, cwd, env, limits, signal });
}

/** @returns absolute paths of all files that the preprocessor read, or why it failed */
async function listDependencies(
  setting: Setting,
): Promise<{ readonly files: readonly string[] } | { readonly diagnostics: readonly Diagnostic[] }> {
  const result = await runCompiler(setting, ['-M'], ofPreprocessor(setting.request.limits));
  if (exitedWell(result)) {
    return { files: parseRule(result.stdout).map((path) => pathIn(setting.cwd, path)) };
  }
  // It is not yet known whether included files are inside of the root, so only names of missing headers are logged.
  const missing = /: (?:fatal error|catastrophic error): .*(?:No such file|cannot open source file)/;
  const text = result.stderr.split('\n').filter((line) => setting.request.trust === 'user' || missing.test(line));
  logged({ ...result, stdout: '', stderr: text.join('\n') }, setting.request);
  return { diagnostics: await failure(result, setting) };
}

/** Parses the prerequisites of a rule like make: blanks end a name, a backslash or a dollar sign escapes. */
export function parseRule(text: string): string[] {
  const prerequisites = text.replaceAll(/\\\r?\n/g, ' ').replace(/^[^]*?: /, '');
  return [...prerequisites.matchAll(/(?:\\[ #\\]|\$\$|[^\s])+/g)].map(([word]) => word.replaceAll(/\\([ #])/g, '$1').replaceAll('$$', '$'));
}

/** @returns the texts, or null if one is too large to read */
async function readPreprocessed(folder: string): Promise<string[] | null> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ii'));
  const paths = names.map((name) => join(folder, name));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  if (sizes.some((size) => size > largestText)) return null;
  return Promise.all(paths.map((path) => readFile(path, 'latin1')));
}

async function inRoot(files: readonly string[], { request, file }: Setting): Promise<string[]> {
  const root = (await realPath(request.root)) ?? request.root;
  const real = await Promise.all([file, ...files].map(realPath));
  const inside = real.filter((path) => path !== null && path !== root && isInside(root, path));
  return [...new Set(inside.map((path) => relative(root, path!)))].sort();
}

function logged({ stdout, stderr }: ProcessResult, { onLog }: DependencyRequest): void {
  const text = [stdout, stderr].filter((part) => part.trim() !== '').join('\n');
  if (text !== '') onLog(text);
}

async function failure(result: ProcessResult, setting: Setting): Promise<Diagnostic[]> {
  const { request, unit, cwd } = setting;
  const limit = ranOutOfMemory(result)
    ? 'The compiler needs more memory for this file than its limit.'
    : limitMessage(result.end, request.limits);
  const location = { file: unit, line: 1 };
  if (limit !== null) return [{ severity: 'error', code: 'compile/limit', message: limit, location }];
  const context = {
    root: request.root,
    unit,
    directory: cwd,
    trust: request.trust,
    isStubbing: request.stubs !== undefined,
  };
  const errors = await compileErrors(`${result.stderr}\n${result.stdout}`, context);
  if (errors.length > 0) return errors;
  return [failed('The file does not compile, and Selvage found no error message in the output of nvcc.', setting)];
}

function failed(message: string, { unit }: Pick<Setting, 'unit'>): Diagnostic {
  return { severity: 'error', code: 'compile/failed', message, location: { file: unit, line: 1 } };
}

function refusal(refused: Refusal, { unit, request }: { unit: string; request: Pick<DependencyRequest, 'root' | 'trust'> }): Diagnostic {
  const location = { file: unit, line: 1 };
  if (refused.kind === 'embedding') {
    const file = relative(request.root, refused.path);
    const message = `Selvage did not compile this file: ${isPlainPath(file) ? file : 'a file that it includes'} embeds other files with #embed or .incbin.`;
    return { severity: 'error', code: 'compile/embedding', message, location };
  }
  const message =
    'Selvage did not compile this file: it reads a file outside the repository, the toolkit and the folders of the host compiler.';
  return { severity: 'error', code: 'compile/include-outside', message, location };
}

/** Warnings about code that depends on Selvage: only selvage.h may test which build it is part of. */
async function macroWarnings(dependencies: readonly string[], { request }: Setting): Promise<Diagnostic[]> {
  const warnings: Diagnostic[] = [];
  for (const file of dependencies) {
    if (file === 'selvage.h' || file.endsWith('/selvage.h')) continue;
    const text = await readFile(join(request.root, file), 'latin1').catch(() => '');
    const line = text.split('\n').findIndex((content) => content.includes('__SELVAGE__'));
    if (line < 0) continue;
    const message =
      'This file tests the macro __SELVAGE__, so Selvage may check other code than the code that runs. Only selvage.h may test it.';
    warnings.push({ severity: 'warning', code: 'compile/selvage-macro', message, location: { file, line: line + 1 } });
  }
  return warnings;
}
