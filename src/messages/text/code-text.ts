/**
 * Sentences mark code by backticks, in every output: a terminal and JSON show them as they are, Markdown and HTML
 * render the text between them as code (`report/markup/code-pieces.ts`).
 */

/** Text of the input, or a name, as code of a sentence. */
export function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

/** `` `a` ``, `` `a` and `b` ``. */
export function codeList(texts: readonly string[]): string {
  return listed(texts.map(code));
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly string[]): string {
  const [last = '', ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}

/** `1 race`, `2 races`. */
export function count(amount: number, singular: string, plural = `${singular}s`): string {
  return `${amount} ${amount === 1 ? singular : plural}`;
}

/** `4096 bytes of shared memory`. */
export function sharedMemory(bytes: number): string {
  return `${count(bytes, 'byte')} of shared memory`;
}

/** Clauses as sentences: each with a capital and a full stop. What is undefined or empty is left out. */
export function sentences(...clauses: readonly (string | undefined)[]): string {
  const told = clauses.filter((clause) => clause !== undefined && clause !== '');
  return told.map((clause) => `${capital(clause!)}.`).join(' ');
}

/** With a capital at the start. */
function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The text of a value that is longer, or deeper in parentheses, is unreadable. */
const longestValue = 72;
const deepestValue = 3;

/**
 * A value or condition printed by the analysis if it is readable: short, and only of names and numbers of the source.
 */
export function readable(value: string): string | undefined {
  const depth = Math.max(0, ...[...value.matchAll(/\(+/g)].map(([run]) => run.length));
  const isRaw = value.length > longestValue || depth > deepestValue || /\?|\.\.\.$|\d{9}/.test(value);
  return isRaw ? undefined : code(value);
}

/** Replaces an unreadable value. */
export const unknownValue = 'a value that Selvage cannot determine';

/** As {@link readable}; otherwise {@link unknownValue}. */
export function valueText(value: string): string {
  return readable(value) ?? unknownValue;
}
