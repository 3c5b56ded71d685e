/** References and functions of makefiles: `$(VAR)`, `$(VAR:.c=.o)`, `$(patsubst …)`. */
import { posix } from 'node:path';
import { rootPath, unknownText } from './build-reading.ts';

/** What an expansion asks of the evaluation. */
export interface MakeContext {
  /** The text of a variable with its references, and whether they are replaced already; undefined if it is not set. */
  readonly variable: (name: string) => { readonly text: string; readonly isExpanded: boolean } | undefined;
  /** Files of the repository that a pattern matches, relative to the folder of the makefile. */
  readonly wildcard: (pattern: string) => readonly string[];
  /** From the root of the repository. */
  readonly folder: string;
}

const deepest = 60;

/** Replaces the references of a text. What a program would print is unknown. */
export function expandMake(text: string, context: MakeContext, depth = 0): string {
  if (depth > deepest) return unknownText;
  let result = '';
  for (let at = 0; at < text.length;) {
    if (text[at] !== '$') {
      result += text[at++];
      continue;
    }
    const next = text[at + 1] ?? '';
    if (next === '(' || next === '{') {
      const end = endOfReference(text, at + 1);
      result += referenceValue(text.slice(at + 2, end), context, depth + 1);
      at = end + 1;
    } else {
      result += next === '$' ? '$' : variableValue(next, context, depth + 1);
      at += 2;
    }
  }
  return result;
}

/** Place of the parenthesis that closes the one at `start`. */
function endOfReference(text: string, start: number): number {
  const [open, close] = text[start] === '(' ? ['(', ')'] : ['{', '}'];
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === open) depth++;
    else if (text[at] === close && --depth === 0) return at;
  }
  return text.length;
}

function variableValue(name: string, context: MakeContext, depth: number): string {
  const found = context.variable(name);
  if (found === undefined) return '';
  return found.isExpanded ? found.text : expandMake(found.text, context, depth);
}

