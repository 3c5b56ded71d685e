/** Reads the event that started the run. */
import * as v from 'valibot';
import { finishedRunSchema, isRunOfFork, type FinishedRun } from './fork-review/finished-run.ts';

export interface PullRequestEvent {
  readonly kind: 'pull-request';
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  /** The head before the push that caused the event. */
  readonly beforeSha?: string;
  readonly draft: boolean;
  /** Whether the head is in another repository. Its author is then not trusted, and the token cannot write. */
  readonly fork: boolean;
  /** Whether the run repeats the analysis of the run of a fork. It posts nothing: another job does. */
  readonly isRepeat?: boolean;
}

/** Commits on the default branch, or those that a merge queue is about to put there. */
export interface PushEvent {
  readonly kind: 'push';
  readonly owner: string;
  readonly repo: string;
  readonly headSha: string;
  /** The previous commit; all zeros if none exists. */
  readonly baseSha: string;
}

/** A run that was scheduled, or started by hand. */
export interface RepositoryEvent {
  readonly kind: 'repository';
  readonly owner: string;
  readonly repo: string;
  readonly headSha: string;
  readonly branch: string;
  readonly isDefaultBranch: boolean;
}

type RunEvent =
  | PullRequestEvent
  /** A run of a fork has ended, and its analysis is repeated. */
  | { readonly kind: 'fork-run'; readonly finished: FinishedRun }
  | PushEvent
  | RepositoryEvent
  /** The event needs no action; the run succeeds. */
  | { readonly kind: 'other'; readonly message: string }
  /** The action is used incorrectly. */
  | { readonly kind: 'refused'; readonly message: string };

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/));
const repository = v.object({ full_name: v.string() });
const payloadSchema = v.object({
  action: v.string(),
  before: v.optional(v.nullable(sha)),
  repository: v.object({ name: v.string(), owner: v.object({ login: v.string() }), full_name: v.string() }),
  pull_request: v.object({
    number: v.number(),
    draft: v.optional(v.nullable(v.boolean())),
    head: v.object({ sha, repo: v.nullable(repository) }),
    base: v.object({ sha }),
  }),
});

const pushSchema = v.object({
  ref: v.string(),
  before: sha,
  after: sha,
  deleted: v.optional(v.boolean()),
  repository: v.object({ full_name: v.string(), default_branch: v.string() }),
});

/** The payload of a scheduled run has fewer keys. */
const repositorySchema = v.object({
  ref: v.optional(v.nullable(v.string())),
  repository: v.optional(v.object({ default_branch: v.optional(v.string()) })),
});

const mergeGroupSchema = v.object({
  action: v.string(),
  merge_group: v.object({ head_sha: sha, base_sha: sha }),
  repository: v.object({ full_name: v.string() }),
});

/** Repository and commit of a run in the environment of the runner. */
interface RunPlace {
  /** `GITHUB_REPOSITORY` */
  readonly repository?: string | undefined;
  /** `GITHUB_SHA` */
  readonly sha?: string | undefined;
}

/**
 * Reads the event of a run.
 * @param name `GITHUB_EVENT_NAME`
 * @param payload the JSON of the file `GITHUB_EVENT_PATH`
 * @param allowTarget whether the workflow accepts the risk of `pull_request_target`
 */
export function parseEvent(name: string, payload: unknown, allowTarget: boolean, place: RunPlace = {}): RunEvent {
  if (name === 'pull_request_target' && !allowTarget) {
    return {
      kind: 'refused',
      message:
        'The event pull_request_target started this run. Compiling runs code of the pull request, and under this event that code could reach secrets and a token with write access. Use `on: pull_request`, or set the input `allow-pull-request-target` to true if you accept this.',
    };
  }
  if (name === 'push') return parsePush(payload);
  if (name === 'merge_group') return parseMergeGroup(payload);
  if (name === 'workflow_run') return parseFinishedRun(payload, place);
  if (name === 'schedule' || name === 'workflow_dispatch') return parseRepository(name, payload, place);
  if (name !== 'pull_request' && name !== 'pull_request_target') {
    const message = `Nothing to do: the event ${JSON.stringify(name)} has no pull request to review. Selvage runs on pull_request.`;
    return { kind: 'other', message };
  }
  const parsed = v.safeParse(payloadSchema, payload);
  if (!parsed.success) return refused(name, parsed.issues[0]);
  const { action, before, repository: base, pull_request: pull } = parsed.output;
  if (action === 'closed') return { kind: 'other', message: 'Nothing to do: the pull request is closed.' };
  return {
    kind: 'pull-request',
    owner: base.owner.login,
    repo: base.name,
    number: pull.number,
    headSha: pull.head.sha,
    baseSha: pull.base.sha,
    ...(before && { beforeSha: before }),
    draft: pull.draft === true,
    // If the head repository was deleted, it was a fork.
    fork: pull.head.repo?.full_name !== base.full_name,
  };
}

