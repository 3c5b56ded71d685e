/** Reads the event that started the run. */
import * as v from 'valibot';

export interface PullRequestEvent {
  readonly kind: 'pull-request';
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  readonly draft: boolean;
  /** The head is in another repository. Its author may be a stranger, and the token cannot write. */
  readonly fork: boolean;
}

type RunEvent =
  | PullRequestEvent
  /** Nothing to do; the run succeeds. */
  | { readonly kind: 'other'; readonly message: string }
  /** Wrong usage. */
  | { readonly kind: 'refused'; readonly message: string };

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/));
const repository = v.object({ full_name: v.string() });
const payloadSchema = v.object({
  action: v.string(),
  repository: v.object({ name: v.string(), owner: v.object({ login: v.string() }), full_name: v.string() }),
  pull_request: v.object({
    number: v.number(),
    draft: v.optional(v.nullable(v.boolean())),
    head: v.object({ sha, repo: v.nullable(repository) }),
    base: v.object({ sha }),
  }),
});

const REASONS: Readonly<Record<string, string>> = {
  merge_group: 'the pull requests of a merge group were reviewed before',
  push: 'a push has no pull request to review',
  workflow_dispatch: 'a manual run has no pull request to review',
  schedule: 'a scheduled run has no pull request to review',
};

/**
 * Reads the event of a run.
 * @param name `GITHUB_EVENT_NAME`
 * @param payload the JSON of the file `GITHUB_EVENT_PATH`
 * @param allowTarget whether the workflow accepts the risk of `pull_request_target`
 */
export function parseEvent(name: string, payload: unknown, allowTarget: boolean): RunEvent {
  if (name === 'pull_request_target' && !allowTarget) {
    return {
      kind: 'refused',
      message:
        'The event pull_request_target started this run. Compiling runs code of the pull request, and under this event that code could reach secrets and a token with write access. Use `on: pull_request`, or set the input `allow-pull-request-target` to true if you accept this.',
    };
  }
  if (name !== 'pull_request' && name !== 'pull_request_target') {
    const reason = REASONS[name] ?? `the event ${JSON.stringify(name)} has no pull request to review`;
    return { kind: 'other', message: `Nothing to do: ${reason}. Selvage runs on pull_request.` };
  }
  const parsed = v.safeParse(payloadSchema, payload);
  if (!parsed.success) {
    const issue = parsed.issues[0];
    return {
      kind: 'refused',
      message: `The event file is not a ${name} payload: ${v.getDotPath(issue) ?? 'the document'}: ${issue.message}`,
    };
  }
  const { action, repository: base, pull_request: pull } = parsed.output;
  if (action === 'closed') return { kind: 'other', message: 'Nothing to do: the pull request is closed.' };
  return {
    kind: 'pull-request',
    owner: base.owner.login,
    repo: base.name,
    number: pull.number,
    headSha: pull.head.sha,
    baseSha: pull.base.sha,
    draft: pull.draft === true,
    // A head repository that was deleted was a fork.
    fork: pull.head.repo?.full_name !== base.full_name,
  };
}
