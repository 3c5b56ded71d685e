/** The text of a source line, to stand beside what the line became. */
import type { Location } from '../../source/location.ts';
import { oneLine } from '../markup/inert-markdown.ts';

/** The text of a file, where it is at hand. */
export type SourceOf = (file: string) => string | undefined;

/** Of longer lines the beginning is shown. */
const longest = 100;

/** The line without its indentation; empty where the file is not at hand. */
export function writtenLine(source: SourceOf, { file, line }: Location): string {
  const text = oneLine(source(file)?.split('\n')[line - 1] ?? '').trim();
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
