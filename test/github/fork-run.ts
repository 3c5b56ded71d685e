/** A run of a fork that has ended: its event, and the responses of GitHub about its pull request and artifacts. */
import type { Api } from './openapi.ts';
import type { Handler, RawAnswer } from './server.ts';

const OWN = 'octo/kernels';
export const FORK = 'mallory/kernels';

interface OpenPullRequest {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  readonly headRepository?: string;
}

/** The payload of `workflow_run` for the run of a pull request of `mallory:topic`. */
export function finishedRun(id: number, head: string, more: object = {}) {
  const repository = (fullName: string) => {
    const [login = '', name = ''] = fullName.split('/');
    return { full_name: fullName, name, owner: { login } };
  };
  const run = { id, event: 'pull_request', conclusion: 'failure', head_sha: head, head_branch: 'topic', head_repository: repository(FORK) };
  return { action: 'completed', repository: repository(OWN), workflow_run: { ...run, ...more } };
}

/** The open pull requests of `mallory:topic`. */
export function listedPulls(api: Api, pulls: readonly OpenPullRequest[]): Record<string, Handler> {
  const [first] = api.example('pull-request-simple-items') as unknown as [Record<string, Record<string, object>>];
  const repo = (name: string) => ({ ...first['head']!['repo'], full_name: name });
  return {
    'GET /repos/{owner}/{repo}/pulls': ({ query }) => {
      const isAsked = query.get('head') === 'mallory:topic' && query.get('state') === 'open';
      const list = pulls.map(({ number, head, base, headRepository = FORK }) => ({
        ...first,
        number,
        draft: false,
        requested_teams: [],
        head: { ...first['head'], sha: head, repo: repo(headRepository) },
        base: { ...first['base'], sha: base, repo: repo(OWN) },
      }));
      return { status: 200, list: isAsked ? list : [] };
    },
  };
}

interface StoredArtifact {
  readonly archive: Buffer;
  readonly headSha: string;
  readonly more?: object;
}

/** The artifacts `selvage-review`. @param artifactsOf those of a run, by its ID */
export function listedArtifacts(api: Api, artifactsOf: (run: number) => readonly StoredArtifact[]): Record<string, Handler> {
  return {
    'GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts': ({ params }) => {
      const id = Number(params[2]);
      const list = artifactsOf(id).map(({ archive, headSha, more }) => ({
        ...api.example('artifact'),
        id,
        name: 'selvage-review',
        size_in_bytes: archive.length,
        expired: false,
        workflow_run: { id, repository_id: 1, head_repository_id: 2, head_branch: 'topic', head_sha: headSha },
        ...more,
      }));
      return { status: 200, body: { total_count: list.length, artifacts: list } };
    },
  };
}

/** The archive of a run's artifact, which GitHub keeps on another server. */
export function storedArchive(path: string, url: string, archives: ReadonlyMap<number, Buffer>): RawAnswer | undefined {
  const [, kept, asked] = /^\/(?:storage\/(\d+)|repos\/octo\/kernels\/actions\/artifacts\/(\d+)\/zip)$/.exec(path) ?? [];
  const archive = kept === undefined ? undefined : archives.get(Number(kept));
  if (archive) return { status: 200, body: archive };
  return asked === undefined ? undefined : { status: 302, headers: { location: `${url}/storage/${asked}` } };
}
