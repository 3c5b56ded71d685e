/** Verdicts first, repairs edited in: the state after changes between the two, and after rejections by GitHub. */
import assert from 'node:assert/strict';
import { after as afterAll, test } from 'node:test';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import type { ReviewPlan } from '../../src/github/plan/review-plan.ts';
import { publish, type PublishResult } from '../../src/github/publish/publish.ts';
import { parseMarker } from '../../src/github/text/marker.ts';
import { testClient } from './client.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { SOME_USER } from './objects.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import { startGitHub, type GitHubServer } from './server.ts';
import { commitSuggestions } from './suggestion-rule.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };
const NEXT = 'c'.repeat(40);
const open = new Set<GitHubServer>();

afterAll(() => Promise.all([...open].map((server) => server.close())));

function source(changes: Readonly<Record<number, string>>): Tree {
  const lines = Array.from({ length: 60 }, (_, index) => changes[index + 1] ?? `line ${index + 1}`);
  return new Map([['src/a.cu', `${lines.join('\n')}\n`]]);
}

const trees = new Map([
  [BASE, source({})],
  [HEAD, source({ 12: 'a', 13: 'b', 14: 'c' })],
  [NEXT, source({ 12: 'a', 13: 'bb', 14: 'c' })],
]);

async function github(): Promise<GitHubServer> {
  const repository = memoryRepository(trees);
  const server = await startGitHub({ ...TARGET, baseSha: BASE, headSha: HEAD, repository, token: 't' });
  open.add(server);
  return server;
}

/** A kernel that races between two lines; a barrier after a line repairs it, if one is given. */
function racy(first: number, second: number, after?: number): KernelReport {
  const at = (line: number) => ({ file: 'src/a.cu', line });
  const one = kernel(`k${first}`, [race({ fingerprint: `f${first}`, first: at(first), second: at(second) })]);
  if (after === undefined) return one;
  const edits = [{ file: 'src/a.cu', startLine: after + 1, endLine: after, replacement: 'barrier\n' }];
  return { ...one, repair: { status: 'repaired', verified: true, edits, fixes: [`f${first}`], reason: 'a barrier' } };
}

async function planOf(server: GitHubServer, document: Report, stage: 'verdicts' | 'whole'): Promise<ReviewPlan> {
  const { files } = await pullRequestFiles(testClient(server, 't'), TARGET, () => Promise.reject(new Error('no')));
  const text = trees.get(server.headSha)?.get('src/a.cu');
  return planReview({
    report: document,
    diff: files,
    headSha: server.headSha,
    baseSha: BASE,
    source: () => text,
    stage,
  });
}

async function stage(server: GitHubServer, kernels: readonly KernelReport[], name: 'verdicts' | 'whole'): Promise<PublishResult> {
  const bare = kernels.map((one): KernelReport => (name === 'whole' ? one : { ...one, repair: { status: 'skipped' } }));
  const plan = await planOf(server, report(bare), name);
  return publish(testClient(server, 't'), TARGET, plan, { comment: true, checkRun: true });
}

async function run(server: GitHubServer, ...kernels: readonly KernelReport[]): Promise<void> {
  await stage(server, kernels, 'verdicts');
  await stage(server, kernels, 'whole');
}

const suggestionIn = (body: string | undefined) => /```suggestion\n([^]*?)\n```/.exec(body ?? '')?.[1];
const finding = (server: GitHubServer) => server.reviewComments.filter(({ body }) => parseMarker(body)?.kind === 'finding');

async function saysNothingMore(server: GitHubServer, ...kernels: readonly KernelReport[]): Promise<void> {
  const from = server.transcript.length;
  await run(server, ...kernels);
  assert.deepEqual(
    server.writes(from).map(({ method, path }) => `${method} ${path}`),
    [],
  );
  assert.deepEqual(server.faults, []);
}

