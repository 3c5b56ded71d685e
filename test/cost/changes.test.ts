/**
 * Kernels before and after a change: the reported costs, and their line. Each file of `changes/` contains both
 * versions, the later one under `#ifdef AFTER`. A comment above each kernel states that the change makes metrics
 * `worse` or `better`, is `neutral`, or has a message about code (`told`): from counters of runs, not from bounds.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Report } from '../../src/report-model/report.ts';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { selvage } from '../app/commands/in-process.ts';

const folder = fileURLToPath(new URL('changes', import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-changes-')));
after(() => rmSync(scratch, { recursive: true, force: true }));
const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';

/** One version of a text, as the preprocessor would leave it. */
function side(text: string, isAfter: boolean): string {
  const kept: boolean[] = [];
  return text
    .split('\n')
    .filter((line) => {
      if (/^#ifn?def AFTER/.test(line)) kept.push(line.startsWith('#ifdef') === isAfter);
      else if (line === '#else') kept.push(!kept.pop()!);
      else if (line === '#endif') kept.pop();
      else return !kept.includes(false);
      return false;
    })
    .join('\n');
}

/** The expectation of each kernel: `worse sectors at …`, `better steps`. */
function expectations(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const part of text.split('// changes: ').slice(1)) {
    const name = /__global__ void (?:[A-Z]+ )?(\w+)/.exec(part)![1]!;
    const [, line = ''] = part.split('\n');
    const [, kind = '', list = ''] = /^\/\/ (neutral|worse|better|told): ?(.*)$/.exec(line.replace('neutral', 'neutral: '))!;
    found.set(name, kind === 'neutral' ? [] : kind === 'told' ? [`told ${list}`] : list.split('; ').map((one) => `${kind} ${one}`));
  }
  return found;
}

for (const file of readdirSync(folder)) {
  test(`changes of ${file}: regressed and improved metrics are reported with their lines`, { skip }, async () => {
    const text = readFileSync(join(folder, file), 'utf8');
    const own = join(scratch, file);
    mkdirSync(own);
    const head = side(text, true);
    writeFileSync(join(own, 'before.cu'), side(text, false));
    writeFileSync(join(own, 'after.cu'), head);
    const { stdout, stderr } = await selvage(['compare', 'before.cu', 'after.cu', '--checks', 'cost', '--format', 'json'], own);
    assert.equal(stderr, '');
    const { comparison, diagnostics } = JSON.parse(stdout) as Report;
    assert.deepEqual(diagnostics, []);
    const lines = head.split('\n');
    const told = new Map<string, string[]>([...expectations(text)].map(([name]) => [name, []]));
    for (const [kind, list] of [
      ['worse', comparison!.regressions],
      ['better', comparison!.improvements ?? []],
    ] as const) {
      for (const { kernel, metric, location } of list) {
        const line = lines[(location?.line ?? 0) - 1]?.trim() ?? '';
        const place = kind === 'better' ? '' : /<<<.*>>>/.test(line) ? ' at the launch' : ` at \`${line}\``;
        told.get(kernel.replace(/\(.*/, ''))!.push(`${kind} ${metric}${place}`);
      }
    }
    const wanted = expectations(text);
    for (const { kernel, message } of comparison!.code ?? []) {
      const name = kernel.replace(/\(.*/, '');
      const [expected = ''] = wanted.get(name)!;
      if (expected.startsWith('told ') && message.includes(expected.slice(5))) told.get(name)!.push(expected);
    }
    for (const [name, list] of told) {
      const expected = wanted.get(name)!;
      // If the line is not specified, any line is accepted.
      const shown = list.map((one, index) => (expected[index]?.includes(' at ') ? one : one.replace(/ at .*/, '')));
      assert.deepEqual(
        shown,
        expected,
        `${name}: ${JSON.stringify(comparison!.regressions.filter(({ kernel }) => kernel.startsWith(`${name}(`)).map(({ message }) => message))}`,
      );
    }
  });
}
