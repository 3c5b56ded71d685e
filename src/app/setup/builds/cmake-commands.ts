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

const itemsOf = (value: string | undefined): string[] => (value === undefined || value === '' ? [] : value.split(';'));

/** `list(…)`. The result of an operation that is not on the list is unknown. */
export function listCommand([operation = '', name = '', ...words]: readonly string[], variables: CMakeVariables): void {
  const items = itemsOf(variables.get(name));
  const isOpen = items.includes(unknownText);
  const save = (changed: readonly string[]): void => variables.set(name, changed.join(';'));
  switch (operation) {
    case 'APPEND':
      return save([...items, ...words]);
    case 'PREPEND':
      return save([...words, ...items]);
    case 'REMOVE_ITEM':
      return save(items.filter((item) => !words.includes(item)));
    case 'REMOVE_DUPLICATES':
      return save([...new Set(items)]);
    case 'REVERSE':
      return save(items.reverse());
    case 'SORT':
      return save(
        items.sort(
          (a, b) =>
            a.localeCompare(b, 'en', { numeric: words.some((word) => /^NATUR/.test(word)) }) * (words.includes('DESCENDING') ? -1 : 1),
        ),
      );
    case 'FILTER': {
      const [mode, , pattern = ''] = words;
      const matches = matcherOf(pattern);
      return save(matches === undefined ? [unknownText] : items.filter((item) => matches(item) === (mode === 'INCLUDE')));
    }
    case 'LENGTH':
      return variables.set(words[0] ?? '', isOpen ? unknownText : String(items.length));
    case 'GET': {
      const result = words.pop() ?? '';
      const chosen = words.map((at) => items.at(Number(at)) ?? 'NOTFOUND');
      return variables.set(result, isOpen ? unknownText : chosen.join(';'));
    }
    case 'FIND':
      return variables.set(words[1] ?? '', isOpen ? unknownText : String(items.indexOf(words[0] ?? '')));
    case 'JOIN':
      return variables.set(words[1] ?? '', items.join(words[0] ?? ''));
    case 'TRANSFORM': {
      const [action, text = ''] = words;
      if (action === 'PREPEND' || action === 'APPEND') return save(items.map((item) => (action === 'PREPEND' ? text + item : item + text)));
      return save([unknownText]);
    }
    default:
      return [name, ...words].filter((word) => /^[A-Za-z_]\w*$/.test(word)).forEach((word) => variables.set(word, unknownText));
  }
}

/** `string(…)`. */
export function stringCommand([operation = '', ...words]: readonly string[], variables: CMakeVariables): void {
  switch (operation) {
    case 'TOUPPER':
      return variables.set(words[1] ?? '', (words[0] ?? '').toUpperCase());
    case 'TOLOWER':
      return variables.set(words[1] ?? '', (words[0] ?? '').toLowerCase());
    case 'STRIP':
      return variables.set(words[1] ?? '', (words[0] ?? '').trim());
    case 'REPLACE': {
      const [match = '', replacement = '', result = '', ...inputs] = words;
      return variables.set(result, match === '' ? inputs.join('') : inputs.join('').replaceAll(match, replacement));
    }
    case 'APPEND':
      return variables.set(words[0] ?? '', [variables.get(words[0] ?? '') ?? '', ...words.slice(1)].join(''));
    case 'CONCAT':
      return variables.set(words[0] ?? '', words.slice(1).join(''));
    case 'JOIN':
      return variables.set(words[1] ?? '', words.slice(2).join(words[0] ?? ''));
    default:
      return words.filter((word) => /^[A-Za-z_]\w*$/.test(word)).forEach((word) => variables.set(word, unknownText));
  }
}

/** `file(GLOB …)`, whose other forms have no effect on flags; results of those that read a file are unknown. */
export function fileCommand(
  [operation = '', name = '', ...words]: readonly string[],
  variables: CMakeVariables,
  folder: string,
  tree: BuildTree,
): void {
  if (operation !== 'GLOB' && operation !== 'GLOB_RECURSE') {
    if (/^(?:READ|STRINGS|RELATIVE_PATH|REAL_PATH|TIMESTAMP|SIZE)$/.test(operation))
      [name, ...words].filter((word) => /^[A-Za-z_]\w*$/.test(word)).forEach((word) => variables.set(word, unknownText));
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

/** `get_filename_component(RESULT path MODE)`. */
export function filenameCommand([result = '', path = '', mode = '']: readonly string[], variables: CMakeVariables, folder: string): void {
  const value = (): string => {
    switch (mode) {
      case 'DIRECTORY':
      case 'PATH':
        return posix.dirname(path);
      case 'NAME':
        return posix.basename(path);
      case 'NAME_WE':
        return posix.basename(path).replace(/\..*$/, '');
      case 'EXT':
        return /\..*$/.exec(posix.basename(path))?.[0] ?? '';
      case 'ABSOLUTE':
      case 'REALPATH': {
        const placed = folderOfPath(path, folder);
        return placed === undefined ? (path.startsWith('/') ? path : unknownText) : cmakePath(placed);
      }
      default:
        return unknownText;
    }
  };
  variables.set(result, path.includes(unknownText) ? unknownText : value());
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