test('the repair is edited into the comment, without a new post', async () => {
  const server = await github();
  await stage(server, [racy(12, 14, 13)], 'verdicts');
  assert.equal(suggestionIn(finding(server)[0]?.body), undefined);
  assert.match(finding(server)[0]?.body ?? '', /\n\nAdd `__syncthreads\(\)` between the two accesses\.\n/);
  const from = server.transcript.length;
  await stage(server, [racy(12, 14, 13)], 'whole');
  assert.deepEqual(
    server.writes(from).map(({ method, path }) => `${method} ${path.replace(/\d+$/, 'N')}`),
    ['PATCH /repos/octo/kernels/pulls/comments/N'],
  );
  const [comment] = finding(server);
  assert.equal(suggestionIn(comment?.body), 'a\nb\nbarrier\nc');
  assert.doesNotMatch(comment?.body ?? '', /Add `__syncthreads/);
  await saysNothingMore(server, racy(12, 14, 13));
});

test('committing the suggestion of the edited comment applies the repair', async () => {
  const server = await github();
  await run(server, racy(12, 14, 12));
  const [{ path, line, startLine, body }] = finding(server) as [ReturnType<typeof finding>[number]];
  const text = commitSuggestions(trees.get(HEAD)!.get('src/a.cu')!, [{ path, line: line!, startLine: startLine!, body }]);
  assert.deepEqual(text.split('\n').slice(10, 15), ['line 11', 'a', 'barrier', 'b', 'c']);
});

test('a comment that a user answered gets its repair too', async () => {
  const server = await github();
  await stage(server, [racy(12, 14, 13)], 'verdicts');
  server.commentOnLine(SOME_USER, { inReplyTo: finding(server)[0]!.id }, 'hm');
  await run(server, racy(12, 14, 13));
  assert.equal(suggestionIn(finding(server)[0]?.body), 'a\nb\nbarrier\nc');
  assert.equal(server.reviewComments.length, 2);
  await saysNothingMore(server, racy(12, 14, 13));
});

test('a finding whose comment a user deletes between the stages is reported again, with its repair', async () => {
  const server = await github();
  await stage(server, [racy(12, 14, 13)], 'verdicts');
  (server.reviewComments as unknown[]).length = 0;
  await stage(server, [racy(12, 14, 13)], 'whole');
  assert.equal(suggestionIn(finding(server)[0]?.body), 'a\nb\nbarrier\nc');
  await saysNothingMore(server, racy(12, 14, 13));
});

test('a push between the stages: results for the old commit are not posted on the new commit', async () => {
  const server = await github();
  await stage(server, [racy(12, 14, 13)], 'verdicts');
  const late = await planOf(server, report([racy(12, 14, 13)]), 'whole');
  server.push(NEXT);
  const result = await publish(testClient(server, 't'), TARGET, late, { comment: true, checkRun: true });
  assert.deepEqual([result.movedTo, result.comments, result.settled], [NEXT, 0, 0]);
  assert.equal(suggestionIn(finding(server)[0]?.body), undefined);
  await run(server, racy(12, 14, 13));
  assert.equal(suggestionIn(finding(server).find(({ line }) => line !== null)?.body), 'a\nbb\nbarrier\nc');
  await saysNothingMore(server, racy(12, 14, 13));
});

test('lines in the comment change: its suggestion is that of the new text', async () => {
  const server = await github();
  await run(server, racy(12, 14, 13));
  server.push(NEXT);
  await run(server, racy(12, 14, 13));
  const shown = finding(server).filter(({ line }) => line !== null);
  assert.deepEqual(
    shown.map(({ body }) => suggestionIn(body)),
    ['a\nbb\nbarrier\nc'],
  );
  await saysNothingMore(server, racy(12, 14, 13));
});

test('a repair that is not found again is removed from the comment', async () => {
  const server = await github();
  await run(server, racy(12, 14, 13));
  const failed: KernelReport = {
    ...racy(12, 14),
    repair: { status: 'unrepairable', reason: 'no barrier can be added' },
  };
  await run(server, failed);
  assert.match(finding(server)[0]?.body ?? '', /\n\nSelvage has no fix: no barrier can be added\.\n/);
  assert.equal(suggestionIn(finding(server)[0]?.body), undefined);
  await saysNothingMore(server, failed);
});

test('a comment posted by an earlier version of Selvage is updated once', async () => {
  const server = await github();
  await run(server, racy(12, 14, 13));
  finding(server)[0]!.body = '<!-- selvage:v1 fingerprint=f12 -->\n**Data race**';
  await run(server, racy(12, 14, 13));
  assert.equal(suggestionIn(finding(server)[0]?.body), 'a\nb\nbarrier\nc');
  await saysNothingMore(server, racy(12, 14, 13));
});

test('a repair of other lines is a diff in the comment; without a comment it is in the summary', async () => {
  const server = await github();
  await run(server, racy(12, 14, 15), racy(40, 41, 40));
  assert.match(finding(server)[0]?.body ?? '', /```diff\n@@ .* @@\n[^]*\+barrier\n/);
  assert.match(server.issueComments[0]?.body ?? '', /```diff\n[^]* line 40\n\+barrier\n/);
  assert.equal(server.checkRuns.length, 1);
  assert.match(server.checkRuns[0]?.summary ?? '', /\+barrier/);
  await saysNothingMore(server, racy(12, 14, 15), racy(40, 41, 40));
});

test('if GitHub rejects the comment, the body of the review gets the repair', async () => {
  const server = await github();
  server.settings.refusedLines = new Set([14]);
  await run(server, racy(12, 14, 13));
  assert.equal(finding(server).length, 0);
  assert.match(server.reviews[0]?.body ?? '', /Findings whose comments GitHub refused:[^]*\n {2}```diff\n[^]*\+barrier/);
  assert.equal(server.reviews.length, 1);
  await saysNothingMore(server, racy(12, 14, 13));
});

