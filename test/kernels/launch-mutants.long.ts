/** Mutants of all test kernels that have a launch: what runs refute is not proved, and has the right severity. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longSeed } from '../run/long-seed.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { judgeMutants, tableText } from './launch-mutants.ts';
import { parts } from './source-mutation.ts';

test('500 mutants of kernels with launches', { skip: withoutNvcc }, async (context) => {
  const wrong: string[] = [];
  const tallies = await judgeMutants(longSeed, 100, { number: 0, of: 1 }, (outcome) => {
    if (outcome.wrong.length > 0) wrong.push(`${outcome.name}: ${outcome.change}: ${outcome.wrong.join('; ')}`);
  });
  context.diagnostic(tableText(tallies));
  assert.deepEqual(wrong, []);
  const sum = (column: 'refuted' | 'right'): number => parts.reduce((total, part) => total + tallies[part][column], 0);
  assert.ok(sum('refuted') > 250);
  assert.ok(sum('right') >= 0.9 * sum('refuted'));
});
