/** The bundled example pull request, reviewed on a simulated GitHub. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findAssets } from '../../src/app/project/assets.ts';
import { analyseDemo, demoCommits } from '../../src/app/commands/demo-change.ts';
import { defaultOptions } from '../../src/settings/options.ts';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { testClient } from '../github/client.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { publish } from '../../src/github/publish/publish.ts';
import { memoryRepository, type Tree } from '../github/memory-repository.ts';
import { startGitHub } from '../github/server.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };

function treeAt(folder: string): Tree {
  const names = readdirSync(folder).filter((name) => name.endsWith('.cu'));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

test('the demo, run twice, leaves the same comments the second time', async () => {
  const assets = findAssets(new URL('../../src/cli.ts', import.meta.url).href);
  const repository = memoryRepository(
    new Map([
      [demoCommits.base, treeAt(join(assets.demo, 'base'))],
      [demoCommits.head, treeAt(join(assets.demo, 'head'))],
    ]),
  );
  const server = await startGitHub({
    ...TARGET,
    baseSha: demoCommits.base,
    headSha: demoCommits.head,
    repository,
    token: 't',
  });
  const octokit = testClient(server, 't');
  const review = async () => {
    const { report, trust } = await analyseDemo({
      options: defaultOptions(),
      nvccArguments: [],
      // No PATH: the bundled PTX is read, so the test needs no compiler.
      environment: {},
      assets,
      progress: { log: () => undefined, defect: ({ error }) => assert.fail(String(error)) },
    });
    const { files } = await pullRequestFiles(octokit, TARGET, () => Promise.reject(new Error('not asked for')));
    const plan = planReview({ report, diff: files, headSha: demoCommits.head, trust });
    return { plan, result: await publish(octokit, TARGET, plan, { comment: true, checkRun: true }) };
  };
  try {
    const first = await review();
    assert.deepEqual(first.result.problems, []);
    assert.equal(first.plan.exitCode, 1);
    assert.ok(server.reviewComments.length >= 3);
    const comments = () =>
      [...server.reviews, ...server.reviewComments, ...server.issueComments, ...server.checkRuns].map((one) => ({ ...one }));
    const left = comments();
    const before = server.transcript.length;
    const second = await review();
    assert.deepEqual(second.result.problems, []);
    assert.deepEqual(comments(), left);
    assert.deepEqual(server.writes(before), []);
    assert.deepEqual(server.faults, []);
  } finally {
    await server.close();
  }
});
