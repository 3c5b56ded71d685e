import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longSeed } from '../run/long-seed.ts';
import { tallyText } from './compared-run.ts';
import { compareDrawn } from './drawn-runs.ts';
import { compareRandom } from './random-kernels.ts';

test('no run of 2,000 random kernels costs more than its bound', (t) => {
  const tally = compareRandom(longSeed, 2000);
  t.diagnostic(`seed ${longSeed}: ${tallyText(tally)}`);
  assert.deepEqual(tally.failures, []);
});

test('no run of any test kernel costs more than its bound', async (t) => {
  const tally = await compareDrawn(longSeed, 2);
  t.diagnostic(`seed ${longSeed}: ${JSON.stringify(tally.kernels)}: ${tallyText(tally)}`);
  assert.deepEqual(tally.failures, []);
});
