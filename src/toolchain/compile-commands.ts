import { basename, dirname, resolve } from 'node:path';
import type { Diagnostic } from '../source/diagnostic.ts';
import { isInside } from './file-place.ts';
import { isHostOnly, isOfLaterPhase, nvccFlagsOfClang } from './host-flags.ts';
import { parseOptions } from './nvcc-options.ts';
import { shellWords } from './shell-words.ts';

/** The problem as the end of a sentence. */
interface Problem {
  readonly problem: string;
}

/** A problem of the entry of a database. */
interface EntryProblem extends Problem {
  readonly origin: string;
}

/** One entry of a compilation database, as written. */
interface CompileCommand {
  /** Working directory of the command, as an absolute path. */
  readonly directory: string;
  /** Absolute path of the compiled file. */
  readonly file: string;
  /** Path of the database relative to the root. */
  readonly origin: string;
  /**
   * The program and its arguments, as a list or as a text to be split like a shell command; or why they are invalid.
   */
  readonly command: string | readonly string[] | Problem;
}

export interface CompileCommands {
  /** Commands by absolute path of the file. Of several commands for a file, the first one is used. */
  readonly commands: ReadonlyMap<string, CompileCommand>;
  /** Absolute path of the root. Files outside of it are not used as siblings of files inside. */
  readonly root: string;
  /** Why no entry of the database can be used. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses `compile_commands.json` (https://clang.llvm.org/docs/JSONCompilationDatabase.html). A problem of a command is
 * reported only for its own unit, and commands are split on demand: there may be thousands.
 * @param text of the file
 * @param file its path relative to the root, for messages
 * @param root absolute
 */
export function parseCompileCommands(text: string, file: string, root: string): CompileCommands {
  const commands = new Map<string, CompileCommand>();
  const refused = (message: string): CompileCommands => ({
    commands,
    root,
    diagnostics: [{ severity: 'error', code: 'compile/commands', message, location: { file, line: 1 } }],
  });
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return refused('This compilation database is not JSON. Generate it again.');
  }
  if (!Array.isArray(document)) {
    return refused('A compilation database is a list of commands. Let the build write it again.');
  }
  const folder = dirname(resolve(root, file));
  let known: readonly [string, string] = ['.', folder];
  for (const [index, entry] of (document as readonly unknown[]).entries()) {
    const { file: named, directory: written = '.' } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof named !== 'string' || typeof written !== 'string') {
      const key = typeof named === 'string' ? 'directory' : 'file';
      return refused(`Entry ${index + 1} of this compilation database has no text as its "${key}". Let the build write it again.`);
    }
    // Most entries have the same directory, so the last one is cached.
    if (written !== known[0]) known = [written, resolve(folder, written)];
    const [, directory] = known;
    const path = resolve(directory, named);
    if (!commands.has(path))
      commands.set(path, {
        directory,
        file: path,
        origin: file,
        command: commandOf(entry as Readonly<Record<string, unknown>>),
      });
  }
  return { commands, root, diagnostics: [] };
}

/** One database of several. Of several commands for a file, that of the first database is used. */
export function joinedCommands(databases: readonly CompileCommands[], root: string): CompileCommands {
  const commands = new Map<string, CompileCommand>();
  for (const database of databases) for (const [file, command] of database.commands) if (!commands.has(file)) commands.set(file, command);
  return { commands, root, diagnostics: databases.flatMap(({ diagnostics }) => diagnostics) };
}

/** The command of an entry, which needs only one of the keys `arguments` and `command`. */
function commandOf({ arguments: words, command }: Readonly<Record<string, unknown>>): CompileCommand['command'] {
  if (isListOfText(words) && words.length > 0) return words;
  if (words !== undefined && !isListOfText(words)) return { problem: 'the "arguments" of its entry are not a list of strings' };
  if (typeof command === 'string') return command;
  return { problem: `its entry has ${command === undefined ? 'neither "arguments" nor a "command"' : 'a "command" that is not a string'}` };
}

