/** The lines of a kernel whose code changed, in the form of reports. */
import type { CodeLineChange, CodeLinesOfKernel } from '../../report-model/comparison-code.ts';
import { changedLines, type LineChange } from '../../sass/line-changes.ts';
import type { CodeProfile } from '../../sass/profile.ts';
import type { LineMatch } from './line-match.ts';

/** Maximum number of reported lines of a kernel. */
const maxLines = 16;

/**
 * Changes by line of the code of a kernel.
 * @returns null if nothing changed
 */
export function codeLinesOf(kernel: string, base: CodeProfile, head: CodeProfile, baseOf: LineMatch['baseOf']): CodeLinesOfKernel | null {
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
