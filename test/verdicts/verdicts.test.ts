/** Each file is checked as users check it: launches and numbers are those of the file, or chosen by the check. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { selvage } from '../app/commands/in-process.ts';
import { kernelFiles, root } from '../kernels/portable-ptx.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { kernelNamed } from '../kernels/expectation.ts';
import { differences, kernelAt, type JudgedReport, parseVerdicts } from './expectation.ts';

const files = kernelFiles(fileURLToPath(new URL('.', import.meta.url)));

for (const file of files) {
  test(`${file} gets the verdicts that it expects`, { skip: withoutNvcc }, async (context) => {
    // Elsewhere no other file of the repository launches these kernels.
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-verdicts-')));
    context.after(() => rmSync(folder, { recursive: true }));
    copyFileSync(join(root, file), join(folder, basename(file)));
    const text = readFileSync(join(root, file), 'utf8');
    const expected = parseVerdicts(text);
    const options = /^\/\/ options: (.+)$/m.exec(text)?.[1]?.split(' ') ?? [];
    const words = ['check', basename(file), '--checks', 'race,divergence', '--no-cache', '--jobs', '1', '--format', 'json', ...options];
    const { stdout, stderr } = await selvage(words, folder);
    assert.notEqual(stdout, '', stderr);
    const report = JSON.parse(stdout) as JudgedReport;
    assert.equal(report.kernels.length, expected.length, `${report.kernels.map(({ name }) => name).join()} ${stderr}`);
    const wrong = expected.flatMap((expectation) => {
      const { kernel, open } = expectation;
      const about = report.diagnostics.filter((diagnostic) => kernelAt(diagnostic, report, text) === kernel);
      const found = differences(expectation, kernelNamed(report.kernels, kernel), about);
      if (open === undefined) return found.map((difference) => `${kernel}: ${difference}`);
      context.diagnostic(`open: ${kernel}: ${open}`);
      return found.length > 0 ? [] : [`${kernel} is as expected: its line "open" can go`];
    });
    assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`);
  });
}

test('the names of kernels are unique, and the expectations are well formed', () => {
  const names = files.flatMap((file) => parseVerdicts(readFileSync(join(root, file), 'utf8')).map(({ kernel }) => kernel));
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});
