/** Which kernels a review repairs: its reader waits for the findings of all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('a review repairs what the change brings, and of much of it a part', needsCompiler, async () => {
  const names = Array.from({ length: 8 }, (_, index) => `fresh${index}`);
  const before = kernel('old', '') + names.map((name) => kernel(name, BARRIER)).join('');
  const after = kernel('old', '', ' + 1') + names.map((name) => kernel(name, '')).join('');
  const { server, run } = await pullRequest({ 'a.cu': after }, { 'a.cu': before });
  const result = await run({ inputs: { checks: 'race,divergence,repair' } });
  assert.deepEqual([result.outputs['errors'], result.outputs['unchanged']], ['8', '1'], result.stdout);
  const suggested = server.reviewComments.filter(({ body }) => body.includes('```suggestion'));
  assert.deepEqual([server.reviewComments.length, suggested.length], [8, 6]);
  const summary = server.issueComments[0]?.body ?? '';
  assert.match(summary, /`fresh6\(.*`, `fresh7\(.*`: a review repairs at most 6 kernels; `selvage repair a\.cu` repairs the others/); // prettier-ignore
  assert.doesNotMatch(summary, /in the base commit, too/);
  assert.deepEqual(server.faults, []);
});
