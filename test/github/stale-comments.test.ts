/** Handling of earlier comments: outdated ones, those of reviews, and those that must not be changed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { parseMarker } from '../../src/github/text/marker.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { publish } from '../../src/github/publish/publish.ts';
import type { Report } from '../../src/report-model/report.ts';
import { testClient } from './client.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { SOME_USER } from './objects.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import { startGitHub, type GitHubServer } from './server.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };
const servers: GitHubServer[] = [];

after(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

/** 60 lines, some of them replaced. */
function source(changes: Readonly<Record<number, string>> = {}): Tree {
  const lines = Array.from({ length: 60 }, (_, index) => changes[index + 1] ?? `line ${index + 1}`);
  return new Map([['src/a.cu', `${lines.join('\n')}\n`]]);
}

const trees = new Map<string, Tree>([
  [BASE, source()],
  [HEAD, source({ 13: 'changed' })],
]);

async function github(): Promise<GitHubServer> {
  const repository = memoryRepository(trees);
  const server = await startGitHub({ ...TARGET, baseSha: BASE, headSha: HEAD, repository, token: 't' });
  servers.push(server);
  return server;
}

function push(server: GitHubServer, letter: string, tree: Tree): void {
  trees.set(letter.repeat(40), tree);
  server.push(letter.repeat(40), memoryRepository(trees));
}

async function review(server: GitHubServer, document: Report) {
  const octokit = testClient(server, 't');
  const { files } = await pullRequestFiles(octokit, TARGET, () => Promise.reject(new Error('not asked for')));
  const repository = { serverUrl: 'https://github.example', fullName: 'octo/kernels' };
  const plan = planReview({ report: document, diff: files, headSha: server.headSha, baseSha: BASE, repository });
  return publish(octokit, TARGET, plan, { comment: true, checkRun: true });
}

const at = (line: number) => ({ file: 'src/a.cu', line });
const racy = (...lines: readonly number[]) =>
  report([
    kernel(
      'k',
      lines.map((line, index) => race({ fingerprint: `f${index + 1}`, first: at(line), second: at(line) })),
    ),
  ]);
const kinds = ({ reviewComments }: GitHubServer) => reviewComments.map(({ body, line }) => [parseMarker(body)?.kind, line]);

async function saysNothingMore(server: GitHubServer, document: Report): Promise<void> {
  const before = server.transcript.length;
  await review(server, document);
  assert.deepEqual(server.writes(before), []);
  assert.deepEqual(server.faults, []);
}

test('a line is rewritten while its finding persists: it is reported on the new line, in one thread', async () => {
  const server = await github();
  await review(server, racy(13));
  push(server, 'c', source({ 13: 'changed again' }));
  assert.deepEqual(kinds(server), [['finding', null]]);
  const result = await review(server, racy(13));
  // The comment is deleted, and its review has no other comment.
  assert.deepEqual([result.comments, result.settled], [1, 2]);
  assert.deepEqual(kinds(server), [['finding', 13]]);
  await saysNothingMore(server, racy(13));
});

test('an outdated thread with an answer stays, and links to its successor', async () => {
  const server = await github();
  await review(server, racy(13));
  server.commentOnLine(SOME_USER, { inReplyTo: server.reviewComments[0]!.id }, 'is that so?');
  push(server, 'd', source({ 12: 'one', 13: 'changed again' }));
  await review(server, racy(13));
  assert.deepEqual(kinds(server), [
    ['moved', null],
    [undefined, null],
    ['finding', 13],
  ]);
  const link = `https://github.example/octo/kernels/blob/${'d'.repeat(40)}/src/a.cu#L13`;
  assert.ok(
    server.reviewComments[0]?.body.includes(
      `The line changed, the finding is still there, at [\`src/a.cu:13\`](${link}): see the newer comment.`,
    ),
  );
  await saysNothingMore(server, racy(13));
  // It is fixed: the earlier answered thread stays as history, the current one is removed.
  push(server, 'e', source());
  await review(server, racy());
  assert.deepEqual(kinds(server), [
    ['moved', null],
    [undefined, null],
  ]);
});

test('an outdated comment whose finding has left the diff continues in the body of a review', async () => {
  const server = await github();
  await review(server, racy(13));
  push(server, 'f', source({ 50: 'other' }));
  await review(server, racy(20));
  assert.deepEqual(kinds(server), []);
  assert.deepEqual(
    server.reviews.map(({ body }) => parseMarker(body)?.fingerprints),
    [[], ['f1']],
  );
  await saysNothingMore(server, racy(20));
});

test('an outdated comment whose finding may still be there stays as it is', async () => {
  const server = await github();
  await review(server, racy(13));
  push(server, '1', source({ 13: 'changed again' }));
  const diagnostics = [{ severity: 'error', code: 'ptx/syntax', message: '' }] as const;
  const result = await review(server, report([], { diagnostics }));
  assert.equal(result.settled, 0);
  assert.deepEqual(kinds(server), [['finding', null]]);
});

test('if the new comment cannot be posted the outdated one is preserved', async () => {
  const server = await github();
  await review(server, racy(13));
  push(server, '2', source({ 13: 'changed again' }));
  server.settings.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith('/reviews') ? { answer: { status: 502, body: '' } } : undefined;
  const failed = await review(server, racy(13));
  assert.deepEqual([failed.review, failed.settled], ['failed', 0]);
  assert.deepEqual(kinds(server), [['finding', null]]);
  server.settings.fault = null;
  await review(server, racy(13));
  assert.deepEqual(kinds(server), [['finding', 13]]);
  await saysNothingMore(server, racy(13));
});

