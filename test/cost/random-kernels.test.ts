import assert from 'node:assert/strict';
import test from 'node:test';
import { compareRandom } from './random-kernels.ts';

test('no run of a random kernel costs more than its bound', (t) => {
  const { failures, ...tally } = compareRandom(1, 200);
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(failures, []);
  assert.ok(tally.runs > 60 && tally.exact > 0.4 * tally.compared);
});
