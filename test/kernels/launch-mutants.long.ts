/** Mutants of all test kernels that have a launch: refuted properties are not proved, and have the correct severity. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longSeed } from '../run/long-seed.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { sumOf, tableText } from './judged-mutant.ts';
import { judgeMutants } from './launch-mutants.ts';

test('500 mutants of kernels with launches', { skip: withoutNvcc }, async (context) => {
  const wrong: string[] = [];
  const tallies = await judgeMutants(longSeed, 100, { number: 0, of: 1 }, ({ name, change, judgement }) => {
    if (judgement.wrong.length > 0) wrong.push(`${name}: ${change}: ${judgement.wrong.join('; ')}`);
  });
  context.diagnostic(tableText(tallies));
  assert.deepEqual(wrong, []);
  assert.ok(sumOf(tallies, 'refuted') > 250);
  assert.ok(sumOf(tallies, 'right') >= 0.9 * sumOf(tallies, 'refuted'));
});
