/** `selvage serve` from scratch: the App is created with one click, and answers pull requests, commands and buttons. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BotPull, TARGET } from '../github/bot-fixture.ts';
import { SOME_USER } from '../github/objects.ts';
import { pullRequestPayload } from '../github/payload.ts';
import { gitRepository } from '../github/repository.ts';
import { createWorkspace } from '../github/runner.ts';
import { appOptions, deliver, pressButton, startServing, WEBHOOK_SECRET } from '../serve/app-fixture.ts';
import { needsCompiler, TOKEN } from './pull-request.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const isOld = Number(process.versions.node.split('.')[0]) < 24;
const skip = isOld ? { skip: 'this Node has no SQLite' } : needsCompiler;

const SHIFT = `__global__ void shift(const int *in, int *out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}
void launch(const int *in, int *out) { shift<<<1, 256>>>(in, out); }
`;

test('an App is created with one click, reviews, answers in threads, and applies fixes by a button', skip, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-app-'));
  const workspace = createWorkspace();
  const baseSha = workspace.commit({ 'src/shift.cu': SHIFT });
  const headSha = workspace.commit({ 'src/shift.cu': SHIFT.replace('  __syncthreads();\n', '') });
  mkdirSync(join(folder, 'octo'));
  symlinkSync(workspace.root, join(folder, 'octo/kernels.git'));
  const pull = await BotPull.open({
    ...appOptions(TOKEN),
    baseSha,
    headSha,
    repository: gitRepository(workspace.root),
    files: ['src/shift.cu'],
  });
  const { server } = pull;
  server.settings.organisation = 'version: 1\nchecks: { race: { severity: warning } }\n';
  const app = startServing(
    CLI,
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
  after(async () => {
    app.child.kill('SIGKILL');
    await server.close();
    workspace.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const [, page = ''] = await app.line(/open (http\S+)/);
  assert.equal((await fetch(page.replace(/key=.*/, 'key=guess'))).status, 404);
  const manifest = await pressButton(page);
  assert.match(JSON.stringify(manifest), /"url":"http:\/\/127\.0\.0\.1:\d+\/webhook"/);
  const [, port = ''] = await app.line(/listening on port (\d+)/);

  const about = { owner: TARGET.owner, repo: TARGET.repo, number: TARGET.pullNumber, headSha, baseSha };
  const opened = pullRequestPayload('opened', about);
  assert.equal(await deliver(port, 'forged', 'pull_request', opened, 'another secret'), 401);
  assert.equal(await deliver(port, 'd1', 'pull_request', opened), 202);
  assert.equal(await app.outcome('d1'), 'reviewed');
  // The organisation lowered the severity, so the check run does not fail; it has buttons.
  assert.deepEqual(
    server.checkRuns.map(({ conclusion, buttons }) => [conclusion, buttons]),
    [['neutral', ['fix', 'ignore', 'explain']]],
  );
  assert.equal(server.reviewComments.length, 1);
  assert.match(server.reviewComments[0]!.body, /```+suggestion/);

  assert.equal(await deliver(port, 'ping', 'ping', { zen: 'Keep it logically awesome.' }), 200);
  assert.match(
    server.reviewComments[0]!.body,
    /git clone https:\/\/github\.com\/\S+\/selvage ~\/selvage[^]*node ~\/selvage\/dist\/cli\.js run /,
  );

  // A command in the thread of the finding.
  const repository = { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } };
  const user = { ...SOME_USER };
  server.commentOnLine(SOME_USER, { inReplyTo: server.reviewComments[0]!.id }, '/selvage explain');
  const { id, body } = server.reviewComments[1]!;
  const said = { action: 'created', repository, pull_request: { number: 7 }, comment: { id, body, user } };
  assert.equal(await deliver(port, 'd2', 'pull_request_review_comment', said), 202);
  assert.equal(await app.outcome('d2'), 'answered');
  assert.deepEqual(pull.reactions, [[id, 'eyes']]);
  const answer = server.reviewComments[2]!;
  assert.equal(answer.inReplyTo, server.reviewComments[0]!.id);
  assert.match(answer.body, /race\/shared, in `shift/);

  // The plain name of a kernel with parameters.
  const asked = server.addComment(SOME_USER, '/selvage cost shift');
  const inConversation = {
    action: 'created',
    repository,
    issue: { number: 7, pull_request: {} },
    comment: { id: asked.id, body: asked.body, user },
  };
  assert.equal(await deliver(port, 'cost', 'issue_comment', inConversation), 202);
  assert.equal(await app.outcome('cost'), 'answered');
  assert.match(pull.answers().at(-1) ?? '', /`shift\(int const\*, int\*\)`\n\n\| of one warp \|/);

  // Re-run.
  const again = { action: 'rerequested', repository, sender: user, check_run: { head_sha: headSha, pull_requests: [{ number: 7 }] } };
  const before = server.transcript.length;
  assert.equal(await deliver(port, 'rerun', 'check_run', again), 202);
  assert.equal(await app.outcome('rerun'), 'answered');
  assert.deepEqual(
    server.writes(before).map(({ method }) => method),
    ['PATCH'],
  );

  // A button of the check run.
  const press = {
    action: 'requested_action',
    requested_action: { identifier: 'fix' },
    repository,
    sender: user,
    check_run: { head_sha: headSha, pull_requests: [{ number: 7 }] },
  };
  assert.equal(await deliver(port, 'd3', 'check_run', press), 202);
  assert.equal(await app.outcome('d3'), 'answered');
  assert.match(pull.commits[0]!.files.get('src/shift.cu') ?? '', /__syncthreads\(\);/);
  assert.match(pull.answers().at(-1) ?? '', /@mona: Committed ccccccc/);

  // The reviewed commit is an earlier head by now.
  assert.equal(await deliver(port, 'd4', 'pull_request', pullRequestPayload('synchronize', about)), 202);
  assert.equal(await app.outcome('d4'), 'outdated');
  assert.equal(await deliver(port, 'd1', 'pull_request', opened), 202);
  app.child.kill('SIGTERM');
  await app.line(/the server ended/);
  assert.equal(app.child.exitCode, 0, app.lines.join('\n'));
  assert.equal(server.checkRuns.length, 1);
  assert.deepEqual(server.faults, []);
  const log = app.lines.filter((line) => !line.startsWith('No App exists yet') && line !== 'the server ended');
  for (const line of log) assert.equal(typeof (JSON.parse(line) as { message: unknown }).message, 'string', line);
  const key = /key=(\w+)/.exec(page)![1]!;
  for (const secret of [TOKEN, WEBHOOK_SECRET, key]) assert.ok(!log.join('\n').includes(secret));
});
