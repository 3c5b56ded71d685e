import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { distinctDiagnostics, type Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import type { ProcessEnd, ProcessLimits, ProcessResult } from '../system/child-process.ts';
import { headersOf, isInside, realPath } from './file-place.ts';
import type { Trust } from './flags.ts';

const missingHeader = /No such file or directory|cannot open source file/;

/** Options that specify folders of headers. */
const headerRemedy = 'State the folder of the header with `-- -I FOLDER`, or with `nvcc.args` in `.selvage.yml`.';

/** What to do about a library of which the headers are not installed. */
const stubRemedy = ' If only host code uses it, `nvcc: { stub-missing-headers: true }` compiles the file without it.';

/** Classes of errors with Selvage's own text. A report about the code of a pull request contains nothing else. */
const messageClasses = [
  ['an included header is not found', missingHeader],
  ['an identifier is not defined', /is undefined|has not been declared|was not declared|is not a template/],
  ['an #error directive was reached', /^#error|#error directive/],
  ['a static assertion failed', /static[ _]assert/],
  ['the compiler does not know the architecture', /gpu architecture|not supported for .*architecture/i],
  [
    'the host compiler is missing, or this nvcc does not support it',
    /unsupported GNU version|host compiler|gcc: (not found|command not found)/i,
  ],
  ['the compiler does not know an option', /Unknown option|defined for option|expected a number$/],
  ['the compiler crashed', /died due to signal|internal error|Segmentation|catastrophic/],
  ['there is a syntax error', /expected|unterminated|missing terminating|parse error|digit/],
  ['the types do not match', /no instance of|no suitable|incompatible|no matching|does not match|cannot be|ambiguous/],
] as const;

const unknownError = 'the compiler reports an error';
const logRemedy = "See the log of the run for the compiler's output.";

/**
 * The reason in the message of a file that does not compile, if the message has no text of the compiler; undefined for
 * other messages.
 */
export function ownReason(message: string): string | undefined {
  const reasons = [...messageClasses.map(([reason]) => reason), unknownError];
  return reasons.map((reason) => `The file does not compile: ${reason}.`).find((text) => message === `${text} ${logRemedy}`);
}

/** Whether a program of nvcc reports that it reached its limit of memory. */
export function ranOutOfMemory({ stderr }: ProcessResult): boolean {
  return /^(?:\S{0,300}\/)?(?:cc1plus|cc1|cudafe\+\+|cicc|ptxas)[: ][^\n]{0,200}\b(?:out of memory|virtual memory exhausted)\b/m.test(
    stderr,
  );
}

/** Why a program ended without an exit code; null if it has one. */
export function limitMessage(end: ProcessEnd, limits: ProcessLimits): string | null {
  switch (end.kind) {
    case 'time-limit':
      return `Selvage stopped nvcc after ${limits.milliseconds / 1000} seconds.`;
    case 'output-limit':
      return `Selvage stopped nvcc because it printed more than ${limits.outputBytes} bytes.`;
    case 'signalled':
      return `The signal ${end.signal} ended nvcc; memory may be short.`;
    case 'not-started':
      return 'nvcc could not be started.';
    case 'aborted':
      return 'Selvage stopped nvcc because the analysis ended.';
    case 'exited':
      return null;
  }
}

/** Maximum number of listed errors of one build. */
const maxErrors = 20;

interface CompilerError {
  readonly file: string | null;
  /** Line number; infinite if the error is at the end of the unit. */
  readonly line: number;
  readonly column?: number;
  readonly text: string;
}

export interface MessageContext {
  /** Absolute path of the root; locations are relative to it. */
  readonly root: string;
  /** Path of the unit, relative to the root. It is the location of errors that name no file inside of the root. */
  readonly unit: string;
  /** Absolute path to which relative file names in messages refer. */
  readonly directory: string;
  readonly trust: Trust;
  /** False: stubs for missing headers are not enabled, and are suggested. */
  readonly isStubbing?: boolean;
}

/**
 * Converts the output of a failed build to diagnostics `compile/failed` with file and line, and a hint
 * `compile/removed-api` for each use of an API that newer toolkits removed. For a pull request no text of the compiler
 * is passed on: it quotes the source, and any file that the source made it read.
 */
export async function compileErrors(output: string, context: MessageContext): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  const errors = readErrors(output);
  for (const error of errors.slice(0, maxErrors)) {
    const location = await locate(error, context);
    const meaning = messageClasses.find(([, pattern]) => pattern.test(error.text))?.[0];
    const remedy = missingHeader.test(error.text) ? `. ${headerRemedy}${await stubHint(error.text, context)}` : '';
    const message =
      context.trust === 'user'
        ? `The file does not compile: ${cleaned(error.text)}${remedy}`
        : `The file does not compile: ${meaning ?? unknownError}. ${logRemedy}`;
    diagnostics.push({ severity: 'error', code: 'compile/failed', message, location });
    const hint = removedApi(error.text);
    if (hint) diagnostics.push({ severity: 'notice', code: 'compile/removed-api', message: hint, location });
  }
  if (errors.length > maxErrors) {
    const message = `This file has ${errors.length - maxErrors} more errors, which are not listed.`;
    diagnostics.push({ severity: 'error', code: 'compile/failed', message, location: { file: context.unit, line: 1 } });
  }
  return distinctDiagnostics(diagnostics);
}

/** The hint at stubs for a header that the project does not have. */
async function stubHint(text: string, { root, isStubbing }: MessageContext): Promise<string> {
  const [, name] = /^(\S+): No such file|cannot open source file "([^"]+)"/.exec(text)?.filter((part) => part !== undefined) ?? [];
  return isStubbing === false && name !== undefined && !(await headersOf(root))(name) ? stubRemedy : '';
}

