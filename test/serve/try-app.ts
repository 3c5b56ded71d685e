/**
 * Demonstrates the steps of a new owner locally: `selvage serve` makes a GitHub App of itself on a GitHub of the tests,
 * reviews a pull request there, and answers a command. Run: npm run try-app
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BotPull, TARGET } from '../github/bot-fixture.ts';
import { SOME_USER } from '../github/objects.ts';
import { pullRequestPayload } from '../github/payload.ts';
import { gitRepository } from '../github/repository.ts';
import { createWorkspace } from '../github/runner.ts';
import { appOptions, deliver, pressButton, startServing } from './app-fixture.ts';

const token = 'token-of-the-installation';
const kernel = `__global__ void reverse(const int *in, int *out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}
void launch(const int *in, int *out) { reverse<<<1, 256>>>(in, out); }
`;

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'selvage-try-'));
const workspace = createWorkspace();
const baseSha = workspace.commit({ 'src/reverse.cu': kernel });
const headSha = workspace.commit({ 'src/reverse.cu': kernel.replace('  __syncthreads();\n', '') });
mkdirSync(join(folder, TARGET.owner));
symlinkSync(workspace.root, join(folder, TARGET.owner, `${TARGET.repo}.git`));
const repository = gitRepository(workspace.root);
const pull = await BotPull.open({ ...appOptions(token), baseSha, headSha, repository, files: ['src/reverse.cu'] });
const { server } = pull;
const app = startServing(
  fileURLToPath(new URL('../../dist/cli.js', import.meta.url)),
  {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    PORT: '0',
    SELVAGE_DATA: join(folder, 'data'),
    SELVAGE_WRITE_INTERVAL: '0',
    GITHUB_API_URL: server.url,
    GITHUB_SERVER_URL: `file://${folder}`,
  },
  folder,
);
try {
  const [, page = ''] = await app.line(/open (http\S+)/);
  writeLine(`1. \`selvage serve\` has no App yet. Its page is ${page}`);
  const { name } = await pressButton(page);
  const [, port = ''] = await app.line(/listening on port (\d+)/);
  writeLine(`2. The button was pressed: GitHub made the App ${String(name)}, and the server listens on port ${port}.`);
  const about = { owner: TARGET.owner, repo: TARGET.repo, number: TARGET.pullNumber, headSha, baseSha };
  await deliver(port, 'opened', 'pull_request', pullRequestPayload('opened', about));
  await app.outcome('opened');
  writeLine(`3. A pull request was opened. Its check run: ${server.checkRuns[0]?.title ?? 'nothing'}`);
  for (const { path, line, body } of server.reviewComments) writeLine(`\n--- comment on ${path}:${line}\n${body}\n---\n`);
  const { id, body } = server.addComment(SOME_USER, '/selvage help');
  const names = { full_name: `${TARGET.owner}/${TARGET.repo}`, name: TARGET.repo, owner: { login: TARGET.owner } };
  const issue = { number: TARGET.pullNumber, pull_request: {} };
  await deliver(port, 'asked', 'issue_comment', { action: 'created', repository: names, issue, comment: { id, body, user: SOME_USER } });
  await app.outcome('asked');
  writeLine(`4. A user wrote \`/selvage help\`. The App answered:\n\n${pull.answers().at(-1) ?? ''}`);
  for (const fault of server.faults) writeLine(`fault: ${fault}`);
  process.exitCode = server.faults.length > 0 ? 1 : 0;
} finally {
  app.child.kill('SIGTERM');
  await app.line(/the server ended/);
  await server.close();
  workspace.dispose();
  rmSync(folder, { recursive: true, force: true });
}
