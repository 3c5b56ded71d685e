/** The bundled action on real repositories, with the real compiler, against a simulated GitHub. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarker } from '../../src/github/text/marker.ts';
import { SOME_USER } from '../github/objects.ts';
import { examplesOf } from '../github/payload.ts';
import type { Files } from '../github/runner.ts';
import type { GitHubServer } from '../github/server.ts';
import { needsBuild, needsCompiler, pullRequest as openPullRequest, TOKEN } from './pull-request.ts';

const SHIFT = `__global__ void shift(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  s[t] = in[i];
  __syncthreads();
  out[i] = s[255 - t];
}

void launchShift(const int* in, int* out) { shift<<<16, 256>>>(in, out); }
`;
const RACY_SHIFT = SHIFT.replace('  __syncthreads();\n', '');

const HEADER = `#pragma once
__device__ inline int neighbour(int* s, int t, int value) {
  s[t] = value;
  __syncthreads();
  return s[(t + 1) % 128];
}
`;
const USER = `#include "neighbour.cuh"
__global__ void rotate(const int* in, int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  out[blockIdx.x * 128 + t] = neighbour(s, t, in[blockIdx.x * 128 + t]);
}

void launchRotate(const int* in, int* out) { rotate<<<8, 128>>>(in, out); }
`;
const BASE_FILES: Files = { 'src/shift.cu': SHIFT, 'src/neighbour.cuh': HEADER, 'src/rotate.cu': USER, 'README.md': 'Kernels.\n' };

function pullRequest(changes: Files, base: Files = BASE_FILES) {
  return openPullRequest(changes, base);
}

/** Everything that was sent to GitHub, as one text. */
function sent(server: GitHubServer): string {
  return JSON.stringify(server.writes());
}

test('a barrier is removed: one review on the lines, a summary, a failed check; again: nothing', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'src/shift.cu': RACY_SHIFT });
  const first = await run({ action: 'opened', costs: true });
  assert.equal(first.status, 1, first.stdout + first.stderr);
  assert.deepEqual(server.faults, []);
  assert.equal(server.reviews.length, 1);
  assert.equal(server.reviewComments.length, 1);
  const [comment] = server.reviewComments;
  assert.deepEqual([comment?.path, comment?.startLine, comment?.line], ['src/shift.cu', 5, 6]);
  assert.match(comment?.body ?? '', /```suggestion\n[^`]*\n *__syncthreads\(\);\n.*\n```/);
  assert.match(comment?.body ?? '', / on line 5 while .* on line 6.*; no `__syncthreads\(\)` separates the two accesses/);
  assert.match(comment?.body ?? '', /block \(256,1,1\)/);
  assert.match(comment?.body ?? '', /`s\[t\]`/);
  assert.equal(server.issueComments.length, 1);
  assert.deepEqual([server.checkRuns[0]?.conclusion, server.checkRuns[0]?.annotations.length], ['failure', 1]);
  assert.deepEqual(
    [first.outputs['errors'], first.outputs['conclusion'], first.outputs['exit-code'], first.outputs['kernels']],
    ['1', 'failure', '1', '1'],
  );
  assert.match(first.summary, /Data race on shared `s`/);
  assert.match(first.stdout, /src\/shift\.cu:\d+: error: Data race/);
  assert.match(first.stdout, /^\[\d+\.\d s\] Checking 1 kernel, and 1 of the base\.$/m);
  assert.doesNotMatch(first.stdout, /^::error file/m);
  assert.ok(!sent(server).includes(TOKEN));

  const before = server.transcript.length;
  const second = await run({ costs: true });
  assert.equal(second.status, 1);
  assert.deepEqual(server.writes(before), []);
  assert.deepEqual(server.faults, []);
});

test('the push that fixes it removes the comment; one with a reply is marked', needsCompiler, async () => {
  const { workspace, server, run } = await pullRequest({
    'src/shift.cu': RACY_SHIFT,
    'src/neighbour.cuh': HEADER.replace('  __syncthreads();\n', ''),
  });
  await run();
  assert.equal(server.reviewComments.length, 2);
  const inHeader = server.reviewComments.find(({ path }) => path === 'src/neighbour.cuh');
  server.commentOnLine(SOME_USER, { inReplyTo: inHeader?.id ?? 0 }, 'is that so?');
  server.push(workspace.commit({ 'src/shift.cu': SHIFT, 'src/neighbour.cuh': `${HEADER}// changed\n` }, server.headSha));
  const fixed = await run();
  assert.equal(fixed.status, 0, fixed.stdout + fixed.stderr);
  assert.deepEqual(
    server.reviewComments.map(({ body }) => parseMarker(body)?.kind),
    ['fixed', undefined],
  );
  assert.equal(server.issueComments.length, 1);
  assert.doesNotMatch(server.issueComments[0]?.body ?? '', /Data race/);
  assert.deepEqual(
    server.checkRuns.map(({ conclusion }) => conclusion),
    ['failure', 'success'],
  );
  assert.deepEqual(server.faults, []);
});

