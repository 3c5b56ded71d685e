/** Posts a plan. If one part fails, the others are posted, and the result lists the failed ones. */
import type { Octokit } from '@octokit/rest';
import { publishCheckRun } from './check-run.ts';
import { failureOf, isPermissionFailure, type RequestFailure } from '../api/client.ts';
import type { PullRequestTarget, RepositoryTarget } from '../api/target.ts';
import { parseMarker } from '../text/marker.ts';
import type { RunHost } from '../text/run-host.ts';
import { cachedViewer, ownComments, ownSummary, type OwnComments, type Viewer } from './own-comments.ts';
import { composeReview } from '../plan/review-body.ts';
import type { InlineComment, PlannedFinding, PlannedReview, ReviewPlan } from '../plan/review-plan.ts';
import { shortSha } from '../plan/summary.ts';
import { commentTasks, settledIn, reviewTasks, type SettlingTask } from './settling.ts';

interface PublishOptions {
  /** Whether the review and the summary comment are posted. */
  readonly comment: boolean;
  readonly checkRun: boolean;
  /** Whether the token is that of a run for a fork: if it must not write the check run, it must not write anything. */
  readonly isOfFork?: boolean;
  /** Whether the check run has buttons, whose events only an App receives. */
  readonly buttons?: boolean;
  /** Whether the check run is completed again if it has not changed: GitHub waits for that after *Re-run*. */
  readonly isRerun?: boolean;
}

type Channel = 'review' | 'earlier comments' | 'summary comment' | 'check run' | 'issue';

/** A channel that could not be written. `permission` is the missing permission of the token, if that is the cause. */
interface Problem {
  readonly channel: Channel;
  readonly message: string;
  readonly permission?: string;
}

export interface PublishResult {
  /** Inline comments posted by this run. */
  readonly comments: number;
  readonly review: 'posted' | 'nothing new' | 'failed' | 'off';
  readonly summary: 'created' | 'updated' | 'unchanged' | 'none' | 'failed' | 'off';
  readonly check: 'posted' | 'unchanged' | 'failed' | 'off';
  /** Earlier comments and reviews of Selvage that were deleted or edited: their findings are fixed, or have changed. */
  readonly settled: number;
  /** The current head of the pull request if it differs from the analysed commit: then no comments are posted. */
  readonly movedTo?: string;
  readonly problems: readonly Problem[];
}

/** Posts the check run of a plan, and nothing else. Never throws for a rejected request. */
export async function publishCheck(octokit: Octokit, target: RepositoryTarget, plan: ReviewPlan, isOn: boolean): Promise<PublishResult> {
  const quiet = { comments: 0, review: 'off', summary: 'off', settled: 0 } as const;
  if (!isOn) return { ...quiet, check: 'off', problems: [] };
  try {
    return { ...quiet, check: await publishCheckRun(octokit, target, plan), problems: [] };
  } catch (error) {
    return { ...quiet, check: 'failed', problems: [problemOf('check run', 'checks: write', error)] };
  }
}

