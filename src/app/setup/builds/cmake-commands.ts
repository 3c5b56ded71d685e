/** Commands of CMake that only compute values: lists, texts, names of files. */
import { posix } from 'node:path';
import { isPattern, pathPattern } from '../../../base/path-pattern.ts';
import { unknownText, type BuildTree } from './build-reading.ts';
import { cmakePath, folderOfPath } from './cmake-model.ts';

/** Reads and sets variables. */
interface CMakeVariables {
  readonly get: (name: string) => string | undefined;
  readonly set: (name: string, value: string) => void;
}

/** The items of a list. */
export function itemsOf(value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : value.split(';');
}

/** Gives an unknown value to all variables that a command names. */
export function forgetNamed(words: readonly string[], { set }: CMakeVariables): void {
  for (const word of words) if (/^[A-Za-z_]\w*$/.test(word)) set(word, unknownText);
}

/** Operations that change a list; undefined if the result is unknown. */
const listChanges: Readonly<Record<string, (items: string[], words: readonly string[]) => readonly string[] | undefined>> = {
  APPEND: (items, words) => [...items, ...words],
  PREPEND: (items, words) => [...words, ...items],
  REMOVE_ITEM: (items, words) => items.filter((item) => !words.includes(item)),
  REMOVE_DUPLICATES: (items) => [...new Set(items)],
  REVERSE: (items) => items.reverse(),
  SORT: (items, words) => {
    const numeric = words.some((word) => /^NATUR/.test(word));
    return items.sort((a, b) => a.localeCompare(b, 'en', { numeric }) * (words.includes('DESCENDING') ? -1 : 1));
  },
  FILTER: (items, [mode, , pattern = '']) => {
    const matches = matcherOf(pattern);
    return matches && items.filter((item) => matches(item) === (mode === 'INCLUDE'));
  },
  TRANSFORM: (items, [action, text = '']) =>
    action === 'PREPEND' ? items.map((item) => text + item) : action === 'APPEND' ? items.map((item) => item + text) : undefined,
};

type Assignment = readonly [result: string | undefined, value: string];

/** Operations with a result in another variable. */
const listResults: Readonly<Record<string, (items: readonly string[], words: readonly string[]) => Assignment>> = {
  LENGTH: (items, [result]) => [result, String(items.length)],
  GET: (items, words) => [
    words.at(-1),
    words
      .slice(0, -1)
      .map((at) => items.at(Number(at)) ?? 'NOTFOUND')
      .join(';'),
  ],
  FIND: (items, [item = '', result]) => [result, String(items.indexOf(item))],
  JOIN: (items, [glue, result]) => [result, items.join(glue ?? '')],
};

/** `list(…)`. The result of an operation that is not on the list is unknown. */
export function listCommand([operation = '', name = '', ...words]: readonly string[], variables: CMakeVariables): void {
  const items = itemsOf(variables.get(name));
  if (Object.hasOwn(listChanges, operation)) variables.set(name, (listChanges[operation]!(items, words) ?? [unknownText]).join(';'));
  else if (Object.hasOwn(listResults, operation)) {
    const [result = '', value] = listResults[operation]!(items, words);
    variables.set(result, items.includes(unknownText) && operation !== 'JOIN' ? unknownText : value);
  } else forgetNamed([name, ...words], variables);
}

const textResults: Readonly<Record<string, (words: readonly string[], get: CMakeVariables['get']) => Assignment>> = {
  TOUPPER: ([text = '', result]) => [result, text.toUpperCase()],
  TOLOWER: ([text = '', result]) => [result, text.toLowerCase()],
  STRIP: ([text = '', result]) => [result, text.trim()],
  REPLACE: ([match = '', replacement = '', result, ...inputs]) => [
    result,
    match === '' ? inputs.join('') : inputs.join('').replaceAll(match, replacement),
  ],
  APPEND: ([name = '', ...words], get) => [name, [get(name) ?? '', ...words].join('')],
  CONCAT: ([result, ...words]) => [result, words.join('')],
  JOIN: ([glue, result, ...words]) => [result, words.join(glue ?? '')],
};

/** `string(…)`. */
export function stringCommand([operation = '', ...words]: readonly string[], variables: CMakeVariables): void {
  if (!Object.hasOwn(textResults, operation)) return forgetNamed(words, variables);
  const [result = '', value] = textResults[operation]!(words, variables.get);
  variables.set(result, value);
}

