/** The text of a source line, shown next to its machine code. */
import type { Location } from '../../source/location.ts';
import { oneLine } from '../markup/inert-markdown.ts';

/** The text of a file, if available. */
export type SourceOf = (file: string) => string | undefined;

/** Maximum number of characters of a displayed line. */
const longest = 100;

/** A source line without its indentation; empty if the file is not available. */
export function writtenLine(source: SourceOf, { file, line }: Location): string {
  const text = oneLine(source(file)?.split('\n')[line - 1] ?? '').trim();
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
