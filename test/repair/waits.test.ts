/**
 * The edits that insert a wait for the kernel before: the kernels of `waits/`. A line `// edit: NAME: TEXT` states the edit, `// kept: NAME:
 * TEXT` why none exists. Each other kernel is without finding. Each edit is applied, and the file checked again.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { KernelReport } from '../../src/report-model/report.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { inWorkplace, root } from './repair-file.ts';

const folder = join(root, 'test/repair/waits');
const options = { arch: ['sm_90'] };

for (const file of readdirSync(folder).sort()) {
  test(`${file}: the wait before the first access`, { skip: withoutNvcc }, async () => {
    const text = readFileSync(join(folder, file), 'utf8');
    const expected = text.split('\n').filter((line) => /^\/\/ (?:edit|kept): /.test(line));
    await inWorkplace(file.replace(/\.txt$/, ''), async ({ repair }) => {
      const { report, text: edited } = await repair(text, options);
      assert.deepEqual(report.kernels.flatMap(described), expected);
      const fixed = new Set(report.kernels.flatMap(({ repair: { fixes = [] } }) => fixes));
      // A race is repaired first.
      const twice = (await repair(edited, options)).text;
      const after = (await repair(twice, { ...options, checks: ['race', 'divergence'] })).report;
      const left = after.diagnostics.flatMap(({ code, fingerprint = '' }) => (code === 'ordering/pdl-wait' ? [fingerprint] : []));
      assert.ok(left.every((fingerprint) => !fixed.has(fingerprint)));
      assert.equal(left.length, new Set(expected.filter((line) => line.startsWith('// kept'))).size);
      for (const [at, { name, race }] of report.kernels.entries())
        if (race.verdict === 'proved') assert.equal(after.kernels[at]!.race.verdict, 'proved', name);
    });
  });
}

function described({ name, repair }: KernelReport): string[] {
  if (repair.status === 'not-needed') return [];
  return [`// ${repair.status === 'repaired' ? 'edit' : 'kept'}: ${name.replace(/\(.*/, '')}: ${repair.reason}`];
}
