/** Brings earlier comments and reviews up to date: findings that are fixed, suppressed, unchecked, moved or changed. */
import type { Octokit } from '@octokit/rest';
import { hashText } from '../../base/hash.ts';
import { details, escapeText, oneLine } from '../../report/markup/inert-markdown.ts';
import { failureOf } from '../api/client.ts';
import type { PullRequestTarget } from '../api/target.ts';
import { findingsIn, settledBody } from '../plan/review-body.ts';
import type { PlannedFinding, ReviewPlan } from '../plan/review-plan.ts';
import { shortSha } from '../plan/summary.ts';
import { parseMarker, printMarker, type Marker } from '../text/marker.ts';
import type { OwnComments } from './own-comments.ts';
import { threadsOf } from './threads.ts';

/** The findings that readers can see after the review of this run. */
interface Told {
  /** Fingerprints of findings in comments on lines, including those of this run. */
  readonly inline: ReadonlySet<string>;
  /** Fingerprints of findings in comments on lines and in bodies of reviews. */
  readonly told: ReadonlySet<string>;
}

/** An edit of an earlier comment or review. */
export interface SettlingTask {
  readonly run: () => Promise<unknown>;
  /** The comment that reports no open finding after the edit. */
  readonly closes?: number;
}

function plannedFor({ findings }: ReviewPlan, fingerprints: readonly string[]): PlannedFinding[] {
  return findings.filter((one) => one.fingerprints.some((name) => fingerprints.includes(name)));
}

/**
 * Edits of comments on lines. A comment whose finding is settled, or reported by another comment, is deleted, or edited
 * if it was answered.
 */
export function commentTasks(
  octokit: Octokit,
  target: PullRequestTarget,
  plan: ReviewPlan,
  own: OwnComments,
  { told }: Told,
): SettlingTask[] {
  const { owner, repo } = target;
  const threads = threadsOf(octokit, target);
  const tasks: SettlingTask[] = [];
  for (const { comment, marker, lines, isAnswered } of own.findings) {
    const { fingerprints, kernels } = marker;
    const settlement = plan.settle({ path: comment.path, fingerprints, kernels });
    const id = { owner, repo, comment_id: comment.id };
    const edit = (body: string): Promise<void> => unlessGone(octokit.rest.pulls.updateReviewComment({ ...id, body }));
    const isReopened = marker.kind !== 'finding';

    if (settlement.kind === 'suppressed' || settlement.kind === 'unchecked') {
      const text = hashText(settlement.reason);
      if (marker.kind === settlement.kind && marker.text === text) continue;
      const head = printMarker(settlement.kind, { ...marker, text });
      const body = `${head}${sentenceOf(settlement, plan.headSha)}\n\n${earlierText(comment.body, marker, settlement.kind)}`;
      const run = async (): Promise<void> => {
        await edit(body);
        await (settlement.kind === 'suppressed' ? threads.close(comment) : isReopened ? threads.reopen(comment) : null);
      };
      tasks.push({ run });
      continue;
    }
    if (settlement.kind === 'open' && lines) {
      // While the search for repairs is not finished, texts of an earlier run on repairs are preserved.
      const bodies = plan.isWhole || isReopened ? plannedFor(plan, fingerprints).map((one) => one.bodyAt(lines)) : [];
      const [body] = bodies;
      const isSame = !isReopened && bodies.some((one) => parseMarker(one)?.text === marker.text);
      if (body === undefined || isSame) continue;
      const run = async (): Promise<void> => {
        await edit(body);
        if (isReopened) await threads.reopen(comment);
      };
      tasks.push({ run });
      continue;
    }
    const isSettled = settlement.kind !== 'open';
    if (!isSettled && !fingerprints.some((one) => told.has(one))) continue;
    if (!isAnswered) {
      tasks.push({ run: () => unlessGone(octokit.rest.pulls.deleteReviewComment(id)), closes: comment.id });
      continue;
    }
    const place = plannedFor(plan, fingerprints)[0]?.place;
    const commit = shortSha(plan.headSha);
    const outcome = settlement.kind === 'gone' ? `No longer part of this change, as of ${commit}.` : `Fixed in ${commit}.`;
    const sentence = isSettled
      ? outcome
      : `The line changed, the finding is still there${place === undefined ? '' : `, at ${place}`}: see the newer comment.`;
    const { name } = marker;
    const before = earlierText(comment.body, marker, isSettled ? 'fixed' : 'moved');
    const body = `${printMarker(isSettled ? 'fixed' : 'moved', { fingerprints, name })}${sentence}\n\n${before}`;
    const run = async (): Promise<void> => {
      await edit(body);
      await threads.close(comment);
    };
    tasks.push({ run, closes: comment.id });
  }
  return tasks;
}

/**
 * Edits of the bodies of reviews. A review without open findings becomes one line.
 * @param closed the comments whose findings are settled now
 */
export function reviewTasks(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  plan: ReviewPlan,
  own: OwnComments,
  { inline }: Told,
  closed: ReadonlySet<number>,
): SettlingTask[] {
  const { headSha, settle } = plan;
  return own.reviews.flatMap((review): SettlingTask[] => {
    const body = settledBody(review.body, {
      headSha,
      settle,
      hasOpenComments: review.comments.some((id) => !closed.has(id)),
      isInline: (one) => !review.isOfHead && inline.has(one),
      entriesOf: (names) => (plan.isWhole ? plannedFor(plan, names) : []),
    });
    if (body === undefined) return [];
    const request = { owner, repo, pull_number: pullNumber, review_id: review.id, body };
    return [{ run: () => octokit.rest.pulls.updateReview(request) }];
  });
}

/** Number of findings of earlier comments and reviews that are fixed, or no longer part of the change. */
export function settledIn({ settle }: ReviewPlan, { findings, reviews }: OwnComments): number {
  const inComments = findings.map(({ comment: { path }, marker }) => ({ ...marker, path }));
  const all = [...inComments, ...reviews.flatMap(({ body }) => findingsIn(body))];
  return all.filter((earlier) => ['fixed', 'gone'].includes(settle(earlier).kind)).length;
}

/** What became of a finding, for the first line of its comment. */
function sentenceOf({ kind, reason }: { kind: 'suppressed' | 'unchecked'; reason: string }, headSha: string): string {
  const commit = shortSha(headSha);
  if (kind === 'unchecked') return `**No longer checked** since ${commit}: ${reason}.`;
  return `**Suppressed** in ${commit}: ${escapeText(oneLine(reason)).replace(/[.\s]+$/, '')}.`;
}

/** The text of an earlier comment as its edited body quotes it: folded, unless its finding may still be there. */
function earlierText(body: string, { kind }: Marker, now: Marker['kind']): string {
  const before = withoutMarker(body);
  // The first paragraph is what became of the finding before.
  const text = kind === 'finding' ? before : before.replace(/^[^\n]*\n\n/, '');
  return now === 'unchecked' || text.startsWith('<details>') ? text : details('Earlier comment', text);
}

/** The text of an earlier comment. A suggestion in it becomes plain code, so that it cannot be applied by mistake. */
function withoutMarker(body: string): string {
  return body
    .replaceAll('\r\n', '\n')
    .replace(/^[^\n]*\n/, '')
    .replace(/^(`{3,})suggestion$/gm, '$1');
}

/** Waits for an edit of a comment that may have been deleted since it was listed. */
async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (failureOf(error).status !== 404) throw error;
  }
}
