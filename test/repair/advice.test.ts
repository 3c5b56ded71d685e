/**
 * Advice and repair agree: the kernels of `advice/`, broken ones next to right ones. Their first lines have the expectations:
 * `// expect: NAME SEVERITY CODE lines N,M` is a finding, `// advice: NAME: TEXT` the last sentence of the finding before,
 * `// edit: NAME: TEXT` the edit or the status of the repair, `// silent: NAME VERDICT` a kernel without findings. All findings
 * are listed, except notices on accesses that store different values. Each edit is the one that an expert would write, unless a
 * line `// expert: NAME: TEXT` states another.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { KernelReport } from '../../src/report-model/report.ts';
import { findingsOf, isRace } from '../../src/report-model/outcome.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { inWorkplace, root } from './repair-file.ts';

const folder = join(root, 'test/repair/advice');

for (const file of readdirSync(folder).sort()) {
  test(`${file}: each finding names the remedy that repairs it`, { skip: withoutNvcc }, async () => {
    const text = readFileSync(join(folder, file), 'utf8');
    const expected = text.split('\n').filter((line) => /^\/\/ (?:expect|advice|edit|silent): /.test(line));
    const { report } = await inWorkplace(file.replace(/\.txt$/, ''), ({ repairAndApply }) => repairAndApply(text));
    assert.deepEqual(report.kernels.flatMap(described), expected);
  });
}

test('at least nine of ten edits are those that an expert would write', () => {
  const linesOf = (kind: string): readonly string[] =>
    readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').match(new RegExp(`^// ${kind}: .*$`, 'gm')) ?? []);
  const edits = linesOf('edit').filter((line) => !/: (?:unrepairable|not-needed)$/.test(line)).length;
  const others = linesOf('expert').length;
  assert.ok(edits >= 30 && others <= edits / 10, `${edits} edits, and ${others} others by experts`);
});

function described(kernel: KernelReport): string[] {
  const name = kernel.name.replace(/\(.*/, '');
  const findings = findingsOf(kernel).filter((finding) => isRace(finding) && (finding.severity !== 'notice' || finding.sameValue));
  if (findings.length === 0) return [`// silent: ${name} ${kernel.race.verdict}`];
  const { status, reason } = kernel.repair;
  return [
    ...findings.flatMap((finding) => {
      if (!isRace(finding)) return [];
      const lines = [finding.first, finding.second].map(({ location }) => location?.line ?? 0);
      const ascending = [...new Set(lines)].sort((a, b) => a - b);
      return [
        `// expect: ${name} ${finding.severity} ${finding.code} lines ${ascending.join(',')}`,
        `// advice: ${name}: ${finding.message.split(/(?<=\.) (?=[A-Z])/).at(-1)}`,
      ];
    }),
    `// edit: ${name}: ${status === 'repaired' ? reason : status}`,
  ];
}
