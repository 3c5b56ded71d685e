/** `selvage repair` for users: its edits, and its messages for input that it cannot repair. */
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Report } from '../../../src/report-model/report.ts';
import { temporaryFolder, withoutNvcc } from '../../toolchain/fixture.ts';
import { selvage } from './in-process.ts';

const shift = `// selvage: block=64 grid=1
__global__ void shift(int* A) {
\tint temp = A[threadIdx.x + 1];
\tA[threadIdx.x] = temp;
}
`;

test('--write edits the file, otherwise the patch is printed; read-only files stay unchanged', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'shift.cu');
  writeFileSync(file, shift);
  const printed = await selvage(['repair', 'shift.cu'], folder);
  assert.equal(printed.status, 1);
  assert.match(printed.stdout, /^\+\t__syncthreads\(\);$/m);
  assert.equal(readFileSync(file, 'utf8'), shift);

  chmodSync(file, 0o444);
  const refused = await selvage(['repair', 'shift.cu', '--write'], folder);
  assert.equal(refused.status, 2);
  assert.match(refused.stdout, /^\+\t__syncthreads\(\);$/m);
  assert.match(refused.stderr, /Selvage wrote no file: shift\.cu cannot be written because it is read-only\./);
  assert.equal(readFileSync(file, 'utf8'), shift);

  chmodSync(file, 0o644);
  const written = await selvage(['repair', 'shift.cu', '--write'], folder);
  assert.equal(written.status, 1);
  assert.match(written.stderr, /wrote shift\.cu/);
  assert.equal(readFileSync(file, 'utf8'), shift.replace('\tA[', '\t__syncthreads();\n\tA['));
  const again = await selvage(['repair', 'shift.cu', '--write'], folder);
  assert.equal(again.status, 0);
  assert.match(again.stderr, /nothing to write/);
});

test('a file that is not UTF-8 is edited byte for byte', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  const text = `// caf\u00e9\n${shift.replace('\tA[', '\t// \u0097\u00fc\n\tA[')}`;
  writeFileSync(join(folder, 'shift.cu'), text, 'latin1');
  const { status, stdout } = await selvage(['repair', 'shift.cu', '--write'], folder);
  assert.equal(status, 1);
  // The patch has the same bytes.
  assert.match(stdout, /^[ +-]\t\/\/ \u0097\u00fc$/m);
  const written = readFileSync(join(folder, 'shift.cu'), 'latin1');
  assert.equal(written.replace(/^.*__syncthreads\(\);\n/m, ''), text);
  assert.notEqual(written, text);
});

test('no repair is suggested if the time limit is too short', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'shift.cu'), shift);
  const { stdout } = await selvage(['repair', 'shift.cu', '--timeout', '0.001', '--format', 'json'], folder);
  const [kernel] = (JSON.parse(stdout) as Report).kernels;
  assert.equal(kernel?.repair.edits, undefined);
  assert.ok(['timeout', 'skipped'].includes(kernel?.repair.status ?? ''), kernel?.repair.status);
});

test('PTX is not edited, and a file that does not compile is reported as such', async (t) => {
  const folder = temporaryFolder(t);
  const ptx = fileURLToPath(new URL('../../../src/app/commands/demo/head/reduce.verification.ptx', import.meta.url));
  copyFileSync(ptx, join(folder, 'reduce.ptx'));
  const run = await selvage(['repair', 'reduce.ptx', '--block', '256', '--grid', '64', '--arg', 'param2=16000'], folder);
  assert.equal(run.status, 1);
  assert.match(run.stdout, /not repaired: reduce\.ptx is PTX: give the CUDA file that it was compiled from/);
  if (withoutNvcc !== false) return;
  writeFileSync(join(folder, 'broken.cu'), '__global__ void k() {\n  int i = ;\n}\n');
  const broken = await selvage(['repair', 'broken.cu', '--write'], folder);
  assert.equal(broken.status, 3);
  assert.match(broken.stdout, /broken\.cu:2/);
});
