/** Which finding is which: the same kernel in several files, files that are renamed, unusual names of files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Files } from '../github/runner.ts';
import type { GitHubServer } from '../github/server.ts';
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

/** The paths of the inline comments. */
function commented({ reviewComments }: GitHubServer): string[] {
  return reviewComments.map(({ path }) => path).sort();
}

test('the same kernel in two files: both are told, and the one that is left stays', needsCompiler, async () => {
  const base: Files = { 'a/shift.cu': SHIFT, 'b/shift.cu': SHIFT };
  const { workspace, server, run } = await pullRequest({ 'a/shift.cu': RACY, 'b/shift.cu': RACY }, base);
  await run();
  assert.deepEqual(commented(server), ['a/shift.cu', 'b/shift.cu']);
  const [first, second] = server.reviewComments.map(({ body }) => /fingerprint=(\S+)/.exec(body)?.[1]);
  assert.notEqual(first, second);

  server.push(workspace.commit({ 'a/shift.cu': SHIFT }, server.headSha));
  const result = await run();
  assert.equal(result.outputs['errors'], '1');
  assert.deepEqual(commented(server), ['b/shift.cu']);
  assert.deepEqual(server.faults, []);
});

test('a racy kernel is copied to another file: the copy is new, the original is not', needsCompiler, async () => {
  const changed = RACY.replace('in[i];', 'in[i] + 1;');
  const { server, run } = await pullRequest({ 'a.cu': changed, 'b.cu': changed }, { 'a.cu': RACY });
  const result = await run();
  assert.deepEqual([result.outputs['errors'], result.outputs['unchanged']], ['1', '1']);
  assert.deepEqual(commented(server), ['b.cu']);
  assert.deepEqual(server.faults, []);
});

test('a file is renamed, or its kernel moves to a header: the finding is the same', needsCompiler, async () => {
  const other = RACY.replaceAll('shift', 'turn').replaceAll('Shift', 'Turn');
  const { server, run } = await pullRequest(
    {
      'old.cu': null,
      'new.cu': RACY.replace('in[i];', 'in[i] + 1;'),
      'turn.cuh': other.split('\n\n')[0]!.replace('in[i];', 'in[i] + 1;'),
      'turn.cu': `#include "turn.cuh"\n\n${other.split('\n\n')[1]}`,
    },
    { 'old.cu': RACY, 'turn.cu': other },
  );
  const result = await run();
  assert.deepEqual([result.outputs['kernels'], result.outputs['unchanged'], result.outputs['errors'], result.outputs['fixed']], ['2', '2', '0', '0']); // prettier-ignore
  assert.equal(server.reviews.length + server.issueComments.length, 0);
  assert.deepEqual(server.faults, []);
});

test('overloads with the same body are two kernels', needsCompiler, async () => {
  const two = (text: string) => {
    const [kernel = ''] = text.split('\n\n');
    const other = kernel.replace('const int* in, int* out', 'const int* in, int* out, long unused');
    const launches = 'void go(const int* in, int* out) { shift<<<16, 256>>>(in, out); shift<<<16, 256>>>(in, out, 1L); }\n'; // prettier-ignore
    return `${kernel}\n\n${other}\n\n${launches}`;
  };
  const { server, run } = await pullRequest({ 'a.cu': two(RACY) }, { 'a.cu': two(SHIFT) });
  await run();
  assert.equal(new Set(server.reviewComments.map(({ body }) => /fingerprint=(\S+)/.exec(body)?.[1])).size, 2);
  assert.deepEqual(server.faults, []);
});