function parseFinishedRun(payload: unknown, place: RunPlace): RunEvent {
  const parsed = v.safeParse(finishedRunSchema, payload);
  if (!parsed.success) return refused('workflow_run', parsed.issues[0]);
  const { event, conclusion } = parsed.output.workflow_run;
  const nothing = (why: string): RunEvent => ({ kind: 'other', message: `Nothing to do: ${why}.` });
  if (place.repository !== parsed.output.repository.full_name)
    return { kind: 'refused', message: 'The workflow_run payload is of another repository.' };
  if (event !== 'pull_request') return nothing(`the run was started by ${JSON.stringify(event)}, not by pull_request`);
  if (!isRunOfFork(parsed.output)) return nothing('the run was of a branch of this repository, so it posted its review itself');
  if (conclusion === 'action_required') return nothing('the run of the fork waits for an approval');
  return { kind: 'fork-run', finished: parsed.output };
}

function parsePush(payload: unknown): RunEvent {
  const parsed = v.safeParse(pushSchema, payload);
  if (!parsed.success) return refused('push', parsed.issues[0]);
  const { ref, before, after, deleted, repository: pushed } = parsed.output;
  const branch = pushed.default_branch;
  if (ref !== `refs/heads/${branch}` || deleted === true) {
    const message = `Nothing to do: of pushes, Selvage looks at those to the default branch ${JSON.stringify(branch)}. It reviews others on pull_request.`;
    return { kind: 'other', message };
  }
  return { kind: 'push', ...namesOf(pushed.full_name), headSha: after, baseSha: before };
}

/** A merge queue waits for the check run of a group; its pull requests were reviewed one by one, but not together. */
function parseMergeGroup(payload: unknown): RunEvent {
  const parsed = v.safeParse(mergeGroupSchema, payload);
  if (!parsed.success) return refused('merge_group', parsed.issues[0]);
  const { action, merge_group: group, repository: own } = parsed.output;
  if (action !== 'checks_requested') return { kind: 'other', message: 'Nothing to do: the merge group has ended.' };
  return { kind: 'push', ...namesOf(own.full_name), headSha: group.head_sha, baseSha: group.base_sha };
}

function parseRepository(name: string, payload: unknown, place: RunPlace): RunEvent {
  const parsed = v.safeParse(repositorySchema, payload ?? {});
  if (!parsed.success) return refused(name, parsed.issues[0]);
  const head = v.safeParse(sha, place.sha);
  if (!head.success || !/^[^/]+\/[^/]+$/.test(place.repository ?? '')) {
    return { kind: 'refused', message: 'The environment of the runner lacks GITHUB_REPOSITORY or GITHUB_SHA.' };
  }
  const { ref, repository: own } = parsed.output;
  // Scheduled runs belong to the default branch.
  const branch = (ref ?? own?.default_branch ?? 'the default branch').replace(/^refs\/heads\//, '');
  const isDefaultBranch = name === 'schedule' || branch === own?.default_branch;
  return { kind: 'repository', ...namesOf(place.repository!), headSha: head.output, branch, isDefaultBranch };
}

function namesOf(fullName: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = fullName.split('/');
  return { owner, repo };
}

function refused(name: string, issue: v.BaseIssue<unknown>): RunEvent {
  const place = v.getDotPath(issue) ?? 'the document';
  return { kind: 'refused', message: `The event file is not a ${name} payload: ${place}: ${issue.message}` };
}
