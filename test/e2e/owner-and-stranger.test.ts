/** Permissions of the owner of a workflow, and those of the author of a pull request. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { zip } from '../github/archive.ts';
import { finishedRun, listedArtifacts, listedPulls, storedArchive } from '../github/fork-run.ts';
import type { Files } from '../github/runner.ts';
import { needsBuild, needsCompiler, POST, pullRequest } from './pull-request.ts';

const kernel = (body: string): string => `#include <size.h>
__global__ void shift(const int* in, int* out) {
  __shared__ int s[SIZE];
  int t = threadIdx.x;
  s[t] = in[t];
${body}  out[t] = s[SIZE - 1 - t];
}
void launchShift(const int* in, int* out) { shift<<<16, SIZE>>>(in, out); }
`;
const BASE: Files = { 'src/shift.cu': kernel('  __syncthreads();\n') };
const RACY: Files = { 'src/shift.cu': kernel('') };

test('flags of the workflow reach folders and host options that no pull request may name', needsCompiler, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-outside '));
  writeFileSync(join(folder, 'size.h'), '#define SIZE 256\n');
  const args = `-I '${folder}' -Xcompiler -fno-strict-aliasing`;
  const { workspace, server, run } = await pullRequest(RACY, BASE);
  workspace.commit({ README: 'merged' });
  const owners = await run({ inputs: { 'nvcc-args': args } });
  assert.deepEqual([owners.status, owners.outputs['errors']], [1, '1'], owners.stdout);
  assert.deepEqual(
    server.reviewComments.map(({ path }) => path),
    ['src/shift.cu'],
  );
  const open = await run({ inputs: { 'nvcc-args': "-I 'unclosed" } });
  assert.equal(open.status, 2);
  assert.match(open.stdout, /Input nvcc-args: a quotation mark is not closed/);

  const configuration = `version: 1\nnvcc: { args: ["-I", "${folder}"] }\n`;
  const stranger = await pullRequest({ ...RACY, '.selvage.yml': configuration }, BASE);
  const refused = await stranger.run();
  assert.equal(refused.status, 3, refused.stdout);
  assert.match(refused.stdout, /outside the repository/);
  rmSync(folder, { recursive: true });
});

test('a fork is informed that its configuration has no effect', needsBuild, async () => {
  const files: Files = { ...RACY, '.selvage.yml': 'version: 1\nchecks: { race: { severity: notice } }\n' };
  const { server, run } = await pullRequest(files, BASE);
  const inputs = { nvcc: '/no/such/nvcc' };
  await run({ fork: true, inputs });
  assert.match(server.issueComments[0]?.body ?? '', /comes from a fork, so its changes to `?\.selvage\.yml`? have no effect/);
  const own = await pullRequest(files, BASE);
  await own.run({ inputs });
  assert.doesNotMatch(own.server.issueComments[0]?.body ?? '', /comes from a fork/);
});

test('a git in the pull request is not run', needsBuild, async () => {
  const { workspace, run } = await pullRequest({ 'README.md': 'x\n' }, BASE);
  const [bin, trace] = [join(workspace.root, 'bin'), join(tmpdir(), `selvage-trace-${process.pid}`)];
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch '${trace}'\nexit 1\n`);
  chmodSync(join(bin, 'git'), 0o755);
  for (const path of [bin, './bin', 'bin']) {
    const result = await run({ environment: { PATH: `${path}:${process.env['PATH']}` } });
    assert.equal(result.status, 0, result.stdout + result.stderr);
  }
  assert.ok(!existsSync(trace));
});

test('pipes and devices in the workspace are not opened', needsCompiler, async () => {
  const text = (value: number) => `__global__ void k(int* a) { a[threadIdx.x] = ${value}; }\n`;
  const { workspace, server, run } = await pullRequest({ 'a.cu': text(2) }, { 'a.cu': text(1) });
  execFileSync(
    'mkfifo',
    ['pipe.cu', 'pipe.cuh', 'compile_commands.json'].map((name) => join(workspace.root, name)),
  );
  execFileSync('ln', ['-s', '/dev/zero', join(workspace.root, 'zero.cuh')]);
  const result = await run();
  assert.equal(result.outputs['kernels'], '1', result.stdout + result.stderr);
  assert.deepEqual(server.faults, []);
});

/** The run of the fork, and the run that posts. */
const [FORK_RUN, THIS_RUN] = [77, 900];
const inOneFile = (files: Files): Files => ({ 'src/shift.cu': files['src/shift.cu']!.replace('#include <size.h>', '#define SIZE 256') });

