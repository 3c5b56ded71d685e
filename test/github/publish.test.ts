import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { testClient } from './client.ts';
import { parseMarker } from '../../src/github/text/marker.ts';
import { planReview, type PlanInput } from '../../src/github/plan/plan.ts';
import { startCheckRun } from '../../src/github/publish/check-run.ts';
import { describeProblem, publish } from '../../src/github/publish/publish.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { ACTIONS_BOT, SOME_USER } from './objects.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import { startGitHub, type GitHubServer } from './server.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };
const BOTH = { comment: true, checkRun: true };
const servers: GitHubServer[] = [];

after(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

const lines = (count: number, mark: (line: number) => string = () => '') =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}${mark(index + 1)}\n`).join('');

const base: Tree = new Map([['src/a.cu', lines(60)]]);
const head: Tree = new Map([['src/a.cu', lines(60, (line) => (line === 13 ? ' changed' : ''))]]);

async function github(
  trees: ReadonlyMap<string, Tree> = new Map([
    [BASE, base],
    [HEAD, head],
  ]),
) {
  const server = await startGitHub({
    owner: TARGET.owner,
    repo: TARGET.repo,
    pullNumber: TARGET.pullNumber,
    baseSha: BASE,
    headSha: HEAD,
    repository: memoryRepository(trees),
    token: 'secret-token',
  });
  servers.push(server);
  return server;
}

function client(server: GitHubServer, waits: number[] = [], writeInterval = 0) {
  const sleep = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
  return testClient(server, 'secret-token', { writeInterval, retryBudget: 100_000, sleep });
}

async function planFor(server: GitHubServer, input: Pick<PlanInput, 'report'> & Partial<PlanInput>) {
  const { files } = await pullRequestFiles(client(server), TARGET, () => Promise.reject(new Error('not asked for')));
  return planReview({ diff: files, headSha: server.headSha, baseSha: BASE, ...input });
}

const at = (line: number) => ({ file: 'src/a.cu', line });
const finding = (fingerprint: string, first: number, second: number) => race({ fingerprint, first: at(first), second: at(second) });
const twoRaces = () => report([kernel('k', [finding('f1', 12, 14), finding('f2', 40, 44)])]);

function clean(server: GitHubServer): void {
  assert.deepEqual(server.faults, []);
}

test('the first run posts one review, one summary and one check run; the second posts nothing', async () => {
  const server = await github();
  const plan = await planFor(server, { report: twoRaces() });
  const first = await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual(first, {
    comments: 1,
    review: 'posted',
    summary: 'created',
    check: 'posted',
    settled: 0,
    problems: [],
  });
  assert.equal(server.reviews.length, 1);
  assert.deepEqual(
    server.reviewComments.map(({ path, startLine, line }) => [path, startLine, line]),
    [['src/a.cu', 12, 14]],
  );
  assert.equal(server.reviews[0]?.state, 'COMMENTED');
  assert.match(server.reviews[0]?.body ?? '', /src\/a\.cu:44/);
  assert.equal(server.issueComments.length, 1);
  assert.deepEqual(
    server.checkRuns.map((run) => [run.status, run.conclusion, run.annotations.length]),
    [['completed', 'failure', 2]],
  );
  const before = server.transcript.length;
  const second = await publish(client(server), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.deepEqual(second, { comments: 0, review: 'nothing new', summary: 'unchanged', check: 'unchanged', settled: 0, problems: [] });
  assert.deepEqual(server.writes(before), []);
  clean(server);
});

test('after a push known findings are not reported again, fixed ones retracted, answered ones marked', async () => {
  const server = await github();
  const three = report([kernel('k', [finding('f1', 12, 14), finding('f2', 13, 13), finding('f3', 15, 15)])]);
  await publish(client(server), TARGET, await planFor(server, { report: three }), BOTH);
  assert.equal(server.reviewComments.length, 3);
  const answered = server.reviewComments.find((one) => parseMarker(one.body)?.fingerprints[0] === 'f2');
  server.commentOnLine(SOME_USER, { inReplyTo: answered?.id ?? 0 }, 'are you sure?');

  const next = 'c'.repeat(40);
  const moved: Tree = new Map([['src/a.cu', `one more\n${head.get('src/a.cu')}`]]);
  server.push(
    next,
    memoryRepository(
      new Map([
        [BASE, base],
        [HEAD, head],
        [next, moved],
      ]),
    ),
  );
  const now = report([kernel('k', [finding('f1', 13, 15), finding('f4', 14, 14)])]);
  const result = await publish(client(server), TARGET, await planFor(server, { report: now }), BOTH);
  // In addition, the lines that the first finding names have moved.
  assert.deepEqual([result.comments, result.settled, result.summary], [1, 3, 'updated']);
  assert.deepEqual(
    server.reviewComments.map(({ body }) => parseMarker(body)).map((marker) => marker && [marker.kind, ...marker.fingerprints]),
    [['fixed', 'f2'], ['finding', 'f1'], undefined, ['finding', 'f4']],
  );
  assert.match(answered?.body ?? '', /\nFixed in ccccccccc\./);
  assert.equal(server.issueComments.length, 1);
  clean(server);
});

test('a finding that reappears after it was fixed is reported again', async () => {
  const server = await github();
  await publish(client(server), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  const commented = server.reviewComments[0]?.id ?? 0;
  server.commentOnLine(SOME_USER, { inReplyTo: commented }, 'hm');
  const clear = await planFor(server, { report: report([kernel('k', [])]) });
  assert.equal((await publish(client(server), TARGET, clear, BOTH)).settled, 2);
  const again = await publish(client(server), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.equal(again.comments, 1);
  assert.match(
    server.reviews[0]?.body ?? '',
    /^<!-- selvage:v1 review text=\w+ -->\nNothing of this review is open here any more, as of a{9}\.$/,
  );
  assert.match(server.reviews[1]?.body ?? '', /- `src\/a\.cu:44` \*\*Data race/);
  clean(server);
});

test('nothing is posted on a clean change, and an earlier summary is updated', async () => {
  const server = await github();
  const plan = await planFor(server, { report: report([kernel('k', [])]) });
  const result = await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual([result.review, result.summary, result.check], ['nothing new', 'none', 'posted']);
  assert.equal(server.checkRuns[0]?.conclusion, 'success');
  await publish(client(server), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  await publish(client(server), TARGET, plan, BOTH);
  assert.equal(server.issueComments.length, 1);
  assert.match(server.issueComments[0]?.body ?? '', /1 kernel proved free/);
  clean(server);
});

test('a copy of our markers by another account is neither trusted nor edited', async () => {
  const server = await github();
  const plan = await planFor(server, { report: twoRaces() });
  server.addComment(SOME_USER, plan.summary.body);
  server.commentOnLine(SOME_USER, { path: 'src/a.cu', line: 13 }, plan.review?.comments[0]?.body ?? '');
  const result = await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual([result.comments, result.summary], [1, 'created']);
  assert.equal(server.issueComments[0]?.body, plan.summary.body);
  clean(server);
});

test('with a token of another account its own comments are recognised too', async () => {
  const server = await github();
  server.settings.account = { login: 'kernel-police[bot]', id: 99, type: 'Bot' };
  const plan = await planFor(server, { report: twoRaces() });
  await publish(client(server), TARGET, plan, BOTH);
  const before = server.transcript.length;
  await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual(server.writes(before), []);
  clean(server);
});

test('a read-only token: every channel is tried once and the missing permissions are named', async () => {
  const server = await github();
  server.settings.pullRequests = 'read';
  server.settings.checks = 'read';
  const result = await publish(client(server), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.deepEqual([result.review, result.summary, result.check], ['failed', 'failed', 'failed']);
  assert.deepEqual(
    result.problems.map(({ channel, permission }) => [channel, permission]),
    [
      ['check run', 'checks: write'],
      ['review', 'pull-requests: write'],
      ['summary comment', 'pull-requests: write'],
    ],
  );
  assert.equal(server.writes().length, 3);
  assert.match(describeProblem(result.problems[0] as never), /lacks `checks: write`.*Resource not accessible/);
  clean(server);
});

test('a rate limit is waited out for the time that GitHub specifies', async () => {
  const server = await github();
  server.settings.writesUntilLimit = 1;
  server.settings.retryAfter = 17;
  const waits: number[] = [];
  const result = await publish(client(server, waits), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.deepEqual(waits, [17_000]);
  assert.deepEqual([result.review, result.summary, result.check, result.problems.length], ['posted', 'created', 'posted', 0]);
  assert.equal(server.reviews.length, 1);
  clean(server);
});

test('with debug logging each request is logged with its answer, and without the token', async () => {
  const server = await github();
  const lines: string[] = [];
  const octokit = testClient(server, 'secret-token', { trace: (line) => lines.push(line) });
  await octokit.rest.pulls.get({ owner: TARGET.owner, repo: TARGET.repo, pull_number: TARGET.pullNumber });
  await assert.rejects(octokit.rest.pulls.get({ owner: TARGET.owner, repo: TARGET.repo, pull_number: 8 }));
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^GET \/repos\/octo\/kernels\/pulls\/7 - 200 /);
  assert.match(lines[1] ?? '', /^GET \/repos\/octo\/kernels\/pulls\/8 - 404 /);
  assert.doesNotMatch(lines.join('\n'), /secret-token/);
});

test('the total wait for a rate limit is bounded', async () => {
  const server = await github();
  server.settings.writesUntilLimit = 0;
  server.settings.retryAfter = 3600;
  const waits: number[] = [];
  const result = await publish(client(server, waits), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.deepEqual(waits, []);
  assert.deepEqual([result.check, result.review, result.problems[0]?.permission], ['failed', 'posted', undefined]);
  clean(server);
});

test('writes are spaced in time', async () => {
  const server = await github();
  const waits: number[] = [];
  await publish(client(server, waits, 1000), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.deepEqual(waits.slice(0, 1), [1000]);
  assert.ok(waits.length >= server.writes().length - 1);
  clean(server);
});

test('a read over a broken connection is retried, a write is not', async () => {
  const server = await github();
  const plan = await planFor(server, { report: twoRaces() });
  server.settings.requestsUntilCut = 0;
  const first = await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual([first.check, first.review], ['posted', 'posted']);
  const other = await github();
  other.settings.requestsUntilCut = 1;
  const second = await publish(client(other), TARGET, plan, BOTH);
  assert.deepEqual([second.check, second.review, second.problems.length], ['failed', 'posted', 1]);
  clean(other);
});

test('when GitHub is down every channel reports it, and nothing throws', async () => {
  const server = await github();
  const plan = await planFor(server, { report: twoRaces() });
  server.settings.outage = 502;
  const result = await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual([result.check, result.review, result.summary], ['failed', 'failed', 'failed']);
  assert.equal(server.writes().length, 0);
});

test('a pull request with a newer head gets no comments', async () => {
  const server = await github();
  const plan = await planFor(server, { report: twoRaces() });
  server.push(
    'c'.repeat(40),
    memoryRepository(
      new Map([
        [BASE, base],
        [HEAD, head],
        ['c'.repeat(40), head],
      ]),
    ),
  );
  const result = await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual([result.movedTo, result.review, result.summary, result.check], ['c'.repeat(40), 'off', 'off', 'posted']);
  assert.equal(server.reviews.length + server.issueComments.length, 0);
  clean(server);
});

test('if GitHub rejects a line the other comments are posted, and the review reports the rejected one', async () => {
  const server = await github();
  server.settings.refusedLines = new Set([14]);
  const report_ = report([kernel('k', [finding('f1', 12, 12), finding('f2', 14, 14), finding('f3', 15, 15), finding('f4', 44, 44)])]);
  const plan = await planFor(server, { report: report_ });
  const result = await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual([result.review, result.comments, server.reviews.length, result.problems], ['posted', 2, 1, []]);
  assert.deepEqual(
    server.reviewComments.map(({ line }) => line),
    [12, 15],
  );
  assert.deepEqual(parseMarker(server.reviews[0]?.body)?.fingerprints, ['f2', 'f4']);
  assert.match(server.reviews[0]?.body ?? '', /Findings without a separate comment:/);
  const before = server.transcript.length;
  await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual(server.writes(before), []);

  // On the next commit the line is tried again, and the body of the review does not report it twice.
  server.settings.refusedLines = new Set();
  const next = 'c'.repeat(40);
  server.push(
    next,
    memoryRepository(
      new Map([
        [BASE, base],
        [HEAD, head],
        [next, head],
      ]),
    ),
  );
  await publish(client(server), TARGET, await planFor(server, { report: report_ }), BOTH);
  assert.deepEqual(
    server.reviewComments.map(({ line }) => line),
    [12, 15, 14],
  );
  assert.deepEqual(parseMarker(server.reviews[0]?.body)?.fingerprints, ['f4']);
  assert.match(server.reviews[0]?.body ?? '', /- Now a comment on its line: `src\/a\.cu:14`/);
  assert.equal(server.reviews.length, 1);
  clean(server);
});

test('annotations are sent in slices, the conclusion with the first; missing ones are added later', async () => {
  const server = await github();
  const many = Array.from({ length: 120 }, (_, index) => finding(`f${index}`, 60 + index, 60 + index));
  const plan = await planFor(server, { report: report([kernel('k', many)]) });
  const isCheck = ({ path }: { readonly path: string }) => path.includes('/check-runs') && !path.includes('/commits/');
  let updates = 0;
  server.settings.fault = (request) =>
    isCheck(request) && request.method === 'PATCH' && (updates += 1) === 2 ? { answer: { status: 502, body: '<html>' } } : undefined;
  const failed = await publish(client(server), TARGET, plan, BOTH);
  assert.equal(failed.check, 'failed');
  assert.deepEqual(
    server.checkRuns.map((run) => [run.status, run.conclusion, run.annotations.length]),
    [['completed', 'failure', 100]],
  );
  const result = await publish(client(server), TARGET, plan, BOTH);
  assert.equal(result.check, 'posted');
  assert.deepEqual(
    server.checkRuns.map(({ annotations }) => annotations.length),
    [120],
  );
  assert.equal(new Set(server.checkRuns[0]?.annotations.map((one) => one.start_line)).size, 120);
  assert.equal((await publish(client(server), TARGET, plan, BOTH)).check, 'unchanged');
  const requests = server.transcript.filter(isCheck);
  assert.deepEqual(
    requests.map(({ method }) => method),
    ['POST', 'PATCH', 'PATCH', 'PATCH'],
  );
  clean(server);
});

test('own comments are found on any page', async () => {
  const server = await github();
  for (let index = 0; index < 230; index += 1) server.addComment(SOME_USER, `comment ${index}`);
  for (let index = 0; index < 130; index += 1) server.commentOnLine(SOME_USER, { path: 'src/a.cu', line: 13 }, 'nit');
  const plan = await planFor(server, { report: twoRaces() });
  await publish(client(server), TARGET, plan, BOTH);
  const before = server.transcript.length;
  await publish(client(server), TARGET, plan, BOTH);
  assert.deepEqual(server.writes(before), []);
  assert.equal(server.issueComments.filter(({ account }) => account.id === ACTIONS_BOT.id).length, 1);
  clean(server);
});

test('changed files come from all pages, and from git over the cap or when GitHub does not answer', async () => {
  const many: Tree = new Map(Array.from({ length: 250 }, (_, index) => [`f${index}.cu`, `${index}\n`]));
  const server = await github(
    new Map<string, Tree>([
      [BASE, new Map()],
      [HEAD, many],
    ]),
  );
  const none = () => Promise.resolve([]);
  const all = await pullRequestFiles(client(server), TARGET, none);
  assert.equal(all.files.length, 250);
  assert.deepEqual(
    all.files.find(({ path }) => path === 'f7.cu'),
    {
      path: 'f7.cu',
      status: 'added',
      hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines: ['+7'] }],
    },
  );
  server.settings.maxPatchedFiles = 100;
  const capped = await pullRequestFiles(client(server), TARGET, none);
  assert.equal(capped.files.filter(({ hunks }) => hunks === null).length, 150);
  server.settings.outage = 500;
  const fallback = [{ path: 'x.cu', status: 'added', hunks: [] }] as const;
  const down = await pullRequestFiles(client(server), TARGET, () => Promise.resolve(fallback));
  assert.deepEqual(down.files, fallback);
  assert.equal(down.notes.length, 1);
});

test('a check run in progress is completed by the publishing run, and not started twice', async () => {
  const server = await github();
  const begun = { name: 'Selvage', headSha: server.headSha, files: 2 };
  await startCheckRun(client(server), TARGET, begun);
  assert.deepEqual(
    server.checkRuns.map(({ status, conclusion, title }) => [status, conclusion, title]),
    [['in_progress', null, 'Analysing 2 changed files']],
  );
  await startCheckRun(client(server), TARGET, begun);
  await publish(client(server), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.deepEqual(
    server.checkRuns.map(({ status, conclusion, annotations }) => [status, conclusion, annotations.length]),
    [['completed', 'failure', 2]],
  );
  const before = server.transcript.length;
  await startCheckRun(client(server), TARGET, begun);
  await publish(client(server), TARGET, await planFor(server, { report: twoRaces() }), BOTH);
  assert.deepEqual(server.writes(before), []);
  clean(server);
});
