/**
 * Every request of a run fails with every fault: after one run without faults the state is as if none occurred. A run
 * posts its verdicts first, and then the results of repairs.
 */
import assert from 'node:assert/strict';
import { after as afterAll, test } from 'node:test';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { parseMarker } from '../../src/github/text/marker.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { publish, type PublishResult } from '../../src/github/publish/publish.ts';
import type { ReviewPlan } from '../../src/github/plan/review-plan.ts';
import { sweep } from '../run/sweep.ts';
import { testClient } from './client.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { SOME_USER } from './objects.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import { startGitHub, type Fault, type GitHubServer } from './server.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };
const NEXT = 'c'.repeat(40);
const open = new Set<GitHubServer>();
/** Each request, or one of every seven, fails; the next fault starts at another one. */
const EACH = sweep(7, 1);

afterAll(() => Promise.all([...open].map((server) => server.close())));

const message = (text: string) => JSON.stringify({ message: text });
const page = { 'content-type': 'text/html' };
const limit = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

const FAULTS: Readonly<Record<string, Fault>> = {
  'cut before': {},
  'cut after': { hasEffect: true },
  '500': { answer: { status: 500, body: message('Server Error') } },
  '502, a page': { answer: { status: 502, body: '<html>', headers: page } },
  '502 after': { hasEffect: true, answer: { status: 502, body: message('Bad Gateway') } },
  '503': { answer: { status: 503, body: '' } },
  '504 after': { hasEffect: true, answer: { status: 504, body: '', headers: page } },
  '429': { answer: { status: 429, body: message('Too Many Requests'), headers: { 'retry-after': '3' } } },
  'secondary limit': { answer: { status: 403, body: message(limit), headers: { 'retry-after': '7' } } },
  'primary limit': {
    answer: {
      status: 403,
      body: message('API rate limit exceeded for installation ID 1.'),
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' },
    },
  },
  'no permission': { answer: { status: 403, body: message('Resource not accessible by integration') } },
  '401': { answer: { status: 401, body: message('Bad credentials') } },
  '404': { answer: { status: 404, body: message('Not Found') } },
  '422': { answer: { status: 422, body: message('Unprocessable Entity') } },
  '200, a page': { answer: { status: 200, body: '<html>', headers: page } },
  '200, a page, after': { hasEffect: true, answer: { status: 200, body: '<html>', headers: page } },
  '200, cut short, after': { hasEffect: true, answer: { status: 200, body: '{"id": 1' } },
};

function source(changes: Readonly<Record<number, string>>): Tree {
  const lines = Array.from({ length: 80 }, (_, index) => changes[index + 1] ?? `line ${index + 1}`);
  return new Map([['src/a.cu', `${lines.join('\n')}\n`]]);
}

const repository = memoryRepository(
  new Map([
    [BASE, source({})],
    [HEAD, source({ 11: 'a', 12: 'b', 13: 'c', 14: 'd' })],
    [NEXT, source({ 11: 'a', 12: 'bb', 13: 'cc', 14: 'd', 15: 'e' })],
  ]),
);

const finding = (name: string, line: number) =>
  race({ fingerprint: name, first: { file: 'src/a.cu', line }, second: { file: 'src/a.cu', line } });
const filler = Array.from({ length: 60 }, (_, index) => ({
  ...finding(`n${index}`, 70),
  severity: 'notice' as const,
  array: `a${index}`,
}));
const before = report([
  kernel(
    'k',
    ['one', 'two', 'three', 'four'].map((name, index) => finding(name, 11 + index)).concat(finding('far', 40), finding('gone', 44)),
  ),
]);
// `one` stays, `two` and `three` are rewritten, `four` and `gone` are fixed, `five` and `farther` are new.
// The results for `one`, `two` and `far` come later: one repair fits its comment, one does not, one has no comment.
const after = report([
  repaired(kernel('k1', [finding('one', 11)]), 11),
  repaired(kernel('k2', [finding('two', 12)]), 14),
  repaired(kernel('k3', [finding('far', 40)]), 40),
  kernel('k', [finding('three', 13), finding('five', 15), finding('farther', 48), ...filler]),
]);

/** The kernel with a repair that inserts a barrier after a line. */
function repaired(one: KernelReport, line: number): KernelReport {
  const edits = [{ file: 'src/a.cu', startLine: line + 1, endLine: line, replacement: 'barrier\n' }];
  const fixes = one.race.findings.map(({ fingerprint }) => fingerprint);
  return { ...one, repair: { status: 'repaired', verified: true, edits, fixes, reason: `a barrier after ${line}` } };
}

/** A pull request with a review on its first commit, answered in two places, after its second commit. */
async function reviewed(): Promise<{ server: GitHubServer; plan: Stages }> {
  const server = await startGitHub({ ...TARGET, baseSha: BASE, headSha: HEAD, repository, token: 't' });
  open.add(server);
  await run(server, await planOf(server, before));
  const told = (name: string) => server.reviewComments.find(({ body }) => parseMarker(body)?.fingerprints[0] === name)!;
  for (const name of ['three', 'four']) server.commentOnLine(SOME_USER, { inReplyTo: told(name).id }, 'hm');
  server.push(NEXT);
  return { server, plan: await planOf(server, after) };
}

