/** Permissions of the owner of a workflow, and those of the author of a pull request. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Files } from '../github/runner.ts';
import { needsBuild, needsCompiler, pullRequest } from './pull-request.ts';

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
  assert.deepEqual(server.reviewComments.map(({ path }) => path), ['src/shift.cu']); // oxfmt-ignore
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
  assert.match(
    server.issueComments[0]?.body ?? '',
    /comes from a fork, so its changes to `?\.selvage\.yml`? have no effect/,
  );
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
