/** Runs that no pull request starts: pushes to the default branch, and checks of the whole repository. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Files } from '../github/runner.ts';
import { needsCompiler, pullRequest } from './pull-request.ts';

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
const RACY = SHIFT.replace('  __syncthreads();\n', '');
const BASE: Files = { 'shift.cu': SHIFT, 'other.cu': RACY.replaceAll('hift', 'wap') };

const pushed = (before: string, after: string, ref = 'refs/heads/main') => ({
  ref,
  before,
  after,
  repository: { full_name: 'octo/kernels', default_branch: 'main' },
});

test('a push is compared with the commit before it, and concludes a check run', needsCompiler, async () => {
  const { workspace, server, run } = await pullRequest({ 'shift.cu': RACY }, BASE);
  const head = server.headSha;
  const before = workspace.git('rev-parse', `${head}^1`);
  const push = (event: unknown) => run({ eventName: 'push', event });
  const result = await push(pushed(before, head));
  assert.equal(result.status, 1, result.stdout);
  assert.deepEqual(server.checkRuns.map(({ headSha, conclusion, title }) => [headSha, conclusion, title]), [[head, 'failure', '1 data race']]); // oxfmt-ignore
  assert.deepEqual(server.checkRuns[0]?.annotations.map(({ path }) => path), ['shift.cu']); // oxfmt-ignore
  assert.equal(server.reviews.length + server.reviewComments.length + server.issueComments.length, 0);
  assert.match(result.summary, /Data race on shared `s`/);

  // After a forced push the commit before is unavailable: its parent is used.
  const from = server.transcript.length;
  assert.equal((await push(pushed('f'.repeat(40), head))).status, 1);
  assert.deepEqual(server.writes(from), []);
  const topic = await push(pushed(before, head, 'refs/heads/topic'));
  assert.deepEqual([topic.status, server.writes(from)], [0, []]);
  assert.match(topic.stdout, /Nothing to do: of pushes/);
  assert.deepEqual(server.faults, []);
});

test(
  'a scheduled run checks all files: job summary, SARIF, and the issue where it is wanted',
  needsCompiler,
  async () => {
    const { workspace, server, run } = await pullRequest({ 'shift.cu': RACY }, BASE);
    const scheduled = (inputs: Readonly<Record<string, string>> = {}) =>
      run({
        eventName: 'schedule',
        event: { schedule: '0 3 * * *' },
        environment: { GITHUB_SHA: workspace.git('rev-parse', 'HEAD') },
        inputs,
      });
    const quiet = await scheduled();
    assert.equal(quiet.status, 1, quiet.stdout);
    assert.deepEqual([quiet.outputs['errors'], server.writes()], ['2', []]);
    assert.match(quiet.summary, /^### Selvage: 2 data races\n\n\| severity \| finding \|/m);
    assert.equal(quiet.stdout.match(/^::error file=/gm)?.length, 2);
    const { runs } = JSON.parse(quiet.reports['report-sarif'] ?? '') as {
      runs: { results: { locations: unknown[] }[] }[];
    };
    assert.equal(runs[0]?.results.length, 2);

    await scheduled({ issue: 'true' });
    assert.deepEqual(server.issues.map(({ title, state }) => [title, state]), [['Selvage: 2 data races', 'open']]); // oxfmt-ignore
    workspace.commit({ 'shift.cu': SHIFT, 'other.cu': null }, server.headSha);
    const clean = await scheduled({ issue: 'true' });
    assert.equal(clean.status, 0, clean.stdout);
    assert.deepEqual(server.issues.map(({ state }) => state), ['closed']); // oxfmt-ignore
    assert.equal(server.checkRuns.length, 0);
    assert.deepEqual(server.faults, []);
  },
);

test('a manual run with an invalid configuration reports it, and writes no comment', needsCompiler, async () => {
  const { workspace, server, run } = await pullRequest({ '.selvage.yml': 'version: 1\nkernel: []\n' }, BASE);
  const event = { ref: 'refs/heads/main', repository: { default_branch: 'main' } };
  const environment = { GITHUB_SHA: workspace.git('rev-parse', 'HEAD') };
  const result = await run({ eventName: 'workflow_dispatch', event, environment, inputs: { issue: 'true' } });
  assert.deepEqual([result.status, result.outputs['exit-code'], server.writes()], [2, '2', []]);
  assert.match(result.summary, /\.selvage\.yml:2/);
});
