/**
 * A GitHub of one repository and one pull request, on a local port. It has state, checks every request and each of
 * its own responses against the published description, and rejects what GitHub rejects contrary to the description.
 * Requests that a correct client never sends are collected in `faults`, which a test expects to be empty.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ACTIONS_BOT, appObject, comparisonObject, pullRequestObject, userObject, type Account } from './objects.ts';
import { loadApi, type Api } from './openapi.ts';
import { hunkRanges, type ChangedFile, type Repository } from './repository.ts';

export interface ServerOptions {
  readonly owner: string;
  readonly repo: string;
  readonly pullNumber: number;
  readonly baseSha: string;
  readonly headSha: string;
  readonly repository: Repository;
  readonly token: string;
  /** Whether another token may request a path, such as the one of an App itself. */
  readonly isToken?: (token: string, path: string) => boolean;
  /** The ID of the first comment, check run or issue. */
  readonly firstId?: number;
  /** `/api/v3` for an Enterprise Server. */
  readonly prefix?: string;
  /** Routes in addition to those of reviews, by method and template, and answers other than JSON, by path. */
  readonly more?: (api: Api) => Readonly<Record<string, Handler>>;
  readonly raw?: (path: string) => RawAnswer | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export type Access = 'write' | 'read' | 'none';

export interface RequestLine {
  readonly method: string;
  /** Without the prefix of an Enterprise Server. */
  readonly path: string;
}

