/** The workflows of this repository satisfy GitHub's rules for hardening. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { reviewArtifact } from '../../src/github/fork-review/review-data.ts';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly name?: string;
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = fileURLToPath(new URL('../../.github/workflows/', import.meta.url));

for (const name of readdirSync(folder)) {
  test(`${name}: pinned, without permissions that no job needs, and no text of an event in a script`, () => {
    const workflow = parse(readFileSync(join(folder, name), 'utf8')) as Workflow;
    assert.deepEqual(workflow.permissions, {});
    assert.ok(!('pull_request_target' in workflow.on));
    for (const job of Object.values(workflow.jobs)) {
      assert.ok(job.permissions !== undefined && job['timeout-minutes'] !== undefined);
      for (const { uses, run, with: inputs } of job.steps) {
        if (uses !== undefined && uses !== './') assert.match(uses, /@[0-9a-f]{40}$/);
        if (uses?.startsWith('actions/checkout@')) assert.equal(inputs?.['persist-credentials'], false);
        assert.doesNotMatch(run ?? '', /\$\{\{/);
      }
    }
  });
}

const text = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const workflowsIn = (path: string): Workflow[] =>
  [...text(path).matchAll(/^```yaml\n([^]*?)^```$/gm)]
    .map(([, yaml]) => parse(yaml!) as unknown)
    .filter((value): value is Workflow => typeof value === 'object' && value !== null && 'on' in value && 'jobs' in value);
const inDocs = workflowsIn('src/docs/github.md');

test('the workflows of README, `init` and docs have one name, which the workflows for forks wait for', () => {
  const [readme] = workflowsIn('README.md');
  assert.equal(readme?.name, 'selvage');
  const waiting = inDocs.flatMap(({ on }) => ('workflow_run' in on ? [on['workflow_run']] : []));
  const wanted = { workflows: [readme.name], types: ['completed'] };
  assert.deepEqual(waiting, [wanted, wanted]);
  assert.deepEqual(
    inDocs.map(({ name }) => name),
    ['selvage-post', 'selvage-post', 'selvage-comments'],
  );
  const [, written] = /^name: (.*)$/m.exec(text('src/app/setup/initial-files.ts')) ?? [];
  assert.equal(written, readme.name);
});

test('the workflows of the docs name inputs, outputs and jobs that exist, and keep no credentials', () => {
  interface Manifest {
    readonly inputs: object;
    readonly outputs?: object;
  }
  const manifestOf = (path: string): Manifest => parse(text(path)) as Manifest;
  const manifests = new Map([
    ['OWNER/selvage@v0', manifestOf('action.yml')],
    ['OWNER/selvage/post@v0', manifestOf('post/action.yml')],
  ]);
  for (const { permissions, jobs } of inDocs) {
    assert.deepEqual(permissions, {});
    for (const { needs, permissions: ofJob, steps } of Object.values(jobs)) {
      assert.ok(ofJob !== undefined && (needs === undefined || needs in jobs));
      for (const { uses = '', with: inputs = {} } of steps) {
        const manifest = manifests.get(uses);
        if (uses.startsWith('OWNER/')) assert.ok(manifest);
        if (manifest)
          assert.deepEqual(
            Object.keys(inputs).filter((name) => !(name in manifest.inputs)),
            [],
          );
        if (uses.startsWith('actions/checkout@')) assert.equal(inputs['persist-credentials'], false);
        for (const [, id, output] of JSON.stringify(inputs).matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/g)) {
          const step = steps.find((one) => one.id === id);
          assert.ok(output! in (manifests.get(step?.uses ?? '')?.outputs ?? {}), `${id}.${output}`);
        }
      }
    }
  }
});

test('a job that compiles the code of a fork only reads, and the job that posts compiles nothing', () => {
  const posting = inDocs.filter(({ on }) => 'workflow_run' in on);
  assert.deepEqual(
    posting.map(({ jobs }) => Object.keys(jobs)),
    [['post'], ['analyse', 'post']],
  );
  for (const { jobs } of posting) {
    const { analyse, post } = jobs;
    assert.deepEqual(post?.permissions, { actions: 'read', contents: 'read', 'pull-requests': 'write', checks: 'write' });
    assert.deepEqual(
      post?.steps.map(({ uses, run }) => [uses, run]),
      [['OWNER/selvage/post@v0', undefined]],
    );
    assert.deepEqual([post?.needs, post?.steps[0]?.with?.['repeated']], analyse ? ['analyse', true] : [undefined, undefined]);
    if (!analyse) continue;
    assert.deepEqual(analyse.permissions, { contents: 'read', 'pull-requests': 'read' });
    assert.doesNotMatch(JSON.stringify(analyse), /secrets\.|github\.token|"ref":|"run":/);
    const { uses, with: uploaded } = analyse.steps.at(-1)!;
    assert.match(uses ?? '', /^actions\/upload-artifact@/);
    assert.equal(uploaded?.['name'], reviewArtifact);
  }
});
