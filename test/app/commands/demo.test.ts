import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { analyseDemo } from '../../../src/app/commands/demo-change.ts';
import { defaultOptions } from '../../../src/settings/options.ts';
import { findingsOf } from '../../../src/report-model/outcome.ts';
import { exitCodeOf } from '../../../src/report-model/exit-code.ts';
import type { Report } from '../../../src/report-model/report.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { bundledFiles, compileBundled } from './bundled-ptx.ts';
import { assets, recordingProgress } from '../compare/change-fixture.ts';

const found = await findCompiler({ env: process.env });
const compiler = 'compiler' in found ? found.compiler : undefined;

const demo = (folder: string, environment: Readonly<Record<string, string>>, options = defaultOptions()) =>
  analyseDemo({
    options,
    nvccArguments: [],
    environment,
    assets: { ...assets, demo: folder },
    progress: recordingProgress(),
  });

/** The review of the bundled PTX of the demo. */
const bundledReview = demo(assets.demo, { PATH: '' });

function outcome({ kernels }: Report) {
  return kernels.map((kernel) => [
    kernel.name.replace(/\(.*/, ''),
    kernel.race.verdict,
    kernel.divergence.verdict,
    findingsOf(kernel).map(({ code, severity, confirmed }) => `${severity} ${code}${confirmed ? '' : '?'}`),
  ]);
}

/** Exactly the planted bugs. */
const planted = [
  ['differences', 'race', 'proved', ['error race/global']],
  ['matmul', 'proved', 'proved', []],
  ['reduce', 'race', 'proved', ['error race/shared']],
  ['reverse', 'possible', 'divergent', ['error barrier/divergent']],
];

test('the bundled PTX reproduces exactly the planted bugs', async () => {
  const { report, compiled, trust } = await bundledReview;
  assert.equal(compiled, false);
  assert.deepEqual(outcome(report), planted);
  assert.deepEqual(report.diagnostics, []);
  assert.deepEqual(trust, []);
  assert.equal(report.toolchain.compiler, null);
  assert.equal(report.comparison?.new.length, 3);
  assert.equal(exitCodeOf(report, 'error'), 1);
});

test('the compiler gives the same findings', { skip: compiler ? false : 'no nvcc' }, async () => {
  const { report, compiled } = await demo(assets.demo, { PATH: process.env['PATH'] ?? '' });
  assert.equal(compiled, true);
  assert.deepEqual(outcome(report), planted);
  const bundled = await bundledReview;
  assert.deepEqual(report.comparison, bundled.report.comparison);
});

test('other PTX gives another review', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-demo-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(assets.demo, folder, { recursive: true });
  const file = join(folder, 'head/matmul.verification.ptx');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/call[^;]*__syncthreads[^;]*;|bar\.sync\s+0;|barrier\.sync[^;]*;/, ''));
  const { report } = await demo(folder, { PATH: '' }, { ...defaultOptions(), checks: ['race'] });
  assert.equal(outcome(report)[1]?.[1], 'race');
});

test('the bundled PTX is the compiler output for the sources', { skip: compiler ? false : 'no nvcc' }, async (t) => {
  assert.ok(compiler);
  for (const file of bundledFiles()) {
    const stored = readFileSync(file.file, 'utf8');
    const madeBy = /\bV(\d[\d.]*)/.exec(stored)?.[1];
    if (madeBy !== compiler.version.text) {
      t.diagnostic(`drift not checked: the PTX is of nvcc ${madeBy}, this is ${compiler.version.text}`);
      return;
    }
    assert.equal(await compileBundled(compiler, file), stored, `${file.file}: run node test/app/commands/regenerate.ts`);
  }
});
