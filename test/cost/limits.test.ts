/** Limits of kernels: kept, exceeded and undecided, each with the line of the highest cost. */
import type { Regression } from '../../src/report-model/regression.ts';
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { selvage, type Ran } from '../app/commands/in-process.ts';

const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-limits-')));
after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(fileURLToPath(new URL('limits', import.meta.url)), folder, { recursive: true });

async function costs(words: readonly string[], configuration?: string): Promise<{ ran: Ran; kernel: KernelReport }> {
  const config = join(folder, 'limits.yml');
  if (configuration !== undefined) writeFileSync(config, `version: 1\n${configuration}\n`);
  const given = configuration === undefined ? [] : ['--config', config];
  const ran = await selvage(['cost', ...words, ...given, '--format', 'json'], folder);
  const kernel = (JSON.parse(ran.stdout) as Report).kernels[0]!;
  return { ran, kernel };
}

function limited(kernel: string, limits: string): string {
  return `kernels:\n  - match: ${kernel}\n    limits: { ${limits} }`;
}

const said = ({ code, severity, metric, location }: Regression): string => `${severity} ${code} ${metric} ${location?.line}`;

const all = 'sectors conflicts divwarps steps work span registers sharedBytes spillBytes occupancy'.split(' ');

test('limits of every kind that are satisfied', { skip }, async () => {
  const bounds =
    'sectors: "<= 32*n + 4", conflicts: "<= 2", divwarps: "< 2", steps: "<= 17*n + 30", work: "<= 49*n + 36", span: "<= 400*n + 400"';
  const resources = 'registers: 40, sharedBytes: 4096, spillBytes: 0, occupancy: ">= 100%"';
  const { ran, kernel } = await costs(['limits.cu', '--kernel', 'sums'], limited('sums', `${bounds}, ${resources}`));
  assert.equal(ran.status, 0);
  assert.deepEqual(kernel.cost?.violations, undefined);
  const standings = new Map(kernel.cost?.limits?.map(({ metric, standing }) => [metric, standing]));
  assert.deepEqual(standings, new Map(all.map((metric) => [metric, 'kept'])));
  const builds = new Map(kernel.cost?.limits?.map(({ metric, build }) => [metric, build]));
  // The compiler unrolls the loop, and the remaining iterations are bounded separately.
  assert.deepEqual([builds.get('sectors'), builds.get('conflicts'), builds.get('registers')], ['source', 'production', undefined]);
});

test('limits of every kind that are exceeded, with the line of the highest cost', { skip }, async () => {
  const bounds = 'sectors: "<= 8*n", conflicts: "< 2", divwarps: "<= 0", steps: "<= 4*n", work: "<= 1000", span: "<= n"';
  const resources = 'registers: 4, sharedBytes: 4095, occupancy: "> 100%"';
  const { ran, kernel } = await costs(['limits.cu', '--kernel', 'sums'], limited('sums', `${bounds}, ${resources}`));
  assert.equal(ran.status, 1);
  const violations = kernel.cost!.violations!;
  assert.deepEqual(violations.map(said), [
    'error limit/exceeded registers 4',
    'error limit/exceeded sharedBytes 4',
    'error limit/exceeded occupancy 4',
    'error limit/exceeded sectors 9',
    'error limit/exceeded conflicts 10',
    'error limit/exceeded divwarps 13',
    'error limit/exceeded steps 9',
    'error limit/exceeded work 9',
    'error limit/exceeded span 9',
  ]);
  const sectors = violations[3]!;
  assert.deepEqual([sectors.base, sectors.head, sectors.limit], [null, '32*n + 4', '<= 8*n']);
  assert.match(sectors.message, /a warp touches up to 32\*n \+ 4 sectors .* which exceeds the limit <= 8\*n$/);
  const never = await selvage(
    ['check', 'limits.cu', '--kernel', 'sums', '--config', join(folder, 'limits.yml'), '--fail-on', 'never'],
    folder,
  );
  assert.match(never.stdout, /limit\/exceeded/, 'limits apply to `check` too');
});

test('limits that expressions do not decide are decided at reference arguments', { skip }, async () => {
  const limits = limited('sums', 'sectors: "<= 16*n + 320", steps: "<= 100*m", registers: 255');
  const open = await costs(['limits.cu', '--kernel', 'sums'], limits);
  assert.equal(open.ran.status, 0);
  assert.deepEqual(open.kernel.cost?.violations?.map(said), ['notice limit/not-compared sectors 9', 'notice limit/not-compared steps 9']);
  assert.match(open.kernel.cost.violations[1]?.message ?? '', /^Selvage cannot compare the limit steps .*: the kernel has no parameter m$/);
  const kept = await costs(['limits.cu', '--kernel', 'sums', '--arg', 'n=8'], limits);
  assert.deepEqual(kept.kernel.cost?.limits?.[1], {
    metric: 'sectors',
    limit: '<= 16*n + 320',
    standing: 'kept',
    build: 'production',
    at: { n: 8 },
  });
  assert.equal(kept.ran.status, 0);
  const exceeded = await costs(['limits.cu', '--kernel', 'sums', '--arg', 'n=100'], limits);
  assert.match(exceeded.kernel.cost?.violations?.[0]?.message ?? '', /\(3204 at n = 100\)/);
  const incomparable = await costs(['limits.cu', '--kernel', 'sums'], limited('sums', 'sectors: "<= 64*n"'));
  assert.deepEqual(incomparable.kernel.cost?.violations?.map(said), ['notice limit/not-compared sectors 9']);
  assert.equal(incomparable.ran.status, 0);
});

