import { resolve } from 'node:path';
import type { Diagnostic } from '../source/diagnostic.ts';
import { isInside, isPlainPath, realPath } from './file-place.ts';
import { isHarmlessToHost, isHostOnly, isOfLaterPhase } from './host-flags.ts';
import { parseOptions, type OptionRow, type OptionWord } from './nvcc-options.ts';

/** Who wrote the source and the flags: the user of the command line, or the author of a pull request. */
export type Trust = 'user' | 'pull-request';

/** Flags from one origin. */
export interface FlagGroup {
  readonly args: readonly string[];
  /** Origin of the flags in messages: `.selvage.yml`. */
  readonly origin: string;
  /** Absolute path to which relative paths in the flags refer. */
  readonly directory: string;
  /** Whether the flags were found and not named by the user. A rejected flag is then omitted, and the others apply. */
  readonly isFound?: boolean;
  /** Author of the flags, if different from the author of the source: the owner of the workflow of a pull request. */
  readonly trust?: Trust;
}

interface FlagRequest extends FlagGroup {
  readonly trust: Trust;
  /** Allowed folders of include paths, links resolved: the workspace and the toolkit. Unused for trusted flags. */
  readonly roots: readonly string[];
}

export interface FlagSelection {
  /** Arguments for nvcc: for a pull request one argument per option, in one spelling. */
  readonly flags: readonly string[];
  /**
   * Architectures that the flags name (`sm_NN`, `compute_NN`). They are removed, because a build is for one
   * architecture.
   */
  readonly architectures: readonly string[];
  /** Flags that were left out because they concern only host code or a later phase, as written. */
  readonly dropped: readonly string[];
  /** Rejected flags of an origin that the user did not name, as written. */
  readonly refused: readonly string[];
  /**
   * Diagnostics `compile/flag-refused`. If there are any, nothing may be compiled, because it would be another program.
   */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Removes flags that a build determines itself (output, phase, architecture, debug information). For a pull request,
 * only flags of the allow-list pass: many options of nvcc run programs, read option files or are passed on to other
 * tools, and nvcc lets a shell expand its arguments.
 */
export async function selectFlags(request: FlagRequest): Promise<FlagSelection> {
  const flags: string[] = [];
  const architectures: string[] = [];
  const diagnostics: Diagnostic[] = [];
  const dropped: string[] = [];
  const refused: string[] = [];
  for (const written of parseOptions(request.args)) {
    if (written.kind === 'option' && written.row.role === 'drop') continue;
    const word = withoutHostFlags(written, request.trust);
    if (word !== written && !isForwarding(written)) dropped.push(written.words.join(' '));
    if (word === null) continue;
    if (word.kind === 'option' && word.row.role === 'architecture') {
      architectures.push(...(word.value.match(/\b(sm|compute|lto)_\d+[af]?\b/g) ?? []));
      continue;
    }
    const passed = request.trust === 'user' ? await userWords(word, request) : await allowedWords(word, request);
    if (typeof passed !== 'string') flags.push(...passed);
    else if (request.isFound === true) refused.push(written.words.join(' '));
    else diagnostics.push(refusal(written, passed, request.origin));
  }
  return { flags, architectures: [...new Set(architectures)], dropped, refused, diagnostics };
}

/**
 * Whether an option makes nvcc forward unknown flags to the host compiler, as CMake does. Untrusted unknown flags are
 * never forwarded.
 */
function isForwarding(word: OptionWord): boolean {
  return word.kind === 'option' && word.row.name === '-forward-unknown-to-host-compiler';
}

/**
 * An option without values that cannot affect device code: those for host code only, and, in untrusted flags, those of
 * phases that the builds do not reach.
 * @returns null if no value remains
 */
function withoutHostFlags(word: OptionWord, trust: Trust): OptionWord | null {
  if (word.kind === 'unknown-option') return isHostOnly(word.words[0]!) ? null : word;
  if (word.kind !== 'option') return word;
  if (trust === 'pull-request' && (isOfLaterPhase(word.row.name) || isForwarding(word))) return null;
  if (word.row.name !== '-Xcompiler') return word;
  const flags = word.value.split(',');
  const rest = flags.filter((flag) => !isHostOnly(flag));
  if (rest.length === flags.length) return word;
  return rest.length === 0 ? null : { ...word, value: rest.join(','), words: ['-Xcompiler', rest.join(',')] };
}

async function userWords(word: OptionWord, { directory }: FlagRequest): Promise<readonly string[]> {
  if (word.kind !== 'option') return word.words;
  if (word.row.name === '-dc') return ['-rdc=true'];
  if (word.row.value !== 'path-list' && word.row.value !== 'file-list') return word.words;
  const paths = word.value.split(',').map(async (path) => {
    const isSearched = word.row.value === 'file-list' && (await isSearchedFor(path, directory));
    return join(word.row, isSearched ? path : resolve(directory, path));
  });
  return Promise.all(paths);
}

/**
 * Whether an included file, such as `cstdint`, is searched for in the include paths, because the working directory
 * lacks it.
 */
async function isSearchedFor(path: string, directory: string): Promise<boolean> {
  const isName = /^[\w.+-]+(?:\/[\w.+-]+)*$/.test(path) && !path.split('/').includes('..');
  return isName && !isPrivatePlace(path) && (await realPath(resolve(directory, path))) === null;
}

/** @returns the arguments for nvcc, or why the option is rejected */
async function allowedWords(word: OptionWord, request: FlagRequest): Promise<readonly string[] | string> {
  if (word.kind === 'operand') return 'it names an input file';
  if (word.kind === 'unknown-option') return 'it is not on the list of flags that a pull request may set';
  if (word.kind === 'incomplete') return 'its value is missing';
  const { row, value } = word;
  if (row.name === '-Xcompiler' && value.split(',').every(isHarmlessToHost)) return ['-Xcompiler', value];
  if (row.role === 'dangerous') return 'it may run programs, or read or write files';
  if (row.name === '-dc') return ['-rdc=true'];
  switch (row.value) {
    case 'none':
      return [row.name];
    case 'text':
      return row.pattern?.test(value) ? [join(row, value)] : 'this value is not on the list';
    case 'definitions':
      return each(
        value,
        (item) => (definition.test(item) ? join(row, item) : null),
        'its name or value contains characters that are not on the list',
      );
    case 'names':
      return each(value, (item) => (/^[A-Za-z_]\w*$/.test(item) ? join(row, item) : null), 'this is not a name');
    case 'path-list':
    case 'file-list': {
      const allowed = async (item: string): Promise<string | null> =>
        row.value === 'file-list' && (await isSearchedFor(item, request.directory)) ? item : allowedPath(item, request);
      const paths = await Promise.all(value.split(',').map(allowed));
      if (paths.some((path) => path === null)) return 'it names a path outside the repository and the toolkit';
      return paths.map((path) => join(row, path!));
    }
  }
}

/**
 * An allowed macro definition: a name, optionally with a number, name or version as its value, which may be in double
 * quotes. Blanks are excluded, because they would begin another option if nvcc does not quote them; so are characters
 * with a meaning in a shell.
 */
const definition = /^[A-Za-z_]\w*(=([\w.:+/%-]*|"[\w.:+/%-]*"))?$/;

/** Whether a pull request may define a macro so: `NAME` or `NAME=value`. */
export function isAllowedDefinition(text: string): boolean {
  return definition.test(text);
}

function each(value: string, accept: (item: string) => string | null, problem: string): readonly string[] | string {
  const items = value.split(',').map(accept);
  return items.every((item) => item !== null) ? items : problem;
}

function join(row: OptionRow, value: string): string {
  return /^-[A-Z]$/.test(row.name) ? row.name + value : `${row.name}=${value}`;
}

async function allowedPath(path: string, { directory, roots }: FlagRequest): Promise<string | null> {
  const absolute = resolve(directory, path);
  if (path === '' || !isPlainPath(absolute) || isPrivatePlace(absolute)) return null;
  // A folder that does not exist is harmless if its path is inside of the allowed folders.
  const real = (await realPath(absolute)) ?? absolute;
  return roots.some((root) => isInside(root, real)) && !isPrivatePlace(real) ? absolute : null;
}

/** Whether a path is in a folder that contains no source code although it is inside of the workspace. */
export function isPrivatePlace(path: string): boolean {
  return /(^|\/)\.git(\/|$)/i.test(path) || /^\/(proc|dev|sys)(\/|$)/.test(path);
}

function refusal(word: OptionWord, problem: string, origin: string): Diagnostic {
  // The flag is untrusted: limited to short printable ASCII.
  const shown = word.words
    .join(' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, 80);
  return {
    severity: 'error',
    code: 'compile/flag-refused',
    message: `Selvage rejects the flag ${shown} of ${origin}: ${problem}. Remove the flag, or set it in the workflow, where only the owner of the repository can.`,
  };
}

/** The folders of include paths in flags of a user, links resolved: their files may be included. */
export async function includedFolders({ args, directory }: FlagGroup): Promise<string[]> {
  const named = parseOptions(args).flatMap((word) =>
    word.kind === 'option' && word.row.value === 'path-list' ? word.value.split(',') : [],
  );
  const found = await Promise.all(named.map((path) => realPath(resolve(directory, path))));
  return found.filter((path) => path !== null);
}

/** Inputs of the flags of a build. */
interface BuildFlagRequest {
  readonly compiler: { readonly features: { readonly fastCompile: boolean; readonly briefDiagnostics: boolean } };
  readonly arch: string;
  readonly trust: Trust;
  /** Why `-Ofc max` is not used; undefined if it is. */
  readonly unoptimised?: string | undefined;
}

/**
 * The flags of the user, followed by those of the build. The verification build neutralizes flags and qualifiers that let
 * the compiler assume that no pointers alias: it could keep a value of memory in a register across a barrier, and drop
 * the load that races.
 */
export function flagsOfBuild(
  flags: readonly string[],
  build: 'verification' | 'production',
  { compiler: { features }, arch, trust, unoptimised }: BuildFlagRequest,
): readonly string[] {
  const own = [`-arch=${arch}`, '-lineinfo'];
  if (build === 'verification') {
    own.push('-D__restrict__=', '-D__restrict=', '-D__SELVAGE__=1');
    own.push(...(features.fastCompile && unoptimised === undefined ? ['-Ofc', 'max'] : ['-Xcicc', '-O0']));
  }
  if (trust === 'pull-request') {
    // Carets are disabled, because messages would quote lines of a file that `#line` chooses.
    own.push('-Xcompiler', '-fno-diagnostics-show-caret');
    if (features.briefDiagnostics) own.push('--brief-diagnostics=true');
  }
  const isRestrict = (flag: string): boolean => flag === '-restrict' || flag === '--restrict';
  // The last definition of a macro takes precedence.
  return [...(build === 'production' ? flags : flags.filter((flag) => !isRestrict(flag))), ...own];
}
