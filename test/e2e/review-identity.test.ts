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

test('the same kernel in two files: both are reported, and the remaining one stays', needsCompiler, async () => {
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
  assert.deepEqual(
    [result.outputs['kernels'], result.outputs['unchanged'], result.outputs['errors'], result.outputs['fixed']],
    ['2', '2', '0', '0'],
  );
  assert.equal(server.reviews.length + server.issueComments.length, 0);
  assert.deepEqual(server.faults, []);
});

test('overloads with the same body are two kernels', needsCompiler, async () => {
  const two = (text: string) => {
    const [kernel = ''] = text.split('\n\n');
    const other = kernel.replace('const int* in, int* out', 'const int* in, int* out, long unused');
    const launches = 'void go(const int* in, int* out) { shift<<<16, 256>>>(in, out); shift<<<16, 256>>>(in, out, 1L); }\n';
    return `${kernel}\n\n${other}\n\n${launches}`;
  };
  const { server, run } = await pullRequest({ 'a.cu': two(RACY) }, { 'a.cu': two(SHIFT) });
  await run();
  assert.equal(new Set(server.reviewComments.map(({ body }) => /fingerprint=(\S+)/.exec(body)?.[1])).size, 2);
  assert.deepEqual(server.faults, []);
});

test('names beyond ASCII, in the unit and in a header: the comments are on their lines', needsCompiler, async () => {
  const header = (barrier: string) => `__device__ inline int next(int* s, int t, int value) {
  s[t] = value;
${barrier}  return s[(t + 1) % 128];
}
`;
  const user = `#include "kopf (ü).cuh"
__global__ void rotate(const int* in, int* out) {
  __shared__ int s[128];
  out[threadIdx.x] = next(s, threadIdx.x, in[threadIdx.x]);
}
void launchRotate(const int* in, int* out) { rotate<<<8, 128>>>(in, out); }
`;
  const base: Files = { 'é 1.cu': SHIFT, 'src/ñ.cu': user, 'src/kopf (ü).cuh': header('  __syncthreads();\n') };
  const { workspace, server, run } = await pullRequest({ 'é 1.cu': RACY, 'src/kopf (ü).cuh': header('') }, base);
  // As the merge commit that actions/checkout leaves: both sides are read from separate folders.
  workspace.commit({ README: 'merged' });
  const result = await run();
  assert.equal(result.outputs['errors'], '2', result.stdout);
  assert.deepEqual(commented(server), ['src/kopf (ü).cuh', 'é 1.cu'].sort());
  assert.match(server.issueComments[0]?.body ?? '', /blob\/[0-9a-f]{40}\/%C3%A9%201\.cu#L/);
  assert.deepEqual(server.checkRuns[0]?.annotations.map(({ path }) => path).sort(), commented(server));
  assert.deepEqual(server.faults, []);
});

test('files that `#line` names: no temporary folder, no link to nowhere, the same the next time', needsCompiler, async () => {
  const files = (kernel: string): Files => ({
    'src/named.cu': `#line 1 "src/named.cu"\n${kernel.replaceAll('shift', 'named').replaceAll('Shift', 'Named')}`,
    'src/local.cu': `#line 1 "local.cu"\n${kernel.replaceAll('shift', 'local').replaceAll('Shift', 'Local')}`,
    'src/made.cu': `#line 7 "made/from.y"\n${kernel.replaceAll('shift', 'made').replaceAll('Shift', 'Made')}`,
    'src/far.cu': `#line 7 "/far/away.y"\n${kernel.replaceAll('shift', 'far').replaceAll('Shift', 'Far')}`,
  });
  const { workspace, server, run } = await pullRequest(files(RACY), files(SHIFT));
  workspace.commit({ README: 'merged' });
  const result = await run();
  assert.equal(result.outputs['errors'], '4', result.stdout);
  const sent = JSON.stringify(server.writes());
  assert.doesNotMatch(sent, /\/tmp\/|selvage-[A-Za-z0-9]{6}/);
  assert.match(sent, /- `made\/from\.y:\d+` /);
  assert.match(sent, /- `\/far\/away\.y:\d+` /);
  assert.match(sent, /blob\/[0-9a-f]{40}\/src\/named\.cu#L/);
  assert.deepEqual(commented(server), ['src/local.cu', 'src/named.cu']);
  const before = server.transcript.length;
  await run();
  assert.deepEqual(server.writes(before), []);
  assert.deepEqual(server.faults, []);
});

test('a working directory below the top of the repository: paths are those of the repository', needsCompiler, async () => {
  const configuration = 'version: 1\npaths: { include: ["src/**"] }\n';
  const base: Files = {
    'gpu/src/shift.cu': SHIFT,
    'gpu/other.cu': SHIFT,
    'outside.cu': SHIFT,
    'gpu/.selvage.yml': configuration,
    'gpu/src/far.cu': `${'// far\n'.repeat(20)}${SHIFT.replaceAll('shift', 'far').replaceAll('Shift', 'Far')}`,
  };
  const racy: Files = {
    'gpu/src/shift.cu': RACY,
    'gpu/other.cu': RACY,
    'outside.cu': RACY,
  };
  const { workspace, server, run } = await pullRequest(racy, base);
  const inputs = { 'working-directory': 'gpu' };
  const result = await run({ inputs });
  assert.equal(result.outputs['errors'], '1', result.stdout);
  assert.deepEqual(commented(server), ['gpu/src/shift.cu']);
  assert.deepEqual(
    server.checkRuns[0]?.annotations.map(({ path }) => path),
    ['gpu/src/shift.cu'],
  );
  assert.match(server.issueComments[0]?.body ?? '', /\[`gpu\/src\/shift\.cu:\d+`\]\(\S+\/gpu\/src\/shift\.cu#L/);
  // The merge commit is checked out, then the fix arrives.
  workspace.commit({ README: 'merged' });
  const before = server.transcript.length;
  await run({ inputs });
  assert.deepEqual(server.writes(before), []);
  server.push(workspace.commit({ 'gpu/src/shift.cu': `// mended\n${SHIFT}` }, server.headSha));
  await run({ inputs });
  assert.deepEqual(commented(server), []);
  assert.deepEqual(server.faults, []);
});
