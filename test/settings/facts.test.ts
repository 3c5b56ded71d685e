/** Files of facts: contents, and messages for invalid ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration, parseFacts } from '../../src/settings/configuration-parser.ts';

/** Place and message of each diagnostic. */
function problems(text: string): string[] {
  const { kernels, diagnostics } = parseFacts(text, 'k.json');
  assert.deepEqual(kernels, []);
  return diagnostics.map(({ location, message }) => `${location?.line}:${location?.column} ${message}`);
}

test('entries are those of a configuration, and marked as facts', () => {
  const entry = `{
    "match": "sum*", "block": [128], "grid": 64, "cluster": [2], "shared": 1024, "cooperative": true,
    "assume": ["n % 32 == 0"], "args": { "n": 9007199254740993, "scale": 2.5 }
  }`;
  const { kernels, diagnostics } = parseFacts(`{ "$schema": "facts.schema.json", "kernels": [${entry}] }`, 'k.json');
  assert.deepEqual(diagnostics, []);
  const { configuration } = parseConfiguration(`{ "version": 1, "kernels": [${entry}] }`, 'k.json');
  const [stated, configured] = [kernels[0], configuration.kernels[0]];
  assert.ok(stated && configured);
  const { location, assumptions, ...others } = stated;
  assert.equal(location.line, 1);
  assert.deepEqual(
    assumptions.map(({ text }) => text),
    ['n % 32 == 0'],
  );
  const expected = { match: configured.match, block: configured.block, grid: configured.grid, args: configured.args };
  assert.deepEqual(others, { ...expected, cluster: [2, 1, 1], sharedBytes: 1024, cooperative: true, limits: {}, isFact: true });
  assert.equal(others.args.get('n'), 9007199254740993n);
});

test('errors are reported with their place and a remedy', () => {
  assert.match(problems('{ "kernels": [ { "match": "k", } ] }')[0]!, /^1:3\d This is not valid JSON: .* double quotes/);
  assert.match(problems("{ 'kernels': [] }")[0]!, /^1:3 This is not valid JSON/);
  assert.match(problems('kernels:\n  - match: k\n')[0]!, /^1:1 This is not valid JSON/);
  assert.match(problems('{\n  "kernels": [')[0]!, /^2:\d+ This is not valid JSON/);
  assert.deepEqual(problems('{ "kernels": [{ "match": "k", "gird": 4 }] }'), [
    '1:31 "gird" is not a key of kernels[0]; did you mean "grid"?',
  ]);
  assert.deepEqual(problems('{ "kernels": [{ "match": "k", "limits": {} }] }'), [
    '1:31 "limits" is not a key of kernels[0]; there are match, block, grid, cluster, shared, cooperative, assume, args.',
  ]);
  assert.deepEqual(problems('{ "kernel": [] }'), [
    '1:1 The key "kernels" is missing.',
    '1:3 "kernel" is not a key of the file of facts; did you mean "kernels"?',
  ]);
  assert.match(problems('{ "kernels": [] }')[0]!, /must have at least one entry/);
  assert.deepEqual(problems('{ "kernels": [{ "match": "k", "block": "big" }] }').length, 1);
  assert.match(problems('{ "kernels": [{ "match": "k", "block": [4096] }] }')[0]!, /^1:40 kernels\[0\]\.block/);
  assert.match(problems('{ "kernels": [{ "match": "k", "assume": ["n %% 2"] }] }')[0]!, /^1:4\d In "n %% 2": /);
  assert.deepEqual(problems('{ "kernels": [{ "match": "k" }, { "grid": 1 }] }'), ['1:33 The key "match" of kernels[1] is missing.']);
});
