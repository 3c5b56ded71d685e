import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashText } from '../../src/base/hash.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { tallyText } from './compared-run.ts';
import { compareDrawn } from './drawn-runs.ts';

/** Most runs over this limit never end. */
const steps = 200_000;

test('no run of a sample of the test kernels costs more than its bound', async (t) => {
  // By their names, so that a new file does not change the sample.
  const files = kernelFiles().filter((file) => Number.parseInt(hashText(file).slice(0, 6), 16) % 8 === 1);
  const tally = await compareDrawn(20, 1, files, steps);
  t.diagnostic(`${JSON.stringify(tally.kernels)}: ${tallyText(tally)}`);
  assert.deepEqual(tally.failures, []);
  assert.ok(Math.min(tally.kernels.verification, tally.kernels.production) >= 20);
  assert.ok(tally.equal > 0.5 * tally.compared && tally.exact > 0.25 * tally.compared);
});

for (const name of ['amortised', 'adversarial']) {
  test(`no run of the ${name} kernels costs more than its bound`, async (t) => {
    const tally = await compareDrawn(3, 4, [`test/cost/${name}.cu`], steps);
    t.diagnostic(`${JSON.stringify(tally.kernels)}: ${tallyText(tally)}`);
    assert.deepEqual(tally.failures, []);
    assert.ok(Math.min(tally.kernels.verification, tally.kernels.production) >= 10);
  });
}
