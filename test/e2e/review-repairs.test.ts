/** A review first posts its findings; repairs are then added to the posted comments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChildProcess } from 'node:child_process';
import type { GitHubServer } from '../github/server.ts';
import { needsCompiler, pullRequest } from './pull-request.ts';

const kernel = (name: string, barrier: string, more = '') => `__global__ void ${name}(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t]${more};
${barrier}  out[t] = s[255 - t];
}
void launch_${name}(const int* in, int* out) { ${name}<<<1, 256>>>(in, out); }

`;
const BARRIER = '  __syncthreads();\n';

const names = (amount: number): string[] => Array.from({ length: amount }, (_, index) => `fresh${index}`);
const with_ = (barrier: string, amount: number): string =>
  names(amount)
    .map((name) => kernel(name, barrier))
    .join('');
const inputs = { checks: 'race,divergence,repair' };

test('a review repairs findings that the change introduces, after they are posted', needsCompiler, async () => {
  const before = kernel('old', '') + with_(BARRIER, 8);
  const after = kernel('old', '', ' + 1') + with_('', 8);
  const { server, run } = await pullRequest({ 'a.cu': after }, { 'a.cu': before });
  const result = await run({ inputs });
  assert.deepEqual([result.outputs['errors'], result.outputs['unchanged']], ['8', '1'], result.stdout);
  const suggested = server.reviewComments.filter(({ body }) => body.includes('```suggestion'));
  assert.deepEqual([server.reviews.length, server.reviewComments.length, suggested.length], [1, 8, 8]);
  // Posted comments are edited: no one is notified twice.
  const writes = server.writes().map(({ method, path }) => `${method} ${path.replace(/\d+$/, 'N').replace(/^\/repos\/octo\/kernels/, '')}`);
  // All repairs are in comments, so the summary and the check run are unchanged.
  assert.deepEqual(writes, [
    'POST /check-runs',
    'PATCH /check-runs/N',
    'POST /pulls/7/reviews',
    'POST /issues/7/comments',
    ...Array.from({ length: 8 }, () => 'PATCH /pulls/comments/N'),
  ]);
  assert.doesNotMatch(server.issueComments[0]?.body ?? '', /in the base commit, too/);
  const from = server.transcript.length;
  await run({ inputs });
  assert.deepEqual(server.writes(from), []);
  assert.deepEqual(server.faults, []);
});

test('a run that is killed before the repairs are there: the next run adds them', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'a.cu': with_('', 2) }, { 'a.cu': with_(BARRIER, 2) });
  const whole = await pullRequest({ 'a.cu': with_('', 2) }, { 'a.cu': with_(BARRIER, 2) });
  await whole.run({ inputs });
  let child: ChildProcess | undefined;
  server.settings.fault = ({ method, path }) => {
    // Its verdicts are posted.
    if (method === 'POST' && path.includes('/issues/')) child?.kill('SIGKILL');
    return undefined;
  };
  await run({ inputs, onStart: (started) => void (child = started) });
  server.settings.fault = null;
  const bodies = ({ reviewComments }: GitHubServer) =>
    reviewComments.map(({ body, line }) => [line, body.replace(/checkout [0-9a-f]+/, '')]);
  assert.deepEqual([server.reviewComments.length, JSON.stringify(bodies(server)).includes('suggestion')], [2, false]);
  const result = await run({ inputs });
  assert.equal(result.status, 1, result.stdout);
  assert.deepEqual(bodies(server), bodies(whole.server));
  assert.deepEqual([server.reviews.length, server.issueComments.length, server.checkRuns.length], [1, 1, 1]);
  assert.deepEqual(server.faults, []);
});

test('a run that is cancelled while it looks for repairs: its verdicts remain', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'a.cu': with_('', 3) }, { 'a.cu': with_(BARRIER, 3) });
  let child: ChildProcess | undefined;
  server.settings.fault = ({ method, path }) => {
    if (method === 'POST' && path.includes('/issues/')) child?.kill('SIGTERM');
    return undefined;
  };
  const result = await run({ inputs, onStart: (started) => void (child = started) });
  assert.equal(result.status, 143, result.stdout);
  assert.match(server.issueComments[0]?.body ?? '', /3 data races/);
  assert.deepEqual(
    server.checkRuns.map(({ conclusion }) => conclusion),
    ['failure'],
  );
  assert.equal(result.outputs['errors'], '3');
});
