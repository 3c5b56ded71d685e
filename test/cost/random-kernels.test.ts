import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tallyText } from './compared-run.ts';
import { compareRandom } from './random-kernels.ts';

test('no run of a random kernel costs more than its bound', (t) => {
  const tally = compareRandom(1, 100);
  t.diagnostic(tallyText(tally));
  assert.deepEqual(tally.failures, []);
  assert.ok(tally.runs > 40 && tally.equal > 0.4 * tally.compared);
});
