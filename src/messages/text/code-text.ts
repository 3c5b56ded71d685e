/**
 * Sentences mark code by backticks, in every output: a terminal and JSON show them as they are, Markdown and HTML
 * render the text between them as code (`report/markup/code-pieces.ts`).
 */
import { capitalised } from '../../base/text.ts';

/** Marks a text of the input, or a name, as code in a sentence. */
export function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

/** A list of code texts: `` `a` ``, `` `a` and `b` ``. */
export function codeList(texts: readonly string[]): string {
  return listed(texts.map(code));
}

/** A list of phrases: `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly string[]): string {
  const [last = '', ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}

/** A number with its noun: `1 race`, `2 races`. */
export function count(amount: number, singular: string, plural = `${singular}s`): string {
  return `${amount} ${amount === 1 ? singular : plural}`;
}

/** A size of shared memory: `4096 bytes of shared memory`. */
export function sharedMemory(bytes: number): string {
  return `${count(bytes, 'byte')} of shared memory`;
}

/**
 * Converts clauses to sentences, with a capital letter and a full stop each. Undefined and empty clauses are omitted.
 */
export function sentences(...clauses: readonly (string | undefined)[]): string {
  const written = clauses.filter((clause) => clause !== undefined && clause !== '');
  return written.map((clause) => `${capitalised(clause!)}.`).join(' ');
}

/** Maximum number of characters of a readable value. */
const longestValue = 72;
const deepestValue = 3;

/**
 * A value or condition printed by the analysis if it is readable, that is, short and with names and numbers of the
 * source only; otherwise undefined.
 */
export function readable(value: string): string | undefined {
  const depth = Math.max(0, ...[...value.matchAll(/\(+/g)].map(([run]) => run.length));
  const isRaw = value.length > longestValue || depth > deepestValue || /\?|\.\.\.$|\d{9}/.test(value);
  if (isRaw) return undefined;
  return /\bround\b/.test(value) ? `${code(value)}, where ${code('round')} is the iteration of the loop, from 0` : code(value);
}

/** Text for a value that is not readable. */
export const unknownValue = 'a value that Selvage cannot determine';

/** As {@link readable}; otherwise {@link unknownValue}. */
export function valueText(value: string): string {
  return readable(value) ?? unknownValue;
}