test('a read-only token: log, annotations and job summary have it all, the exit status is the same', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'src/shift.cu': RACY_SHIFT });
  server.settings.pullRequests = 'read';
  server.settings.checks = 'read';
  const result = await run({ fork: true });
  assert.equal(result.status, 1, result.stdout + result.stderr);
  assert.match(result.stdout, /^::error file=src\/shift\.cu,line=\d+,endLine=\d+,title=Data race on shared s::/m);
  assert.match(result.stdout, /src\/shift\.cu:\d+: error: Data race on shared s/);
  // One refused request suffices, and one line about it.
  assert.equal(server.writes().length, 1);
  assert.equal(result.stdout.match(/read-only/g)?.length, 1);
  assert.doesNotMatch(result.stdout, /lacks `/);
  assert.match(result.summary, /Data race on shared `s`/);
  assert.equal(result.outputs['errors'], '1');
  assert.equal(server.reviews.length + server.issueComments.length + server.checkRuns.length, 0);
  assert.deepEqual(server.faults, []);
});

test('GitHub rejects every request: no finding is lost, the exit status is the same', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'src/shift.cu': RACY_SHIFT });
  server.settings.outage = 403;
  const result = await run();
  assert.equal(result.status, 1, result.stdout + result.stderr);
  assert.match(result.stdout, /^::error file=src\/shift\.cu/m);
  assert.match(result.summary, /Data race on shared `s`/);
});

test('only line numbers change: no comment is changed or posted', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'src/shift.cu': `// A comment.\n// Another.\n\n${SHIFT}` });
  const result = await run();
  assert.equal(result.status, 0, result.stdout + result.stderr);
  assert.equal(result.outputs['kernels'], '0');
  assert.equal(server.reviews.length + server.issueComments.length, 0);
  assert.equal(server.checkRuns[0]?.conclusion, 'success');
  assert.deepEqual(server.faults, []);
});

test('a header changes: the kernels of the units that include it are touched, the comment is in the header', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'src/neighbour.cuh': HEADER.replace('  __syncthreads();\n', '') });
  const result = await run();
  assert.equal(result.status, 1, result.stdout + result.stderr);
  assert.deepEqual(
    server.reviewComments.map(({ path }) => path),
    ['src/neighbour.cuh'],
  );
  assert.equal(result.outputs['kernels'], '1');
  assert.deepEqual(server.faults, []);
});

test('a race that the base has too is counted, not commented, and does not fail the job', needsCompiler, async () => {
  const { server, run } = await pullRequest(
    { 'src/shift.cu': RACY_SHIFT.replace('in[i];', 'in[i] + 1;') },
    { ...BASE_FILES, 'src/shift.cu': RACY_SHIFT },
  );
  const result = await run();
  assert.equal(result.status, 0, result.stdout + result.stderr);
  assert.deepEqual([result.outputs['kernels'], result.outputs['unchanged'], result.outputs['errors']], ['1', '1', '0']);
  assert.equal(server.reviews.length + server.issueComments.length, 0);
  assert.deepEqual(server.faults, []);
});

test('no CUDA changes: one line, exit 0', needsBuild, async () => {
  const { server, run } = await pullRequest({ 'README.md': 'Fast kernels.\n' });
  const result = await run();
  assert.equal(result.status, 0, result.stdout + result.stderr);
  assert.match(result.stdout, /^Nothing to review: no CUDA code changes\.$/m);
  assert.equal(server.reviews.length + server.issueComments.length, 0);
  // As in a job with a container, where git does not trust the checkout.
  const ofOthers = await run({ environment: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } });
  assert.deepEqual([ofOthers.status, ofOthers.outputs['kernels']], [0, '0'], ofOthers.stdout);
  assert.deepEqual(server.faults, []);
});

test('code that does not compile: exit 3, its place on GitHub, the words of the compiler only in the log', needsCompiler, async () => {
  const { server, run } = await pullRequest({
    'src/shift.cu': SHIFT.replace('in[i];', 'in[i]'),
    'src/rotate.cu': USER.replace('int t =', '#warning "x\\n::error::hijacked"\n  int t ='),
  });
  const result = await run();
  assert.equal(result.status, 3, result.stdout + result.stderr);
  assert.equal(server.checkRuns[0]?.conclusion, 'failure');
  assert.equal(server.checkRuns[0]?.annotations[0]?.path, 'src/shift.cu');
  assert.equal(server.issueComments.length, 1);
  assert.match(result.stdout, /expected a ";"/);
  assert.doesNotMatch(sent(server), /expected a|hijacked/);
  // The runner takes a line that begins so for a command.
  assert.doesNotMatch(result.stdout, /^\s*::error::hijacked/m);
  assert.match(result.stdout, /^::stop-commands::/m);
  assert.deepEqual(server.faults, []);
});

test('a draft gets only the summary and the check run, unless requested', needsCompiler, async () => {
  const { server, run } = await pullRequest({ 'src/shift.cu': RACY_SHIFT });
  assert.equal((await run({ draft: true })).status, 1);
  assert.deepEqual([server.reviews.length, server.issueComments.length, server.checkRuns.length], [0, 1, 1]);
  await run({ draft: true, inputs: { 'review-drafts': 'true' } });
  assert.equal(server.reviews.length, 1);
  assert.deepEqual(server.faults, []);
});

test('no compiler: exit 3, with instructions to get one', needsBuild, async () => {
  const { server, run } = await pullRequest({ 'src/shift.cu': RACY_SHIFT });
  const result = await run({ inputs: { nvcc: './no/such/nvcc' } });
  assert.equal(result.status, 3, result.stdout + result.stderr);
  assert.match(result.stdout, /nvcc/);
  assert.equal(server.checkRuns[0]?.conclusion, 'failure');
  assert.deepEqual(server.faults, []);
});

test('other events end at once without a request; pull_request_target is rejected', needsBuild, async () => {
  const { server, run } = await pullRequest({ 'src/shift.cu': RACY_SHIFT });
  for (const eventName of ['issues', 'release']) {
    const result = await run({ eventName, event: examplesOf(eventName)[0] });
    assert.equal(result.status, 0, result.stdout + result.stderr);
    assert.match(result.stdout, /^Nothing to do: /m);
  }
  const refused = await run({ eventName: 'pull_request_target' });
  assert.equal(refused.status, 2);
  assert.match(refused.stdout, /^::error::The event pull_request_target started this run/m);
  assert.equal(refused.outputs['exit-code'], '2');
  assert.equal(server.transcript.length, 0);
});
