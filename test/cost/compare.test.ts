/** `selvage compare` on kernels that differ in one thing: what is worse, on which line, and nothing else. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Regression, Report } from '../../src/driver/report.ts';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { selvage } from '../unit/cli/in-process.ts';

const folder = fileURLToPath(new URL('pairs', import.meta.url));
const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';

async function regressions(base: string, head: string): Promise<readonly Regression[]> {
  const { stdout, stderr } = await selvage(['compare', base, head, '--checks', 'cost', '--format', 'json'], folder);
  assert.equal(stderr, '');
  const { comparison, diagnostics } = JSON.parse(stdout) as Report;
  assert.deepEqual(diagnostics, []);
  return comparison!.regressions;
}

/** Kernel, code, and the text of the line. */
function told(found: readonly Regression[], file: string): string[][] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  return found.map(({ kernel, code, location }) => [
    kernel.replace(/\(.*/, ''),
    code,
    lines[location!.line - 1]!.trim(),
  ]);
}

test('one change in each kernel: exactly what it makes worse, and where', { skip }, async () => {
  const found = await regressions('before.cu', 'after.cu');
  assert.deepEqual(told(found, 'after.cu'), [
    ['gather', 'cost/sectors', 'out[i] = 2.0f * in[32 * i];'],
    ['transpose', 'cost/conflicts', 'out[y * n + x] = tile[threadIdx.x][threadIdx.y];'],
    ['choose', 'cost/divwarps', 'if (threadIdx.x % 2 == 0)'],
    ['accumulate', 'cost/sectors', 'sum = sum * weight[0] + 1.0f;'],
    ['recurrences', 'resource/spills', 'const int unrolled = 40;'],
    ['reverse', 'resource/occupancy', '__shared__ float part[12 * 1024];'],
    ['chain', 'cost/steps', 'for (int k = 0; k < n; k++)'],
  ]);
  // Nobody configured a threshold: nothing blocks.
  assert.ok(found.every(({ severity }) => severity === 'notice'));
  const by = new Map(found.map((one) => [one.kernel.replace(/\(.*/, ''), one]));
  assert.deepEqual([by.get('gather')?.base, by.get('gather')?.head, by.get('gather')?.reason], ['8', '36', '32 sectors an access, where 4 would do']); // prettier-ignore
  assert.match(by.get('transpose')?.reason ?? '', /32 turns/);
  assert.deepEqual([by.get('reverse')?.base, by.get('reverse')?.head], [0.75, 0.375]);
  assert.deepEqual([by.get('accumulate')?.asymptotic, by.get('chain')?.asymptotic], [true, true]);
  assert.deepEqual([by.get('chain')?.at, by.get('accumulate')?.at], [{ n: 512 }, { n: 1024 }]);
});

test('the other way round all of that is better, and what was better is worse', { skip }, async () => {
  const found = await regressions('after.cu', 'before.cu');
  assert.deepEqual(told(found, 'before.cu'), [['better', 'cost/sectors', 'out[i] = in[8 * i];']]);
});

test('two builds of one file compare as equal', { skip }, async () => {
  assert.deepEqual(await regressions('after.cu', 'after.cu'), []);
});
