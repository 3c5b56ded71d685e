/** Posts a plan. Whatever fails, the rest is still posted, and the caller learns what has to reach the reader otherwise. */
import type { Octokit, RestEndpointMethodTypes } from '@octokit/rest';
import { publishCheckRun } from './check-run.ts';
import { failureOf, isPermissionFailure, type RequestFailure } from './client.ts';
import { details } from '../report/markup/inert-markdown.ts';
import { parseMarker, printMarker, type Marker } from './marker.ts';
import { composeReview, type PlannedReview, type ReviewPlan } from './plan.ts';
import { shortSha } from './summary.ts';

export interface PullRequestTarget {
  readonly owner: string;
  readonly repo: string;
  readonly pullNumber: number;
}

interface PublishOptions {
  /** False: no review and no summary comment. */
  readonly comment: boolean;
  readonly checkRun: boolean;
}

type Channel = 'review' | 'earlier comments' | 'summary comment' | 'check run';

/** A channel that could not be written. `permission` is what the token lacks, where that is the cause. */
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
  /** Earlier comments of Selvage that were edited or deleted because their finding is fixed. */
  readonly settled: number;
  /** The head that the pull request has now, where it is another than the one analysed: nothing is commented then. */
  readonly movedTo?: string;
  readonly problems: readonly Problem[];
}

type ReviewComment = RestEndpointMethodTypes['pulls']['listReviewComments']['response']['data'][number];

interface OwnComments {
  readonly findings: readonly { readonly comment: ReviewComment; readonly marker: Marker }[];
  /** Fingerprints of the findings that existing comments and review bodies show. */
  readonly told: ReadonlySet<string>;
  /** Ids of comments that someone answered. */
  readonly answered: ReadonlySet<number>;
}

const GITHUB_TOKEN_LOGIN = 'github-actions[bot]';
const PER_PAGE = 100;

/** Posts the plan to a pull request. A second call with the same plan posts nothing. Never throws for a refused request. */
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
      const failure = failureOf(error);
      const missing = isPermissionFailure(failure) ? { permission } : {};
      problems.push({ channel, message: describeFailure(failure), ...missing });
      return 'failed';
    }
  };

  // First: it is tied to the commit, so it is right even where the pull request has moved on.
  const check = options.checkRun
    ? await attempt('check run', 'checks: write', () => publishCheckRun(octokit, target, plan))
    : 'off';
  if (!options.comment) return { comments: 0, review: 'off', summary: 'off', check, settled: 0, problems };

  const head = await attempt('review', 'pull-requests: write', () => currentHead(octokit, target));
  if (head === 'failed') {
    return { comments: 0, review: 'failed', summary: 'failed', check, settled: 0, problems };
  }
  if (head !== plan.headSha) {
    return { comments: 0, review: 'off', summary: 'off', check, settled: 0, movedTo: head, problems };
  }

  const viewer = onceLogin(octokit);
  const write = 'pull-requests: write';
  const own = await attempt('review', write, () => ownComments(octokit, target, viewer));
  const review =
    own === 'failed' ? own : await attempt('review', write, () => postReview(octokit, target, plan, own.told));
  const settled =
    own === 'failed' ? own : await attempt('earlier comments', write, () => settleFixed(octokit, target, plan, own));
  const summary = await attempt('summary comment', write, () => postSummary(octokit, target, plan, viewer));
  return {
    comments: review === 'failed' || review === null ? 0 : review.comments.length,
    review: review === 'failed' ? 'failed' : review === null ? 'nothing new' : 'posted',
    summary,
    check,
    settled: settled === 'failed' ? 0 : settled,
    problems,
  };
}

async function currentHead(octokit: Octokit, { owner, repo, pullNumber }: PullRequestTarget): Promise<string> {
  const { data } = await octokit.rest.pulls.get({ owner, repo, pull_number: pullNumber });
  return data.head.sha;
}

/** The login the token writes as, asked for once and only when a comment with our marker is there to compare with. */
function onceLogin(octokit: Octokit): () => Promise<string> {
  let login: Promise<string> | undefined;
  const ask = async () => {
    try {
      const answer = await octokit.graphql<{ viewer: { login: string } }>('query { viewer { login } }');
      return answer.viewer.login;
    } catch {
      return GITHUB_TOKEN_LOGIN;
    }
  };
  return () => (login ??= ask());
}

