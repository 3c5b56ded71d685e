/** Comments and reviews of earlier runs on a pull request. */
import type { Octokit, RestEndpointMethodTypes } from '@octokit/rest';
import type { PullRequestTarget } from '../api/target.ts';
import { parseMarker, type Marker } from '../text/marker.ts';
import type { Anchor } from '../plan/anchor.ts';
import { refusedIn } from '../plan/review-body.ts';
import type { ReviewPlan } from '../plan/review-plan.ts';

type ReviewComment = RestEndpointMethodTypes['pulls']['listReviewComments']['response']['data'][number];
type IssueComment = RestEndpointMethodTypes['issues']['listComments']['response']['data'][number];

interface OwnFinding {
  readonly comment: ReviewComment;
  /** Of kind `finding`, `suppressed` or `unchecked`. */
  readonly marker: Marker;
  /** Lines of the comment; undefined if they have left the diff, so that GitHub folds the comment. */
  readonly lines: Anchor | undefined;
  readonly isAnswered: boolean;
}

interface OwnReview {
  readonly id: number;
  readonly body: string;
  /**
   * Whether the review was posted on the analysed commit. GitHub rejects its rejected comments again on the same
   * commit.
   */
  readonly isOfHead: boolean;
  /** IDs of its comments on findings. */
  readonly comments: readonly number[];
}

export interface OwnComments {
  /** Inline comments on findings. */
  readonly findings: readonly OwnFinding[];
  readonly reviews: readonly OwnReview[];
  /** Fingerprints of the findings that readers can see: in comments that are not outdated, and in bodies of reviews. */
  readonly told: ReadonlySet<string>;
  /** Fingerprints of findings in comments on lines. */
  readonly inline: ReadonlySet<string>;
  /** Fingerprints of findings whose comments GitHub rejected on another commit: they may be accepted now. */
  readonly refusedBefore: ReadonlySet<string>;
}

/** Queries the account of the token; see {@link cachedViewer}. */
export type Viewer = () => Promise<string>;

/**
 * The login of the token, queried once and only if there is a comment with a marker to compare with. Without the login,
 * nothing must be written: its own comments would look like those of others, and be repeated.
 */
export function cachedViewer(octokit: Octokit): Viewer {
  let login: Promise<string> | undefined;
  const query = async (): Promise<string> => {
    const answer = await octokit.graphql<{ viewer?: { login?: string } }>('query { viewer { login } }');
    const name = answer.viewer?.login;
    if (typeof name !== 'string') throw new Error('GitHub does not name the account of the token');
    return name;
  };
  // The query is repeated once: the client does not retry errors in a response with status 200.
  const ask = (): Promise<string> => query().catch(query);
  return () => (login ??= ask());
}

const PER_PAGE = 100;

/** Kinds of comments whose finding may be reported again. */
const ofFindings: ReadonlySet<string> = new Set(['finding', 'suppressed', 'unchecked']);

/** Reads the comments and reviews of earlier runs. */
export async function ownComments(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  { headSha, name }: Pick<ReviewPlan, 'headSha' | 'name'>,
  viewer: Viewer,
): Promise<OwnComments> {
  const page = { owner, repo, pull_number: pullNumber, per_page: PER_PAGE };
  const comments = await octokit.paginate(octokit.rest.pulls.listReviewComments, page);
  const listed = await octokit.paginate(octokit.rest.pulls.listReviews, page);
  const answered = new Set(comments.map((comment) => comment.in_reply_to_id));
  const findings: OwnFinding[] = [];
  for (const comment of comments) {
    const marker = await ownMarker(comment, name, viewer);
    if (!marker || !ofFindings.has(marker.kind)) continue;
    findings.push({ comment, marker, lines: linesOf(comment), isAnswered: answered.has(comment.id) });
  }
  const reviews: OwnReview[] = [];
  const inline = new Set(findings.flatMap((one) => (one.lines ? one.marker.fingerprints : [])));
  const told = new Set(inline);
  const refusedBefore = new Set<string>();
  for (const { id, body, user, commit_id: commit } of listed) {
    const marker = await ownMarker({ body, user }, name, viewer);
    if (marker?.kind !== 'review') continue;
    const own = findings.filter(({ comment }) => comment.pull_request_review_id === id);
    reviews.push({ id, body, isOfHead: commit === headSha, comments: own.map(({ comment }) => comment.id) });
    for (const fingerprint of marker.fingerprints) told.add(fingerprint);
    const refused = commit === headSha ? [] : refusedIn(body);
    for (const one of refused) if (marker.fingerprints.includes(one) && !inline.has(one)) refusedBefore.add(one);
  }
  return { findings, reviews, told, inline, refusedBefore };
}

/** The lines of the head that a comment is on; undefined if it is outdated. */
function linesOf({ path, ...comment }: ReviewComment): Anchor | undefined {
  // The type of the API lacks null for an outdated comment.
  const line = comment.line as number | null | undefined;
  if (line === null || line === undefined) return undefined;
  const { start_line: startLine } = comment;
  return startLine === null || startLine === undefined ? { path, line } : { path, startLine, line };
}

/** The summary comment of an earlier run of the job with this name. */
export async function ownSummary(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  name: string,
  viewer: Viewer,
): Promise<IssueComment | undefined> {
  const page = { owner, repo, issue_number: pullNumber, per_page: PER_PAGE };
  for (const comment of await octokit.paginate(octokit.rest.issues.listComments, page)) {
    if ((await ownMarker(comment, name, viewer))?.kind === 'summary') return comment;
  }
  return undefined;
}

/**
 * The marker of a comment if the token's account wrote the comment, in a job with this name. Another author could copy
 * a marker.
 */
async function ownMarker({ body, user }: Pick<IssueComment, 'body' | 'user'>, name: string, viewer: Viewer): Promise<Marker | undefined> {
  const marker = parseMarker(body);
  return marker?.name === name && user?.login === (await viewer()) ? marker : undefined;
}