/** `file(GLOB …)`, whose other forms have no effect on flags; results of those that read a file are unknown. */
export function fileCommand(
  [operation = '', name = '', ...words]: readonly string[],
  variables: CMakeVariables,
  folder: string,
  tree: BuildTree,
): void {
  if (operation !== 'GLOB' && operation !== 'GLOB_RECURSE') {
    if (/^(?:READ|STRINGS|RELATIVE_PATH|REAL_PATH|TIMESTAMP|SIZE)$/.test(operation)) forgetNamed([name, ...words], variables);
    return;
  }
  const at = words.indexOf('RELATIVE');
  const base = at < 0 ? undefined : folderOfPath(words[at + 1] ?? '', folder);
  const patterns = words.filter(
    (word, index) =>
      (at < 0 || (index !== at && index !== at + 1)) && !/^(?:CONFIGURE_DEPENDS|FOLLOW_SYMLINKS|LIST_DIRECTORIES|true|false)$/.test(word),
  );
  const found = globbed(patterns, folder, tree, operation === 'GLOB_RECURSE');
  variables.set(name, found.map((path) => (base === undefined ? cmakePath(path) : posix.relative(base, path))).join(';'));
}

/** Files of the repository that patterns match. */
export function globbed(patterns: readonly string[], folder: string, tree: BuildTree, isRecursive: boolean): readonly string[] {
  const found = new Set<string>();
  for (const pattern of patterns) {
    // The folder of a pattern is a path, even if the pattern is not.
    const place = folderOfPath(posix.dirname(pattern).replaceAll(/[*?[\]]/g, 'x'), folder);
    if (place === undefined) continue;
    const parent = folderOfPath(posix.dirname(pattern), folder);
    const name = posix.basename(pattern);
    const whole = parent === undefined ? pattern : posix.join(parent, isRecursive ? `**/${name}` : name);
    const matches = isPattern(whole) ? pathPattern(whole) : undefined;
    for (const path of tree.sources) if (matches === undefined ? path === whole : matches.test(path)) found.add(path);
  }
  return [...found];
}

function absolutePath(path: string, folder: string): string {
  const placed = folderOfPath(path, folder);
  return placed === undefined ? (path.startsWith('/') ? path : unknownText) : cmakePath(placed);
}

const nameParts: Readonly<Record<string, (path: string, folder: string) => string>> = {
  DIRECTORY: (path) => posix.dirname(path),
  PATH: (path) => posix.dirname(path),
  NAME: (path) => posix.basename(path),
  NAME_WE: (path) => posix.basename(path).replace(/\..*$/, ''),
  EXT: (path) => /\..*$/.exec(posix.basename(path))?.[0] ?? '',
  ABSOLUTE: absolutePath,
  REALPATH: absolutePath,
};

/** `get_filename_component(RESULT path MODE)`. */
export function filenameCommand([result = '', path = '', mode = '']: readonly string[], variables: CMakeVariables, folder: string): void {
  const value = Object.hasOwn(nameParts, mode) ? nameParts[mode]!(path, folder) : unknownText;
  variables.set(result, path.includes(unknownText) ? unknownText : value);
}

/** `cmake_parse_arguments(PREFIX options one-value-keywords multi-value-keywords args…)`. */
export function parseArgumentsCommand(
  [prefix = '', options = '', single = '', several = '', ...words]: readonly string[],
  variables: CMakeVariables,
): void {
  const [flags, ones, lists] = [options, single, several].map(itemsOf) as [string[], string[], string[]];
  for (const name of flags) variables.set(`${prefix}_${name}`, 'FALSE');
  for (const name of [...ones, ...lists]) variables.set(`${prefix}_${name}`, '');
  let current: { readonly name: string; readonly isList: boolean } | undefined;
  const others: string[] = [];
  for (const word of words) {
    if (flags.includes(word)) variables.set(`${prefix}_${word}`, 'TRUE');
    else if (ones.includes(word) || lists.includes(word)) current = { name: `${prefix}_${word}`, isList: lists.includes(word) };
    else if (current === undefined) others.push(word);
    else {
      const before = current.isList ? itemsOf(variables.get(current.name)) : [];
      variables.set(current.name, [...before, word].join(';'));
      if (!current.isList) current = undefined;
    }
  }
  variables.set(`${prefix}_UNPARSED_ARGUMENTS`, others.join(';'));
}

function matcherOf(pattern: string): ((text: string) => boolean) | undefined {
  try {
    const compiled = new RegExp(pattern);
    return (text) => compiled.test(text);
  } catch {
    return undefined;
  }
}
