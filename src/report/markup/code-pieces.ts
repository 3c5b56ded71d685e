/** Sentences of `messages/`, which mark code by backticks, as Markdown, as HTML and as one line of plain text. */
import { escapeHtml } from './html-text.ts';
import { codeSpan, escapeText, oneLine, tableCode } from './inert-markdown.ts';

/** Inline Markdown, with code in code spans; everything else is escaped text. */
export function toMarkdown(text: string): string {
  return rendered(text, escapeText, codeSpan);
}

/** Markdown for a cell of a table, in which no bar of the code ends the cell. */
export function toTableCell(text: string): string {
  return rendered(text, escapeText, tableCode);
}

/** HTML with code in `code` elements. */
export function toHtml(text: string): string {
  return rendered(text, escapeHtml, (code) => `<code>${escapeHtml(code)}</code>`);
}

/** One line for logs, annotations and diagrams, without marks. */
export function toPlainText(text: string): string {
  return rendered(text, oneLine, oneLine);
}

function rendered(text: string, words: (text: string) => string, code: (text: string) => string): string {
  return text
    .split(/`([^`]+)`/)
    .map((piece, index) => (index % 2 === 1 ? code(piece) : piece === '' ? '' : words(piece)))
    .join('');
}
