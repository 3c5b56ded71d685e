/** The action on comments, as a runner starts it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BotPull, TARGET } from '../github/bot-fixture.ts';
import { SOME_USER, type Account } from '../github/objects.ts';
import { gitRepository } from '../github/repository.ts';
import { createWorkspace, runAction } from '../github/runner.ts';
import { needsBuild, needsCompiler, TOKEN } from './pull-request.ts';

const ENTRY = process.env['SELVAGE_TEST_ACTION'] ?? fileURLToPath(new URL('../../dist/action.js', import.meta.url));
const STRANGER: Account = { login: 'mallory', id: 99, type: 'User' };
const SHIFT = `__global__ void shift(const int *in, int *out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}
void launch(const int *in, int *out) { shift<<<1, 256>>>(in, out); }
`;

const workspace = createWorkspace();
const baseSha = workspace.commit({ 'src/shift.cu': SHIFT });
const headSha = workspace.commit({ 'src/shift.cu': SHIFT.replace('  __syncthreads();\n', '') });
const pull = await BotPull.open({
  token: TOKEN,
  baseSha,
  headSha,
  repository: gitRepository(workspace.root),
  files: ['src/shift.cu'],
});
const { server } = pull;
after(async () => {
  await server.close();
  workspace.dispose();
});

const repository = { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } };

/** Runs the action on an event of a comment; the default branch is checked out then. */
async function run(eventName: string, event: object, inputs: Readonly<Record<string, string>> = {}) {
  workspace.checkOut(baseSha);
  return runAction({
    entry: ENTRY,
    workspace: workspace.root,
    apiUrl: server.url,
    eventName,
    event: { action: 'created', repository, ...event },
    token: TOKEN,
    repository: 'octo/kernels',
    inputs: { checks: 'race,divergence,repair', ...inputs },
  });
}

const onConversation = (body: string, account = SOME_USER) => {
  const { id } = server.addComment(account, body);
  return { issue: { number: TARGET.pullNumber, pull_request: {} }, comment: { id, body, user: { ...account } } };
};

test('a command on the conversation is acknowledged, carried out and answered', needsCompiler, async () => {
  const event = onConversation('/selvage fix all');
  const { status, stdout } = await run('issue_comment', event);
  assert.equal(status, 0, stdout);
  assert.deepEqual(pull.reactions, [[event.comment.id, 'eyes']]);
  assert.match(pull.commits[0]!.files.get('src/shift.cu') ?? '', /__syncthreads\(\);/);
  assert.match(pull.commits[0]!.message, /Co-authored-by: mona/);
  assert.match(pull.answers().at(-1)!, /Committed ccccccc: the edit compiles, and the kernel is proved with it\./);
  // The workspace is left as it was.
  assert.equal(workspace.git('rev-parse', 'HEAD'), baseSha);
  const again = await run('issue_comment', event);
  assert.match(again.stdout, /The comment was known/);
  assert.equal(pull.commits.length, 1);
});

test('a command on a line is answered in its thread', needsBuild, async () => {
  server.commentOnLine(SOME_USER, { path: 'src/shift.cu', line: 3 }, 'Why?');
  const first = server.reviewComments.at(-1)!;
  server.commentOnLine(SOME_USER, { inReplyTo: first.id }, '/selvage frobnicate');
  const { id, body } = server.reviewComments.at(-1)!;
  const event = { pull_request: { number: TARGET.pullNumber }, comment: { id, body, user: { ...SOME_USER } } };
  const { status, stdout } = await run('pull_request_review_comment', event);
  assert.equal(status, 0, stdout);
  const answer = server.reviewComments.at(-1)!;
  assert.equal(answer.inReplyTo, first.id);
  assert.match(answer.body, /Frobnicate is not one of the commands[^]*`\/selvage help`/);
});

test('strangers, issues, and comments without a command are ignored', needsBuild, async () => {
  const before = server.writes().length;
  const stranger = onConversation('/selvage fix all', STRANGER);
  assert.match((await run('issue_comment', stranger)).stdout, /The comment was refused/);
  assert.deepEqual(pull.reactions.at(-1), [stranger.comment.id, '-1']);
  const { issue: _, ...talk } = onConversation('Nice work');
  assert.match((await run('issue_comment', { ...talk, issue: { number: 7, pull_request: {} } })).stdout, /ignored/);
  const onIssue = await run('issue_comment', { ...talk, issue: { number: 7 } });
  assert.deepEqual([onIssue.status, server.writes().length], [0, before + 1]);
});

test('the code of a fork is not compiled where a token can write, unless the owner accepts it', needsBuild, async () => {
  pull.isFork = true;
  // Without the commit of the first test, which no clone has.
  pull.head = headSha;
  const inputs = { nvcc: '/no/such/nvcc' };
  await run('issue_comment', onConversation('/selvage help'), inputs);
  assert.match(pull.answers().at(-1)!, /comes from a fork[^]*`allow-pull-request-target`/);
  await run('issue_comment', onConversation('/selvage recheck'), inputs);
  assert.match(pull.answers().at(-1)!, /comes from a fork/);
  await run('issue_comment', onConversation('/selvage help'), { ...inputs, 'allow-pull-request-target': 'true' });
  assert.match(pull.answers().at(-1)!, /`\/selvage help`/);
  pull.isFork = false;
  assert.deepEqual(server.faults, []);
});
