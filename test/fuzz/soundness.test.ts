/** Whatever is proved of changed test kernels and of random kernels, the interpreter does not contradict. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSubjects } from './soundness-run.ts';

for (const [kind, count] of [
  ['mutants', 200],
  ['random', 120],
] as const) {
  test(`${count} ${kind === 'mutants' ? 'mutants of test kernels' : 'random kernels'}`, async (context) => {
    const { verdicts, runs, wrapped, failures } = await runSubjects(kind, 1, count);
    context.diagnostic(`${JSON.stringify(verdicts)}, ${runs} runs of what is proved`);
    assert.deepEqual(failures, []);
    // There is something to contradict, and something else too.
    assert.ok(verdicts['proved/proved']! > count / 10);
    assert.ok(verdicts['race/proved']! > count / 10);
    assert.ok(runs > 10 * verdicts['proved/proved']!);
    // Proofs that take arithmetic not to wrap around are the exception.
    assert.ok(wrapped < count / 50);
  });
}