/** The fault of one request. */
export interface Fault {
  /** The request is executed, and then its answer is lost. */
  readonly hasEffect?: boolean;
  /** The answer instead; the connection is cut if it is not given. */
  readonly answer?: {
    readonly status: number;
    readonly body: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
}

/** Settings that a test may change while the server runs. */
export interface Settings {
  /** The account the token writes as. */
  account: Account;
  pullRequests: Access;
  checks: Access;
  contents: Exclude<Access, 'write'>;
  issues: Access;
  /** Whether the token may resolve threads, which needs more than the permission to write comments. */
  mayResolve: boolean;
  /** Number of writes until the secondary rate limit rejects one; null for never. */
  writesUntilLimit: number | null;
  /** Seconds in the answer to the rejected request. */
  retryAfter: number;
  /** Number of requests until the connection is cut without an answer; null for never. */
  requestsUntilCut: number | null;
  /** The status of every answer, if set. */
  outage: number | null;
  /** Requests left in the hour, which each answer then states; null to state nothing. */
  requestsLeft: number | null;
  /** The fault of a request, by its index since this was set. */
  fault: ((request: RequestLine, index: number) => Fault | undefined) | null;
  /** GitHub rejects comments on these lines, as if they were not in the diff. */
  refusedLines: ReadonlySet<number>;
  /** `.selvage.yml` of the repository `.github` of the owner, or the status of GitHub's rejection; null if missing. */
  organisation: string | { readonly status: number } | null;
  state: 'open' | 'closed';
  maxFiles: number;
  /** Files after this many, and patches of more lines, have no patch. */
  maxPatchedFiles: number;
  maxPatchLines: number;
}

export interface ReviewComment {
  readonly id: number;
  readonly reviewId: number | null;
  readonly account: Account;
  readonly path: string;
  readonly side: 'LEFT' | 'RIGHT';
  readonly commit: string;
  readonly originalLine: number;
  readonly originalStartLine: number | null;
  readonly inReplyTo?: number;
  readonly diffHunk: string;
  body: string;
  /** Null when outdated. */
  line: number | null;
  startLine: number | null;
  isResolved?: boolean;
  isMinimized?: boolean;
}

export interface Review {
  readonly id: number;
  readonly account: Account;
  body: string;
  readonly state: string;
  readonly commit: string;
}

export interface IssueComment {
  readonly id: number;
  readonly account: Account;
  body: string;
}

export interface Issue {
  readonly number: number;
  readonly account: Account;
  title: string;
  body: string;
  state: 'open' | 'closed';
  stateReason: 'completed' | 'not_planned' | 'reopened' | null;
}

export interface CheckRun {
  readonly id: number;
  readonly headSha: string;
  readonly name: string;
  externalId: string;
  status: string;
  conclusion: string | null;
  title: string | null;
  summary: string | null;
  /** Identifiers of its buttons. */
  readonly buttons: readonly string[];
  readonly annotations: CheckAnnotation[];
}

export interface CheckAnnotation {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly start_column?: number;
  readonly end_column?: number;
  readonly annotation_level: string;
  readonly message: string;
  readonly title?: string;
  readonly raw_details?: string;
}

export interface TranscriptEntry {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
}

export interface GitHubServer {
  /** For `GITHUB_API_URL`. */
  readonly url: string;
  readonly settings: Settings;
  readonly reviews: readonly Review[];
  readonly reviewComments: readonly ReviewComment[];
  readonly issueComments: readonly IssueComment[];
  readonly checkRuns: readonly CheckRun[];
  readonly issues: readonly Issue[];
  readonly transcript: readonly TranscriptEntry[];
  readonly faults: readonly string[];
  readonly headSha: string;
  /** Requests other than reads, of the transcript from `from` on. */
  writes(from?: number): TranscriptEntry[];
  /** New commits arrive: comments move with their lines, or become outdated. */
  push(headSha: string, repository?: Repository): void;
  /** A user comments in the conversation. */
  addComment(account: Account, body: string): IssueComment;
  /** A user answers a review comment, or comments on a line. */
  commentOnLine(account: Account, place: { path: string; line: number } | { inReplyTo: number }, body: string): void;
  close(): Promise<void>;
}

/** An answer that is not a success. */
export class Refusal extends Error {
  readonly status: number;
  readonly errors: readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, errors?: readonly string[], headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

export interface Call {
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  // Checked against the description before a handler gets it.
  readonly body: unknown;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  /** A list is cut into pages. */
  readonly list?: readonly unknown[];
}

export type Handler = (call: Call) => Answer;

const contents = '/repos/{owner}/{repo}/contents/{path}';
const MAX_BODY = 65_536;
const MAX_ANNOTATION_TEXT = 64 * 1024;
const DOCUMENTATION = 'https://docs.github.com/rest';

/** Starts a server on a free port of the loopback interface. */
export async function startGitHub(options: ServerOptions): Promise<GitHubServer> {
  const api = loadApi();
  const { owner, repo, pullNumber, baseSha, token, prefix = '' } = options;
  let { headSha, repository } = options;
  const commits = new Set([headSha]);
  const settings: Settings = {
    account: ACTIONS_BOT,
    pullRequests: 'write',
    checks: 'write',
    contents: 'read',
    issues: 'write',
    mayResolve: false,
    writesUntilLimit: null,
    retryAfter: 1,
    requestsUntilCut: null,
    outage: null,
    requestsLeft: null,
    fault: null,
    refusedLines: new Set(),
    organisation: null,
    state: 'open',
    maxFiles: 3000,
    maxPatchedFiles: 300,
    maxPatchLines: 20_000,
  };
  const reviews: Review[] = [];
  const reviewComments: ReviewComment[] = [];
  const issueComments: IssueComment[] = [];
  const checkRuns: CheckRun[] = [];
  const issues: Issue[] = [];
  const transcript: TranscriptEntry[] = [];
  const faults: string[] = [];
  let url = '';
  let nextId = options.firstId ?? 1000;
  let requestsSinceFault = 0;
  const root = `/repos/${owner}/${repo}`;
  const now = () => '2026-01-01T00:00:00Z';

  const diffAt = (commit: string): ChangedFile[] =>
    repository.changedFiles(repository.mergeBase(baseSha, commit), commit).map((file, index) => {
      const long = (file.patch?.split('\n').length ?? 0) > settings.maxPatchLines;
      return index >= settings.maxPatchedFiles || long ? { ...file, patch: null } : file;
    });

  const inOneHunk = (patch: string, side: 'LEFT' | 'RIGHT', lines: readonly number[]): string => {
    const ranges = hunkRanges(patch).map((hunk) =>
      side === 'RIGHT' ? [hunk.newStart, hunk.newLines] : [hunk.oldStart, hunk.oldLines],
    ) as [number, number][];
    const hunkOf = (line: number) => ranges.findIndex(([start, length]) => line >= start && line < start + length);
    const last = hunkOf(lines[lines.length - 1] as number);
    if (last < 0) {
      throw new Refusal(422, 'Unprocessable Entity', [
        "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank",
      ]);
    }
    if (lines.some((line) => hunkOf(line) !== last)) {
      throw new Refusal(422, 'Unprocessable Entity', ['Pull request review thread start line must be part of the same hunk as the line.']);
    }
    return patch.split(/^(?=@@ )/m)[last] ?? '';
  };

  const checkBody = (body: string) => {
    if (body.length > MAX_BODY) {
      throw new Refusal(422, 'Unprocessable Entity', [`body is too long (maximum is ${MAX_BODY} characters)`]);
    }
    if (body.trim() === '') throw new Refusal(422, 'Unprocessable Entity', ["Body can't be blank"]);
  };

  const mayRead = (access: Access) => {
    if (access === 'none') throw new Refusal(403, 'Resource not accessible by integration');
  };

  const needs = (access: Access) => {
    if (access !== 'write') throw new Refusal(403, 'Resource not accessible by integration');
  };

  const moveComments = (from: string, to: string) => {
    for (const comment of reviewComments) {
      if (comment.line === null || comment.side === 'LEFT') continue;
      const line = repository.mapLine(from, to, comment.path, comment.line);
      const start = comment.startLine === null ? null : repository.mapLine(from, to, comment.path, comment.startLine);
      const patch = diffAt(to).find((file) => file.path === comment.path)?.patch;
      const shown = (one: number | null) =>
        one !== null && hunkRanges(patch ?? '').some((hunk) => one >= hunk.newStart && one < hunk.newStart + hunk.newLines);
      const kept = shown(line) && (comment.startLine === null || shown(start));
      comment.line = kept ? line : null;
      comment.startLine = kept ? start : null;
    }
  };

  const reviewObject = (review: Review) => {
    const html = `https://github.example/${owner}/${repo}/pull/${pullNumber}#pullrequestreview-${review.id}`;
    return {
      id: review.id,
      node_id: `R_${review.id}`,
      user: userObject(url, review.account),
      body: review.body,
      state: review.state,
      html_url: html,
      pull_request_url: `${url}${root}/pulls/${pullNumber}`,
      author_association: 'NONE',
      _links: { html: { href: html }, pull_request: { href: `${url}${root}/pulls/${pullNumber}` } },
      submitted_at: now(),
      commit_id: review.commit,
    };
  };

  const reviewCommentObject = (comment: ReviewComment) => {
    const self = `${url}${root}/pulls/comments/${comment.id}`;
    const html = `https://github.example/${owner}/${repo}/pull/${pullNumber}#discussion_r${comment.id}`;
    return {
      url: self,
      pull_request_review_id: comment.reviewId,
      id: comment.id,
      node_id: `C_${comment.id}`,
      diff_hunk: comment.diffHunk,
      path: comment.path,
      commit_id: comment.line === null ? comment.commit : headSha,
      original_commit_id: comment.commit,
      user: userObject(url, comment.account),
      body: comment.body,
      created_at: now(),
      updated_at: now(),
      html_url: html,
      pull_request_url: `${url}${root}/pulls/${pullNumber}`,
      author_association: 'NONE',
      _links: {
        self: { href: self },
        html: { href: html },
        pull_request: { href: `${url}${root}/pulls/${pullNumber}` },
      },
      start_line: comment.startLine,
      original_start_line: comment.originalStartLine,
      start_side: comment.originalStartLine === null ? null : comment.side,
      line: comment.line,
      original_line: comment.originalLine,
      side: comment.side,
      subject_type: 'line',
      ...(comment.inReplyTo === undefined ? {} : { in_reply_to_id: comment.inReplyTo }),
    };
  };

  const issueCommentObject = (comment: IssueComment) => ({
    id: comment.id,
    node_id: `IC_${comment.id}`,
    url: `${url}${root}/issues/comments/${comment.id}`,
    html_url: `https://github.example/${owner}/${repo}/pull/${pullNumber}#issuecomment-${comment.id}`,
    body: comment.body,
    user: userObject(url, comment.account),
    created_at: now(),
    updated_at: now(),
    issue_url: `${url}${root}/issues/${pullNumber}`,
    author_association: 'NONE',
    performed_via_github_app: null,
  });

  const checkRunObject = (run: CheckRun) => ({
    id: run.id,
    node_id: `CR_${run.id}`,
    head_sha: run.headSha,
    external_id: run.externalId,
    name: run.name,
    url: `${url}${root}/check-runs/${run.id}`,
    html_url: `https://github.example/${owner}/${repo}/runs/${run.id}`,
    details_url: `https://github.example/${owner}/${repo}/runs/${run.id}`,
    status: run.status,
    conclusion: run.conclusion,
    started_at: now(),
    completed_at: run.status === 'completed' ? now() : null,
    output: {
      title: run.title,
      summary: run.summary,
      text: null,
      annotations_count: run.annotations.length,
      annotations_url: `${url}${root}/check-runs/${run.id}/annotations`,
    },
    check_suite: { id: 5 },
    app: appObject(api),
    pull_requests: [],
  });

  const thePull = (number: string | undefined) => {
    if (number !== String(pullNumber)) throw new Refusal(404, 'Not Found');
  };

  const applyOutput = (run: CheckRun, output: CheckOutput | undefined) => {
    if (!output) return;
    for (const annotation of output.annotations ?? []) {
      const { title, message, raw_details: details, start_line: start, end_line: end } = annotation;
      const tooLong = [message, details ?? ''].some((text) => Buffer.byteLength(text) > MAX_ANNOTATION_TEXT);
      const invalid =
        (title?.length ?? 0) > 255
          ? 'title is too long (maximum is 255 characters)'
          : tooLong
            ? 'message is too long (maximum is 64 KB)'
            : message === ''
              ? "message can't be blank"
              : start < 1 || end < start
                ? 'lines are out of order'
                : start !== end && annotation.start_column !== undefined
                  ? 'columns are only valid for annotations of one line'
                  : undefined;
      if (invalid !== undefined) throw new Refusal(422, 'Invalid request.', [`Annotation ${invalid}`]);
    }
    run.annotations.push(...(output.annotations ?? []));
    if (output.title !== undefined) run.title = output.title;
    if (output.summary !== undefined) run.summary = output.summary;
  };

  const newComment = (comment: CommentRequest, reviewId: number, commit: string): ReviewComment => {
    const diff = diffAt(commit);
    checkBody(comment.body);
    if (comment.position !== undefined) {
      throw new Refusal(422, 'Unprocessable Entity', ['position is closing down, use line']);
    }
    const { line, start_line: start } = comment;
    const side = comment.side ?? 'RIGHT';
    const patch = diff.find((file) => file.path === comment.path)?.patch;
    if (patch === undefined) throw new Refusal(422, 'Unprocessable Entity', ['Path could not be resolved']);
    if (line !== undefined && settings.refusedLines.has(line)) {
      throw new Refusal(422, 'Unprocessable Entity', ['Pull request review thread line must be part of the diff']);
    }
    if (line === undefined) throw new Refusal(422, 'Unprocessable Entity', ["Line could not be resolved and Line can't be blank"]);
    if (start !== undefined && start >= line) {
      throw new Refusal(422, 'Unprocessable Entity', ['Pull request review thread start line must precede the end line.']);
    }
    if ((comment.start_side ?? side) !== side) {
      throw new Refusal(422, 'Unprocessable Entity', ['start_side must be the side of the line']);
    }
    const diffHunk = inOneHunk(patch ?? '', side, start === undefined ? [line] : [start, line]);
    const startLine = start ?? null;
    return {
      id: nextId++,
      reviewId,
      account: settings.account,
      path: comment.path,
      side,
      commit,
      originalLine: line,
      originalStartLine: startLine,
      diffHunk,
      body: comment.body,
      line,
      startLine,
    };
  };

  const issueObject = (issue: Issue) => {
    const self = `${url}${root}/issues/${issue.number}`;
    return {
      ...api.example('issue'),
      url: self,
      html_url: `https://github.example/${owner}/${repo}/issues/${issue.number}`,
      id: issue.number,
      number: issue.number,
      title: issue.title,
      body: issue.body,
      state: issue.state,
      state_reason: issue.stateReason,
      user: userObject(url, issue.account),
      closed_at: issue.state === 'closed' ? now() : null,
      // The example is that of a pull request.
      pull_request: undefined,
    };
  };

  /** The defaults of the organisation. */
  const organisationFile = (path: string | undefined): Answer => {
    const { organisation } = settings;
    if (organisation === null || path !== '.selvage.yml') throw new Refusal(404, 'Not Found');
    if (typeof organisation !== 'string') throw new Refusal(organisation.status, 'Resource not accessible by integration');
    const content = Buffer.from(organisation).toString('base64');
    const body = { ...api.example('content-file-response-if-content-is-a-file'), content, size: organisation.length };
    return { status: 200, body };
  };

  const more = options.more?.(api) ?? {};
  const handlers: Readonly<Record<string, Handler>> = {
    'GET /repos/{owner}/{repo}/issues': ({ query }) => {
      mayRead(settings.issues);
      const state = query.get('state') ?? 'open';
      const creator = query.get('creator');
      const found = issues.filter((one) => (state === 'all' || one.state === state) && (creator === null || one.account.login === creator));
      return { status: 200, list: found.toReversed().map(issueObject) };
    },
    'POST /repos/{owner}/{repo}/issues': ({ body }) => {
      needs(settings.issues);
      const { title, body: text = '' } = body as { title: string; body?: string };
      checkBody(text);
      const issue: Issue = { number: nextId++, account: settings.account, title, body: text, state: 'open', stateReason: null };
      issues.push(issue);
      return { status: 201, body: issueObject(issue) };
    },
    'PATCH /repos/{owner}/{repo}/issues/{issue_number}': ({ params, body }) => {
      needs(settings.issues);
      const issue = issues.find(({ number }) => String(number) === params[2]);
      if (!issue) throw new Refusal(404, 'Not Found');
      const change = body as { title?: string; body?: string; state?: 'open' | 'closed'; state_reason?: 'completed' };
      if (change.body !== undefined) checkBody(change.body);
      issue.title = change.title ?? issue.title;
      issue.body = change.body ?? issue.body;
      if (change.state !== undefined && change.state !== issue.state) {
        issue.state = change.state;
        issue.stateReason = change.state === 'open' ? 'reopened' : (change.state_reason ?? 'completed');
      }
      return { status: 200, body: issueObject(issue) };
    },
    [`GET ${contents}`]: () => {
      throw new Refusal(404, 'Not Found');
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}': ({ params }) => {
      mayRead(settings.pullRequests);
      thePull(params[2]);
      const changedFiles = diffAt(headSha).length;
      const { state } = settings;
      return {
        status: 200,
        body: pullRequestObject(api, { number: pullNumber, headSha, baseSha, changedFiles, state }),
      };
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': ({ params }) => {
      mayRead(settings.pullRequests);
      thePull(params[2]);
      const files = diffAt(headSha).slice(0, settings.maxFiles);
      return { status: 200, list: files.map((file) => diffEntry(file, url, root, headSha)) };
    },
    'GET /repos/{owner}/{repo}/compare/{basehead}': ({ params }) => {
      mayRead(settings.contents);
      const [base, head] = (params[2] ?? '').split('...');
      if (base === undefined || head === undefined) throw new Refusal(404, 'Not Found');
      return { status: 200, body: comparisonObject(api, base, repository.mergeBase(base, head)) };
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments': ({ params }) => {
      mayRead(settings.pullRequests);
      thePull(params[2]);
      return { status: 200, list: reviewComments.map(reviewCommentObject) };
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews': ({ params }) => {
      mayRead(settings.pullRequests);
      thePull(params[2]);
      return { status: 200, list: reviews.filter(({ state }) => state !== 'PENDING').map(reviewObject) };
    },
    'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews': ({ params, body }) => {
      thePull(params[2]);
      needs(settings.pullRequests);
      const request = body as ReviewRequest;
      const commit = request.commit_id ?? headSha;
      if (!commits.has(commit)) {
        throw new Refusal(422, 'Unprocessable Entity', ['commit_id is not part of the pull request']);
      }
      if (request.event === 'COMMENT' || request.event === 'REQUEST_CHANGES') checkBody(request.body ?? '');
      const reviewId = nextId++;
      // All of them are checked before any is stored.
      const made = (request.comments ?? []).map((comment) => newComment(comment, reviewId, commit));
      const states: Readonly<Record<string, string>> = {
        COMMENT: 'COMMENTED',
        APPROVE: 'APPROVED',
        REQUEST_CHANGES: 'CHANGES_REQUESTED',
      };
      const state = request.event === undefined ? 'PENDING' : (states[request.event] as string);
      const review = { id: reviewId, account: settings.account, body: request.body ?? '', state, commit };
      reviews.push(review);
      reviewComments.push(...made);
      return { status: 200, body: reviewObject(review) };
    },
    'PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}': ({ params, body }) => {
      thePull(params[2]);
      needs(settings.pullRequests);
      const review = ownComment(reviews, params[3], settings.account);
      checkBody(stringOf(body));
      review.body = stringOf(body);
      return { status: 200, body: reviewObject(review) };
    },
    'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments': ({ params, body }) => {
      thePull(params[2]);
      needs(settings.pullRequests);
      const request = body as CommentRequest & { readonly commit_id: string };
      if (!commits.has(request.commit_id)) {
        throw new Refusal(422, 'Unprocessable Entity', ['commit_id is not part of the pull request']);
      }
      const comment = newComment(request, nextId++, request.commit_id);
      reviewComments.push(comment);
      return { status: 201, body: reviewCommentObject(comment) };
    },
    'PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}': ({ params, body }) => {
      needs(settings.pullRequests);
      const comment = ownComment(reviewComments, params[2], settings.account);
      checkBody(stringOf(body));
      comment.body = stringOf(body);
      return { status: 200, body: reviewCommentObject(comment) };
    },
    'DELETE /repos/{owner}/{repo}/pulls/comments/{comment_id}': ({ params }) => {
      needs(settings.pullRequests);
      const comment = ownComment(reviewComments, params[2], settings.account);
      if (reviewComments.some(({ inReplyTo }) => inReplyTo === comment.id)) {
        faults.push(`a comment with an answer was deleted: ${comment.id}`);
      }
      reviewComments.splice(reviewComments.indexOf(comment), 1);
      return { status: 204 };
    },
    'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': ({ params }) => {
      mayRead(settings.pullRequests);
      thePull(params[2]);
      return { status: 200, list: issueComments.map(issueCommentObject) };
    },
    'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': ({ params, body }) => {
      thePull(params[2]);
      needs(settings.pullRequests);
      checkBody(stringOf(body));
      const comment: IssueComment = { id: nextId++, account: settings.account, body: stringOf(body) };
      issueComments.push(comment);
      return { status: 201, body: issueCommentObject(comment) };
    },
    'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}': ({ params, body }) => {
      needs(settings.pullRequests);
      const comment = ownComment(issueComments, params[2], settings.account);
      checkBody(stringOf(body));
      comment.body = stringOf(body);
      return { status: 200, body: issueCommentObject(comment) };
    },
    'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': ({ params, query }) => {
      mayRead(settings.checks);
      const name = query.get('check_name');
      const found = checkRuns.filter((run) => run.headSha === params[2] && (name === null || run.name === name));
      return { status: 200, body: { total_count: found.length, check_runs: found.map(checkRunObject) } };
    },
    'POST /repos/{owner}/{repo}/check-runs': ({ body }) => {
      needs(settings.checks);
      const request = body as CheckRequest & { name: string; head_sha: string };
      if (!commits.has(request.head_sha)) throw new Refusal(422, 'Invalid request.', ['No commit found for SHA']);
      const run: CheckRun = {
        id: nextId++,
        headSha: request.head_sha,
        name: request.name,
        externalId: '',
        status: 'queued',
        conclusion: null,
        title: null,
        summary: null,
        buttons: (request.actions ?? []).map(({ identifier }) => identifier),
        annotations: [],
      };
      updateRun(run, request);
      applyOutput(run, request.output);
      checkRuns.push(run);
      return { status: 201, body: checkRunObject(run) };
    },
    'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}': ({ params, body }) => {
      needs(settings.checks);
      const run = checkRuns.find(({ id }) => String(id) === params[2]);
      if (!run) throw new Refusal(404, 'Not Found');
      const request = body as CheckRequest;
      updateRun(run, request);
      applyOutput(run, request.output);
      return { status: 200, body: checkRunObject(run) };
    },
    // GITHUB_TOKEN must not query its own account.
    'GET /user': () => {
      throw new Refusal(403, 'Resource not accessible by integration');
    },
  };