/** Posts the plan to a pull request. A repeated call posts nothing. Never throws for a rejected request. */
export async function publish(
  octokit: Octokit,
  target: PullRequestTarget,
  plan: ReviewPlan,
  options: PublishOptions,
): Promise<PublishResult> {
  const problems: Problem[] = [];
  const attempt = async <T>(channel: Channel, permission: string, action: () => Promise<T>): Promise<T | 'failed'> => {
    try {
      return await action();
    } catch (error) {
      problems.push(problemOf(channel, permission, error));
      return 'failed';
    }
  };

  // The check run is posted first: it belongs to the commit, so it is correct even if the pull request has moved on.
  const check = options.checkRun
    ? await attempt('check run', 'checks: write', () => publishCheckRun(octokit, target, plan, options))
    : 'off';
  const isReadOnly = options.isOfFork === true && problems.some(({ permission }) => permission !== undefined);
  if (!options.comment || isReadOnly) return { comments: 0, review: 'off', summary: 'off', check, settled: 0, problems };

  const head = await attempt('review', 'pull-requests: write', () => currentHead(octokit, target));
  if (head === 'failed') {
    return { comments: 0, review: 'failed', summary: 'failed', check, settled: 0, problems };
  }
  if (head !== plan.headSha) {
    return { comments: 0, review: 'off', summary: 'off', check, settled: 0, movedTo: head, problems };
  }

  const viewer = cachedViewer(octokit);
  const write = 'pull-requests: write';
  const own = await attempt('review', write, () => ownComments(octokit, target, plan, viewer));
  const review = own === 'failed' ? own : await attempt('review', write, () => postReview(octokit, target, plan, own));
  // A finding is settled in this commit regardless of whether its comment can be edited. The summary is posted first: the
  // number is unknown once the comments are deleted.
  const gone = own === 'failed' ? 0 : settledIn(plan, own);
  const summary = await attempt('summary comment', write, () => postSummary(octokit, target, plan, gone, viewer));
  let settled = 0;
  if (own !== 'failed' && summary !== 'failed') {
    // An old comment must not repeat a finding that was just posted in a new comment.
    const posted = review === 'failed' ? [] : review.inline;
    const inline = new Set([...own.inline, ...posted]);
    const told = new Set([...own.told, ...posted, ...(review === 'failed' ? [] : review.inBody)]);
    const closed = new Set<number>();
    let isRefused = false;
    const settle = async (tasks: readonly SettlingTask[]): Promise<void> => {
      for (const { run, closes } of tasks) {
        // If the permission for one edit is missing, it is missing for all edits.
        if (isRefused) return;
        if ((await attempt('earlier comments', write, run)) === 'failed') {
          isRefused = problems.at(-1)?.permission !== undefined;
          continue;
        }
        settled += 1;
        if (closes !== undefined) closed.add(closes);
      }
    };
    await settle(commentTasks(octokit, target, plan, own, { inline, told }));
    await settle(reviewTasks(octokit, target, plan, own, { inline, told }, closed));
  }
  return {
    comments: review === 'failed' ? 0 : review.comments,
    review: review === 'failed' ? 'failed' : review.isPosted ? 'posted' : 'nothing new',
    summary,
    check,
    settled,
    problems,
  };
}

async function currentHead(octokit: Octokit, { owner, repo, pullNumber }: PullRequestTarget): Promise<string> {
  const { data } = await octokit.rest.pulls.get({ owner, repo, pull_number: pullNumber });
  return data.head.sha;
}

interface PostedReview {
  readonly isPosted: boolean;
  /** Number of posted inline comments. */
  readonly comments: number;
  /** Fingerprints of the findings in these comments. */
  readonly inline: readonly string[];
  /** Fingerprints of the findings in the body of the review. */
  readonly inBody: readonly string[];
}

/**
 * One review with every unreported finding. If GitHub rejects it, the response does not identify the rejected comment:
 * each comment is then posted separately, and the body of the review contains the findings of rejected ones.
 */
async function postReview(
  octokit: Octokit,
  target: PullRequestTarget,
  plan: ReviewPlan,
  { told, refusedBefore }: OwnComments,
): Promise<PostedReview> {
  const isUntold = ({ fingerprints }: PlannedFinding): boolean => !fingerprints.some((one) => told.has(one));
  const findings = plan.findings.filter(isUntold);
  const review = composeReview(plan, { findings });
  const posted = new Set<PlannedFinding>();
  const refused = new Set<PlannedFinding>();
  const oneByOne = async (finding: PlannedFinding): Promise<void> => {
    if (!finding.comment) return;
    try {
      await createComment(octokit, target, plan.headSha, finding.comment);
      posted.add(finding);
    } catch (error) {
      if (failureOf(error).status !== 422) throw error;
      refused.add(finding);
    }
  };
  let whole: PlannedReview | null = review;
  if (review) {
    try {
      await createReview(octokit, target, plan.headSha, review);
      for (const finding of findings) if (finding.comment) posted.add(finding);
    } catch (error) {
      if (failureOf(error).status !== 422 || review.comments.length === 0) throw error;
      for (const finding of findings) await oneByOne(finding);
      const others = findings.filter((finding) => !posted.has(finding));
      whole = composeReview(plan, { findings: others, refused });
      if (whole) await createReview(octokit, target, plan.headSha, whole);
    }
  }
  // The line of a comment that was rejected earlier may be in the diff now.
  for (const finding of plan.findings) {
    if (!isUntold(finding) && finding.fingerprints.some((one) => refusedBefore.has(one))) await oneByOne(finding);
  }
  const inBody = findings.filter((finding) => !posted.has(finding));
  return {
    isPosted: whole !== null || posted.size > 0,
    comments: posted.size,
    inline: [...posted].flatMap(({ fingerprints }) => fingerprints),
    inBody: inBody.flatMap(({ fingerprints }) => fingerprints),
  };
}

