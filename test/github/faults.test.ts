/** Every request of a run goes wrong in every way: after one run without faults all is as if nothing had happened. */
import assert from 'node:assert/strict';
import { after as afterAll, test } from 'node:test';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { parseMarker } from '../../src/github/text/marker.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { publish, type PublishResult } from '../../src/github/publish/publish.ts';
import type { ReviewPlan } from '../../src/github/plan/review-plan.ts';
import { testClient } from './client.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { SOME_USER } from './objects.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import { startGitHub, type Fault, type GitHubServer } from './server.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };
const NEXT = 'c'.repeat(40);
const open = new Set<GitHubServer>();

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
const before = report([kernel('k', ['one', 'two', 'three', 'four'].map((name, index) => finding(name, 11 + index)).concat(finding('far', 40), finding('gone', 44)))]); // prettier-ignore
// `one` stays, `two` and `three` are rewritten, `four` and `gone` are fixed, `five` and `farther` are new.
const after = report([
  kernel('k', [finding('one', 11), finding('two', 12), finding('three', 13), finding('five', 15), finding('far', 40), finding('farther', 48), ...filler]), // prettier-ignore
]);

/** A pull request with a review on its first commit, answered in two places, after its second commit. */
async function reviewed(): Promise<{ server: GitHubServer; plan: ReviewPlan }> {
  const server = await startGitHub({ ...TARGET, baseSha: BASE, headSha: HEAD, repository, token: 't' });
  open.add(server);
  await publish(testClient(server, 't'), TARGET, await planOf(server, before), { comment: true, checkRun: true });
  const told = (name: string) => server.reviewComments.find(({ body }) => parseMarker(body)?.fingerprints[0] === name)!;
  for (const name of ['three', 'four']) server.commentOnLine(SOME_USER, { inReplyTo: told(name).id }, 'hm');
  server.push(NEXT);
  return { server, plan: await planOf(server, after) };
}

async function planOf(server: GitHubServer, document: typeof before): Promise<ReviewPlan> {
  const { files } = await pullRequestFiles(testClient(server, 't'), TARGET, () => Promise.reject(new Error('no')));
  return planReview({ report: document, diff: files, headSha: server.headSha, baseSha: BASE });
}

function run(server: GitHubServer, plan: ReviewPlan): Promise<PublishResult> {
  const octokit = testClient(server, 't', { retryBudget: 60_000 });
  return publish(octokit, TARGET, plan, { comment: true, checkRun: true });
}

/** What readers see, without ids and without how the findings are spread over reviews. */
function state({ reviewComments, reviews, issueComments, checkRuns }: GitHubServer) {
  const shown = reviewComments.map(({ path, line, body, inReplyTo }) => [path, line, body, inReplyTo === undefined]);
  return {
    comments: shown.map((one) => JSON.stringify(one)).sort(),
    inBodies: reviews.flatMap(({ body }) => parseMarker(body)?.fingerprints ?? []).sort(),
    summaries: issueComments.map(({ body }) => body),
    checks: checkRuns.map((one) => [one.headSha, one.status, one.conclusion, one.title, one.annotations.length]),
  };
}

test('what is told, and where, without faults', async () => {
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
  assert.deepEqual(server.checkRuns.map(({ annotations }) => annotations.length), [6, 66]); // prettier-ignore
  const from = server.transcript.length;
  await run(server, plan);
  assert.deepEqual(server.writes(from), []);
  await server.close();
});

for (const [name, fault] of Object.entries(FAULTS)) {
  test(`each request in turn: ${name}`, async () => {
    const clean = await reviewed();
    const start = clean.server.transcript.length;
    await run(clean.server, clean.plan);
    const requests = clean.server.transcript.length - start;
    const wanted = state(clean.server);
    await clean.server.close();
    for (let at = 0; at < requests; at += 1) {
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
      // A comment that is not there has been deleted by somebody.
      const isGone = name === '404' && /\/pulls\/comments\//.test(met ?? '');
      const isSilent =
        !isGone && faulty.problems.length === 0 && JSON.stringify(state(server)) !== JSON.stringify(wanted);
      assert.ok(!isSilent, `request ${at}, ${met}: nothing is said of what is lost`);
      const next = await run(server, plan);
      assert.deepEqual(next.problems, []);
      assert.deepEqual(state(server), wanted, `request ${at}, ${met}`);
      await server.close();
      open.delete(server);
    }
  });
}