function referenceValue(inner: string, context: MakeContext, depth: number): string {
  const [, called, rest] = /^([a-z-]+)[ \t]+([^]*)$/.exec(inner) ?? [];
  if (called !== undefined && rest !== undefined && functionNames.has(called)) return functionValue(called, rest, context, depth);
  const name = expandMake(inner, context, depth);
  const [, variable, from, to] = /^([^:\s]+):([^=]*)=(.*)$/.exec(name) ?? [];
  if (name.includes(unknownText)) return unknownText;
  if (variable === undefined) return variableValue(name.trim(), context, depth);
  const pattern = from!.includes('%') ? [from!, to!] : [`%${from}`, `%${to}`];
  return words(variableValue(variable, context, depth))
    .map((word) => substituted(word, pattern[0]!, pattern[1]!))
    .join(' ');
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

function substituted(word: string, from: string, to: string): string {
  const stem = stemOf(word, from);
  return stem === undefined ? word : to.replace('%', stem);
}

/** The part of a word that `%` of a pattern matches; undefined if the pattern does not match. */
export function stemOf(word: string, pattern: string): string | undefined {
  const at = pattern.indexOf('%');
  if (at < 0) return word === pattern ? '' : undefined;
  const [prefix, suffix] = [pattern.slice(0, at), pattern.slice(at + 1)];
  const isMatch = word.length >= prefix.length + suffix.length && word.startsWith(prefix) && word.endsWith(suffix);
  return isMatch ? word.slice(prefix.length, word.length - suffix.length) : undefined;
}

/** Arguments between commas outside of parentheses. */
function argumentsOf(text: string, most: number): string[] {
  const found = [''];
  let depth = 0;
  for (const character of text) {
    if (/[({]/.test(character)) depth++;
    if (/[)}]/.test(character)) depth--;
    if (character === ',' && depth === 0 && found.length < most) found.push('');
    else found[found.length - 1] += character;
  }
  return found;
}

/** Number of arguments of the functions that are evaluated. */
const arities: Readonly<Record<string, number>> = {
  subst: 3,
  patsubst: 3,
  strip: 1,
  findstring: 2,
  filter: 2,
  'filter-out': 2,
  sort: 1,
  word: 2,
  words: 1,
  wordlist: 3,
  firstword: 1,
  lastword: 1,
  dir: 1,
  notdir: 1,
  suffix: 1,
  basename: 1,
  addsuffix: 2,
  addprefix: 2,
  join: 2,
  wildcard: 1,
  realpath: 1,
  abspath: 1,
  if: 3,
  or: 99,
  and: 99,
  foreach: 3,
  call: 99,
  value: 1,
  origin: 1,
  flavor: 1,
  info: 1,
  warning: 1,
  error: 1,
  eval: 1,
  shell: 1,
  file: 2,
  guile: 1,
  intcmp: 99,
  let: 3,
};
const functionNames = new Set(Object.keys(arities));

function functionValue(name: string, text: string, context: MakeContext, depth: number): string {
  const raw = argumentsOf(text, arities[name]!);
  const value = (at: number): string => expandMake(raw[at] ?? '', context, depth);
  const listed = (at: number): string[] => words(value(at));
  const each = (change: (word: string) => string): string => listed(0).map(change).join(' ');
  /** With a part of unknown text the answer may be different. */
  const isOpen = (...texts: readonly string[]): boolean => texts.some((one) => one.includes(unknownText));
  switch (name) {
    case 'info':
    case 'warning':
    case 'error':
    case 'eval':
    case 'file':
      return '';
    case 'subst':
      return value(0) === '' ? value(2) : value(2).replaceAll(value(0), value(1));
    case 'patsubst':
      return listed(2)
        .map((word) => substituted(word, value(0).trim(), value(1).trim()))
        .join(' ');
    case 'strip':
      return listed(0).join(' ');
    case 'findstring':
      return value(1).includes(value(0)) ? value(0) : isOpen(value(0), value(1)) ? unknownText : '';
    case 'filter':
    case 'filter-out': {
      const patterns = listed(0);
      const kept = listed(1).filter(
        (word) => word === unknownText || patterns.some((pattern) => stemOf(word, pattern) !== undefined) === (name === 'filter'),
      );
      return isOpen(value(0)) ? unknownText : kept.join(' ');
    }
    case 'sort':
      return [...new Set(listed(0))].sort().join(' ');
    case 'word':
      return listed(1)[Number(value(0)) - 1] ?? '';
    case 'words':
      return isOpen(value(0)) ? unknownText : String(listed(0).length);
    case 'wordlist':
      return listed(2)
        .slice(Number(value(0)) - 1, Number(value(1)))
        .join(' ');
    case 'firstword':
      return listed(0)[0] ?? '';
    case 'lastword':
      return listed(0).at(-1) ?? '';
    case 'dir':
      return each((word) => `${posix.dirname(word)}/`);
    case 'notdir':
      return each((word) => posix.basename(word));
    case 'suffix':
      return each((word) => posix.extname(word));
    case 'basename':
      return each((word) => word.slice(0, word.length - posix.extname(word).length));
    case 'addsuffix':
      return listed(1)
        .map((word) => word + value(0))
        .join(' ');
    case 'addprefix':
      return listed(1)
        .map((word) => value(0) + word)
        .join(' ');
    case 'join':
      return listed(0)
        .map((word, at) => word + (listed(1)[at] ?? ''))
        .join(' ');
    case 'wildcard':
      return listed(0)
        .flatMap((pattern) => context.wildcard(pattern))
        .join(' ');
    case 'realpath':
    case 'abspath':
      return each((word) => (word.startsWith('/') || isOpen(word) ? word : posix.join(rootPath, context.folder, word)));
    case 'if':
      return isOpen(value(0)) ? unknownText : value(0).trim() === '' ? value(2) : value(1);
    case 'or':
      return raw.map((_, at) => value(at).trim()).find((one) => one !== '') ?? '';
    case 'and':
      return raw.every((_, at) => value(at).trim() !== '') ? value(raw.length - 1) : '';
    case 'foreach': {
      const variable = value(0).trim();
      return listed(1)
        .map((word) => expandMake(raw[2] ?? '', withVariables(context, new Map([[variable, word]])), depth))
        .join(' ');
    }
    case 'call': {
      const given = new Map(raw.map((_, at) => [String(at), at === 0 ? value(0).trim() : value(at)]));
      const body = context.variable(value(0).trim());
      return body === undefined ? '' : expandMake(body.text, withVariables(context, given), depth);
    }
    case 'value':
      return context.variable(value(0).trim())?.text ?? '';
    default:
      return unknownText;
  }
}

/** A context in which some variables have other values. */
export function withVariables(context: MakeContext, values: ReadonlyMap<string, string>): MakeContext {
  return {
    ...context,
    variable: (name) => {
      const text = values.get(name);
      return text === undefined ? context.variable(name) : { text, isExpanded: true };
    },
  };
}
