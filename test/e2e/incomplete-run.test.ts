/** Runs that end without a result: no result of an earlier commit is shown for this one. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Files } from '../github/runner.ts';
import type { GitHubServer } from '../github/server.ts';
import { needsBuild, needsCompiler, pullRequest, TOKEN } from './pull-request.ts';

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
const BASE: Files = { 'src/shift.cu': SHIFT };
const RACY: Files = { 'src/shift.cu': SHIFT.replace('  __syncthreads();\n', '') };

/** The check run of the head commit. */
function checkOf({ checkRuns, headSha }: GitHubServer) {
  return checkRuns.findLast((run) => run.headSha === headSha);
}

test('an invalid configuration: check run, summary, job summary and outputs report it', needsCompiler, async () => {
  const { workspace, server, run } = await pullRequest(RACY, BASE);
  await run();
  assert.match(server.issueComments[0]?.body ?? '', /1 data race/);
  const comment = server.reviewComments[0]?.body;
  server.push(workspace.commit({ '.selvage.yml': 'version: 1\nkernel: []\n' }, server.headSha));
  const result = await run();
  assert.equal(result.status, 2, result.stdout + result.stderr);
  assert.match(result.stdout, /\.selvage\.yml:2/);
  for (const text of [server.issueComments[0]?.body, checkOf(server)?.summary, result.summary]) {
    assert.match(text ?? '', /### Selvage: Not analysed: wrong usage or configuration[^]*\.selvage\.yml:2/);
    assert.doesNotMatch(text ?? '', /data race/);
  }
  assert.deepEqual([checkOf(server)?.status, checkOf(server)?.conclusion], ['completed', 'failure']);
  assert.deepEqual([result.outputs['conclusion'], result.outputs['exit-code']], ['failure', '2']);
  // The state of the finding is unknown, so its comment stays.
  assert.deepEqual(
    server.reviewComments.map(({ body }) => body),
    [comment],
  );
  assert.equal(server.issueComments.length, 1);
  const before = server.transcript.length;
  await run();
  assert.deepEqual(server.writes(before), []);
  assert.deepEqual(server.faults, []);
});

test('an invalid input: the same, and no new comment', needsBuild, async () => {
  const { server, run } = await pullRequest(RACY, BASE);
  const result = await run({ inputs: { 'fail-on': 'erorr' } });
  assert.equal(result.status, 2);
  assert.match(result.stdout, /^::error::.*fail-on.*did you mean error/m);
  assert.match(checkOf(server)?.summary ?? '', /did you mean error/);
  assert.equal(server.issueComments.length, 0);
  const silent = await pullRequest(RACY, BASE);
  const off = await silent.run({ inputs: { 'fail-on': 'erorr', 'check-run': 'false', comment: 'false' } });
  assert.deepEqual([off.outputs['exit-code'], silent.server.writes()], ['2', []]);
  assert.match(off.summary, /did you mean error/);
});

test('an error message is inert text, and contains no token', needsBuild, async () => {
  const { server, run } = await pullRequest({ ...RACY, '.selvage.yml': `"@mona \`\`\` ${TOKEN} <!-- x -->": 1\n` }, BASE);
  const result = await run();
  assert.equal(result.status, 2);
  const summary = checkOf(server)?.summary ?? '';
  assert.match(summary, /\n(`{4,})\n[^]*@mona[^]*\n\1$/);
  assert.ok(!summary.includes(TOKEN) && !result.summary.includes(TOKEN));
});

test('no compiler: the old result is removed', needsCompiler, async () => {
  const { workspace, server, run } = await pullRequest(RACY, BASE);
  await run();
  server.push(workspace.commit({ 'src/shift.cu': `${RACY['src/shift.cu']}// again\n` }, server.headSha));
  const result = await run({ inputs: { nvcc: '/no/such/nvcc' } });
  assert.equal(result.status, 3);
  assert.deepEqual([result.outputs['exit-code'], checkOf(server)?.conclusion], ['3', 'failure']);
  assert.doesNotMatch(server.issueComments[0]?.body ?? '', /data race/);
  assert.equal(server.reviewComments.length, 1);
});

test('a cancelled run reports it', needsBuild, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-slow-'));
  const slow = join(folder, 'nvcc');
  writeFileSync(slow, '#!/bin/sh\nexec sleep 60\n');
  chmodSync(slow, 0o755);
  const { server, run } = await pullRequest(RACY, BASE);
  server.addComment(server.settings.account, '<!-- selvage:v1 summary -->\n### Selvage: 1 data race');
  let process: ChildProcess | undefined;
  server.settings.fault = ({ path }) => {
    if (path.includes('/files')) process?.kill('SIGINT');
    return undefined;
  };
  const result = await run({ inputs: { nvcc: slow }, onStart: (child) => (process = child) });
  rmSync(folder, { recursive: true });
  assert.equal(result.status, 130, result.stdout + result.stderr);
  assert.equal(checkOf(server)?.conclusion, 'cancelled');
  assert.match(server.issueComments[0]?.body ?? '', /Not analysed: the run was cancelled/);
  assert.equal(result.outputs['conclusion'], 'cancelled');
  assert.deepEqual(server.faults, []);
});
