/** The simulated GitHub rejects the requests that GitHub rejects: otherwise the other tests would prove nothing. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { SOME_USER } from './objects.ts';
import { BASE, HEAD } from './report-fixture.ts';
import { startGitHub, type GitHubServer } from './server.ts';

const lines = (count: number, changed: readonly number[]) =>
  Array.from({ length: count }, (_, index) => `${index + 1}${changed.includes(index + 1) ? '!' : ''}\n`).join('');
const trees: ReadonlyMap<string, Tree> = new Map([
  [BASE, new Map([['a.cu', lines(60, [])]])],
  [HEAD, new Map([['a.cu', lines(60, [10, 30])]])],
]);
const PULL = '/repos/octo/kernels/pulls/7';
const servers: GitHubServer[] = [];
let server: GitHubServer;

beforeEach(async () => {
  server = await startGitHub({
    owner: 'octo',
    repo: 'kernels',
    pullNumber: 7,
    baseSha: BASE,
    headSha: HEAD,
    repository: memoryRepository(trees),
    token: 't',
  });
  servers.push(server);
});

after(async () => {
  await Promise.all(servers.map((one) => one.close()));
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly link: string | null;
}

async function ask(method: string, path: string, body?: unknown, token = 't'): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `token ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), link: response.headers.get('link') };
}

const review = (comment: object, more: object = {}) =>
  ask('POST', `${PULL}/reviews`, { event: 'COMMENT', body: 'x', comments: [{ path: 'a.cu', body: 'x', ...comment }], ...more });

test('comments: lines of a hunk, one hunk, the correct order, and all or none of them', async () => {
  assert.equal((await review({ line: 13 })).status, 200);
  assert.equal((await review({ line: 13, start_line: 7 })).status, 200);
  for (const [comment, message] of [
    [{ line: 14 }, /line must be part of the diff/],
    [{ line: 1 }, /line must be part of the diff/],
    [{ line: 30, start_line: 10 }, /part of the same hunk/],
    [{ line: 13, start_line: 13 }, /must precede the end line/],
    [{ line: 13, path: 'b.cu' }, /Path could not be resolved/],
    [{}, /Line could not be resolved/],
    [{ position: 1 }, /position/],
    [{ line: 13, body: '' }, /can't be blank/],
    [{ line: 13, body: 'x'.repeat(65_537) }, /maximum is 65536 characters/],
  ] as const) {
    const answer = await review(comment);
    assert.deepEqual([answer.status, message.test(answer.text)], [422, true], answer.text);
  }
  const before = server.reviewComments.length;
  const mixed = [
    { path: 'a.cu', line: 13, body: 'x' },
    { path: 'a.cu', line: 14, body: 'x' },
  ];
  assert.equal((await review({}, { comments: mixed })).status, 422);
  assert.equal(server.reviewComments.length, before);
  assert.equal((await review({ line: 13 }, { body: '' })).status, 422);
  assert.equal((await review({ line: 13 }, { commit_id: 'd'.repeat(40) })).status, 422);
  assert.deepEqual(server.faults, []);
});

test('requests that the description does not allow are faults', async () => {
  assert.equal((await review({ line: '13' })).status, 422);
  assert.equal((await review({ line: 13 }, { event: 'BLOCK' })).status, 422);
  assert.equal((await review({ line: 13 }, { colour: 'red' })).status, 422);
  assert.equal((await ask('GET', `${PULL}/files?perpage=3`)).status, 422);
  assert.equal((await ask('GET', `${PULL}/files?per_page=many`)).status, 422);
  assert.equal((await ask('GET', '/repos/octo/kernels/branches')).status, 404);
  assert.equal(server.faults.length, 6);
});

test('check runs: 50 annotations per request, appended; texts within their limits', async () => {
  const annotation = { path: 'a.cu', start_line: 1, end_line: 1, annotation_level: 'failure', message: 'x' };
  const create = (annotations: readonly object[], more: object = {}) =>
    ask('POST', '/repos/octo/kernels/check-runs', {
      name: 'n',
      head_sha: HEAD,
      output: { title: 't', summary: 's', annotations },
      ...more,
    });
  assert.equal((await create(Array.from({ length: 50 }, () => annotation))).status, 201);
  const run = server.checkRuns[0];
  const patched = await ask('PATCH', `/repos/octo/kernels/check-runs/${run?.id}`, {
    output: { title: 't', summary: 's', annotations: [annotation] },
  });
  assert.deepEqual([patched.status, run?.annotations.length], [200, 51]);
  assert.deepEqual(server.faults, []);
  assert.equal((await create([{ ...annotation, title: 'x'.repeat(256) }])).status, 422);
  assert.equal((await create([{ ...annotation, message: 'x'.repeat(65_537) }])).status, 422);
  assert.equal((await create([{ ...annotation, end_line: 2, start_column: 1 }])).status, 422);
  assert.equal((await create([], { status: 'completed' })).status, 422);
  assert.deepEqual(server.faults, []);
  assert.equal((await create(Array.from({ length: 51 }, () => annotation))).status, 422);
  assert.equal(server.faults.length, 1);
});

test('tokens: invalid, read-only, and not the author', async () => {
  assert.equal((await ask('GET', PULL, undefined, 'other')).status, 401);
  server.commentOnLine(SOME_USER, { path: 'a.cu', line: 13 }, 'mine');
  const comment = `/repos/octo/kernels/pulls/comments/${server.reviewComments[0]?.id}`;
  assert.equal((await ask('PATCH', comment, { body: 'yours' })).status, 403);
  server.settings.pullRequests = 'read';
  const refused = await review({ line: 13 });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /Resource not accessible by integration/);
  assert.equal((await ask('GET', '/user')).status, 403);
});

test('lists come in pages of at most 100', async () => {
  for (let index = 0; index < 130; index += 1) server.addComment(SOME_USER, `${index}`);
  const path = '/repos/octo/kernels/issues/7/comments';
  const page = async (query: string) => {
    const { text, link } = await ask('GET', path + query);
    return [(JSON.parse(text) as unknown[]).length, /rel="next"/.test(link ?? '')];
  };
  assert.deepEqual(await page(''), [30, true]);
  assert.deepEqual(await page('?per_page=1000'), [100, true]);
  assert.deepEqual(await page('?per_page=100&page=2'), [30, false]);
  assert.deepEqual(server.faults, []);
});

test('after a push a comment moves with its line or is outdated', async () => {
  await review({ line: 10 });
  await review({ line: 30 });
  const next = 'c'.repeat(40);
  const tree: Tree = new Map([['a.cu', `new\n${lines(60, [10, 30]).replace('30!\n', '')}`]]);
  server.push(next, memoryRepository(new Map([...trees, [next, tree]])));
  assert.deepEqual(
    server.reviewComments.map(({ line, originalLine }) => [line, originalLine]),
    [
      [11, 10],
      [null, 30],
    ],
  );
  assert.equal((await ask('GET', `${PULL}/comments`)).status, 200);
  assert.deepEqual(server.faults, []);
});
