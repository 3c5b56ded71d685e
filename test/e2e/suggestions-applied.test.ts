/** Suggestions that a reader commits from the comments of a review remove the findings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Files } from '../github/runner.ts';
import { commitSuggestions, fencedBlocks } from '../github/suggestion-rule.ts';
import { needsCompiler, pullRequest } from './pull-request.ts';

const barrier = '  __syncthreads();\n';
const launch = (name: string) => `void launch_${name}(const int* in, int* out) { ${name}<<<8, 128>>>(in, out); }\n`;

/** Kernels with their barriers; without them they race, or some threads miss one. */
const kernels: Readonly<Record<string, (isRight: boolean) => string>> = {
  reversed: (isRight) => `__global__ void reversed(const int* in, int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
${isRight ? barrier : ''}  out[blockIdx.x * 128 + t] = s[127 - t];
}
`,
  summed: (isRight) => `__global__ void summed(const int* in, int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
${isRight ? barrier : ''}  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
`,
  missed: (isRight) => `__global__ void missed(const int* in, int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  ${isRight ? '' : 'if (t < 100) '}__syncthreads();
  out[blockIdx.x * 128 + t] = s[127 - t];
}
`,
};

test('suggestions that are posted, committed by the rule of GitHub, leave no finding', needsCompiler, async () => {
  const files = (isRight: boolean): Files =>
    Object.fromEntries(Object.entries(kernels).map(([name, text]) => [`src/${name}.cu`, text(isRight) + launch(name)]));
  const { workspace, server, run } = await pullRequest(files(false), files(true));
  const inputs = { checks: 'race,divergence,repair' };
  const first = await run({ inputs });
  assert.equal(first.outputs['errors'], '4', first.stdout);
  const comments = server.reviewComments.map(({ path, line, startLine, body }) => ({
    path,
    line: line!,
    ...(startLine !== null && { startLine }),
    body,
  }));
  const suggesting = comments.filter(({ body }) => fencedBlocks(body).some(({ info }) => info === 'suggestion'));
  assert.equal(suggesting.length, 3, comments.map(({ body }) => body).join('\n\n'));
  const applied = Object.entries(files(false)).map(([path, text]) => [
    path,
    commitSuggestions(
      text!,
      suggesting.filter((one) => one.path === path),
    ),
  ]);
  server.push(workspace.commit(Object.fromEntries(applied) as Files, server.headSha));
  const second = await run({ inputs });
  assert.deepEqual([second.status, second.outputs['errors'], second.outputs['proved']], [0, '0', second.outputs['kernels']], second.stdout);
  assert.equal(server.reviewComments.length, 0);
  assert.doesNotMatch(server.issueComments[0]?.body ?? '', /data race|divergence \|/);
  assert.deepEqual(server.faults, []);
});
