/** 2,000 mutated or truncated PTX texts: no throw, no hang, a diagnostic for what is invalid, no statement lost. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Summary } from './ptx-run.ts';

const SEED = 1;
const COUNT = 2000;
/** One in so many texts is given to ptxas as well. */
const EVERY = 5;
/** A hundred times what the run takes: who is not done by then, hangs. */
const LIMIT_MS = 600_000;

test(`${COUNT} damaged PTX texts`, async (context) => {
  const script = fileURLToPath(new URL('ptx-run.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, `${SEED}`, `${COUNT}`, `${EVERY}`], {
    timeout: LIMIT_MS,
    maxBuffer: 2 ** 26,
  });
  const summary = JSON.parse(stdout) as Summary;
  assert.deepEqual(summary.failures, []);
  // The run is about damage: most texts are damaged, in every way, and much stands in front of it.
  assert.equal(Object.keys(summary.mutations).length >= 24, true);
  assert.ok(summary.invalid > COUNT / 10, `${summary.invalid} texts known to be invalid`);
  assert.ok(summary.diagnosed > COUNT / 2, `${summary.diagnosed} texts with a diagnostic`);
  assert.ok(summary.survivors > 10 * COUNT, `${summary.survivors} statements before the damage`);
  if (summary.assembled === null) {
    context.diagnostic(`no ptxas: ${COUNT / EVERY} texts were not compared with it`);
    return;
  }
  assert.deepEqual(summary.missed, [], 'texts that ptxas cannot parse and that we do not complain of');
  context.diagnostic(
    `${summary.assembled} texts compared with ptxas: ${summary.missed.length} missed, ${summary.refused.length} refused`,
  );
});
