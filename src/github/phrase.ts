/**
 * A sentence of ours with pieces of a pull request's text in it. The pieces are kept apart, so that each channel
 * renders them in its own safe way: code spans in Markdown, plain text in logs and annotations.
 */
import { codeSpan, oneLine, tableCode } from '../report/markup/inert-markdown.ts';

export interface Code {
  readonly code: string;
}

export type Phrase = readonly (string | Code)[];

/** Marks text that is not ours. */
export function code(text: string): Code {
  return { code: text };
}

/** Template tag: the literal text is ours and Markdown-free, what is put in is code, a number or another phrase. */
export function phrase(strings: TemplateStringsArray, ...values: readonly (Code | Phrase | number)[]): Phrase {
  const parts: (string | Code)[] = [];
  strings.forEach((text, index) => {
    if (text !== '') parts.push(text);
    const value = values[index];
    if (typeof value === 'number') parts.push(String(value));
    else if (value !== undefined && 'code' in value) parts.push(value);
    else if (value !== undefined) parts.push(...value);
  });
  return parts;
}

/** Joins phrases with a separator of ours. */
export function joinPhrases(phrases: readonly Phrase[], separator: string): Phrase {
  return phrases.flatMap((part, index) => (index === 0 ? part : [separator, ...part]));
}

/** Inline Markdown, the code in code spans. */
export function toMarkdown(parts: Phrase): string {
  return parts.map((part) => (typeof part === 'string' ? part : codeSpan(part.code))).join('');
}

/** Markdown for a cell of a table, in which no bar of the code ends the cell. */
export function toTableCell(parts: Phrase): string {
  return parts.map((part) => (typeof part === 'string' ? part : tableCode(part.code))).join('');
}

/** One line for logs and annotations, without markup. */
export function toPlainText(parts: Phrase): string {
  return parts.map((part) => (typeof part === 'string' ? part : oneLine(part.code))).join('');
}