const forms: readonly RegExp[] = [
  /^(?<file>.+?)\((?<line>\d+)\): (?:catastrophic error|internal error|error)(?: #\d+(?:-D)?)?\s*: (?<text>.*)$/,
  /^(?<file>[^:\s][^:]*):(?<line>\d+):(?:(?<column>\d+):)? (?:fatal error|error): (?<text>.*)$/,
  /^At end of source: (?:catastrophic error|internal error|error)(?: #\d+(?:-D)?)?\s*: (?<end>.*)$/,
  /^(?:nvcc|ptxas|cicc|cudafe\+\+|nvlink|fatbinary) +(?:fatal|error)\s*: (?<text>.*)$/,
  /^ptxas .*, line \d+; (?:fatal|error)\s*: (?<text>.*)$/,
  // Messages of the host compiler; and of nvcc's programs about arguments of the command line.
  /^(?:[\w+./-]+|<(?:command-line|built-in|stdin)>): (?:fatal )?error: (?<text>.*)$/,
  /^Command-line error: (?<text>.*)$/,
  // Messages of cicc and its libraries.
  /^(?:LLVM ERROR|Error|error): (?<text>.*)$/,
  /^(?<text>(?:[\w+./-]+: )?error while loading shared libraries: .*)$/,
  /^(?<text>(?:terminate called after throwing|virtual memory exhausted|out of memory|Segmentation fault).*)$/,
  /^(?<text>(?:\/bin\/)?sh: .*(?:not found|Permission denied|Killed).*)$/,
];

function readErrors(output: string): CompilerError[] {
  const errors: CompilerError[] = [];
  for (const line of output.split(/\r?\n/)) {
    // Longer lines are skipped: they contain no useful message, and the patterns backtrack.
    if (line.length > 4096) continue;
    const groups = forms.map((form) => form.exec(line)?.groups).find((found) => found !== undefined);
    if (!groups) continue;
    const { file, line: number, column, text, end } = groups;
    errors.push({
      file: file ?? null,
      line: end === undefined ? Number(number ?? 1) : Infinity,
      ...(column === undefined ? {} : { column: Number(column) }),
      text: end === undefined ? text! : `${end}, at the end of the file`,
    });
  }
  if (errors.length > 0) return errors;
  // If no message is recognised: lines that mention an error, otherwise the last lines.
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '' && line.length <= 4096);
  const reason = lines.find((line) => /\b(?:error|fatal|failed|cannot)\b/i.test(line)) ?? lines.at(-1);
  return reason === undefined ? [] : [{ file: null, line: 1, text: reason }];
}

/**
 * The location of an error. The source can choose the file names in messages (`#line`), so only an existing file inside
 * of the root is accepted.
 */
async function locate(error: CompilerError, { root, unit, directory }: MessageContext): Promise<Location> {
  const realRoot = (await realPath(root)) ?? root;
  if (error.line === Infinity) return { file: unit, line: await linesOf(await realPath(resolve(root, unit)), realRoot) };
  const real = error.file === null ? null : await realPath(resolve(directory, error.file));
  if (real === null || !isInside(realRoot, real) || error.line < 1 || error.line > 10_000_000) {
    return { file: unit, line: 1 };
  }
  const file = real.slice(realRoot.length + 1);
  return { file, line: error.line, ...(error.column ? { column: error.column } : {}) };
}

/** The last nonempty line of a file inside of the root, at least 1. */
async function linesOf(path: string | null, root: string): Promise<number> {
  const text = path !== null && isInside(root, path) ? await readFile(path, 'utf8').catch(() => '') : '';
  return text.trimEnd().split('\n').length;
}

/** Text reduced to one line of printable characters, at most 200. */
function cleaned(text: string): string {
  const line = text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '')
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** APIs that newer toolkits have removed, with their replacements. */
const removed: Readonly<Record<string, string>> = {
  texture: 'Texture references are gone from this toolkit: create a texture object (cudaTextureObject_t) and pass it to the kernel.',
  surface: 'Surface references are gone from this toolkit: create a surface object (cudaSurfaceObject_t) and pass it to the kernel.',
  textureReference: 'Texture references are gone from this toolkit: use texture objects (cudaTextureObject_t).',
  cudaBindTexture: 'cudaBindTexture is gone from this toolkit: use cudaCreateTextureObject.',
  cudaBindTexture2D: 'cudaBindTexture2D is gone from this toolkit: use cudaCreateTextureObject.',
  cudaBindTextureToArray: 'cudaBindTextureToArray is gone from this toolkit: use cudaCreateTextureObject.',
  cudaBindSurfaceToArray: 'cudaBindSurfaceToArray is gone from this toolkit: use cudaCreateSurfaceObject.',
  cudaUnbindTexture: 'cudaUnbindTexture is gone from this toolkit: use cudaDestroyTextureObject.',
  cudaGetTextureReference: 'cudaGetTextureReference is gone from this toolkit: use texture objects.',
  cudaThreadSynchronize: 'cudaThreadSynchronize is gone from this toolkit: use cudaDeviceSynchronize.',
  cudaThreadExit: 'cudaThreadExit is gone from this toolkit: use cudaDeviceReset.',
  cudaThreadGetLimit: 'cudaThreadGetLimit is gone from this toolkit: use cudaDeviceGetLimit.',
  cudaThreadSetLimit: 'cudaThreadSetLimit is gone from this toolkit: use cudaDeviceSetLimit.',
  cudaThreadGetCacheConfig: 'cudaThreadGetCacheConfig is gone from this toolkit: use cudaDeviceGetCacheConfig.',
  cudaThreadSetCacheConfig: 'cudaThreadSetCacheConfig is gone from this toolkit: use cudaDeviceSetCacheConfig.',
  cudaMemcpyToArray: 'cudaMemcpyToArray is gone from this toolkit: use cudaMemcpy2DToArray.',
  cudaMemcpyFromArray: 'cudaMemcpyFromArray is gone from this toolkit: use cudaMemcpy2DFromArray.',
  cudaLaunchCooperativeKernelMultiDevice:
    'cudaLaunchCooperativeKernelMultiDevice is gone from this toolkit: launch on each device and synchronise through the host.',
  this_multi_grid: 'Multi-device cooperative groups are gone from this toolkit: synchronise the devices through the host.',
  cudaConfigureCall: 'cudaConfigureCall is gone from this toolkit: use cudaLaunchKernel.',
  cudaSetupArgument: 'cudaSetupArgument is gone from this toolkit: use cudaLaunchKernel.',
  __shfl: '__shfl is gone from sm_70 on: use __shfl_sync with a mask of the lanes that take part.',
  __shfl_up: '__shfl_up is gone from sm_70 on: use __shfl_up_sync with a mask of the lanes that take part.',
  __shfl_down: '__shfl_down is gone from sm_70 on: use __shfl_down_sync with a mask of the lanes that take part.',
  __shfl_xor: '__shfl_xor is gone from sm_70 on: use __shfl_xor_sync with a mask of the lanes that take part.',
  __any: '__any is gone from sm_70 on: use __any_sync with a mask of the lanes that take part.',
  __all: '__all is gone from sm_70 on: use __all_sync with a mask of the lanes that take part.',
  __ballot: '__ballot is gone from sm_70 on: use __ballot_sync with a mask of the lanes that take part.',
};

/**
 * The hint for an error that names a removed API.
 * @param message of the compiler, without location and severity
 */
function removedApi(message: string): string | undefined {
  const name = /^identifier "(\w+)" is undefined|^(\w+) is not a template|"(\w+)" (?:was|has) not/.exec(message);
  const found = name?.[1] ?? name?.[2] ?? name?.[3];
  return found !== undefined && Object.hasOwn(removed, found) ? removed[found] : undefined;
}