/** The plans of a run: of its verdicts, and with repairs. */
type Stages = readonly [ReviewPlan, ReviewPlan];

async function planOf(server: GitHubServer, document: typeof before): Promise<Stages> {
  const { files } = await pullRequestFiles(testClient(server, 't'), TARGET, () => Promise.reject(new Error('no')));
  const text = repository.text(server.headSha, 'src/a.cu');
  const input = { diff: files, headSha: server.headSha, baseSha: BASE, source: () => text };
  const bare = { ...document, kernels: document.kernels.map((one) => ({ ...one, repair: { status: 'skipped' } as const })) };
  return [planReview({ ...input, report: bare, stage: 'verdicts' }), planReview({ ...input, report: document })];
}

async function run(server: GitHubServer, [verdicts, whole]: Stages): Promise<Pick<PublishResult, 'problems'>> {
  const octokit = testClient(server, 't', { retryBudget: 60_000 });
  const first = await publish(octokit, TARGET, verdicts, { comment: true, checkRun: true });
  const second = await publish(octokit, TARGET, whole, { comment: true, checkRun: true });
  return { problems: [...first.problems, ...second.problems] };
}

/** The state that readers see, without ids and without the distribution of findings over reviews. */
function state({ reviewComments, reviews, issueComments, checkRuns }: GitHubServer) {
  const shown = reviewComments.map(({ path, line, body, inReplyTo }) => [path, line, body, inReplyTo === undefined]);
  return {
    comments: shown.map((one) => JSON.stringify(one)).sort(),
    inBodies: reviews.flatMap(({ body }) => parseMarker(body)?.fingerprints ?? []).sort(),
    summaries: issueComments.map(({ body }) => body),
    checks: checkRuns.map((one) => [one.headSha, one.status, one.conclusion, one.title, one.annotations.length]),
  };
}

test('reported findings and their places, without faults', async () => {
  const { server, plan } = await reviewed();
  await run(server, plan);
  const told = server.reviewComments.map(({ body, line }) => {
    const marker = parseMarker(body);
    return marker ? `${marker.kind} ${marker.fingerprints.join()} ${line}` : 'answer';
  });
  assert.deepEqual(told, [
    'finding one 11',
    'moved three null',
    'fixed four 14',
    'answer',
    'answer',
    'finding two 12',
    'finding three 13',
    'finding five 15',
  ]);
  assert.deepEqual(state(server).inBodies, ['far', 'farther']);
  assert.deepEqual(
    server.checkRuns.map(({ annotations }) => annotations.length),
    [6, 66],
  );
  const bodyOf = (name: string) =>
    server.reviewComments.find(({ body, line }) => line !== null && parseMarker(body)?.fingerprints[0] === name)?.body;
  assert.match(bodyOf('one') ?? '', /a barrier after 11\.\n\n```suggestion\na\nbarrier\n```/);
  assert.match(bodyOf('two') ?? '', /a barrier after 14\.\n\n```diff\n@@ [^]*\+barrier/);
  assert.match(server.issueComments[0]?.body ?? '', /```diff\n[^]* line 40\n\+barrier/);
  assert.equal(server.reviews.length, 2);
  const from = server.transcript.length;
  await run(server, plan);
  assert.deepEqual(server.writes(from), []);
  await server.close();
});

for (const [number, [name, fault]] of Object.entries(FAULTS).entries()) {
  test(`each request in sequence: ${name}`, async () => {
    const clean = await reviewed();
    const start = clean.server.transcript.length;
    await run(clean.server, clean.plan);
    const requests = clean.server.transcript.length - start;
    const wanted = state(clean.server);
    await clean.server.close();
    for (let at = number % EACH; at < requests; at += EACH) {
      const { server, plan } = await reviewed();
      let met: string | undefined;
      let index = 0;
      server.settings.fault = ({ method, path }) => {
        index += 1;
        if (index !== at + 1) return undefined;
        met = `${method} ${path}`;
        return fault;
      };
      const faulty = await run(server, plan);
      server.settings.fault = null;
      // A missing comment counts as deleted by a user.
      const isGone = name === '404' && /\/pulls\/comments\//.test(met ?? '');
      const isSilent = !isGone && faulty.problems.length === 0 && JSON.stringify(state(server)) !== JSON.stringify(wanted);
      assert.ok(!isSilent, `request ${at}, ${met}: a lost change is not reported`);
      const next = await run(server, plan);
      assert.deepEqual(next.problems, []);
      assert.deepEqual(state(server), wanted, `request ${at}, ${met}`);
      await server.close();
      open.delete(server);
    }
  });
}
