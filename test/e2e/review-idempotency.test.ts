/** Reviews of changes that make a kernel lose its idempotency. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsCompiler, pullRequest } from './pull-request.ts';

/** Kernels with a launch each; `scale` writes to `out`, `shift` reads `in`, and so on. */
const program = (scale: string, shift: string, more = '') => `__global__ void scale(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ${scale}
}
__global__ void shift(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ${shift}
}
int main() {
  float *a, *b;
  const int n = 1 << 20;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  scale<<<n / 256, 256>>>(a, b, n);
  shift<<<n / 256, 256>>>(a, b, n);
${more}  return 0;
}
`;

test('a review reports changes of class with the line, the launches and the remedy, only as notices', needsCompiler, async () => {
  const before = program('out[i] = 2 * in[i];', 'out[i] = i;');
  const after = program('out[i] *= 2;', 'out[i] = in[i] + 1;', '  shift<<<n / 256, 256>>>(a, a, n);\n');
  const { server, run } = await pullRequest({ 'a.cu': after }, { 'a.cu': before });
  const result = await run({ costs: true });
  assert.equal(result.status, 0, result.stdout);
  assert.equal(server.reviewComments.length, 0);
  const summary = server.issueComments[0]?.body ?? '';
  assert.match(
    summary,
    /scale.* is now not idempotent \(replayed\): the kernel reads .*out.* and writes the same bytes afterwards; it was idempotent unless .*out.* overlaps .*in/,
  );
  assert.match(
    summary,
    /If it wrote to another array, .*out_new.*, instead of .*out.*, it would be idempotent unless .*out_new.* overlaps .*out/,
  );
  assert.match(summary, /shift.* is now idempotent unless .*out.* overlaps .*in.*; it was idempotent in every launch/);
  assert.match(summary, /Of its launches, .*15.* may be run again and .*16.* is undecided/);
  assert.match(summary, /a\.cu.*L3\b/);
  assert.deepEqual(server.faults, []);
});
