import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { UsageError } from '../../src/base/usage-error.ts';
import { readInputs } from '../../src/github/inputs.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { report } from './report-fixture.ts';

interface ActionManifest {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly description: string }>>;
  readonly runs: { readonly using: string; readonly main: string };
}

const manifest = parse(readFileSync(new URL('../../action.yml', import.meta.url), 'utf8')) as ActionManifest;

const given = (inputs: Readonly<Record<string, string>>) => (name: string) => inputs[name] ?? '';

test('the defaults of the manifest are those of the code', () => {
  const defaults = readInputs((name) => manifest.inputs[name]?.default ?? '');
  assert.deepEqual(defaults, readInputs(given({})));
});

test('exactly the inputs of the manifest are read', () => {
  const read = new Set<string>();
  readInputs((name) => {
    read.add(name);
    return '';
  });
  assert.deepEqual([...read, 'github-token'].sort(), Object.keys(manifest.inputs).sort());
});

test('exactly the outputs of the manifest are written', () => {
  const { outputs } = planReview({ report: report([]), diff: [], headSha: 'a' });
  const written = [...Object.keys(outputs), 'report-json', 'report-sarif', 'report-html', 'review-data'];
  assert.deepEqual(written.sort(), Object.keys(manifest.outputs).sort());
  assert.deepEqual([manifest.runs.using, manifest.runs.main], ['node24', 'dist/action.js']);
});

test('values are checked and named', () => {
  const read = readInputs(given({ 'fail-on': 'never', comment: 'FALSE', 'max-comments': '3', arch: 'sm_80,sm_90', timeout: '5' }));
  assert.equal(read.options.failOn, 'never');
  assert.deepEqual(read.options.arch, ['sm_80', 'sm_90']);
  assert.deepEqual([read.comment, read.checkRun, read.maxComments, read.options.timeout], [false, true, 3, 5000]);
  for (const [name, value] of [
    ['comment', 'yes'],
    ['max-comments', '-1'],
    ['max-comments', '1000'],
    ['fail-on', 'errors'],
    ['arch', '--version'],
    ['timeout', '0'],
    ['checks', 'race;'],
  ] as const) {
    assert.throws(
      () => readInputs(given({ [name]: value })),
      (error) => error instanceof UsageError && error.message.includes(name),
    );
  }
});
