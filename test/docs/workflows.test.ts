/** The workflows of this repository satisfy GitHub's rules for hardening. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

interface Job {
  readonly permissions?: object;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Readonly<Record<string, unknown>> }[]; // oxfmt-ignore
}

const folder = fileURLToPath(new URL('../../.github/workflows/', import.meta.url));

for (const name of readdirSync(folder)) {
  test(`${name}: pinned, without permissions that no job needs, and no text of an event in a script`, () => {
    const workflow = parse(readFileSync(join(folder, name), 'utf8')) as {
      readonly on: Readonly<Record<string, unknown>>;
      readonly permissions: object;
      readonly jobs: Readonly<Record<string, Job>>;
    };
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

test('the workflows of README, `init` and docs have one name, which the workflow for forks waits for', () => {
  const text = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const blocks = (path: string): unknown[] => [...text(path).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, yaml]) => parse(yaml!)); // oxfmt-ignore
  const isWorkflow = (
    value: unknown,
  ): value is { readonly name?: string; readonly on: Readonly<Record<string, unknown>> } =>
    typeof value === 'object' && value !== null && 'on' in value && 'jobs' in value;
  const [readme] = blocks('README.md').filter(isWorkflow);
  assert.equal(readme?.name, 'selvage');
  const inDocs = blocks('src/docs/github.md').filter(isWorkflow);
  const waiting = inDocs.flatMap(({ on }) => ('workflow_run' in on ? [on['workflow_run']] : []));
  assert.deepEqual(waiting, [{ workflows: [readme.name], types: ['completed'] }]);
  assert.deepEqual(inDocs.map(({ name }) => name), ['selvage-post', 'selvage-comments']); // oxfmt-ignore
  const [, written] = /^name: (.*)$/m.exec(text('src/app/setup/initial-files.ts')) ?? [];
  assert.equal(written, readme.name);
});
