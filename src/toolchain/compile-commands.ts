import { basename, dirname, resolve } from 'node:path';
import * as v from 'valibot';
import type { Diagnostic } from '../source/diagnostic.ts';
import { parseOptions } from './nvcc-options.ts';
import { shellWords } from './shell-words.ts';

/** One entry of a compilation database, its command split into words. */
interface CompileCommand {
  /** Absolute. */
  readonly directory: string;
  /** Absolute. */
  readonly file: string;
  /** The program, then its arguments. */
  readonly words: readonly string[];
}

export interface CompileCommands {
  readonly commands: readonly CompileCommand[];
  readonly diagnostics: readonly Diagnostic[];
}

const databaseSchema = v.array(v.unknown());
/** Of `arguments` and `command` one is enough; what is no text is as good as missing. */
const entrySchema = v.object({
  directory: v.fallback(v.optional(v.string()), undefined),
  file: v.string(),
  command: v.fallback(v.optional(v.string()), undefined),
  arguments: v.fallback(v.optional(v.array(v.string())), undefined),
});

/**
 * Reads `compile_commands.json` (https://clang.llvm.org/docs/JSONCompilationDatabase.html).
 * @param text of the file
 * @param file its path relative to the root, for messages
 * @param root absolute
 */
export function parseCompileCommands(text: string, file: string, root: string): CompileCommands {
  const diagnostics: Diagnostic[] = [];
  const report = (message: string): void => {
    diagnostics.push({ severity: 'error', code: 'compile/commands', message, location: { file, line: 1 } });
  };
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    report('This compilation database is not JSON. Generate it again.');
    return { commands: [], diagnostics };
  }
  const entries = v.safeParse(databaseSchema, document);
  if (!entries.success) {
    report('A compilation database is a list of commands. Let the build write it again.');
    return { commands: [], diagnostics };
  }
  const commands: CompileCommand[] = [];
  entries.output.forEach((entry, index) => {
    const command = readEntry(entry, dirname(resolve(root, file)));
    if (command) commands.push(command);
    else
      report(
        `Entry ${index + 1} of this compilation database lacks a file, or a command that can be split into words.`,
      );
  });
  return { commands, diagnostics };
}

function readEntry(entry: unknown, folder: string): CompileCommand | null {
  const parsed = v.safeParse(entrySchema, entry);
  if (!parsed.success) return null;
  const { directory = '.', file, command, arguments: list } = parsed.output;
  const from = resolve(folder, directory);
  const words = list ?? (command === undefined ? null : shellWords(command));
  if (!words || words.length === 0) return null;
  return { directory: from, file: resolve(from, file), words };
}

interface UnitFlags {
  readonly args: readonly string[];
  /** What relative paths in them are meant from. */
  readonly directory: string;
}

/**
 * The flags that a compilation database gives for a unit, without the program, the unit itself, what the build wants
 * produced, and what only concerns the host's code, ptxas or the linker.
 * @param file of the unit, absolute
 * @returns the first entry for that file, or null if it has none
 */
export function flagsOf(database: CompileCommands, file: string): UnitFlags | null {
  const command = database.commands.find((candidate) => candidate.file === file);
  if (!command) return null;
  const args = parseOptions(command.words.slice(launcherWords(command.words))).flatMap((word) => {
    if (word.kind === 'operand' && resolve(command.directory, word.words[0]!) === file) return [];
    if (word.kind !== 'option') return word.words;
    if (word.row.role === 'drop' || laterPhases.has(word.row.name)) return [];
    if (word.row.name !== '-Xcompiler') return word.words;
    return word.value.split(',').flatMap((flag) => (hostOnly.test(flag) ? [] : ['-Xcompiler', flag]));
  });
  return { args, directory: command.directory };
}

/** `ccache nvcc …`: what stands before the compiler, and it. */
function launcherWords(words: readonly string[]): number {
  const isLauncher = /^(ccache|sccache|distcc|icecc)$/.test(basename(words[0] ?? ''));
  return isLauncher ? 2 : 1;
}

const laterPhases = new Set(['-Xptxas', '-Xlinker', '-Xnvlink', '-Xarchive', '-Xfatbinary', '-l', '-L']);

/** Flags of the host compiler that change neither what the preprocessor sees nor what device code is made. */
const hostOnly =
  /^(-f(no-)?(PIC|PIE|pic|pie|strict-aliasing|omit-frame-pointer|stack-protector(-strong)?|lto|diagnostics-color(=\w+)?)|-fvisibility(-inlines-hidden)?(=\w+)?|-W(?![pal]$)[\w+-]+(=[\w+-]*)?|-O[0-3sg]?|-g[\w-]*|-pipe|-pthread|-w)$/;