  const answer = (method: string, target: URL, authorization: string | undefined, body: unknown): Answer => {
    if (settings.outage !== null) throw new Refusal(settings.outage, 'Server Error');
    const [kind = '', given = ''] = (authorization ?? '').split(' ');
    const isOther = options.isToken?.(given, target.pathname) === true;
    if (authorization === undefined && !isOther) throw new Refusal(401, 'Requires authentication');
    if (!isOther && (!/^(token|bearer)$/i.test(kind) || given !== token)) {
      throw new Refusal(401, 'Bad credentials');
    }
    if (method === 'POST' && target.pathname === '/graphql') return graphql(body);
    const template = api.route(method, target.pathname);
    const handler = template === undefined ? undefined : (more[`${method} ${template}`] ?? handlers[`${method} ${template}`]);
    if (template === undefined || !handler) {
      faults.push(`no such route: ${method} ${target.pathname}`);
      throw new Refusal(404, 'Not Found');
    }
    const fault = api.requestFault(method, template, target.searchParams, body);
    if (fault !== undefined) {
      faults.push(`${method} ${target.pathname}: ${fault}`);
      throw new Refusal(422, 'Invalid request.', [fault]);
    }
    if (method !== 'GET' && settings.writesUntilLimit !== null && settings.writesUntilLimit-- <= 0) {
      settings.writesUntilLimit = null;
      throw new Refusal(
        403,
        'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.',
        undefined,
        { 'retry-after': String(settings.retryAfter) },
      );
    }
    const params = parametersOf(template, target.pathname);
    if (template === contents && params[1] === '.github' && params[0] === owner) return organisationFile(params[2]);
    if (template.startsWith('/repos/') && `/repos/${params[0]}/${params[1]}` !== root) {
      throw new Refusal(404, 'Not Found');
    }
    const result = handler({ params, query: target.searchParams, body });
    const wrong = api.responseFault(method, template, result.status, result.list ?? result.body);
    if (wrong !== undefined) faults.push(`own response to ${method} ${template}: ${wrong}`);
    return result;
  };

