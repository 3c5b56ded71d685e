/** Output of the server of an App on a pull request without a review. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, afterEach, test } from 'node:test';
import { deliveryHandler } from '../../src/serve/delivery-handler.ts';
import { maxAttempts } from '../../src/serve/delivery-queue.ts';
import { BotPull, SOURCE, TARGET, twoRaces } from '../github/bot-fixture.ts';
import { testClient } from '../github/client.ts';
import { pullRequestPayload } from '../github/payload.ts';
import { gitRepository } from '../github/repository.ts';
import { createWorkspace } from '../github/runner.ts';

const TOKEN = 'secret-token';
const folder = mkdtempSync(join(tmpdir(), 'selvage-handler-'));
const workspace = createWorkspace();
mkdirSync(join(folder, 'octo'));
symlinkSync(workspace.root, join(folder, 'octo/kernels.git'));
const kernel = '__global__ void k(int *a) { a[threadIdx.x] = 1; }\n';
const baseSha = workspace.commit({ 'src/a.cu': kernel });
const headSha = workspace.commit({ 'src/a.cu': `${kernel}// more\n`, '.selvage.yml': 'version: 1\nkernel: []\n' });
after(() => {
  workspace.dispose();
  rmSync(folder, { recursive: true });
});

let pull: BotPull;
let log: string[];
let spaceProblem: string | undefined;
beforeEach(async () => {
  log = [];
  spaceProblem = undefined;
  pull = await BotPull.open({ token: TOKEN, baseSha, headSha, repository: gitRepository(workspace.root) });
});
afterEach(async () => {
  await pull.server.close();
  assert.deepEqual(pull.server.faults, []);
});

interface Setting {
  readonly milliseconds?: number;
  readonly serverUrl?: string;
  readonly attempts?: number;
  readonly event?: string;
  readonly payload?: object;
}

async function handle({ milliseconds = 120_000, serverUrl = `file://${folder}`, attempts = 0, ...given }: Setting): Promise<string> {
  const about = { owner: TARGET.owner, repo: TARGET.repo, number: TARGET.pullNumber, headSha, baseSha };
  const { event = 'pull_request', payload = pullRequestPayload('synchronize', about) } = given;
  const handler = deliveryHandler({
    installation: async () => ({ octokit: testClient(pull.server, TOKEN, { writeInterval: 0 }), token: TOKEN }),
    folder: join(folder, 'data'),
    serverUrl,
    searchPath: process.env['PATH'] ?? '',
    milliseconds,
    mebibytes: 2048,
    log: (_, message) => void log.push(message),
    spaceProblem: () => spaceProblem,
    analyse: async () => ({ report: twoRaces(), folder: '', source: () => SOURCE }),
  });
  const text = JSON.stringify({ ...payload, installation: { id: 1 } });
  const delivery = { id: 'd', event, payload: text, repository: 'octo/kernels', pull: TARGET.pullNumber, attempts };
  return handler(delivery, new AbortController().signal);
}

const checks = () => pull.server.checkRuns.map(({ title, conclusion, summary }) => ({ title, conclusion, summary }));

test('an analysis that exceeds its time is reported, and leaves no files', async () => {
  await handle({ milliseconds: 1 });
  const [run] = checks();
  assert.deepEqual([run?.title, run?.conclusion], ['Not analysed: the analysis passed its limits', 'failure']);
  assert.match(run?.summary ?? '', /it took more than 0\.001 s[^]*`\/selvage recheck`/);
  assert.deepEqual(
    readdirSync(join(folder, 'data')).filter((name) => name.startsWith('work-')),
    [],
  );
});

test('an invalid configuration is reported with its line', async () => {
  await handle({});
  const [run] = checks();
  assert.equal(run?.title, 'Not analysed: wrong usage or configuration');
  assert.match(run?.summary ?? '', /\.selvage\.yml:2:1: "kernel" is not a key/);
});

test('a failed fetch is retried, and the last attempt posts an answer', async () => {
  const serverUrl = `file://${folder}/nowhere`;
  await assert.rejects(handle({ serverUrl }), /The clone has no commit/);
  assert.deepEqual(checks(), []);
  await assert.rejects(handle({ serverUrl, attempts: maxAttempts - 1 }), /The clone has no commit/);
  assert.deepEqual(
    checks().map(({ title }) => title),
    ['Not analysed: an internal error of Selvage'],
  );
});

test('an outdated head, and a closed pull request, are ignored', async () => {
  pull.head = 'd'.repeat(40);
  assert.equal(await handle({}), 'outdated');
  pull.head = headSha;
  pull.server.settings.state = 'closed';
  assert.equal(await handle({}), 'outdated');
  assert.deepEqual(log, []);
  assert.deepEqual(pull.server.writes(), []);
});

test('a button of the check run of a fork finds its pull request, and is answered there', async () => {
  pull.isFork = true;
  const payload = {
    action: 'requested_action',
    requested_action: { identifier: 'fix' },
    repository: { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } },
    sender: { login: 'mona', id: 583231, type: 'User' },
    check_run: { head_sha: headSha, pull_requests: [] },
  };
  await handle({ event: 'check_run', payload });
  assert.match(pull.answers().at(-1) ?? '', /The branch is in a fork, which Selvage may not write/);
  assert.deepEqual(pull.commits, []);
});

const rerun = (what: 'check_run' | 'check_suite', login = 'mona') => ({
  event: what,
  payload: {
    action: 'rerequested',
    repository: { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } },
    sender: { login, id: 583231, type: 'User' },
    [what]: { head_sha: headSha, pull_requests: [{ number: TARGET.pullNumber }] },
  },
});

test('a repeated check run or suite is analysed again, and completed again if it has not changed', async () => {
  // The invalid configuration of the head makes a short analysis.
  assert.equal(await handle({}), 'not analysed');
  for (const what of ['check_run', 'check_suite'] as const) {
    const before = pull.server.writes().length;
    assert.equal(await handle(rerun(what)), 'answered');
    const [write, ...others] = pull.server.writes().slice(before);
    assert.deepEqual([write?.method, others.length], ['PATCH', 0]);
    assert.match(write?.path ?? '', /\/check-runs\/\d+$/);
    const { status, conclusion } = write!.body as Record<string, string>;
    assert.deepEqual([status, conclusion], ['completed', 'failure']);
  }
  assert.equal(checks().length, 1);
  // A second delivery of the push, without a button, writes nothing.
  const before = pull.server.writes().length;
  await handle({});
  assert.equal(pull.server.writes().length, before);
});

test('a repeated check run needs write permission and an open pull request; other actions are ignored', async () => {
  assert.equal(await handle(rerun('check_run', 'mallory')), 'refused');
  pull.server.settings.state = 'closed';
  assert.equal(await handle(rerun('check_run')), 'ignored');
  pull.server.settings.state = 'open';
  const completed = rerun('check_suite');
  assert.equal(await handle({ ...completed, payload: { ...completed.payload, action: 'completed' } }), 'ignored');
  assert.deepEqual(pull.server.writes(), []);
});

test('messages name the App and its server, not a job', async () => {
  await assert.rejects(handle({ serverUrl: `file://${folder}/nowhere` }), (error: Error) => {
    assert.match(error.message, /The App needs read access to the contents of the repository/);
    assert.doesNotMatch(error.message, /actions\/checkout|workflow|job/);
    return true;
  });
  await assert.rejects(handle({ serverUrl: `file://${folder}/nowhere`, attempts: maxAttempts - 1 }));
  assert.match(checks()[0]?.summary ?? '', /The log of the App's server has the details/);
  pull.server.settings.checks = 'none';
  await handle({});
  assert.match(log.at(-1) ?? '', /the App lacks `checks: write`.*settings of the App/);
  for (const text of [...log, ...checks().map(({ summary }) => summary ?? '')])
    assert.doesNotMatch(text, /actions\/checkout|`permissions:`|of the job/);
});

test('an analysis that fails while the disk is full is not reported as an analysis that exceeds its limits', async () => {
  spaceProblem = 'less than 32 MiB are free';
  await assert.rejects(handle({ milliseconds: 1 }), /it took more than 0\.001 s/);
  await assert.rejects(handle({ milliseconds: 1, attempts: maxAttempts - 1 }));
  assert.deepEqual(pull.server.writes(), []);
});
