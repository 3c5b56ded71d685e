/** Pull requests for the action: a real repository, a simulated GitHub, and the action run as a runner runs it. */
import { execFileSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pullRequestPayload } from '../github/payload.ts';
import { gitRepository } from '../github/repository.ts';
import { createWorkspace, runAction, type Files, type Workspace } from '../github/runner.ts';
import { startGitHub, type GitHubServer, type ServerOptions } from '../github/server.ts';

export const POST = fileURLToPath(new URL('../../dist/post.js', import.meta.url));
const ENTRY = process.env['SELVAGE_TEST_ACTION'] ?? fileURLToPath(new URL('../../dist/action.js', import.meta.url));
export const TOKEN = 'ghs_0123456789abcdef';
const OWNER = 'octo';
const REPO = 'kernels';
const NUMBER = 7;

const built = existsSync(ENTRY);
const compiler = built && hasCompiler();
export const needsBuild = built ? {} : { skip: 'dist/action.js is not built' };
export const needsCompiler = compiler ? {} : { skip: built ? 'no nvcc on PATH' : 'dist/action.js is not built' };

const workspaces: Workspace[] = [];
const servers: GitHubServer[] = [];

after(async () => {
  for (const workspace of workspaces) workspace.dispose();
  await Promise.all(servers.map((server) => server.close()));
});

function hasCompiler(): boolean {
  try {
    execFileSync('nvcc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A repository whose pull request makes the given changes, its GitHub server, and a function that runs the action. */
export async function pullRequest(
  changes: Files,
  base: Files,
  routes?: (baseSha: string, headSha: string) => Pick<ServerOptions, 'more' | 'raw'>,
) {
  const workspace = createWorkspace();
  workspaces.push(workspace);
  const baseSha = workspace.commit(base);
  const headSha = workspace.commit(changes);
  const server = await startGitHub({
    owner: OWNER,
    repo: REPO,
    pullNumber: NUMBER,
    baseSha,
    headSha,
    repository: gitRepository(workspace.root),
    token: TOKEN,
    ...routes?.(baseSha, headSha),
  });
  servers.push(server);
  const run = (
    options: {
      /** `POST`, or by default the action. */
      entry?: string;
      action?: string;
      draft?: boolean;
      fork?: boolean;
      /** Without costs there is only the verification build: for reviews of other properties. */
      costs?: boolean;
      eventName?: string;
      event?: unknown;
      inputs?: Readonly<Record<string, string>>;
      environment?: Readonly<Record<string, string>>;
      onStart?: (child: ChildProcess) => void;
    } = {},
  ) => {
    const { draft = false, fork = false, costs = false } = options;
    const pull = { owner: OWNER, repo: REPO, number: NUMBER, headSha: server.headSha, baseSha, draft, fork };
    return runAction({
      entry: options.entry ?? ENTRY,
      workspace: workspace.root,
      apiUrl: server.url,
      eventName: options.eventName ?? 'pull_request',
      event: options.event ?? pullRequestPayload(options.action ?? 'synchronize', pull),
      token: TOKEN,
      repository: `${OWNER}/${REPO}`,
      inputs: { ...(!costs && { checks: 'race,divergence' }), ...options.inputs },
      ...(options.environment ? { environment: options.environment } : {}),
      ...(options.onStart ? { onStart: options.onStart } : {}),
    });
  };
  return { workspace, server, run };
}