  /** The thread or comment that a mutation names, if it exists. */
  const subjectOf = (id: unknown): ReviewComment | undefined => {
    const number = /^(?:T|C)_(\d+)$/.exec(String(id))?.[1];
    return reviewComments.find((comment) => String(comment.id) === number);
  };

  const mutate = (mutation: string, id: unknown): void => {
    const comment = subjectOf(id);
    const [kind] = String(id);
    if (!comment) throw new Refusal(200, 'Could not resolve to a node');
    if (/ResolveReviewThread|resolveReviewThread/.test(mutation)) {
      if (kind !== 'T') faults.push(`${mutation} of ${String(id)}`);
      if (!settings.mayResolve) throw new Refusal(200, 'Resource not accessible by integration');
      comment.isResolved = mutation === 'resolveReviewThread';
    } else {
      if (kind !== 'C') faults.push(`${mutation} of ${String(id)}`);
      needs(settings.pullRequests);
      comment.isMinimized = mutation === 'minimizeComment';
    }
  };

  const graphql = (body: unknown): Answer => {
    const { query, variables = {} } = body as { query: string; variables?: Record<string, unknown> };
    const text = query.replace(/\s+/g, ' ').trim();
    if (text === 'query { viewer { login } }') {
      return { status: 200, body: { data: { viewer: { login: settings.account.login } } } };
    }
    if (/^query \(\$owner: String!.*reviewThreads\(first: 100, after: \$after\)/.test(text)) {
      mayRead(settings.pullRequests);
      const starts = reviewComments.filter(({ inReplyTo }) => inReplyTo === undefined);
      const nodes = starts.map(({ id }) => ({ id: `T_${id}`, comments: { nodes: [{ databaseId: id }] } }));
      const reviewThreads = { nodes, pageInfo: { hasNextPage: false, endCursor: null } };
      return { status: 200, body: { data: { repository: { pullRequest: { reviewThreads } } } } };
    }
    const [, mutation] = /^mutation \(\$id: ID!\) \{ (\w+)\(input: /.exec(text) ?? [];
    if (mutation !== undefined && /^(?:(?:un)?resolveReviewThread|(?:un)?minimizeComment)$/.test(mutation)) {
      try {
        mutate(mutation, variables['id']);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { status: 200, body: { data: null, errors: [{ type: 'FORBIDDEN', message: error.message }] } };
      }
      return { status: 200, body: { data: { [mutation]: {} } } };
    }
    faults.push(`no such query: ${query}`);
    throw new Refusal(400, 'Bad Request');
  };

  /** Sends the answer of a fault, or cuts the connection. */
  const lose = (request: IncomingMessage, response: ServerResponse, line: RequestLine, body: unknown, { answer }: Fault) => {
    transcript.push({ ...line, ...(body === undefined ? {} : { body }), status: answer?.status ?? 0 });
    if (!answer) return void request.socket.destroy();
    const headers = { 'content-type': 'application/json; charset=utf-8', ...answer.headers };
    response.writeHead(answer.status, headers);
    response.end(answer.body);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const method = request.method ?? 'GET';
    const asked = new URL(request.url ?? '/', url);
    // GraphQL is next to `v3` on an Enterprise Server.
    const isGraphql = asked.pathname === `${prefix.replace(/\/v3$/, '')}/graphql`;
    const target = new URL(asked);
    if (isGraphql) target.pathname = '/graphql';
    else if (asked.pathname.startsWith(`${prefix}/`)) target.pathname = asked.pathname.slice(prefix.length);
    else target.pathname = '/not-the-api';
    const text = await readAll(request);
    if (settings.requestsUntilCut !== null && settings.requestsUntilCut-- <= 0) {
      settings.requestsUntilCut = null;
      request.socket.destroy();
      return;
    }
    const raw = options.raw?.(target.pathname);
    if (raw) {
      transcript.push({ method, path: target.pathname, status: raw.status });
      response.writeHead(raw.status, raw.headers);
      response.end(raw.body);
      return;
    }
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const line = { method, path: target.pathname + target.search };
    const fault = settings.fault?.(line, requestsSinceFault++);
    if (fault && fault.hasEffect !== true) return lose(request, response, line, body, fault);
    let result: Answer;
    let headers: Record<string, string> = {};
    try {
      result = answer(method, target, request.headers.authorization, body);
      if (result.list) {
        const page = paginate(result.list, target);
        result = { status: result.status, body: page.items };
        headers = page.headers;
      }
    } catch (error) {
      if (!(error instanceof Refusal)) {
        faults.push(`the server itself failed: ${String(error)}`);
        throw error;
      }
      const { status, message, errors } = error;
      headers = { ...error.headers };
      result = {
        status,
        body: { message, ...(errors ? { errors } : {}), documentation_url: DOCUMENTATION, status: String(status) },
      };
    }
    if (fault) return lose(request, response, line, body, fault);
    const { path } = line;
    transcript.push({ method, path, ...(body === undefined ? {} : { body }), status: result.status });
    if (settings.requestsLeft !== null) headers['x-ratelimit-remaining'] = String(settings.requestsLeft--);
    response.writeHead(result.status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(result.body === undefined ? undefined : JSON.stringify(result.body));
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;

  return {
    url,
    settings,
    reviews,
    reviewComments,
    issueComments,
    checkRuns,
    issues,
    transcript,
    faults,
    get headSha() {
      return headSha;
    },
    writes: (from = 0) => transcript.slice(from).filter(({ method, path }) => method !== 'GET' && path !== '/graphql'),
    push(sha, newRepository) {
      const before = headSha;
      if (newRepository) repository = newRepository;
      headSha = sha;
      commits.add(sha);
      moveComments(before, sha);
    },
    addComment(account, body) {
      const comment: IssueComment = { id: nextId++, account, body };
      issueComments.push(comment);
      return comment;
    },
    commentOnLine(account, place, body) {
      const parent = 'inReplyTo' in place ? reviewComments.find(({ id }) => id === place.inReplyTo) : undefined;
      const path = 'path' in place ? place.path : (parent?.path ?? '');
      const line = 'line' in place ? place.line : (parent?.line ?? null);
      reviewComments.push({
        id: nextId++,
        reviewId: nextId++,
        account,
        path,
        side: 'RIGHT',
        commit: headSha,
        originalLine: line ?? parent?.originalLine ?? 1,
        originalStartLine: null,
        ...(parent ? { inReplyTo: parent.id } : {}),
        diffHunk: parent?.diffHunk ?? '@@',
        body,
        line,
        startLine: null,
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ReviewRequest {
  readonly commit_id?: string;
  readonly body?: string;
  readonly event?: string;
  readonly comments?: readonly CommentRequest[];
}

interface CommentRequest {
  readonly path: string;
  readonly body: string;
  readonly position?: number;
  readonly line?: number;
  readonly side?: 'LEFT' | 'RIGHT';
  readonly start_line?: number;
  readonly start_side?: 'LEFT' | 'RIGHT';
}

interface CheckOutput {
  readonly title?: string;
  readonly summary?: string;
  readonly annotations?: readonly CheckAnnotation[];
}

interface CheckRequest {
  readonly external_id?: string;
  readonly status?: string;
  readonly conclusion?: string;
  readonly output?: CheckOutput;
  readonly actions?: readonly { readonly identifier: string }[];
}

function updateRun(run: CheckRun, { external_id: externalId, status, conclusion }: CheckRequest): void {
  if (status === 'completed' && conclusion === undefined) {
    throw new Refusal(422, 'Invalid request.', ['conclusion is required for a completed check run']);
  }
  if (externalId !== undefined) run.externalId = externalId;
  if (status !== undefined) run.status = status;
  if (conclusion !== undefined) {
    run.status = 'completed';
    run.conclusion = conclusion;
  }
}

function stringOf(body: unknown): string {
  return (body as { body: string }).body;
}

/** A token may edit only the texts of its account; the token of a workflow must not edit those of users. */
function ownComment<T extends { readonly id: number; readonly account: Account }>(
  comments: readonly T[],
  id: string | undefined,
  account: Account,
): T {
  const comment = comments.find((one) => String(one.id) === id);
  if (!comment) throw new Refusal(404, 'Not Found');
  if (comment.account.id !== account.id) throw new Refusal(403, 'Resource not accessible by integration');
  return comment;
}

function diffEntry(file: ChangedFile, url: string, root: string, sha: string): object {
  const path = file.path.split('/').map(encodeURIComponent).join('/');
  const count = (prefix: string) => file.patch?.split('\n').filter((line) => line.startsWith(prefix)).length ?? 0;
  const additions = count('+');
  const deletions = count('-');
  return {
    sha: '0'.repeat(40),
    filename: file.path,
    status: file.status,
    additions,
    deletions,
    changes: additions + deletions,
    blob_url: `https://github.example${root}/blob/${sha}/${path}`,
    raw_url: `https://github.example${root}/raw/${sha}/${path}`,
    contents_url: `${url}${root}/contents/${path}?ref=${sha}`,
    ...(file.patch === null ? {} : { patch: file.patch }),
    ...(file.previousPath === undefined ? {} : { previous_filename: file.previousPath }),
  };
}

function parametersOf(template: string, path: string): string[] {
  const names = template.split('/');
  return path
    .split('/')
    .filter((_, index) => names[index]?.startsWith('{') === true)
    .map(decodeURIComponent);
}

function paginate(list: readonly unknown[], target: URL): { items: unknown[]; headers: Record<string, string> } {
  const perPage = Math.min(100, Number(target.searchParams.get('per_page') ?? 30));
  const page = Number(target.searchParams.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(list.length / perPage));
  const link = (number: number, rel: string) => {
    const other = new URL(target);
    other.searchParams.set('page', String(number));
    return `<${other.href}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev'), link(1, 'first')] : []),
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
  ];
  return {
    items: list.slice((page - 1) * perPage, page * perPage),
    headers: links.length > 0 ? { link: links.join(', ') } : {},
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
