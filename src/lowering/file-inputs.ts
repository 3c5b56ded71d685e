/**
 * Which files decide what the preprocessor makes of a unit: those that it read, and those that it would read if they
 * existed. While none of them changes, its output is the same, and it need not run. ccache calls this the direct mode,
 * and knows nothing of the second kind.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { embedDirective, withoutSplices } from '../toolchain/confinement.ts';
import { pathIn } from '../toolchain/file-place.ts';

/** A file and its contents. Paths are absolute. */
interface FileInput {
  readonly path: string;
  readonly digest: string;
  /** Metadata; null if the file may change again without new metadata. */
  readonly state: string | null;
}

/** Names that do not exist in a folder. */
interface AbsentNames {
  readonly folder: string;
  readonly names: readonly string[];
  /** Metadata of the folder; null if it may change again without new metadata. */
  readonly state: string | null;
}

export interface FileInputs {
  readonly files: readonly FileInput[];
  readonly absent: readonly AbsentNames[];
  /** Names of folders that the preprocessor searches under other names too. */
  readonly others: readonly { readonly path: string; readonly identity: string }[];
}

/** Folders that the preprocessor searches, absolute, in any order. */
interface SearchList {
  readonly folders: readonly string[];
  /** Folders that it would search if they existed. */
  readonly absent: readonly string[];
  /** Other names of these folders. */
  readonly others: readonly string[];
}

/** Option that makes the preprocessor print the folders that it searches. */
export const printsSearchList = '-Wp,-v';

/** Options of GCC by which a preprocessor reads no files except those of `#include` directives. */
const plainOption =
  /^(?:-[Ew]|-std=.*|-[DUI].+|-(?:isystem|iquote|idirafter).+|-O\w*|-g\w*|-W[a-z+0-9=-]*|-m\w+(?:=[\w.+-]+)?|-pthread|-f(?!.*(?:module|pch|plugin|profile|working-directory))[\w=.+-]+)$/;
const optionsWithValue: ReadonlySet<string> = new Set(['-D', '-U', '-I', '-isystem', '-iquote', '-idirafter', '-x', '-o', '-include']);

/** A run of the preprocessor. */
interface PreprocessorRun {
  /** Arguments of GCC, {@link printsSearchList} among them. */
  readonly words: readonly string[];
  /** What it printed. */
  readonly errors: string;
  /** Files that its output names. */
  readonly read: readonly string[];
  readonly cwd: string;
  /** When it was started, in milliseconds. */
  readonly started: number;
}

/**
 * @param more files that decide how it was run
 * @returns null if something else may decide its output, or if a file changed since it was started
 */
export function fileInputs({ words, errors, read, cwd, started }: PreprocessorRun, more: readonly string[]): FileInputs | null {
  const search = searchListOf(errors, words, cwd);
  const first = firstIncludes(words);
  if (!search || !first) return null;
  const { add, inputs } = collecting(search.absent);
  for (const path of more) if (stateOf(path)?.isFile !== false) add(path);
  const addName = ({ name, isQuoted }: IncludedName, beside: string): void => {
    for (const folder of isQuoted ? [beside, ...search.folders] : search.folders) add(pathIn(folder, name));
  };
  for (const name of first) addName({ name, isQuoted: true }, cwd);
  const computing = new Set<string>();
  for (const path of read) {
    add(path);
    const names = fileAt(path)?.names;
    // A `#line` directive may name a file that does not exist.
    if (!names) return null;
    for (const name of names) {
      if (name === 'computed') computing.add(dirname(path));
      else addName(name, dirname(path));
    }
  }
  if (computing.size > 0) {
    // A name that a macro expands to is the end of the path of one of the files that were read.
    const folders = new Set([...computing, ...search.folders]);
    const ends = [...folders].flatMap((folder) =>
      read.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length).replace(/^\/+/, '')),
    );
    for (const name of new Set(ends)) for (const folder of folders) add(pathIn(folder, name));
  }
  const found = inputs(search.others);
  return found?.files.every(({ path }) => (stateOf(path)?.changed ?? started) < started) === true ? found : null;
}

/** A file of which the digest is known. */
export function knownInput(path: string, digest: string): FileInput {
  const now = stateOf(path);
  return { path, digest, state: now && settledState(now) };
}

/** Whether no input has changed. */
export function areUnchanged({ files, absent, others }: FileInputs): boolean {
  const isSame = ({ path, digest, state }: FileInput): boolean => {
    const now = stateOf(path);
    return now !== null && ((state !== null && now.text === state) || digestOf(path) === digest);
  };
  const isAbsent = ({ folder, names, state }: AbsentNames): boolean =>
    (state !== null && stateOf(folder)?.text === state) || names.every((name) => stateOf(pathIn(folder, name)) === null);
  return files.every(isSame) && absent.every(isAbsent) && others.every(({ path, identity }) => stateOf(path)?.identity === identity);
}