/** A pull request of a fork whose run has ended; `pulls` are the open ones of its branch, by default of its commit. */
async function endedRun(changes: Files, pulls: readonly { readonly number: number; readonly head?: string }[]) {
  const archives = new Map<number, Buffer>();
  let main = '';
  const made: Awaited<ReturnType<typeof pullRequest>> = await pullRequest(changes, inOneFile(BASE), (base, head) => ({
    more: (api) => ({
      ...listedPulls(
        api,
        pulls.map((pull) => ({ head, base, ...pull })),
      ),
      ...listedArtifacts(api, (id) => (archives.has(id) ? [{ archive: archives.get(id)!, headSha: main }] : [])),
    }),
    raw: (path) =>
      path.includes('CacheService') ? { status: 200, body: Buffer.from('{"ok":false}') } : storedArchive(path, made.server.url, archives),
  }));
  const { workspace, server, run } = made;
  main = workspace.commit({ README: 'of the default branch' }, workspace.git('rev-parse', `${server.headSha}^`));
  const common = {
    eventName: 'workflow_run',
    event: finishedRun(FORK_RUN, server.headSha),
    environment: { GITHUB_RUN_ID: String(THIS_RUN), GITHUB_SHA: main },
  };
  return {
    server,
    archives,
    analyse: (inputs: Readonly<Record<string, string>> = {}) =>
      run({
        ...common,
        inputs,
        environment: {
          ...common.environment,
          ACTIONS_RESULTS_URL: `${server.url}/`,
          ACTIONS_RUNTIME_TOKEN: 'runtime',
        },
      }),
    post: () => run({ ...common, entry: POST, inputs: { repeated: 'true' } }),
  };
}

test("the analysis of a fork's commit is repeated without writing anything, and then posted", needsCompiler, async () => {
  const configuration = 'version: 1\nchecks: { race: { severity: notice } }\n';
  const { server, archives, analyse, post } = await endedRun({ ...inOneFile(RACY), '.selvage.yml': configuration }, [{ number: 7 }]);
  const analysed = await analyse({ issue: 'true' });
  assert.equal(analysed.status, 0, analysed.stdout + analysed.stderr);
  // The configuration of the fork has no effect.
  assert.deepEqual([analysed.outputs['errors'], analysed.outputs['exit-code'], analysed.outputs['conclusion']], ['1', '1', 'failure']);
  assert.match(analysed.summary, /Data race on shared `s`/);
  assert.doesNotMatch(analysed.stdout, /^::(?:error|warning|notice) file=/m);
  const cache = '/twirp/github.actions.results.api.v1.CacheService/';
  // Results of earlier runs and the history of costs are read, and neither is saved.
  assert.deepEqual([...new Set(server.writes().map(({ path }) => path))], [`${cache}GetCacheEntryDownloadURL`]);
  assert.match(analysed.stdout, /The results of this run are not cached/);

  const content = Buffer.from(analysed.reports['review-data'] ?? '');
  archives.set(THIS_RUN, zip([{ name: 'selvage-review.json', content }]));
  const posted = await post();
  assert.equal(posted.status, 0, posted.stdout + posted.stderr);
  assert.deepEqual(
    server.checkRuns.map(({ name, headSha, conclusion }) => [name, headSha, conclusion]),
    [['Selvage', server.headSha, 'failure']],
  );
  assert.match(server.checkRuns[0]?.summary ?? '', /^This repository repeated the analysis/);
  assert.deepEqual(
    server.reviewComments.map(({ path }) => path),
    ['src/shift.cu'],
  );
  assert.deepEqual(server.faults, []);
});

test('an analysis that cannot be repeated posts nothing', needsBuild, async () => {
  for (const { pulls, inputs = {}, status, reason } of [
    { pulls: [], status: 0, reason: /Nothing to do: [0-9a-f]{40} is not the head of an open pull request/ },
    { pulls: [{ number: 7, head: 'd'.repeat(40) }], status: 0, reason: /Nothing to do: [0-9a-f]{40} is not the head/ },
    {
      pulls: [{ number: 7 }, { number: 8 }],
      status: 2,
      reason: /pull requests #7, #8 have the branch and commit of the run/,
    },
    { pulls: [{ number: 7 }], inputs: { 'max-comments': 'many' }, status: 2, reason: /Input max-comments/ },
  ]) {
    const { server, analyse } = await endedRun({ 'README.md': 'x\n' }, pulls);
    const result = await analyse(inputs);
    assert.equal(result.status, status, result.stdout + result.stderr);
    assert.match(result.stdout, reason);
    assert.equal(result.outputs['review-data'], undefined);
    assert.deepEqual([server.writes(), server.faults], [[], []]);
  }
});
