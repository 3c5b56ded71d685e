/** Bounds of generated CUDA kernels hold in both builds. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { tallyText } from '../cost/compared-run.ts';
import { compareCosts } from './costs.ts';

const found = await findCompiler({ env: process.env });

test('no run of a generated kernel costs more than its bound', { skip: 'diagnostic' in found && 'there is no nvcc' }, async (t) => {
  assert.ok(!('diagnostic' in found));
  const folder = mkdtempSync(join(tmpdir(), 'selvage-costs-'));
  try {
    const figures = await compareCosts(found.compiler, 3, 40, folder);
    t.diagnostic(tallyText(figures));
    assert.deepEqual(figures.failures, []);
    assert.ok(figures.runs > 4 * figures.kernels);
    assert.ok(figures.compared > figures.none && figures.equal > 0.3 * figures.compared);
  } finally {
    rmSync(folder, { recursive: true });
  }
}); // prettier-ignore