function isProblem(command: CompileCommand['command']): command is Problem {
  return typeof command === 'object' && 'problem' in command;
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

interface UnitFlags {
  readonly args: readonly string[];
  /** Path of the database, relative to the root. */
  readonly origin: string;
  /** Folder to which relative paths in the flags refer. */
  readonly directory: string;
  /** The file whose entry is used, if the unit has none. */
  readonly sibling?: string;
}

/**
 * The flags of a compilation database for a unit, without the program, the unit itself, the outputs of the build, and
 * flags that concern only host code, ptxas or the linker. Commands of clang are translated to options of nvcc. A unit
 * without an entry gets the flags of the nearest CUDA file.
 * @param file of the unit, absolute
 * @param readText reads an options file, absolute; undefined if it may not be read
 * @returns null if no entry applies; the problem if the unit's own entry is invalid
 */
export function flagsOf(
  database: CompileCommands,
  file: string,
  readText: (path: string) => string | undefined = () => undefined,
): UnitFlags | EntryProblem | null {
  const own = database.commands.get(file);
  const command = own ?? nearestSibling(database, file);
  if (!command) return null;
  const { origin } = command;
  if (isProblem(command.command)) return { ...command.command, origin };
  const words = typeof command.command === 'string' ? shellWords(command.command) : command.command;
  if (!words || words.length === 0) {
    if (!own) return null;
    return { problem: words ? 'its command is empty' : 'its command cannot be split into words: a quotation is not closed', origin };
  }
  const args = parseOptions(withOptionFiles(nvccWords(words), command.directory, readText)).flatMap((word) => {
    if (word.kind === 'operand' && isSource(word.words[0]!)) return [];
    if (word.kind === 'unknown-option' && isHostOnly(word.words[0]!)) return [];
    if (word.kind !== 'option') return word.words;
    if (word.row.role === 'drop' || isOfLaterPhase(word.row.name)) return [];
    if (word.row.name !== '-Xcompiler') return word.words;
    return word.value.split(',').flatMap((flag) => (isHostOnly(flag) ? [] : ['-Xcompiler', flag]));
  });
  return { args, origin, directory: command.directory, ...(own ? {} : { sibling: command.file }) };
}

/**
 * Whether an operand is the compiled file. Only file names are compared, since the entry may spell the path
 * differently.
 */
function isSource(operand: string): boolean {
  return /\.(?:cu|c|cc|cpp|cxx|C|ptx|o)$/.test(operand);
}

/** The CUDA file of the database whose folder shares the longest prefix with that of a file. */
function nearestSibling({ commands, root }: CompileCommands, file: string): CompileCommand | undefined {
  const folders = dirname(file).split('/');
  let best: { readonly command: CompileCommand; readonly common: number; readonly distance: number } | undefined;
  for (const command of commands.values()) {
    if (!command.file.endsWith('.cu') || !isInside(root, command.file) || isProblem(command.command)) continue;
    const other = dirname(command.file).split('/');
    let common = 0;
    while (common < folders.length && folders[common] === other[common]) common += 1;
    const distance = other.length - common;
    const isNearer =
      !best ||
      common > best.common ||
      (common === best.common && (distance < best.distance || (distance === best.distance && command.file < best.command.file)));
    if (isNearer) best = { command, common, distance };
  }
  return best?.command;
}

/** The arguments of a command as options of nvcc. */
function nvccWords(words: readonly string[]): readonly string[] {
  const start = launcherWords(words);
  const program = basename(words[start - 1] ?? '');
  const args = words.slice(start);
  const isHostCompiler = /^(?:[\w.]+-)*(?:clang|clang\+\+|gcc|g\+\+|c\+\+|cc)(?:-[\d.]+)?$/.test(program);
  const asksClang = args.some((word) => /^--(?:cuda-gpu|offload)-arch=/.test(word));
  return isHostCompiler || asksClang ? nvccFlagsOfClang(args) : args;
}

/** Number of words up to and including the compiler: 2 for `ccache nvcc …`. */
function launcherWords(words: readonly string[]): number {
  let count = 0;
  while (count < words.length && /^(?:ccache|sccache|distcc|icecc|time|nice)$/.test(basename(words[count]!))) count++;
  return count + 1;
}

/** CMake writes include paths to a separate file, which nvcc reads with `--options-file`. */
function withOptionFiles(words: readonly string[], directory: string, readText: (path: string) => string | undefined): string[] {
  const result: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const [, joined] = /^(?:--options-file|-optf)=(.+)$/.exec(words[index]!) ?? [];
    const isSeparate = words[index] === '--options-file' || words[index] === '-optf';
    const names = joined ?? (isSeparate ? words[index + 1] : undefined);
    const texts = names?.split(',').map((name) => readText(resolve(directory, name)));
    if (texts?.every((text) => text !== undefined)) {
      result.push(...texts.flatMap((text) => shellWords(text) ?? []));
      if (isSeparate) index++;
    } else result.push(words[index]!);
  }
  return result;
}
