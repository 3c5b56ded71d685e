/** What is proved of 250 mutated test kernels is run: the interpreter must not show what was proved absent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runMutants } from './soundness-run.ts';

const SEED = 11;
const COUNT = 250;

test(`${COUNT} mutated kernels: no run contradicts a proof`, async (context) => {
  const { verdicts, runs, wrapped, failures } = await runMutants(SEED, COUNT);
  assert.deepEqual(failures, []);
  assert.ok(runs > 5 * COUNT, `${runs} runs`);
  assert.ok((verdicts['proved/proved'] ?? 0) > COUNT / 4);
  context.diagnostic(`${runs} runs, ${wrapped} wrapped; ${JSON.stringify(verdicts)}`);
});
