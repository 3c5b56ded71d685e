/** Bounds of selected addresses and of nested loops: as in the comment above each kernel, and never below a run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Report } from '../../src/report-model/report.ts';
import type { RunReport } from '../../src/report-model/run-report.ts';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { selvage } from '../app/commands/in-process.ts';

const folder = fileURLToPath(new URL('tight', import.meta.url));
const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';
const launch = ['--block', '256', '--grid', '4'];

test('clamped and selected addresses, and nested loops, have tight bounds', { skip }, async () => {
  const text = readFileSync(join(folder, 'tight.cu'), 'utf8');
  const { stdout } = await selvage(['cost', 'tight.cu', '--block', '256', '--grid', '128', '--verbose', '--format', 'json'], folder);
  const found = new Map(
    (JSON.parse(stdout) as Report).kernels.map(({ name, cost }) => [name.replace(/\(.*/, ''), cost?.bounds.source?.sectors.bound]),
  );
  const wanted = [...text.matchAll(/sectors: (.*)\n__global__ void (\w+)/g)].map(([, bound, name]) => [name!, bound]);
  assert.equal(wanted.length, 9);
  assert.deepEqual([...found], wanted);
  // The compiler tests a loop at its end, after a guard that names the block.
  const ofNested = (JSON.parse(stdout) as Report).kernels.find(({ name }) => name.startsWith('nested('))!;
  assert.equal(ofNested.cost?.bounds.production?.sectors.bound, '404*ceil(n/128)');
  // The production build at a size divisible by the unroll factor: a run counts 64 for the loop and 4 for the store.
  const { stdout: compiled } = await selvage(
    [
      'cost',
      'tight.cu',
      '--kernel',
      'rows',
      '--block',
      '256',
      '--grid',
      '128',
      '--arg',
      'vectorN=128',
      '--arg',
      'elementN=4096',
      '--format',
      'json',
    ],
    folder,
  );
  const { production } = (JSON.parse(compiled) as Report).kernels[0]!.cost!.bounds;
  assert.ok(production!.sectors.value! >= 68 && production!.sectors.value! <= 2 * 68, String(production!.sectors.value));
});

for (const [name, bound, ...more] of [
  ['clampLow', 9],
  ['clampHigh', 10, '--arg', 'n=1024'],
  ['clampHigh', 10, '--arg', 'n=1000'],
  ['clampHigh', 10, '--arg', 'n=13'],
  ['oneOfTwo', 10],
  ['eitherHalf', 13, '--arg', 'half=1023'],
  ['eitherHalf', 13, '--arg', 'half=4'],
  ['masked', 8, '--arg', 'stride=256'],
  ['masked', 8, '--arg', 'stride=24'],
  ['ring', 10, '--arg', 'n=1000'],
  ['ring', 10, '--arg', 'n=35'],
  ['ring', 10, '--arg', 'n=3'],
  ['wrapped', 10, '--arg', 'n=17'],
] as const) {
  test(`no warp of ${name} ${more.join(' ')} touches more sectors than its bound`, { skip }, async () => {
    const arrays = ['out', 'in', ...(name === 'oneOfTwo' ? ['flag'] : [])].flatMap((array) => ['--arg', `${array}=int32[4096]:iota`]);
    const words = ['run', 'tight.cu', '--kernel', name, ...launch, ...arrays, ...more, '--counters', '--format', 'json'];
    const { stdout, stderr } = await selvage(words, folder);
    assert.ok(stdout !== '', stderr);
    const { counters } = JSON.parse(stdout) as RunReport;
    const most = Math.max(...counters!.warps.map(({ sectors }) => sectors));
    assert.ok(most <= bound, `${most} sectors`);
  });
}

test('each of several launches has separate costs', { skip }, async () => {
  const { stdout } = await selvage(['cost', 'launches.cu', '--format', 'json'], folder);
  const [kernel] = (JSON.parse(stdout) as Report).kernels;
  const totals = kernel!.launches.map(({ block, cost }) => [block, cost?.totals?.blocks, cost?.totals?.sectors]);
  // Rows of 64 floats are 8 sectors and one more where they start within one; rows of 4 floats are up to 2.
  assert.deepEqual(totals, [
    [[64, 4, 1], 16, 1280],
    [[4, 64, 1], 4096, 1_048_576],
  ]);
  const { stdout: text } = await selvage(['cost', 'launches.cu'], folder);
  assert.match(text, /block 64, 4, 1 .*\n +16 blocks: at most 1280 sectors/);
  assert.match(text, /block 4, 64, 1 .*\n +4096 blocks: at most 1048576 sectors/);
});
