/**
 * The edits that compute an index in 64 bits: the kernels of `overflow/`. A line `// edit: NAME: TEXT` states the edit, `// narrow: NAME:
 * TEXT` why none exists, `// wide: NAME` a kernel without such a finding. Each edit is applied, and the kernel checked again.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findingsOf } from '../../src/report-model/outcome.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { inWorkplace, root } from './repair-file.ts';

const folder = join(root, 'test/repair/overflow');

for (const file of readdirSync(folder).sort()) {
  test(`${file}: the edit of each index that wraps around`, { skip: withoutNvcc }, async () => {
    const text = readFileSync(join(folder, file), 'utf8');
    const expected = text.split('\n').filter((line) => /^\/\/ (?:edit|narrow|wide): /.test(line));
    await inWorkplace(file.replace(/\.txt$/, ''), async ({ repair, repairAndApply }) => {
      const { report, text: edited } = await repairAndApply(text);
      assert.deepEqual(report.kernels.map(described), expected);
      const after = (await repair(edited, { checks: ['race', 'divergence'] })).report;
      for (const [at, { name, repair: outcome }] of report.kernels.entries()) {
        const left = findingsOf(after.kernels[at]!).filter(({ code }) => code === 'memory/index-overflow');
        assert.equal(left.length > 0, outcome.status === 'unrepairable', name);
      }
    });
  });
}

function described({ name, repair, ...kernel }: KernelReport): string {
  const short = name.replace(/\(.*/, '');
  if (!findingsOf({ name, repair, ...kernel }).some(({ code }) => code === 'memory/index-overflow')) return `// wide: ${short}`;
  return `// ${repair.status === 'repaired' ? 'edit' : 'narrow'}: ${short}: ${repair.reason}`;
}
