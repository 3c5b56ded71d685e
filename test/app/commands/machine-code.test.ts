import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execFileSync } from 'node:child_process';
import type { Report } from '../../../src/report-model/report.ts';

const folder = mkdtempSync(join(tmpdir(), 'selvage-cubins-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const cli = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
const original = new Uint8Array(readFileSync(new URL('../../sass/cubins/sm_90.cubin', import.meta.url)));

function run(...words: string[]): { readonly code: number; readonly text: string } {
  try {
    return { code: 0, text: execFileSync(process.execPath, [cli, ...words], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }) };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, text: stdout };
  }
}

test('a cubin has costs by line, and an invalid one is reported', () => {
  writeFileSync(join(folder, 'sum.cubin'), original);
  writeFileSync(join(folder, 'text.cubin'), 'this is text instead of a cubin');
  const { code, text } = run('cost', 'sum.cubin', '--format', 'json');
  const { kernels, diagnostics } = JSON.parse(text) as Report;
  assert.deepEqual([code, kernels.length, diagnostics.length], [0, 1, 0]);
  const { lines, translation } = kernels[0]!.cost!.code!;
  assert.equal(translation.checked, false);
  assert.equal(lines.find(({ location }) => location.line === 17)!.work['store global 64'], 1);
  assert.ok(lines.some(({ listing }) => listing.some((one) => /^LDS\.32 R\d+ <- /.test(one))));
  assert.ok(lines.every(({ listing, instructions }) => listing.length === Math.min(8, instructions)));
  for (const format of ['markdown', 'html'])
    assert.match(run('cost', 'sum.cubin', '--format', format).text, /Machine code by line: \d+ instructions/);
  assert.match(run('cost', 'sum.cubin').text, /tile-sum\.cu:17 .*store global 64/);
  const damaged = JSON.parse(run('cost', 'text.cubin', '--format', 'json').text) as Report;
  assert.match(damaged.diagnostics[0]!.message, /cannot read text\.cubin: it is neither a cubin nor a fat binary/);
});

test('two cubins are compared; a cubin compared with itself has no changes', () => {
  writeFileSync(join(folder, 'sum.cubin'), original);
  const edited = original.slice();
  // The first barrier becomes a NOP.
  const at = edited.findIndex((byte, index) => byte === 0x1d && edited[index + 1] === 0x7b && index % 16 === 0);
  assert.ok(at > 0);
  edited.set([0x18, 0x79], at);
  writeFileSync(join(folder, 'less.cubin'), edited);
  const compared = (head: string) => (JSON.parse(run('compare', 'sum.cubin', head, '--format', 'json').text) as Report).comparison!;
  assert.equal(compared('sum.cubin').code, undefined);
  assert.equal(compared('sum.cubin').codeLines, undefined);
  const { code, codeLines } = compared('less.cubin');
  assert.deepEqual(
    code!.map(({ message }) => message),
    ['line 8: 8 barriers instead of 9'],
  );
  assert.deepEqual(
    codeLines!.flatMap(({ lines }) =>
      lines.map(({ location, was, instructions, work }) => [location!.line, was!.line, instructions, work]),
    ),
    [[8, 8, [1, 1], { barrier: [1, 0] }]],
  );
  const { diff } = codeLines![0]!.lines[0]!;
  assert.deepEqual(
    diff.filter((row) => !row.startsWith(' ')),
    ['- BAR', '+ NOP'],
  );
  const text = (...options: string[]): string => run('compare', 'sum.cubin', 'less.cubin', ...options).text;
  assert.match(text(), /: line 8: 8 barriers instead of 9\n {2}\S+tile-sum\.cu:8 +barrier +1 → 0\n/);
  assert.match(text('--verbose'), /\n {2}- BAR\n/);
  assert.match(text('--format', 'markdown'), /<details><summary>The lines that changed[^]*\| barrier \| 1 \| 0 \|[^]*\n- BAR\n/);
  assert.match(text('--format', 'html'), /<td>barrier<\/td><td>1<\/td><td>0<\/td>/);
});
