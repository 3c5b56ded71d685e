/** The back ends of the machine do the same with random kernels. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareBackends } from './machine-differential.ts';

test('300 random kernels on every back end', (context) => {
  const { kernels, outcomes, steps, differences } = compareBackends(1, 300);
  context.diagnostic(`${kernels} kernels, ${steps} steps, ${JSON.stringify(outcomes)}`);
  assert.deepEqual(
    differences.map(({ seed, text }) => `${seed}: ${text}`),
    [],
  );
  assert.ok(outcomes['finished']! > 0.9 * kernels);
  assert.ok(steps > 1000 * kernels);
});
