import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { UsageError } from '../../src/base/usage-error.ts';
import { testClient } from './client.ts';
import { ensureCommit, findMergeBase, type Clone } from '../../src/github/api/commits.ts';
import type { PullRequestEvent } from '../../src/github/event.ts';
import { gitRepository } from './repository.ts';
import { createWorkspace } from './runner.ts';
import { startGitHub } from './server.ts';

const origin = createWorkspace();
const start = origin.commit({ 'a.cu': 'a\n' });
const base = origin.commit({ 'b.cu': 'b\n' });
const head = origin.commit({ 'c.cu': 'c\n' }, start);
origin.git('branch', '-f', 'topic', head);
const shallow = `${origin.root}-shallow`;
execFileSync('git', ['clone', '-q', '--depth=1', '--branch', 'topic', `file://${origin.root}`, shallow], { stdio: 'ignore' });
const clone: Clone = { root: shallow, environment: process.env, serverUrl: 'https://github.example', token: 'secret' };
const event: PullRequestEvent = {
  kind: 'pull-request',
  owner: 'octo',
  repo: 'kernels',
  number: 7,
  headSha: head,
  baseSha: base,
  draft: false,
  fork: false,
};

const server = await startGitHub({
  owner: 'octo',
  repo: 'kernels',
  pullNumber: 7,
  baseSha: base,
  headSha: head,
  repository: gitRepository(origin.root),
  token: 'secret',
});
const octokit = testClient(server, 'secret');

after(async () => {
  await server.close();
  origin.dispose();
  rmSync(shallow, { recursive: true, force: true });
});

test('the merge base comes from GitHub, otherwise from the history of the clone, or it is the base', async () => {
  assert.equal(await findMergeBase(octokit, clone, event), start);
  assert.deepEqual(server.faults, []);
  server.settings.outage = 500;
  assert.equal(await findMergeBase(octokit, { ...clone, root: origin.root }, event), start);
  assert.equal(await findMergeBase(octokit, clone, event), base);
});

test('a commit that a shallow clone lacks is fetched', async () => {
  const has = () => {
    try {
      execFileSync('git', ['cat-file', '-e', start], { cwd: shallow, stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  assert.equal(has(), false);
  await ensureCommit(clone, start);
  assert.equal(has(), true);
  await ensureCommit(clone, start);
});

test('a commit that does not exist is an error with the remedy, and without the token', async () => {
  await assert.rejects(ensureCommit(clone, 'd'.repeat(40)), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, /fetch-depth: 0/);
    assert.doesNotMatch(error.message, /secret|c2VjcmV0/);
    return true;
  });
});