/** Inputs with other paths. */
export function withPaths({ files, absent, others }: FileInputs, change: (path: string) => string): FileInputs {
  return {
    files: files.map((file) => ({ ...file, path: change(file.path) })),
    absent: absent.map((one) => ({ ...one, folder: change(one.folder) })),
    others: others.map((one) => ({ ...one, path: change(one.path) })),
  };
}

/** Collects files and paths that do not exist. */
function collecting(missing: readonly string[] = []): {
  readonly add: (path: string) => void;
  /** Null if a file may come into being without a change of its folder. */
  readonly inputs: (others: readonly string[]) => FileInputs | null;
} {
  const files = new Map<string, FileInput>();
  const absent = new Set<string>(missing);
  // A link to nothing, or a folder that may become a file.
  let isUnsure = missing.some(isLink);
  const known = new Map<string, boolean>();
  const exists = (path: string): boolean => {
    const found = known.get(path) ?? stateOf(path) !== null;
    known.set(path, found);
    return found;
  };
  return {
    add(path) {
      if (files.has(path) || absent.has(path)) return;
      // If its folder is missing, so are all others in it.
      let missingPath = path;
      while (!exists(dirname(missingPath))) missingPath = dirname(missingPath);
      if (absent.has(missingPath)) return;
      const file = missingPath === path ? fileAt(path) : null;
      if (file) files.set(path, { path, digest: file.digest, state: file.state });
      else if (exists(missingPath) || isLink(missingPath)) isUnsure = true;
      else absent.add(missingPath);
    },
    inputs(others) {
      if (isUnsure) return null;
      const folders = new Map<string, string[]>();
      for (const path of absent) folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), basename(path)]);
      return {
        files: [...files.values()],
        others: others.map((path) => ({ path, identity: stateOf(path)?.identity ?? '' })),
        absent: Array.from(folders, ([folder, names]) => {
          const now = stateOf(folder);
          return { folder, names, state: now && settledState(now) };
        }),
      };
    },
  };
}

/** Milliseconds after a modification within which a file may change again without a new time stamp. */
const settlingTime = 3000;

/** Metadata of a file or folder. */
interface FileState {
  readonly text: string;
  /** Equal for other names of one file. */
  readonly identity: string;
  readonly isFile: boolean;
  /** Time of the last change, in milliseconds. */
  readonly changed: number;
}

/** Metadata that will be others if the file changes; else null. */
function settledState({ text, changed }: FileState): string | null {
  return Date.now() - changed > settlingTime ? text : null;
}

/** @returns null if it does not exist, or cannot be reached */
function stateOf(path: string): FileState | null {
  let found;
  try {
    found = statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return null;
  }
  if (!found) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    text: [dev, ino, size, mtimeNs, ctimeNs].join(),
    identity: `${dev}:${ino}`,
    isFile: found.isFile(),
    changed: Number(ctimeNs / 1_000_000n),
  };
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

/** Contents of a file, as far as they matter here. */
interface ScannedFile {
  readonly digest: string;
  readonly state: string | null;
  /** Null if the file may read others by other directives. */
  readonly names: readonly (IncludedName | 'computed')[] | null;
}

/** Files that were scanned, for as long as their metadata are the same. */
const scanned = new Map<string, ScannedFile>();

/** @returns null for a folder, and for what does not exist */
function fileAt(path: string): ScannedFile | null {
  const now = stateOf(path);
  if (!now?.isFile) return null;
  const before = scanned.get(path);
  if (before && before.state === now.text) return before;
  const bytes = readFileSync(path);
  const file = {
    digest: sha256(bytes),
    state: settledState(now),
    names: bytes.includes(0) ? null : includedNames(bytes.toString('latin1')),
  };
  scanned.set(path, file);
  return file;
}

