/** A few mutants of each room that proves: most of them fail a test of the room. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { longSeed } from '../run/long-seed.ts';

/** Mutants of each room, and the rate of all that have to be noticed. */
const each = 6;
const leastNoticed = 0.6;

test(`${each} small changes of the code of each room`, (context) => {
  const script = fileURLToPath(new URL('mutation.ts', import.meta.url));
  const words = ['--seed', String(longSeed), '--each', String(each)];
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
  context.diagnostic(stdout);
  assert.equal(status, 0, stderr);
  const scores = [...stdout.matchAll(/: (\d+) of (\d+) mutants noticed/g)].map(
    ([, noticed, all]) => [Number(noticed), Number(all)] as const,
  );
  const [noticed, all] = [0, 1].map((at) => scores.reduce((sum, score) => sum + score[at]!, 0)) as [number, number];
  assert.ok(all > 50, stdout);
  assert.ok(noticed >= leastNoticed * all, stdout);
});
