/** Objects of GitHub's API in the shapes of its description. */
import type { Api } from './openapi.ts';

export interface Account {
  readonly login: string;
  readonly id: number;
  readonly type: 'User' | 'Bot';
}

/** The account of GITHUB_TOKEN. */
export const ACTIONS_BOT: Account = { login: 'github-actions[bot]', id: 41898282, type: 'Bot' };
export const SOME_USER: Account = { login: 'mona', id: 583231, type: 'User' };

export function userObject(api: string, { login, id, type }: Account) {
  const url = `${api}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id,
    node_id: Buffer.from(`User${id}`).toString('base64'),
    avatar_url: `https://avatars.example/u/${id}`,
    gravatar_id: '',
    url,
    html_url: `https://github.example/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type,
    site_admin: false,
  };
}

/** The description's example of a pull request, with this one's number and commits. */
export function pullRequestObject(
  api: Api,
  pull: { number: number; headSha: string; baseSha: string; changedFiles: number; state: 'open' | 'closed' },
): object {
  const example = api.example('pull-request') as unknown as {
    head: { sha: string };
    base: { sha: string };
    requested_teams: object[];
  };
  return {
    ...example,
    number: pull.number,
    state: pull.state,
    changed_files: pull.changedFiles,
    // The example's team lacks required properties of the description.
    requested_teams: [],
    head: { ...example.head, sha: pull.headSha },
    base: { ...example.base, sha: pull.baseSha },
  };
}

/** The description's example of a comparison, with these commits. */
export function comparisonObject(api: Api, base: string, mergeBase: string): object {
  const example = api.example('commit-comparison') as unknown as { base_commit: object; merge_base_commit: object };
  return {
    ...example,
    base_commit: { ...example.base_commit, sha: base },
    merge_base_commit: { ...example.merge_base_commit, sha: mergeBase },
  };
}

/** The app that GITHUB_TOKEN acts for, after the description's example. */
export function appObject(api: Api): object {
  const example = api.example('check-run-example-of-completed-conclusion') as unknown as { app: object };
  return { ...example.app, id: 15368, slug: 'github-actions', name: 'GitHub Actions' };
}
