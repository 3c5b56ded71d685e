/** What later pushes do to comments: only what a run analysed is settled, and each comment is true. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarker } from '../../src/github/text/marker.ts';
import type { GitHubServer } from '../github/server.ts';
import { needsCompiler, pullRequest } from './pull-request.ts';

/** A kernel that needs its barrier. */
const kernelOf = (name: string, barrier = '  __syncthreads();\n', comment = ''): string => `__global__ void ${name}(float* a) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
${barrier}${comment}  a[threadIdx.x] = s[63 - threadIdx.x];
}
void launch_${name}(float* a) { ${name}<<<1, 64>>>(a); }
`;
const suppression = '  // selvage-ignore race/shared: launched with one warp only\n';

/** A pull request that removes the barrier of a kernel. */
const withoutBarrier = () => pullRequest({ 'src/k.cu': kernelOf('shift', '') }, { 'src/k.cu': kernelOf('shift') });

const kinds = ({ reviewComments }: GitHubServer) => reviewComments.map(({ path, body }) => [path, parseMarker(body)?.kind]);
const conclusions = ({ checkRuns }: GitHubServer) => checkRuns.map(({ name, conclusion }) => [name, conclusion]);

test('two jobs for two folders: each has its own comments, summary and check run', needsCompiler, async () => {
  const { server, run, workspace } = await pullRequest(
    { 'x/x.cu': kernelOf('kx', ''), 'y/y.cu': kernelOf('ky', '') },
    { 'x/x.cu': kernelOf('kx'), 'y/y.cu': kernelOf('ky') },
  );
  const both = async (): Promise<void> => {
    for (const folder of ['x', 'y']) await run({ inputs: { 'working-directory': folder } });
  };
  await both();
  assert.deepEqual(kinds(server), [
    ['x/x.cu', 'finding'],
    ['y/y.cu', 'finding'],
  ]);
  assert.deepEqual(conclusions(server), [
    ['Selvage (x)', 'failure'],
    ['Selvage (y)', 'failure'],
  ]);
  assert.deepEqual(
    server.issueComments.map(({ body }) => body.split('\n')[1]),
    ['### Selvage (x): 1 data race', '### Selvage (y): 1 data race'],
  );
  const before = server.transcript.length;
  await both();
  assert.deepEqual(server.writes(before), []);
  server.push(workspace.commit({ 'x/x.cu': kernelOf('kx') }, server.headSha));
  await both();
  assert.deepEqual(kinds(server), [['y/y.cu', 'finding']]);
  assert.match(server.reviews[0]?.body ?? '', /\nNothing of this review is open here any more, as of \w{9}\.$/);
  assert.match(server.issueComments[0]?.body ?? '', /\*\*Settled in \w{9}:\*\* 1 finding of earlier commits/);
  assert.match(server.reviews[1]?.body ?? '', /Selvage found 1 data race/);
  assert.deepEqual(server.faults, []);
});

test('a file that the change excludes keeps its comment, and is listed as not analysed', needsCompiler, async () => {
  const { server, run, workspace } = await withoutBarrier();
  await run();
  const yaml = "version: 1\npaths:\n  exclude: ['src/**']\n";
  server.push(workspace.commit({ '.selvage.yml': yaml }, server.headSha));
  await run();
  assert.deepEqual(kinds(server), [['src/k.cu', 'unchecked']]);
  const [comment] = server.reviewComments;
  assert.match(
    comment?.body ?? '',
    /\n\*\*No longer checked\*\* since \w{9}: `paths` of the configuration leave out this file\.\n\n\*\*Data race/,
  );
  assert.doesNotMatch(comment?.body ?? '', /```suggestion/);
  const summary = server.issueComments[0]?.body ?? '';
  assert.match(summary, /`src\/k\.cu`: paths\.exclude of this change leaves it out/);
  assert.doesNotMatch(summary, /affects no kernel/);
  assert.doesNotMatch(server.checkRuns[1]?.title ?? '', /affects no kernel/);
  const before = server.transcript.length;
  await run();
  assert.deepEqual(server.writes(before), []);
  // The comment is a finding again when the file is checked again.
  server.push(workspace.commit({ '.selvage.yml': 'version: 1\n' }, server.headSha));
  await run();
  assert.deepEqual(kinds(server), [['src/k.cu', 'finding']]);
  assert.match(comment?.body ?? '', /^<!--[^\n]*\n\*\*Data race/);
  assert.deepEqual(server.faults, []);
});

test('a suppressed finding is marked in its comment, with the reason', needsCompiler, async () => {
  const { server, run, workspace } = await withoutBarrier();
  await run();
  server.push(workspace.commit({ 'src/k.cu': kernelOf('shift', '', suppression) }, server.headSha));
  const quiet = await run();
  assert.equal(quiet.status, 0, quiet.stdout);
  assert.deepEqual(kinds(server), [['src/k.cu', 'suppressed']]);
  const [comment] = server.reviewComments;
  assert.match(comment?.body ?? '', /\n\*\*Suppressed\*\* in \w{9}: launched with one warp only\.\n\n<details><summary>Earlier comment/);
  const before = server.transcript.length;
  await run();
  assert.deepEqual(server.writes(before), []);
  server.push(workspace.commit({ 'src/k.cu': kernelOf('shift', '') }, server.headSha));
  await run();
  assert.deepEqual(
    kinds(server).map(([, kind]) => kind),
    ['finding'],
  );
  assert.deepEqual(server.faults, []);
});

test('an undecided kernel does not keep the comment of a kernel that is proved', needsCompiler, async () => {
  const undecided = `__global__ void unk(float* a, float (*f)(float)) { a[threadIdx.x] = f(a[threadIdx.x]) + 1.0f; }
void g(float* a, float (*f)(float)) { unk<<<1, 64>>>(a, f); }
`;
  const { server, run, workspace } = await pullRequest(
    { 'src/k.cu': kernelOf('shift', ''), 'other/u.cu': undecided },
    { 'src/k.cu': kernelOf('shift') },
  );
  await run();
  assert.deepEqual(kinds(server), [['src/k.cu', 'finding']]);
  server.push(workspace.commit({ 'src/k.cu': kernelOf('shift') }, server.headSha));
  const fixed = await run();
  assert.equal(fixed.status, 0, fixed.stdout);
  assert.deepEqual(kinds(server), []);
  assert.deepEqual(server.faults, []);
});
