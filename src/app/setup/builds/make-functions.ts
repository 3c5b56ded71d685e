/** References and functions of makefiles: `$(VAR)`, `$(VAR:.c=.o)`, `$(patsubst …)`. */
import { posix } from 'node:path';
import { hasUnknown, rootPath, unknownText } from './build-reading.ts';

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
  if (called !== undefined && rest !== undefined && Object.hasOwn(functions, called)) {
    const [arity, result] = functions[called]!;
    const raw = argumentsOf(rest, arity);
    const value = (at: number): string => expandMake(raw[at] ?? '', context, depth);
    const found = result({ raw, value, listed: (at) => words(value(at)), context, depth });
    return typeof found === 'string' ? found : found.join(' ');
  }
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

/** A call of a function, whose arguments are expanded when they are asked for. */
interface MakeCall {
  readonly raw: readonly string[];
  readonly value: (at: number) => string;
  /** The words of an argument. */
  readonly listed: (at: number) => string[];
  readonly context: MakeContext;
  readonly depth: number;
}

/** The result, whose words may be separate. */
type MakeFunction = (call: MakeCall) => string | readonly string[];

const unlimited = 99;
const nothing: MakeFunction = () => '';
const unknown: MakeFunction = () => unknownText;
const eachWord =
  (change: (word: string) => string): MakeFunction =>
  ({ listed }) =>
    listed(0).map(change);
const absolute: MakeFunction = ({ listed, context }) =>
  listed(0).map((word) => (word.startsWith('/') || hasUnknown(word) ? word : posix.join(rootPath, context.folder, word)));
/** With patterns that are partly unknown the answer may be different. */
const filter =
  (isKept: boolean): MakeFunction =>
  ({ value, listed }) =>
    hasUnknown(value(0))
      ? unknownText
      : listed(1).filter((word) => word === unknownText || listed(0).some((pattern) => stemOf(word, pattern) !== undefined) === isKept);

/** The functions, with the number of their arguments: a further comma belongs to the last one. */
const functions: Readonly<Record<string, readonly [arity: number, result: MakeFunction]>> = {
  subst: [3, ({ value }) => (value(0) === '' ? value(2) : value(2).replaceAll(value(0), value(1)))],
  patsubst: [3, ({ value, listed }) => listed(2).map((word) => substituted(word, value(0).trim(), value(1).trim()))],
  strip: [1, ({ listed }) => listed(0)],
  findstring: [2, ({ value }) => (value(1).includes(value(0)) ? value(0) : hasUnknown(value(0), value(1)) ? unknownText : '')],
  filter: [2, filter(true)],
  'filter-out': [2, filter(false)],
  sort: [1, ({ listed }) => [...new Set(listed(0))].sort()],
  word: [2, ({ value, listed }) => listed(1)[Number(value(0)) - 1] ?? ''],
  words: [1, ({ value, listed }) => (hasUnknown(value(0)) ? unknownText : String(listed(0).length))],
  wordlist: [3, ({ value, listed }) => listed(2).slice(Number(value(0)) - 1, Number(value(1)))],
  firstword: [1, ({ listed }) => listed(0)[0] ?? ''],
  lastword: [1, ({ listed }) => listed(0).at(-1) ?? ''],
  dir: [1, eachWord((word) => `${posix.dirname(word)}/`)],
  notdir: [1, eachWord((word) => posix.basename(word))],
  suffix: [1, eachWord((word) => posix.extname(word))],
  basename: [1, eachWord((word) => word.slice(0, word.length - posix.extname(word).length))],
  addsuffix: [2, ({ value, listed }) => listed(1).map((word) => word + value(0))],
  addprefix: [2, ({ value, listed }) => listed(1).map((word) => value(0) + word)],
  join: [2, ({ listed }) => listed(0).map((word, at) => word + (listed(1)[at] ?? ''))],
  wildcard: [1, ({ listed, context }) => listed(0).flatMap((pattern) => context.wildcard(pattern))],
  realpath: [1, absolute],
  abspath: [1, absolute],
  if: [3, ({ value }) => (hasUnknown(value(0)) ? unknownText : value(value(0).trim() === '' ? 2 : 1))],
  or: [unlimited, ({ raw, value }) => raw.map((_, at) => value(at).trim()).find((one) => one !== '') ?? ''],
  and: [unlimited, ({ raw, value }) => (raw.every((_, at) => value(at).trim() !== '') ? value(raw.length - 1) : '')],
  foreach: [
    3,
    ({ raw, value, listed, context, depth }) =>
      listed(1).map((word) => expandMake(raw[2] ?? '', withVariables(context, new Map([[value(0).trim(), word]])), depth)),
  ],
  call: [
    unlimited,
    ({ raw, value, context, depth }) => {
      const given = new Map(raw.map((_, at) => [String(at), at === 0 ? value(0).trim() : value(at)]));
      const body = context.variable(value(0).trim());
      return body === undefined ? '' : expandMake(body.text, withVariables(context, given), depth);
    },
  ],
  value: [1, ({ value, context }) => context.variable(value(0).trim())?.text ?? ''],
  info: [1, nothing],
  warning: [1, nothing],
  error: [1, nothing],
  eval: [1, nothing],
  file: [2, nothing],
  origin: [1, unknown],
  flavor: [1, unknown],
  shell: [1, unknown],
  guile: [1, unknown],
  intcmp: [unlimited, unknown],
  let: [3, unknown],
};

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