test('a finding only in the body of a review is retracted if fixed, and reported again when it returns', async () => {
  const server = await github();
  await review(server, racy(40, 50));
  assert.deepEqual(
    server.reviews.map(({ body }) => parseMarker(body)?.fingerprints),
    [['f1', 'f2']],
  );
  await review(server, racy(40));
  const [told] = server.reviews;
  assert.deepEqual(parseMarker(told?.body)?.fingerprints, ['f1']);
  assert.match(told?.body ?? '', /\n- Fixed in a{9}: \[`src\/a\.cu:50`\]/);
  assert.match(told?.body ?? '', /\n- \[`src\/a\.cu:40`\]\S+ \*\*Data race/);
  await saysNothingMore(server, racy(40));
  await review(server, racy(40, 50));
  assert.deepEqual(
    server.reviews.map(({ body }) => parseMarker(body)?.fingerprints),
    [['f1'], ['f2']],
  );
  await saysNothingMore(server, racy(40, 50));
});

test('a review posted by an earlier version of Selvage is marked as fixed as a whole', async () => {
  const server = await github();
  await review(server, racy(40));
  const [told] = server.reviews;
  told!.body = '<!-- selvage:v1 review fingerprint=f1 -->\nSelvage found 1 data race.\n\n- `src/a.cu:40` A race.';
  await review(server, racy());
  assert.match(told!.body, /^<!-- selvage:v1 review text=\w+ -->\nNothing of this review is open here any more, as of a{9}\.$/);
  await saysNothingMore(server, racy());
});

test('a comment that a user deletes meanwhile is harmless', async () => {
  const server = await github();
  await review(server, racy(13));
  server.settings.fault = ({ method }) =>
    method === 'DELETE' ? { hasEffect: true, answer: { status: 404, body: '{"message":"Not Found"}' } } : undefined;
  const result = await review(server, racy());
  assert.deepEqual([result.settled, result.problems, kinds(server)], [2, [], []]);
});

test('nothing is written if the account of the token is unknown', async () => {
  const server = await github();
  server.settings.account = { login: 'kernel-police[bot]', id: 99, type: 'Bot' };
  await review(server, racy(13, 40));
  const before = server.transcript.length;
  const errors = JSON.stringify({ errors: [{ type: 'FORBIDDEN', message: 'no' }] });
  let asked = 0;
  const answering = (amount: number) => (request: { path: string }) =>
    request.path === '/graphql' && (asked += 1) <= amount ? { answer: { status: 200, body: errors } } : undefined;
  server.settings.fault = answering(1);
  await review(server, racy(13, 40));
  assert.deepEqual([server.writes(before), asked], [[], 2]);
  asked = 0;
  server.settings.fault = answering(Infinity);
  const blind = await review(server, racy(13, 40, 12));
  assert.deepEqual([blind.review, blind.summary], ['failed', 'failed']);
  assert.deepEqual(
    server.writes(before).filter(({ path }) => !path.includes('/check-runs')),
    [],
  );
});

test('a page with status 200 is an error: the review is posted by the next run', async () => {
  const server = await github();
  const page = { answer: { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } } };
  server.settings.fault = ({ method }) => (method === 'POST' ? page : undefined);
  const failed = await review(server, racy(13, 40));
  assert.deepEqual([failed.check, failed.review, failed.summary, failed.comments], ['failed', 'failed', 'failed', 0]);
  server.settings.fault = null;
  const result = await review(server, racy(13, 40));
  assert.deepEqual([result.check, result.review, result.summary], ['posted', 'posted', 'created']);
  await saysNothingMore(server, racy(13, 40));
});

test('404 is not reported as a missing permission, 403 names the missing one', async () => {
  const { describeProblem } = await import('../../src/github/publish/publish.ts');
  const server = await github();
  server.settings.fault = ({ method }) => (method === 'POST' ? { answer: { status: 404, body: '{"message":"Not Found"}' } } : undefined);
  const hidden = await review(server, racy(13));
  assert.deepEqual(
    hidden.problems.map(({ permission }) => permission),
    [undefined, undefined, undefined],
  );
  assert.match(describeProblem(hidden.problems[0]!), /HTTP 404: Not Found\. GitHub answers so, too/);
  server.settings.fault = null;
  server.settings.checks = 'none';
  const unchecked = await review(server, racy(13));
  assert.deepEqual(
    unchecked.problems.map(({ channel, permission }) => [channel, permission]),
    [['check run', 'checks: write']],
  );
  assert.deepEqual([unchecked.review, unchecked.summary], ['posted', 'created']);
});

test('an Enterprise Server has its API below a prefix', async () => {
  const repository = memoryRepository(trees);
  const server = await startGitHub({ ...TARGET, baseSha: BASE, headSha: HEAD, repository, token: 't', prefix: '/api/v3' });
  servers.push(server);
  await review(server, racy(13, 40));
  assert.deepEqual([server.reviews.length, server.issueComments.length, server.checkRuns.length], [1, 1, 1]);
  await saysNothingMore(server, racy(13, 40));
});
