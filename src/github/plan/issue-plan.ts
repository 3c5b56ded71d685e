/** The issue that lists the findings of the default branch. */
import { hashText } from '../../base/hash.ts';
import { codeSpan } from '../../report/markup/inert-markdown.ts';
import { COMMENT_BUDGET, fitMarkdown } from '../text/fit-markdown.ts';
import { cutNote } from '../text/run-host.ts';
import { printMarker } from '../text/marker.ts';
import type { ReviewPlan } from './review-plan.ts';
import { shortSha, toolName } from './summary.ts';

export interface IssuePlan {
  /** The name of the job, see {@link ReviewPlan}. */
  readonly name: string;
  readonly title: string;
  readonly body: string;
  /** A hash of the findings. It is the same on every commit with the same findings at the same locations. */
  readonly text: string;
  /** Whether there are findings; otherwise the issue is closed. */
  readonly stands: boolean;
}

/**
 * The issue for the check of a whole repository.
 * @returns null if the report lacks findings but parts could not be analysed: then it is unknown whether all findings
 *   are fixed
 */
export function planIssue(plan: ReviewPlan, branch: string): IssuePlan | null {
  const { name, findings, check, headSha, exitCode } = plan;
  const stands = findings.length > 0;
  if (!stands && exitCode > 1) return null;
  const told = findings.map(({ fingerprints, severity, place, entryText }) => [fingerprints, severity, stands ? entryText : place]);
  const text = hashText(JSON.stringify([check.title, told]));
  const intro = stands
    ? `Selvage checks the whole branch ${codeSpan(branch)}. It updates this issue, and closes it when nothing is left. If it is closed as not planned, it stays closed.`
    : `No findings are left on ${codeSpan(branch)}, as of ${shortSha(headSha)}.`;
  const body = `${printMarker('issue', { name, text })}${intro}\n\n${check.summary}`;
  return {
    name,
    title: `${toolName(name)}: ${stands ? check.title : 'no findings left'}`,
    body: fitMarkdown(body, COMMENT_BUDGET, cutNote()),
    text,
    stands,
  };
}
