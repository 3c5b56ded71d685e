/** Bounds of addresses that are selected and of nested loops: as in the comment above each kernel, and never below a run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Report } from '../../src/document/report.ts';
import type { RunReport } from '../../src/document/run-report.ts';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { selvage } from '../app/commands/in-process.ts';

const folder = fileURLToPath(new URL('tight', import.meta.url));
const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';
const launch = ['--block', '256', '--grid', '4'];

test('clamped and selected addresses, and nested loops, have tight bounds', { skip }, async () => {
  const text = readFileSync(join(folder, 'tight.cu'), 'utf8');
  const { stdout } = await selvage(['cost', 'tight.cu', '--block', '256', '--grid', '128', '--format', 'json'], folder);
  const found = new Map((JSON.parse(stdout) as Report).kernels.map(({ name, cost }) => [name.replace(/\(.*/, ''), cost?.bounds.source?.sectors.bound])); // prettier-ignore
  const wanted = [...text.matchAll(/sectors: (.*)\n__global__ void (\w+)/g)].map(([, bound, name]) => [name!, bound]);
  assert.equal(wanted.length, 5);
  assert.deepEqual([...found], wanted);
});

for (const [name, bound, ...more] of [
  ['clampLow', 9],
  ['clampHigh', 10, '--arg', 'n=1024'],
  ['clampHigh', 10, '--arg', 'n=1000'],
  ['clampHigh', 10, '--arg', 'n=13'],
  ['oneOfTwo', 10],
  ['eitherHalf', 13, '--arg', 'half=1023'],
  ['eitherHalf', 13, '--arg', 'half=4'],
] as const) {
  test(`no warp of ${name} ${more.join(' ')} touches more sectors than its bound`, { skip }, async () => {
    const arrays = ['out', 'in', ...(name === 'oneOfTwo' ? ['flag'] : [])].flatMap((array) => ['--arg', `${array}=int32[4096]:iota`]); // prettier-ignore
    const words = [
      'run',
      'tight.cu',
      '--kernel',
      name,
      ...launch,
      ...arrays,
      ...more,
      '--counters',
      '--format',
      'json',
    ];
    const { stdout, stderr } = await selvage(words, folder);
    assert.ok(stdout !== '', stderr);
    const { counters } = JSON.parse(stdout) as RunReport;
    const most = Math.max(...counters!.warps.map(({ sectors }) => sectors));
    assert.ok(most <= bound, `${most} sectors`);
  });
}
