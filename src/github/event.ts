/** What the event that started the run asks of us. */
import * as v from 'valibot';

export interface PullRequestEvent {
  readonly kind: 'pull-request';
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  readonly draft: boolean;
  /** The head is in another repository: its author need not be trusted, and the token cannot write. */
  readonly fork: boolean;
}

export type RunEvent =
  | PullRequestEvent
  /** Nothing to do, which is no failure. */
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
  merge_group: 'a merge group was reviewed as pull requests',
  push: 'a push has no pull request to review',
  workflow_dispatch: 'a manual run has no pull request to review',
  schedule: 'a scheduled run has no pull request to review',
};

/**
 * Reads the event of a run.
 * @param name `GITHUB_EVENT_NAME`
 * @param payload what `GITHUB_EVENT_PATH` holds
 * @param allowTarget whether the workflow says that it knows what `pull_request_target` means
 */
export function parseEvent(name: string, payload: unknown, allowTarget: boolean): RunEvent {
  if (name === 'pull_request_target' && !allowTarget) {
    return {
      kind: 'refused',
      message:
        'This run was started by pull_request_target, which has secrets and a token that can write, and compiling runs code of the pull request. Use `on: pull_request`; to go on regardless set the input `allow-pull-request-target` to true.',
    };
  }
  if (name !== 'pull_request' && name !== 'pull_request_target') {
    const reason = REASONS[name] ?? `there is nothing to review for the event ${JSON.stringify(name)}`;
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