async function ownComments(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  viewer: () => Promise<string>,
): Promise<OwnComments> {
  const page = { owner, repo, pull_number: pullNumber, per_page: PER_PAGE };
  const comments = await octokit.paginate(octokit.rest.pulls.listReviewComments, page);
  const reviews = await octokit.paginate(octokit.rest.pulls.listReviews, page);
  const findings: { comment: ReviewComment; marker: Marker }[] = [];
  const told = new Set<string>();
  for (const comment of comments) {
    const marker = parseMarker(comment.body);
    if (marker?.kind !== 'finding' || comment.user?.login !== (await viewer())) continue;
    findings.push({ comment, marker });
    for (const fingerprint of marker.fingerprints) told.add(fingerprint);
  }
  for (const review of reviews) {
    const marker = parseMarker(review.body);
    if (marker?.kind !== 'review' || review.user?.login !== (await viewer())) continue;
    for (const fingerprint of marker.fingerprints) told.add(fingerprint);
  }
  const answered = new Set<number>();
  for (const { in_reply_to_id: parent } of comments) if (parent !== undefined) answered.add(parent);
  return { findings, told, answered };
}

/** One review with every finding not told yet. Where GitHub refuses a line, all of them go into its body. */
async function postReview(
  octokit: Octokit,
  target: PullRequestTarget,
  plan: ReviewPlan,
  told: ReadonlySet<string>,
): Promise<PlannedReview | null> {
  const isTold = (fingerprint: string) => told.has(fingerprint);
  const review = composeReview(plan, isTold);
  if (!review) return null;
  try {
    await createReview(octokit, target, plan.headSha, review);
    return review;
  } catch (error) {
    if (failureOf(error).status !== 422 || review.comments.length === 0) throw error;
  }
  const bodyOnly = composeReview(plan, isTold, false) as PlannedReview;
  await createReview(octokit, target, plan.headSha, bodyOnly);
  return bodyOnly;
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
    comments: review.comments.map(({ path, line, startLine, side, body }) => ({
      path,
      line,
      side,
      ...(startLine === undefined ? {} : { start_line: startLine, start_side: side }),
      body,
    })),
  });
}

/** Deletes comments whose finding is gone, or marks them as fixed where somebody answered. */
async function settleFixed(
  octokit: Octokit,
  { owner, repo }: PullRequestTarget,
  plan: ReviewPlan,
  own: OwnComments,
): Promise<number> {
  let settled = 0;
  for (const { comment, marker } of own.findings) {
    if (!plan.isFixed(comment.path, marker.fingerprints)) continue;
    if (own.answered.has(comment.id)) {
      const before = details('Earlier comment', withoutMarker(comment.body));
      const body = `${printMarker('fixed', marker.fingerprints)}Fixed in ${shortSha(plan.headSha)}.\n\n${before}`;
      await octokit.rest.pulls.updateReviewComment({ owner, repo, comment_id: comment.id, body });
    } else {
      await octokit.rest.pulls.deleteReviewComment({ owner, repo, comment_id: comment.id });
    }
    settled += 1;
  }
  return settled;
}

/** The text of an earlier comment. A suggestion in it becomes plain code, so that nobody can apply it by mistake. */
function withoutMarker(body: string): string {
  return body.replace(/^[^\n]*\n/, '').replace(/^(`{3,})suggestion$/gm, '$1');
}

async function postSummary(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  { summary }: ReviewPlan,
  viewer: () => Promise<string>,
): Promise<'created' | 'updated' | 'unchanged' | 'none'> {
  const page = { owner, repo, issue_number: pullNumber, per_page: PER_PAGE };
  const comments = await octokit.paginate(octokit.rest.issues.listComments, page);
  for (const comment of comments) {
    // The marker alone could be anyone's: a copy of it must not make us write into another's comment.
    if (parseMarker(comment.body)?.kind !== 'summary' || comment.user?.login !== (await viewer())) continue;
    if (comment.body?.replaceAll('\r\n', '\n').trimEnd() === summary.body.trimEnd()) return 'unchanged';
    await octokit.rest.issues.updateComment({ owner, repo, comment_id: comment.id, body: summary.body });
    return 'updated';
  }
  if (!summary.createIfMissing) return 'none';
  await octokit.rest.issues.createComment({ owner, repo, issue_number: pullNumber, body: summary.body });
  return 'created';
}

/** One line for the log, naming what to do. */
export function describeProblem({ channel, message, permission }: Problem): string {
  if (permission === undefined) return `Selvage could not write the ${channel}: ${message}`;
  return `Selvage could not write the ${channel}: the token lacks \`${permission}\` (${message}). Add it under \`permissions:\` of the job. For a pull request from a fork the token is always read-only.`;
}

function describeFailure({ status, message }: RequestFailure): string {
  // The client appends the address of the documentation.
  const first = (message.split('\n')[0] ?? '').replace(/ - https:\S+$/, '');
  return status === 0 ? first : `HTTP ${status}: ${first}`;
}
