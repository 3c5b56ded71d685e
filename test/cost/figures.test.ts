/** Figures of kernels in addition to their bounds: expected numbers are derived from the sources by hand. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { literalOf } from '../../src/cost/widened-constants.ts';
import { gpuOf, gpus } from '../../src/device/gpus.ts';
import { architectureOf } from '../../src/device/architecture.ts';
import type { CostReport } from '../../src/report-model/cost-report.ts';
import type { Report } from '../../src/report-model/report.ts';
import schema from '../../src/report/report.schema.json' with { type: 'json' };
import { parseConfiguration } from '../../src/settings/configuration-parser.ts';
import { parseCommandLine } from '../../src/settings/options.ts';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { type Ran, selvage } from '../app/commands/in-process.ts';

const folder = fileURLToPath(new URL('figures', import.meta.url));
const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';

let ran: Ran;
const costOf = (name: string): CostReport => {
  const { kernels } = JSON.parse(ran.stdout) as Report;
  return kernels.find((kernel) => kernel.name.startsWith(`${name}(`))!.cost!;
};
before(async () => {
  if (skip) return;
  ran = await selvage(['cost', 'figures.cu', '--gpu', 'A100', '--format', 'json'], folder, { formats: ['pretty', 'markdown', 'html'] });
});

test('the report with figures fits its schema', { skip }, () => {
  const validate = new Ajv2020({ strict: false }).compile(schema);
  assert.ok(validate(JSON.parse(ran.stdout)), JSON.stringify(validate.errors));
});

test('constants that make float arithmetic double, with their literals', { skip }, () => {
  const { widened, mix, counted, gpu } = costOf('scale');
  assert.deepEqual(
    widened?.map(({ location, literal }) => [location.line, literal]),
    [
      [10, '0.5'],
      [10, '1.5'],
    ],
  );
  const double = mix?.find(({ kind }) => kind === 'double');
  assert.deepEqual([double?.perThread, double?.lines.map(({ location }) => location.line)], [4, [9, 10]]);
  // A float is read, a float and a double are written; a product of floats, one of doubles, and two operations of doubles.
  assert.deepEqual(
    [counted?.bytes, counted?.blockBytes, counted?.operations],
    [65_536, 65_536, { single: 4096, double: 12_288, tensor: 0 }],
  );
  const arithmetic = 4096 / 19.5e12 + 12_288 / 9.7e12;
  assert.equal(gpu?.bound, 'memory');
  assert.ok(Math.abs(gpu.share - arithmetic / (65_536 / 2039e9)) < 1e-9);
  assert.ok(Math.abs(gpu.waves!.count - 16 / (8 * 108)) < 1e-9);
});

test('figures: distinct bytes per block, atomic contention, and the last wave', { skip }, () => {
  const { counted, gpu } = costOf('total');
  // Eight sectors and that of the sum; of these the block needs five.
  assert.deepEqual([counted?.bytes, counted?.blockBytes], [9 * 32 * 4000, 5 * 32 * 4000]);
  assert.deepEqual([counted?.contention?.location?.line, counted?.contention?.updates, counted?.contention?.ofWarp], [18, 128_000, 32]);
  // 32 blocks of a warp on each of 108 multiprocessors.
  assert.equal(gpu?.waves?.blocks, 32 * 108);
  assert.ok(Math.abs(gpu.waves.last - (4000 - 3456) / 3456) < 1e-9);
});

test('figures: the register count for higher occupancy, with its cost', { skip }, () => {
  const { resources, registerStep } = costOf('crowded');
  assert.ok(resources!.occupancy! < registerStep!.occupancy && resources!.registers - registerStep!.registers <= 8);
  assert.equal(typeof registerStep!.spillBytes, 'number');
});

test('figures are reported in a terminal, and folded in Markdown and HTML', { skip }, () => {
  const [pretty, markdown, html] = (['pretty', 'markdown', 'html'] as const).map((format) => ran.rendered.get(format)!);
  assert.match(pretty!, /line 10: 0\.5 is a double literal and promotes the float arithmetic to double; write 0\.5f/);
  assert.match(pretty!, /1\.15 MB of global memory transferred, 640 kB if each block fetches a sector once/);
  assert.match(pretty!, /line 18: atomics update one address 128000 times in the launch, 32 lanes of a warp at a time/);
  assert.match(pretty!, /1\.16 waves of 3456 blocks, the last one fills 15\.7 % of it/);
  assert.match(pretty!, /registers? fewer would give an occupancy of 100 % instead of/);
  for (const text of [markdown!, html!]) assert.match(text, /<details><summary>What it executes, and how it fills the GPU<\/summary>/);
});

test('double literals without a suffix are reported', () => {
  assert.equal(literalOf('y = x * 0.5f + 1e-3;', 0.001), '1e-3');
  assert.equal(literalOf('y = x / 4.0; // 0.25', 0.25), '4.0');
  assert.equal(literalOf('y = a0.x * 3.f;', 3), undefined);
  assert.equal(literalOf('y = x - .5;', -0.5), '.5');
});

test('GPUs are given by name, on the command line and in the configuration', () => {
  assert.equal(gpuOf('nvidia rtx-4090')?.name, 'RTX 4090');
  assert.ok(gpus.every(({ arch }) => architectureOf(arch)));
  const asked = parseCommandLine(['cost', 'a.cu', '--gpu', 'l4']);
  assert.equal(asked.kind === 'command' && asked.options.gpu?.name, 'L4');
  assert.throws(() => parseCommandLine(['cost', 'a.cu', '--gpu', 'abacus']), /--gpu abacus: give one of V100, T4/);
  assert.equal(parseConfiguration('version: 1\ngpu: H100\n', 'c.yml').configuration.gpu?.multiprocessors, 132);
  const [problem] = parseConfiguration('version: 1\ngpu: abacus\n', 'c.yml').diagnostics;
  assert.match(problem!.message, /gpu is abacus; it must be one of V100/);
});
