/**
 * Repairs the kernels of this folder with the real compiler. Their first lines have the expectations: `// expect: NAME
 * repaired +ADDED -REMOVED`, or another status of the report; `// because: TEXT` is part of a reason; `// alternative:
 * NAME: TEXT` is one of the alternatives.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { applyLineEdits } from '../../src/report-model/repaired-file.ts';
import { renderJson } from '../../src/report/json.ts';
import { renderPatch } from '../../src/report/patch.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { nvcc, temporaryFolder } from '../toolchain/fixture.ts';
import { repairText, root } from './repair-file.ts';

const schema = JSON.parse(readFileSync(join(root, 'src/report/report.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

for (const file of kernelFiles(join(root, 'test/repair'))) {
  test(`${file} is repaired as it expects`, async (t) => {
    if (!nvcc) return t.skip('no nvcc');
    const original = readFileSync(join(root, file), 'utf8');
    const name = basename(file);
    const { report, text } = await repairText(original, name);
    assert.ok(validate(JSON.parse(renderJson(report))), JSON.stringify(validate.errors));
    const expected = original.split('\n').flatMap((line) => /^\/\/ expect: (.*)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(
      report.kernels.map(({ name: kernel, repair }) =>
        [
          kernel.replace(/\(.*/, ''),
          repair.status,
          ...(repair.status === 'repaired' ? [`+${repair.barriersAdded}`, `-${repair.barriersRemoved}`] : []),
        ].join(' '),
      ),
      expected,
      report.kernels.map(({ repair }) => repair.reason).join('\n'),
    );
    const because = original.split('\n').flatMap((line) => /^\/\/ because: (.*)$/.exec(line)?.[1] ?? []);
    const reasons = report.kernels.map(({ repair }) => repair.reason ?? '');
    for (const words of because)
      assert.ok(
        reasons.some((reason) => reason.includes(words)),
        reasons.join('\n'),
      );
    const alternatives = original.split('\n').flatMap((line) => /^\/\/ alternative: (.*)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(
      report.kernels.flatMap(({ name: kernel, repair }) =>
        (repair.alternatives ?? []).map(({ reason }) => `${kernel.replace(/\(.*/, '')}: ${reason}`),
      ),
      alternatives,
    );
    for (const { name: kernel, repair } of report.kernels) {
      for (const { edits } of repair.alternatives ?? []) {
        const other = await repairText(applyLineEdits(original, edits), name, { checks: ['race', 'divergence'] });
        assert.equal(other.report.kernels.find((one) => one.name === kernel)?.race.verdict, 'proved');
      }
    }
    if (text === original) return;

    // Git applies the patch, and the resulting file is proved.
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, name), original);
    const patch = renderPatch(report, () => original);
    const applied = spawnSync('git', ['apply', '-'], { cwd: folder, input: patch, encoding: 'utf8' });
    assert.equal(applied.status, 0, applied.stderr);
    assert.equal(readFileSync(join(folder, name), 'utf8'), text);
    const after = await repairText(text, name, { checks: ['race', 'divergence'] });
    for (const [index, { repair }] of report.kernels.entries()) {
      if (repair.status !== 'repaired') continue;
      assert.equal(after.report.kernels[index]!.race.verdict, 'proved');
      assert.equal(after.report.kernels[index]!.divergence.verdict, 'proved');
    }
  });
}
