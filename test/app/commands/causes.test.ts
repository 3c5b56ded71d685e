/** One finding per cause, from source to report: instances, architectures, copies of a text and headers. */
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { selvage } from './in-process.ts';

function folder(context: TestContext, files: Readonly<Record<string, string>>): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-causes-')));
  context.after(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

const kernel = `template <int N> __global__ void reverse(float* out, const float* in) {
  __shared__ float s[N];
  s[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = s[N - 1 - threadIdx.x];
}
`;
const launches = `void launch(float* out, const float* in) {
  reverse<128><<<1, 128>>>(out, in);
  reverse<256><<<1, 256>>>(out, in);
}
`;

async function check(cwd: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await selvage(['check', ...words, '--checks', 'race', '--no-cache', '--jobs', '1'], cwd);
  return stdout;
}

test('instances and architectures share a finding, copies of a file do not', { skip: withoutNvcc }, async (context) => {
  const cwd = folder(context, { 'a.cu': kernel + launches, 'b.cu': kernel + launches });
  const text = await check(cwd, 'a.cu', 'b.cu', '--arch', 'sm_80', '--arch', 'sm_90');
  assert.match(text, /8 kernels with races; 2 errors\n/);
  assert.equal(text.match(/= in `reverse<128>.*`, `reverse<256>.*` \(sm_80 and sm_90\)/g)?.length, 2);
});

test('a finding in a header that two files include is reported once', { skip: withoutNvcc }, async (context) => {
  const unit = `#include "reverse.cuh"\n${launches}`;
  const cwd = folder(context, { 'reverse.cuh': kernel, 'a.cu': unit, 'b.cu': unit });
  assert.match(await check(cwd, 'a.cu', 'b.cu'), /2 kernels with races; 1 error\n/);
});

test('a race of one array that two parameters receive names both, and the launch', { skip: withoutNvcc }, async (context) => {
  const shifted = `__global__ void shift(float* left, const float* right, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i + 1 < n) left[i] = right[i + 1];
}
void launch(float* a, float* b, int n) {
  shift<<<(n + 255) / 256, 256>>>(a, b, n);
  shift<<<(n + 255) / 256, 256>>>(a, a, n);
}
`;
  const text = await check(folder(context, { 'a.cu': shifted }), 'a.cu');
  assert.match(text, /error\[race\/global\]: Thread 0 reads `right\[i \+ 1\]` while thread 1 writes `left\[i\]`, both on line 3/);
  assert.match(text, /The launch on line 7 passes one array as `right` and `left`\./);
  assert.match(text, /write of left\[i\] by thread/);
});
