/** Runs that no pull request starts: pushes to the default branch, and checks of the whole repository. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHistory } from '../../src/github/plan/cost-history.ts';
import { startCacheServer } from '../github/cache-server.ts';
import { pullRequestPayload } from '../github/payload.ts';
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
  assert.deepEqual(
    server.checkRuns.map(({ headSha, conclusion, title }) => [headSha, conclusion, title]),
    [[head, 'failure', '1 data race']],
  );
  assert.deepEqual(
    server.checkRuns[0]?.annotations.map(({ path }) => path),
    ['shift.cu'],
  );
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

test('a scheduled run checks all files: job summary, SARIF, and the issue where it is wanted', needsCompiler, async () => {
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
  assert.deepEqual(
    server.issues.map(({ title, state }) => [title, state]),
    [['Selvage: 2 data races', 'open']],
  );
  workspace.commit({ 'shift.cu': SHIFT, 'other.cu': null }, server.headSha);
  const clean = await scheduled({ issue: 'true' });
  assert.equal(clean.status, 0, clean.stdout);
  assert.deepEqual(
    server.issues.map(({ state }) => state),
    ['closed'],
  );
  assert.equal(server.checkRuns.length, 0);
  assert.deepEqual(server.faults, []);
});

test('a manual run with an invalid configuration reports it, and writes no comment', needsCompiler, async () => {
  const { workspace, server, run } = await pullRequest({ '.selvage.yml': 'version: 1\nkernel: []\n' }, BASE);
  const event = { ref: 'refs/heads/main', repository: { default_branch: 'main' } };
  const environment = { GITHUB_SHA: workspace.git('rev-parse', 'HEAD') };
  const result = await run({ eventName: 'workflow_dispatch', event, environment, inputs: { issue: 'true' } });
  assert.deepEqual([result.status, result.outputs['exit-code'], server.writes()], [2, '2', []]);
  assert.match(result.summary, /\.selvage\.yml:2/);
});

test('costs of the default branch are recorded, and are a line next to those that a pull request changes', needsCompiler, async () => {
  const copy = (stride: number): Files => ({
    'copy.cu': `__global__ void copy(const float* in, float* out) {
  int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[${stride} * i];
}
void launchCopy(const float* in, float* out) { copy<<<16, 256>>>(in, out); }
`,
  });
  const { workspace, server, run } = await pullRequest(copy(32), copy(1));
  const cache = await startCacheServer();
  const recorded = () => [...cache.entries].filter(([key]) => key.startsWith('selvage-costs-'));
  let id = 100;
  /** Runs the action, which writes `more` entries of the history. */
  const runIn = async (more: number, options: Parameters<typeof run>[0] = {}) => {
    const before = recorded().length;
    const environment = { ...cache.environment, GITHUB_RUN_ID: String(++id), ...options.environment };
    const result = await run({ costs: true, ...options, environment });
    assert.equal(result.status, 0, result.stdout);
    assert.equal(recorded().length - before, more, result.stdout);
    return result;
  };
  try {
    const head = server.headSha;
    const base = workspace.git('rev-parse', `${head}^1`);
    const worse = workspace.commit(copy(4), base);
    const main = workspace.commit(copy(1), worse);
    for (const sha of [worse, main, head]) server.push(sha);
    const whole = (sha: string, ref = 'refs/heads/main') => ({
      eventName: 'workflow_dispatch',
      event: { ref, repository: { default_branch: 'main' } },
      environment: { GITHUB_SHA: sha },
    });
    await runIn(0, whole(main, 'refs/heads/topic'));
    await runIn(1, whole(main));
    const push = { eventName: 'push', event: pushed(base, worse) };
    const first = await runIn(1, push);
    assert.doesNotMatch(first.summary, /history/);
    const second = await runIn(1, { eventName: 'push', event: pushed(worse, main) });
    const row = (before: number, after: number, line: string) =>
      new RegExp(
        `^\\| \`copy\\(.*\\)\` \\| sectors of global memory of the launch \\| \`${before}\` \\| \`${after}\` \\| \`${line}\` \\|`,
        'm',
      );
    assert.match(second.summary, row(2560, 1024, '▁█▁'));
    assert.ok(server.checkRuns.find(({ headSha }) => headSha === main)?.summary?.includes('| `▁█▁` |'));
    const counts = [...parseHistory(recorded().at(-1)![1])!.values()].map((points) => points.map(([, , value]) => value));
    assert.ok(
      counts.some((values) => values.join() === '1024,2560,1024'),
      JSON.stringify(counts),
    );
    // Resources and bounds of a whole check and of a push are one series each; five metrics are counted by pushes only.
    const [ofWhole, ...ofPushes] = recorded().map(([, bytes]) => parseHistory(bytes)!.size);
    assert.deepEqual(ofPushes, [ofWhole! + 5, ofWhole! + 5]);

    // Pull requests, forks, and merge queues read the history and write none.
    const pull = { owner: 'octo', repo: 'kernels', number: 7, headSha: head, baseSha: base };
    const payload = (fork: boolean) => pullRequestPayload('synchronize', { ...pull, fork });
    await runIn(0, { event: payload(false) });
    assert.match(server.issueComments[0]?.body ?? '', row(1024, 4608, '▁▄▁█'));
    const fork = await runIn(0, { event: payload(true) });
    assert.match(fork.summary, row(1024, 4608, '▁▄▁█'));
    const group = {
      action: 'checks_requested',
      merge_group: { head_sha: head, base_sha: base },
      repository: { full_name: 'octo/kernels' },
    };
    assert.match((await runIn(0, { eventName: 'merge_group', event: group })).summary, row(1024, 4608, '▁▄▁█'));
    const target = { eventName: 'pull_request_target', event: payload(false), inputs: { 'allow-pull-request-target': 'true' } };
    assert.match((await runIn(0, target)).summary, row(1024, 4608, '▁▄▁█'));
    await runIn(0, { ...push, inputs: { shard: '1/1', shards: 'parts' } });

    const from = cache.requests.length;
    const without = await runIn(0, { event: payload(false), inputs: { cache: 'false' } });
    assert.match(without.summary, /^\| kernel \| cost \| before \| after \| where \|$/m);
    cache.isDown = true;
    const unreachable = await runIn(0, push);
    assert.match(unreachable.stdout, /^The history of costs cannot be restored: /m);
    assert.equal(cache.requests.slice(from).filter((kind) => kind === 'blob').length, 0);
    assert.deepEqual(server.faults, []);
  } finally {
    cache.close();
  }
});
