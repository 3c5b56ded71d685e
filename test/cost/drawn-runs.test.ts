import assert from 'node:assert/strict';
import test from 'node:test';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { compareDrawn } from './drawn-runs.ts';

test('no run of a test kernel costs more than its bound', async (t) => {
  const files = kernelFiles().filter((_, index) => index % 4 === 0);
  const { failures, ...tally } = await compareDrawn(20, 1, files);
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(failures, []);
  assert.ok(tally.kernels >= 40 && tally.exact > 0.5 * tally.compared);
});
