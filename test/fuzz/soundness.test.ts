/** Whatever is proved of changed test kernels, of random and of generated kernels, the interpreter does not contradict. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { judgeKernels } from './soundness.ts';
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

const found = await findCompiler({ env: process.env });

test('generated CUDA kernels', { skip: 'diagnostic' in found && 'there is no nvcc' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-soundness-'));
  try {
    const { failures, verdicts } = await judgeKernels(1, 12, folder);
    assert.deepEqual(failures, []);
    assert.ok(Object.keys(verdicts).some((verdict) => verdict.startsWith('given: race')));
    assert.ok(Object.keys(verdicts).some((verdict) => verdict.startsWith('given: proved')));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