function digestOf(path: string): string | null {
  try {
    return sha256(readFileSync(path));
  } catch {
    return null;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

interface IncludedName {
  readonly name: string;
  /** Whether the folder of the file itself is searched too. */
  readonly isQuoted: boolean;
}

/** `#` is the first token of its line. */
const includeDirective = /(?:^|\*\/)[ \t\v\f]*(?:#|%:)(?:[ \t\v\f]|\/\*[^]*?\*\/)*(?:include|include_next|import)\b(.*)/gm;

/**
 * Names in the directives of a file that read others, or ask whether they exist, under any condition.
 * @param text one character per byte
 * @returns null if the output may depend on files by other directives
 */
export function includedNames(text: string): readonly (IncludedName | 'computed')[] | null {
  const plain = text.replace(/^\xef\xbb\xbf/, '');
  const names = namesIn(plain.replaceAll(/\\[ \t\v\f]*\r?\n/g, ''));
  if (!plain.includes('??')) return names;
  // Whether trigraphs count depends on the standard.
  const others = namesIn(withoutSplices(plain));
  return names && others && [...names, ...others];
}

/** @param joined a text in which lines that are continued are one line */
function namesIn(joined: string): readonly (IncludedName | 'computed')[] | null {
  if (/__TIMESTAMP__|GCC\s+dependency|__has_embed/.test(joined) || embedDirective.test(joined)) return null;
  const names: (IncludedName | 'computed')[] = [];
  const utf8 = (name: string): string => Buffer.from(name, 'latin1').toString('utf8');
  for (const [, rest = ''] of joined.matchAll(includeDirective)) {
    const [, angle, quoted] = /^[ \t]*(?:<([^>]+)>|"([^"]+)")/.exec(rest) ?? [];
    const name = angle ?? quoted;
    names.push(name === undefined ? 'computed' : { name: utf8(name), isQuoted: quoted !== undefined });
  }
  if (!/has_include/i.test(joined)) return names;
  // Macros of libraries have the name of the operator in theirs, and pass their argument on.
  const asked = joined
    .replaceAll(/(?:\bdefined[ \t]*\(?|(?:#|%:)[ \t]*(?:ifn?def|undef))[ \t]*\w*has_include\w*\b/gi, '')
    .replaceAll(/(?:#|%:)[ \t]*define[ \t]+\w*has_include\w*\((\w+)\)(?:[ \t]+__has_include[ \t]*\([ \t]*\1[ \t]*\))?/gi, '');
  for (const { 0: word, index } of asked.matchAll(/has_include\w*/gi)) {
    const before = asked.slice(asked.lastIndexOf('\n', index) + 1, index);
    const [line = ''] = /^.*/.exec(asked.slice(index + word.length)) ?? [];
    const [, angle, quoted] = /^[ \t]*\([ \t]*(?:<([^>]+)>|"([^"]+)")[ \t]*\)/.exec(line) ?? [];
    const [, directive = '', parameters] = /^[ \t]*(?:#|%:)[ \t]*(if|elif|define)\b(?:[ \t]+\w+(\())?/.exec(before) ?? [];
    const name = angle ?? quoted;
    // A macro with parameters may make a name of them; one without is used in other folders.
    if (directive === 'define' && (parameters !== undefined || angle === undefined)) return null;
    if (name !== undefined) names.push({ name: utf8(name), isQuoted: quoted !== undefined });
    // A comment may name the operator.
    else if (directive !== '' || /^[ \t]*\(/.test(line)) return null;
  }
  return names;
}

/** Names of `-include` options; null if an option is unknown. */
function firstIncludes(words: readonly string[]): string[] | null {
  if (words.some((word) => /has_include/i.test(word))) return null;
  const names: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (optionsWithValue.has(word)) {
      at += 1;
      if (word === '-include') names.push(words[at]!);
    } else if (word.startsWith('-') ? word !== printsSearchList && !plainOption.test(word) : word.startsWith('@')) return null;
  }
  return names;
}

/** Folders that GCC lists; null if it did not, or if it takes one that is named for something else. */
function searchListOf(errors: string, words: readonly string[], cwd: string): SearchList | null {
  const list =
    /^([^]*)^#include "\.\.\." search starts here:\n([^]*?)^#include <\.\.\.> search starts here:\n([^]*?)^End of search list\.\n/m.exec(
      errors,
    );
  if (!list) return null;
  const [, before = '', quoted = '', angle = ''] = list;
  const placed = (name: string): string => pathIn(cwd, name.replace(/(?<=[^/])\/+$/, ''));
  const ignored = (why: string): string[] =>
    Array.from(before.matchAll(new RegExp(`^ignoring ${why} directory "(.*)"$`, 'gm')), ([, path]) => placed(path!));
  const folders = `${quoted}${angle}`.split('\n').flatMap((line) => (line.startsWith(' ') ? [placed(line.slice(1))] : []));
  const [absent, others] = [ignored('nonexistent'), ignored('duplicate')];
  const named = words.flatMap((word, at) => {
    const [, joined = ''] = /^-(?:I|isystem|iquote|idirafter)(.*)$/s.exec(word) ?? [undefined, undefined];
    if (joined !== '') return [placed(joined)];
    return /^-(?:I|isystem|iquote|idirafter)$/.test(word) ? [placed(words[at + 1] ?? '')] : [];
  });
  const known = new Set([...folders, ...absent, ...others]);
  return named.every((folder) => known.has(folder)) ? { folders: [...new Set(folders)], absent, others } : null;
}