async function createComment(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  headSha: string,
  comment: InlineComment,
): Promise<void> {
  await octokit.rest.pulls.createReviewComment({
    owner,
    repo,
    pull_number: pullNumber,
    commit_id: headSha,
    ...requestOf(comment),
  });
}

async function createReview(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  headSha: string,
  review: PlannedReview,
): Promise<void> {
  await octokit.rest.pulls.createReview({
    owner,
    repo,
    pull_number: pullNumber,
    commit_id: headSha,
    event: review.event,
    body: review.body,
    comments: review.comments.map(requestOf),
  });
}

function requestOf({ path, line, startLine, side, body }: InlineComment) {
  return { path, line, side, ...(startLine === undefined ? {} : { start_line: startLine, start_side: side }), body };
}

/** @param settled number of findings of earlier comments that are fixed, or no longer part of the change */
async function postSummary(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  { name, headSha, summary, isWhole, verdicts }: ReviewPlan,
  settled: number,
  viewer: Viewer,
): Promise<'created' | 'updated' | 'unchanged' | 'none'> {
  const earlier = await ownSummary(octokit, { owner, repo, pullNumber }, name, viewer);
  if (earlier) {
    const marker = parseMarker(earlier.body);
    // The first run with these verdicts has counted all of them, and deleted their comments.
    const isSame = marker?.settled?.commit === shortSha(headSha) && marker.text === verdicts;
    const before = isSame ? marker.settled.count : 0;
    // It has the same verdicts, and the results of repairs.
    if (!isWhole && settled <= before && marker?.text === verdicts) return 'unchanged';
    const body = summary.withSettled(Math.max(before, settled));
    if (earlier.body?.replaceAll('\r\n', '\n').trimEnd() === body.trimEnd()) return 'unchanged';
    await octokit.rest.issues.updateComment({ owner, repo, comment_id: earlier.id, body });
    return 'updated';
  }
  if (!summary.createIfMissing && settled === 0) return 'none';
  await octokit.rest.issues.createComment({
    owner,
    repo,
    issue_number: pullNumber,
    body: summary.withSettled(settled),
  });
  return 'created';
}

/** @param permission that the channel needs */
export function problemOf(channel: Channel, permission: string, error: unknown): Problem {
  const failure = failureOf(error);
  return { channel, message: describeFailure(failure), ...(isPermissionFailure(failure) ? { permission } : {}) };
}

/** One line for the log, with the remedy. @param host what runs Selvage, and is given the permission */
export function describeProblem({ channel, message, permission }: Problem, host: RunHost = 'job'): string {
  if (permission === undefined) return `Selvage could not write the ${channel}: ${message}${unseen(message)}`;
  if (host === 'app')
    return `Selvage could not write the ${channel}: the App lacks \`${permission}\` (${message}). Grant it in the settings of the App; then the owner of the installation has to accept it.`;
  return `Selvage could not write the ${channel}: the token lacks \`${permission}\` (${message}). Add it under \`permissions:\` of the job. For a pull request from a fork the token is always read-only.`;
}

/** A clearer message for a missing object: GitHub hides objects that a token may not see. */
function unseen(message: string): string {
  return message.startsWith('HTTP 404') ? '. GitHub answers so, too, where the token cannot see the pull request.' : '';
}

function describeFailure({ status, message }: RequestFailure): string {
  // Octokit appends the address of the documentation to messages.
  const first = (message.split('\n')[0] ?? '').replace(/ - https:\S+$/, '');
  return status === 0 ? first : `HTTP ${status}: ${first}`;
}
