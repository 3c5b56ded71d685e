/** Markdown that shows arbitrary text from the input literally. */

/** Maximum number of UTF-16 units of a fragment of input text within a line. */
const MAX_PIECE = 500;

// Matches everything that can begin Markdown or HTML, a mention, an issue reference, a link or a workflow command.
// Within a word an underscore is plain text, and so is a colon before a space.
const ACTIVE = /[&<>@#`*[\]\\|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?! )|(?<=www)\./gi;
// GitHub looks for mentions, addresses and references to issues in the text that is rendered, where an entity is the
// character again (github/cmark-gfm#181). A zero-width space separates the word.
const REFERENCE = /[@#](?=\w)|(?<=\bGH)-(?=\d)/gi;
const KEPT_APART = '\u200b';

/** Text as Markdown that renders literally, without mentions, references, links, tags, comments or emphasis. */
export function escapeText(text: string): string {
  const separated = clipped(oneLine(text)).replace(REFERENCE, `$&${KEPT_APART}`);
  return separated.replace(ACTIVE, (character) => `&#${character.codePointAt(0)};`).replaceAll(KEPT_APART, '&#8203;');
}

/**
 * Text as a code span, with a fence longer than any run of backticks in it; long text is clipped. Not for tables, see
 * `tableCode`.
 */
export function codeSpan(text: string): string {
  const content = clipped(oneLine(text).trim());
  if (content === '') return '` `';
  const fence = '`'.repeat(longestRun(content) + 1);
  const padding = content.startsWith('`') || content.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${content}${padding}${fence}`;
}

/**
 * A code span for a table cell. Bars are escaped with a backslash, because a bar ends the cell even inside a code span.
 */
export function tableCode(text: string): string {
  return codeSpan(text).replaceAll('|', '\\|');
}

/** Text in a fenced code block. The fence is longer than any run of backticks in the text. */
export function fencedBlock(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** A folded section. `title` is trusted text without Markdown; `body` is Markdown. */
export function details(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n\n${body}\n\n</details>`;
}

/** Limits the length of a fragment, so that a line is short and a cut at a line end leaves no code span open. */
function clipped(text: string): string {
  if (text.length <= MAX_PIECE) return text;
  return `${text.slice(0, MAX_PIECE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The length of the longest run of backticks. */
function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

/**
 * Converts text to one line. Line ends, control characters and bidirectional control characters become spaces; a lone
 * surrogate becomes the replacement character.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').replace(/[\ud800-\udfff]/gu, '\ufffd');
}
