/** The lines of a kernel whose code changed, as reports have them. */
import type { CodeLineChange, CodeLinesOfKernel } from '../../report-model/comparison-code.ts';
import { changedLines, type LineChange } from '../../sass/line-changes.ts';
import type { CodeProfile } from '../../sass/profile.ts';
import type { LineMatch } from './line-match.ts';

/** So many lines of a kernel are told. */
const maxLines = 16;

/**
 * What changed by line in the code of a kernel.
 * @returns null where nothing did
 */
export function codeLinesOf(
  kernel: string,
  base: CodeProfile,
  head: CodeProfile,
  baseOf: LineMatch['baseOf'],
): CodeLinesOfKernel | null {
  const changed = changedLines(base, head, baseOf);
  if (changed.length === 0) return null;
  const more = changed.length - maxLines;
  return { kernel, lines: changed.slice(0, maxLines).map(lineReport), ...(more > 0 && { more }) };
}

function lineReport({ location, was, instructions, work, diff }: LineChange): CodeLineChange {
  return {
    ...(location && { location }),
    ...(was && { was }),
    instructions,
    work: Object.fromEntries(work),
    diff,
  };
}