const texts = [
  "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank",
  'Pull request review thread start line must be part of the same hunk as the line.',
  'Pull request review thread start line must precede the end line.',
  'Path could not be resolved',
  'Body is too long (maximum is 65536 characters)',
  'No subschema in "oneOf" matched.',
];

for (const text of texts) {
  test(`422 ${text}: the other comments are posted, the rejected one is in the review body`, async () => {
    const server = await github();
    const kernels = [racy(12, 12), racy(14, 14, 14)];
    const body = JSON.stringify({ message: 'Unprocessable Entity', errors: [text] });
    let refused = 0;
    server.settings.fault = ({ method, path }) => {
      if (method !== 'POST' || !/\/pulls\/7\/(reviews|comments)$/.test(path)) return undefined;
      // The review as a whole, and then separately the first of its comments.
      return (refused += 1) <= 2 ? { answer: { status: 422, body } } : undefined;
    };
    await run(server, ...kernels);
    assert.deepEqual(
      finding(server).map(({ body: one }) => parseMarker(one)?.fingerprints),
      [['f14']],
    );
    assert.deepEqual(
      server.reviews.map(({ body: one }) => parseMarker(one)?.fingerprints),
      [['f12']],
    );
    server.settings.fault = null;
    await saysNothingMore(server, ...kernels);
  });
}

const lacking = [
  { name: 'pull-requests: read', change: { pullRequests: 'read' }, posted: [0, 0, 1] },
  { name: 'pull-requests: none', change: { pullRequests: 'none' }, posted: [0, 0, 1] },
  { name: 'checks: read', change: { checks: 'read' }, posted: [1, 1, 0] },
  { name: 'checks: none', change: { checks: 'none' }, posted: [1, 1, 0] },
] as const;

for (const { name, change, posted } of lacking) {
  test(`a token with ${name}: the rest is posted, and everything once the permission is granted`, async () => {
    const server = await github();
    const plans = [await planOf(server, report([racy(12, 14)]), 'verdicts'), await planOf(server, report([racy(12, 14, 13)]), 'whole')];
    const both = async () => {
      const results: PublishResult[] = [];
      for (const plan of plans) results.push(await publish(testClient(server, 't'), TARGET, plan, { comment: true, checkRun: true }));
      return results.flatMap(({ problems }) => problems);
    };
    const state = () => [server.reviews.length, server.issueComments.length, server.checkRuns.length];
    Object.assign(server.settings, change);
    const problems = await both();
    const [permission] = name.split(':');
    assert.ok(problems.length > 0 && problems.every((one) => one.permission === `${permission}: write`), JSON.stringify(problems));
    assert.deepEqual(state(), posted);
    Object.assign(server.settings, { pullRequests: 'write', checks: 'write' });
    assert.deepEqual(await both(), []);
    assert.deepEqual(state(), [1, 1, 1]);
    assert.equal(suggestionIn(finding(server)[0]?.body), 'a\nb\nbarrier\nc');
    await saysNothingMore(server, racy(12, 14, 13));
  });
}
