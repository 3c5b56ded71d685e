/** The issue about findings on the default branch: its state after runs. */
import assert from 'node:assert/strict';
import { after as afterAll, test } from 'node:test';
import { planIssue } from '../../src/github/plan/issue-plan.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { publishIssue } from '../../src/github/publish/issue.ts';
import type { Diagnostic } from '../../src/source/diagnostic.ts';
import { testClient } from './client.ts';
import { memoryRepository } from './memory-repository.ts';
import { SOME_USER } from './objects.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import { startGitHub, type GitHubServer } from './server.ts';

const TARGET = { owner: 'octo', repo: 'kernels' };
const open = new Set<GitHubServer>();

afterAll(() => Promise.all([...open].map((server) => server.close())));

async function github(): Promise<GitHubServer> {
  const repository = memoryRepository(new Map([[BASE, new Map()]]));
  const server = await startGitHub({ ...TARGET, pullNumber: 7, baseSha: BASE, headSha: HEAD, repository, token: 't' });
  open.add(server);
  return server;
}

function planOf(lines: readonly number[], { diagnostics = [] as Diagnostic[], headSha = HEAD } = {}) {
  const at = (line: number) => ({ file: 'src/a.cu', line });
  const races = lines.map((line) => race({ fingerprint: `f${line}`, first: at(line), second: at(line) }));
  return planIssue(planReview({ report: report([kernel('k', races)], { diagnostics }), diff: [], headSha }), 'main');
}

async function run(server: GitHubServer, ...plan: Parameters<typeof planOf>): Promise<string> {
  const issue = planOf(...plan);
  return issue ? (await publishIssue(testClient(server, 't'), TARGET, issue)).join() : 'no result';
}

const states = ({ issues }: GitHubServer) => issues.map(({ title, state, stateReason }) => [title, state, stateReason]);

test('the issue is opened with the first finding, updated, closed with the last one, and reopened', async () => {
  const server = await github();
  assert.match(await run(server, []), /: none\.$/);
  assert.match(await run(server, [12, 40]), /: created\.$/);
  assert.match(server.issues[0]?.body ?? '', /the whole branch `main`[^]*\| error \| Data race on shared `s` \| `src\/a\.cu:12` \|/);
  assert.doesNotMatch(server.issues[0]?.body ?? '', /new finding|this change/i);
  const from = server.transcript.length;
  assert.match(await run(server, [12, 40], { headSha: 'd'.repeat(40) }), /: unchanged\.$/);
  assert.deepEqual(server.writes(from), []);
  assert.match(await run(server, [12]), /: updated\.$/);
  assert.deepEqual(states(server), [['Selvage: 1 data race', 'open', null]]);
  assert.match(await run(server, []), /: closed\.$/);
  assert.deepEqual(states(server), [['Selvage: no findings left', 'closed', 'completed']]);
  assert.match(await run(server, []), /: none\.$/);
  assert.match(await run(server, [12]), /: reopened\.$/);
  assert.deepEqual(states(server), [['Selvage: 1 data race', 'open', 'reopened']]);
  assert.deepEqual(server.faults, []);
});

test('a user who closes the issue as not planned gets no further notification', async () => {
  const server = await github();
  await run(server, [12]);
  Object.assign(server.issues[0]!, { state: 'closed', stateReason: 'not_planned' });
  assert.match(await run(server, [12, 40]), /: declined\.$/);
  assert.deepEqual(states(server), [['Selvage: 1 data race', 'closed', 'not_planned']]);
});

test('a copy of the issue by another account is not modified', async () => {
  const server = await github();
  const { body, title } = planOf([12])!;
  server.settings.account = SOME_USER;
  await testClient(server, 't').rest.issues.create({ ...TARGET, title, body });
  server.settings.account = { login: 'github-actions[bot]', id: 41898282, type: 'Bot' };
  assert.match(await run(server, [40]), /: created\.$/);
  assert.deepEqual([server.issues.length, server.issues[0]?.body], [2, body]);
});

test('after an incomplete analysis the issue is not closed', async () => {
  const server = await github();
  await run(server, [12]);
  const diagnostics: Diagnostic[] = [{ severity: 'error', code: 'compile/failed', message: '' }];
  assert.equal(await run(server, [], { diagnostics }), 'no result');
  assert.deepEqual(states(server), [['Selvage: 1 data race', 'open', null]]);
});

test('a token without the permission: the missing permission is named', async () => {
  const server = await github();
  server.settings.issues = 'read';
  assert.match(await run(server, [12]), /lacks `issues: write`/);
  assert.equal(server.issues.length, 0);
});

test('if any single request fails, the next run reaches the same final state', async () => {
  for (const hasEffect of [true, false]) {
    for (let at = 0; at < 3; at += 1) {
      const server = await github();
      let index = 0;
      server.settings.fault = () => (index++ === at ? { hasEffect, answer: { status: 502, body: '' } } : undefined);
      await run(server, [12]);
      server.settings.fault = null;
      await run(server, [12]);
      assert.deepEqual(states(server), [['Selvage: 1 data race', 'open', null]], `request ${at}`);
      await server.close();
      open.delete(server);
    }
  }
});
