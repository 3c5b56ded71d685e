/** Reads the events of comments, from a runner or a webhook. */
import * as v from 'valibot';
import type { CommandComment } from './bot.ts';

const user = v.object({ login: v.string(), id: v.number(), type: v.string() });
const common = {
  action: v.string(),
  repository: v.object({ name: v.string(), owner: v.object({ login: v.string() }) }),
  comment: v.object({ id: v.number(), body: v.nullable(v.string()), user: v.nullable(user) }),
};
const issueSchema = v.object({
  ...common,
  issue: v.object({ number: v.number(), pull_request: v.optional(v.looseObject({})) }),
});
const lineSchema = v.object({ ...common, pull_request: v.object({ number: v.number() }) });

/** The events that may contain commands. */
export const commentEvents: ReadonlySet<string> = new Set(['issue_comment', 'pull_request_review_comment']);

/**
 * The new comment of an event.
 * @param name of the event
 * @returns undefined if it is not on a pull request, or was edited or deleted
 */
export function commentOf(name: string, payload: unknown): CommandComment | undefined {
  const parsed = v.safeParse(name === 'issue_comment' ? issueSchema : lineSchema, payload);
  if (!parsed.success || parsed.output.action !== 'created') return undefined;
  const { comment, repository } = parsed.output;
  if ('issue' in parsed.output && parsed.output.issue.pull_request === undefined) return undefined;
  const pullNumber = 'issue' in parsed.output ? parsed.output.issue.number : parsed.output.pull_request.number;
  if (!comment.user) return undefined;
  const { login, id, type } = comment.user;
  return {
    target: { owner: repository.owner.login, repo: repository.name, pullNumber },
    id: comment.id,
    on: name === 'issue_comment' ? 'conversation' : 'line',
    author: { login, id, isBot: type !== 'User' },
    body: comment.body ?? '',
  };
}
