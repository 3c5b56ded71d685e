import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { distinctDiagnostics, type Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import { isInside, realPath } from './file-place.ts';
import type { Trust } from './flags.ts';
import { removedApi } from './removed-apis.ts';

const missingHeader = /No such file or directory|cannot open source file/;

/** Options that specify folders of headers. */
const headerRemedy = 'State the folder of the header with `-- -I FOLDER`, or with `nvcc.args` in `.selvage.yml`.';

/** Classes of errors with Selvage's own text. A report about the code of a pull request contains nothing else. */
const messageClasses = [
  ['an included header is not found', missingHeader],
  ['an identifier is not defined', /is undefined|has not been declared|was not declared|is not a template/],
  ['an #error directive was reached', /^#error|#error directive/],
  ['a static assertion failed', /static[ _]assert/],
  ['the compiler does not know the architecture', /gpu architecture|not supported for .*architecture/i],
  ['the host compiler is missing, or this nvcc does not support it',
    /unsupported GNU version|host compiler|gcc: (not found|command not found)/i],
  ['the compiler does not know an option', /Unknown option|defined for option|expected a number$/],
  ['the compiler crashed', /died due to signal|internal error|Segmentation|catastrophic/],
  ['there is a syntax error', /expected|unterminated|missing terminating|parse error|digit/],
  ['the types do not match', /no instance of|no suitable|incompatible|no matching|does not match|cannot be|ambiguous/],
] as const; // oxfmt-ignore

const unknownError = 'the compiler reports an error';
const logRemedy = "See the log of the run for the compiler's output.";

/**
 * The reason in the message of a file that does not compile, if the message has no text of the compiler; undefined for
 * other messages.
 */
export function ownReason(message: string): string | undefined {
  const reasons = [...messageClasses.map(([reason]) => reason), unknownError];
  return reasons
    .map((reason) => `The file does not compile: ${reason}.`)
    .find((text) => message === `${text} ${logRemedy}`);
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
    const message =
      context.trust === 'user'
        ? `The file does not compile: ${cleaned(error.text)}${missingHeader.test(error.text) ? `. ${headerRemedy}` : ''}`
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
  if (error.line === Infinity)
    return { file: unit, line: await linesOf(await realPath(resolve(root, unit)), realRoot) };
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