test('the last matching entry that sets a limit takes precedence', { skip }, async () => {
  const entries = `${limited('"*"', 'registers: 4, divwarps: "<= 0"')}\n  - match: sums\n    limits: { registers: 64 }`;
  const { kernel } = await costs(['limits.cu', '--kernel', 'sums'], entries);
  assert.deepEqual(kernel.cost?.violations?.map(said), ['error limit/exceeded divwarps 13']);
});

test('a missing bound has a reason', { skip }, async () => {
  const { kernel } = await costs(['limits.cu', '--kernel', 'gathered'], limited('gathered', 'sectors: "<= 1000"'));
  assert.deepEqual(kernel.cost?.violations?.map(said), ['notice limit/not-compared sectors 25']);
  assert.match(kernel.cost.violations[0]?.message ?? '', /limits\.cu:23: the trip count of this loop is not known/);
});

test('resources if the block dimensions are unknown, and of PTX without ptxas', { skip }, async () => {
  writeFileSync(join(folder, 'plain.cu'), '__global__ void plain(float *out) { out[threadIdx.x] = 1.0f; }\n');
  const { kernel } = await costs(['plain.cu'], limited('plain', 'occupancy: ">= 50%", registers: 255'));
  assert.match(
    kernel.cost?.violations?.[0]?.message ?? '',
    /^Selvage cannot compare the limit occupancy >= 50% .*: the block size is not known/,
  );
  assert.equal(kernel.cost?.violations?.length, 1);
  cpSync(fileURLToPath(new URL('paper.ptx', import.meta.url)), join(folder, 'paper.ptx'));
  const ptx = await costs(['paper.ptx', '--kernel', 'addSub2', '--nvcc', '/none'], limited('addSub2', 'registers: 255'));
  assert.match(ptx.kernel.cost?.violations?.[0]?.message ?? '', /ptxas gave no resource usage/);
});

test('launches that the architecture rejects, and blocks that launch bounds promise', { skip }, async () => {
  const crowded = await costs(['limits.cu', '--kernel', 'crowded']);
  assert.equal(crowded.ran.status, 0);
  assert.match(
    crowded.kernel.cost?.violations?.[0]?.message ?? '',
    /ask for 4 blocks on a multiprocessor, and sm_80 has room for 3 .*shared/,
  );
  const source = [
    '// selvage: block=64 grid=4 shared=200000',
    '__global__ void dynamic(float *out) {',
    '  extern __shared__ float s[];',
    '  s[threadIdx.x] = 1.0f;',
    '  __syncthreads();',
    '  out[threadIdx.x] = s[63 - threadIdx.x];',
    '}',
    '',
  ].join('\n');
  writeFileSync(join(folder, 'dynamic.cu'), source);
  const { ran, kernel } = await costs(['dynamic.cu']);
  assert.equal(ran.status, 1);
  assert.deepEqual(kernel.cost?.violations?.map(said), ['error launch/refused sharedBytes 1']);
  assert.match(kernel.cost.violations[0]?.message ?? '', /at most 166912 bytes of shared memory, not 200000/);
  const wide = source
    .replace('grid=4 shared=200000', 'grid=4')
    .replace('block=64', 'block=1024')
    .replace(
      'out[threadIdx.x] =',
      `float v[96];
#pragma unroll
  for (int k = 0; k < 96; k++) v[k] = out[k * 1024];
  for (int i = 0; i < out[0]; i++) {
#pragma unroll
    for (int k = 0; k < 96; k++) v[k] = v[k] * v[(k + 1) % 96] + 1.0f;
  }
#pragma unroll
  for (int k = 0; k < 96; k++) out[k * 1024] = v[k];
  out[threadIdx.x] =`,
    );
  writeFileSync(join(folder, 'wide.cu'), wide);
  const registers = await costs(['wide.cu']);
  assert.match(
    registers.kernel.cost?.violations?.[0]?.message ?? '',
    /registers for each of 1024 threads are more than a multiprocessor has/,
  );
});

test('a kernel that ptxas rejects: the reason, and bounds regardless', { skip }, async () => {
  const source =
    '__global__ void big(float *out) {\n  __shared__ float s[16384];\n  s[threadIdx.x] = 1.0f;\n  __syncthreads();\n  out[threadIdx.x] = s[63 - threadIdx.x];\n}\n';
  writeFileSync(join(folder, 'big.cu'), source);
  const { ran, kernel } = await costs(['big.cu', '--block', '64']);
  assert.equal(ran.status, 3);
  assert.match(ran.stderr, /ptxas rejects it for sm_80: .*uses too much shared data/);
  assert.equal(kernel.cost?.bounds.production?.sectors.bound, '4');
  assert.equal(kernel.cost.resources, undefined);
});
