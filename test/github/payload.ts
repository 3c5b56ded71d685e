/** Real event payloads, with the commits of a test repository inserted. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface WebhookExamples {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}

interface PullRequestPayload {
  action: string;
  number: number;
  pull_request: {
    number: number;
    draft: boolean;
    head: { sha: string; repo: { full_name: string } | null };
    base: { sha: string; repo: { full_name: string } };
  };
  repository: { name: string; full_name: string; owner: { login: string } };
}

let loaded: readonly WebhookExamples[] | undefined;

/** The recorded payloads of an event. */
export function examplesOf(event: string): Record<string, unknown>[] {
  if (!loaded) {
    const file = createRequire(import.meta.url).resolve('@octokit/webhooks-examples');
    loaded = JSON.parse(readFileSync(file, 'utf8')) as WebhookExamples[];
  }
  const examples = loaded.find(({ name }) => name === event)?.examples ?? [];
  return structuredClone([...examples]);
}

/** A `pull_request` payload: the recorded one of that action, about another pull request. */
export function pullRequestPayload(
  action: string,
  pull: {
    owner: string;
    repo: string;
    number: number;
    headSha: string;
    baseSha: string;
    draft?: boolean;
    fork?: boolean;
  },
): PullRequestPayload {
  const example = examplesOf('pull_request').find((one) => one['action'] === action);
  if (!example) throw new Error(`no recorded pull_request payload with action ${action}`);
  const payload = example as unknown as PullRequestPayload;
  const fullName = `${pull.owner}/${pull.repo}`;
  payload.number = pull.number;
  payload.repository.name = pull.repo;
  payload.repository.full_name = fullName;
  payload.repository.owner.login = pull.owner;
  const { pull_request: request } = payload;
  request.number = pull.number;
  request.draft = pull.draft === true;
  request.head.sha = pull.headSha;
  request.base.sha = pull.baseSha;
  request.base.repo.full_name = fullName;
  if (request.head.repo) request.head.repo.full_name = pull.fork === true ? `somebody/${pull.repo}` : fullName;
  return payload;
}
