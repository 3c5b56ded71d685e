/** `selvage cost` for users. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Report } from '../../../src/report-model/report.ts';
import schema from '../../../src/report/report.schema.json' with { type: 'json' };
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { selvage as inProcess } from './in-process.ts';

const paper = fileURLToPath(new URL('../../cost/', import.meta.url));
const withoutNvcc = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-cost-')));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ['paper.ptx', 'paper.cu', 'amortised.ptx']) cpSync(join(paper, name), join(folder, name));

const selvage = (words: readonly string[]) => inProcess(words, folder);

const validate = new Ajv2020({ strict: false }).compile(schema);
function reportOf(stdout: string): Report {
  const report = JSON.parse(stdout) as Report;
  assert.ok(validate(report), JSON.stringify(validate.errors));
  return report;
}

test('bounds of a PTX file, with the parameter names of PTX', async () => {
  const words = ['cost', 'paper.ptx', '--kernel', 'matMulBad', '--block', '32,32', '--grid', '4,4'];
  const given = ['--arg', 'param3=128', '--assume', 'param3 % 32 == 0', '--format', 'json'];
  const { status, stdout, stderr } = await selvage([...words, ...given]);
  assert.deepEqual([status, stderr], [0, '']);
  const [kernel] = reportOf(stdout).kernels;
  assert.deepEqual([kernel?.race.verdict, kernel?.divergence.verdict], ['skipped', 'skipped']);
  const { bounds, resources } = kernel!.cost!;
  assert.equal(bounds.production, undefined);
  assert.equal(resources?.sharedBytes, withoutNvcc ? undefined : 8192);
  const { lines, ...conflicts } = bounds.source!.conflicts;
  assert.deepEqual(conflicts, { bound: '1022*ceil(param3/32)', degree: { param3: 1 }, value: 4088, exact: true });
  // Worst first.
  assert.deepEqual(
    lines?.map(({ bound }) => bound),
    ['480*ceil(param3/32)', '480*ceil(param3/32)', '31*ceil(param3/32)', '31*ceil(param3/32)'],
  );
  assert.match(lines[0]?.reason ?? '', /16-way bank conflicts/);
  assert.equal(bounds.source?.sectors.bound, '64*ceil(param3/32) + 32');
  assert.equal(bounds.source.sectors.value, 288);
});

test('bounds of a whole launch, with their assumptions', async () => {
  const words = ['cost', 'paper.ptx', '--kernel', 'matMul', '--block', '32,32', '--grid', '4,4', '--format', 'json'];
  const given = ['--arg', 'param3=128', '--assume', 'param3 % 32 == 0'];
  const { bounds, totals, assumptions } = reportOf((await selvage([...words, ...given])).stdout).kernels[0]!.cost!;
  const { blockCycles, ...source } = totals!.source!;
  const steps = bounds.source!.steps.value! * 512;
  // 32 warps of 16 blocks; 128 times 128 results of 128 products and sums each.
  assert.deepEqual(source, {
    blocks: 16,
    warps: 512,
    sectors: 18432,
    conflicts: 0,
    divwarps: 0,
    steps,
    work: steps + 18432,
    bytes: 589824,
    leastBytes: 589824,
    operations: 128 ** 3 * 2,
    intensity: 2 ** 22 / 589824,
  });
  assert.equal(blockCycles, (bounds.source!.work.value! * 32) / 4 + bounds.source!.span.value!);
  assert.deepEqual(
    assumptions!.map(({ kind }) => kind),
    ['non-negative', 'no-wrap', 'alignment', 'user'],
  );
  const open = reportOf((await selvage(words)).stdout).kernels[0]!.cost!;
  assert.deepEqual([open.totals?.source?.sectors, open.totals?.source?.conflicts], [null, 0]);
  assert.ok(!open.assumptions!.some(({ kind }) => kind === 'user'));
});

test('without reference arguments bounds have no values', async () => {
  const { status, stdout } = await selvage(['cost', 'paper.ptx', '--kernel', 'addSub2', '--format', 'json']);
  assert.equal(status, 0);
  const { sectors } = reportOf(stdout).kernels[0]!.cost!.bounds.source!;
  assert.deepEqual([sectors.value, sectors.degree], [null, { param3: 1 }]);
});

test('a loop whose trip count is read from memory has no bound, and the reason names its line', async () => {
  const rows = `.version 8.6
.target sm_80
.address_size 64
.file 1 "rows.cu"
.visible .entry rows(.param .u64 a) {
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;
ld.param.u64 %d1, [a]; ld.global.u32 %r1, [%d1]; mov.u32 %r2, 0;
.loc 1 7 3
LOOP: add.u32 %r2, %r2, 1; st.global.u32 [%d1+4], %r2; setp.lt.u32 %p1, %r2, %r1; @%p1 bra LOOP;
ret;
}`;
  writeFileSync(join(folder, 'rows.ptx'), rows);
  const { stdout } = await selvage(['cost', 'rows.ptx', '--block', '64', '--grid', '1', '--format', 'json']);
  const { sectors, conflicts } = reportOf(stdout).kernels[0]!.cost!.bounds.source!;
  assert.equal(sectors.bound, null);
  assert.match(sectors.reason ?? '', /rows\.cu:7: the trip count of this loop is not known/);
  assert.equal(conflicts.bound, '0', 'an iteration without cost has no cost');
  const pretty = (await selvage(['cost', 'rows.ptx', '--block', '64', '--grid', '1'])).stdout;
  assert.match(pretty, /\? sectors, steps, work, span: rows\.cu:7: the trip count of this loop is not known/);
});

test('rows whose length is read from memory are bounded if their elements are stated', async () => {
  const words = ['cost', 'amortised.ptx', '--kernel', 'rows', '--block', '64', '--grid', '4', '--format', 'json'];
  const open = reportOf((await selvage(words)).stdout).kernels[0]!.cost!.bounds.source!.sectors;
  assert.match(open.reason ?? '', /amortised\.cu:\d+: the trip count of this loop is not known/);
  const stated = ['--assume', 'param1[*] in 0..16*param3'];
  const { bounds, assumptions } = reportOf((await selvage([...words, ...stated])).stdout).kernels[0]!.cost!;
  assert.deepEqual(bounds.source!.sectors.degree, { param3: 1 });
  assert.deepEqual(assumptions!.at(-1), { kind: 'user', text: 'param1[*] in 0..16 * param3' });
});

test('both builds, resources and occupancy of CUDA', { skip: withoutNvcc }, async () => {
  const words = ['cost', 'paper.cu', '--kernel', 'matMul', '--block', '32,32', '--grid', '4,4', '--arg', 'n=128'];
  const asked = [...words, '--assume', 'n % 32 == 0', '--format', 'json'];
  const { stdout, stderr } = await selvage([...asked, '--verbose']);
  assert.equal(stderr, '');
  const { bounds, resources } = reportOf(stdout).kernels[0]!.cost!;
  for (const build of ['source', 'production'] as const) {
    const { sectors, conflicts } = bounds[build]!;
    assert.deepEqual([sectors.bound, sectors.value, conflicts.bound], ['8*ceil(n/32) + 4', 36, '0'], build);
  }
  assert.ok(bounds.production!.steps.value! < bounds.source!.steps.value!);
  assert.equal(resources?.sharedBytes, 8192);
  assert.ok(resources.registers > 8 && resources.occupancy! > 0 && resources.occupancy! <= 1);
  // Without a further request only the production build is compiled.
  const lean = reportOf((await selvage(asked)).stdout).kernels[0]!.cost!;
  // Instructions are weighted by the trip counts of the bounds.
  const { steps, instructions, lines } = lean.code!;
  assert.match(steps!.bound, /^\d+\*max\(1, ceil\(n\/32\)\) \+ \d+$/);
  assert.ok(steps!.value! > instructions && steps!.value! < 4 * instructions);
  const [most] = lines.filter(({ roundBounds }) => roundBounds);
  assert.deepEqual(most!.roundBounds!.all, { bound: 'max(1, ceil(n/32))', value: 4 });
  assert.equal(most!.rounds, undefined);
  assert.deepEqual([lean.bounds, lean.resources], [{ production: bounds.production }, resources]);
  const brief = (await selvage(words)).stdout;
  assert.match(
    brief,
    /machine code: \d+ instructions, of which a warp executes at most \d+\*max\(1, ceil\(n\/32\)\) \+ \d+ = \d+, in the order/,
  );
  assert.match(brief, /of one warp +at most\n +sectors +10\*ceil\(n\/32\) \+ 5 = 45\n/);
  const pretty = (await selvage([...words, '--shared', '60000', '--verbose'])).stdout;
  assert.match(pretty, /68192 bytes of shared memory, occupancy 50 % \(limited by (threads|shared)\)|68192 bytes of shared memory/);
  assert.match(pretty, /verification build, at most +production build, at most/);
  assert.match(pretty, /at most max\(1, ceil\(n\/32\)\) = 4 times, of which a warp executes at most /);
  assert.match(pretty, /line 15 +5\*ceil\(n\/32\) = 20 +up to 5 sectors per access instead of 4/);
});

test('a kernel that the assembler rejects still has bounds', { skip: withoutNvcc }, async () => {
  const big = `__global__ void big(int *a) {
    __shared__ int s[20000];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
`;
  writeFileSync(join(folder, 'big.cu'), big);
  const { status, stdout } = await selvage(['cost', 'big.cu', '--block', '64', '--grid', '1', '--format', 'json']);
  assert.equal(status, 3);
  const { kernels, diagnostics } = reportOf(stdout);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['compile/refused'],
  );
  assert.match(diagnostics[0]!.message, /too much shared data/);
  const { bounds, resources } = kernels[0]!.cost!;
  assert.deepEqual([bounds.source, bounds.production!.sectors.value, resources], [undefined, 8, undefined]);
});

test('check reports the cost of a warp in a line, and omits it if it is disabled', async () => {
  const words = ['check', 'paper.ptx', '--kernel', 'vectorAdd', '--block', '256', '--grid', '4'];
  const { stdout } = await selvage(words);
  assert.match(stdout, /^ {4}a warp at most: sectors 12, conflicts 0, divwarps .*, steps \d+$/m);
  assert.ok(!stdout.includes('by line'));
  assert.match((await selvage([...words, '--verbose'])).stdout, /sectors by line/);
  assert.ok(!(await selvage([...words, '--checks', 'race,divergence'])).stdout.includes('a warp'));
});

test('PTX: registers if costs are requested, or why they are unknown; a check omits them', async () => {
  const words = ['paper.ptx', '--kernel', 'vectorAdd', '--block', '256', '--grid', '4', '--nvcc', join(folder, 'none')];
  const { status, stdout } = await selvage(['cost', ...words]);
  assert.equal(status, 0);
  assert.match(stdout, /^notice\[compile\/refused\]: Registers and occupancy .* paper\.ptx are not known: no ptxas was found; /m);
  assert.ok(!/compile\/|register/.test((await selvage(['check', ...words])).stdout));
});

test('PTX is assembled for its target architecture', { skip: withoutNvcc }, async () => {
  const ptx = readFileSync(join(folder, 'paper.ptx'), 'utf8');
  writeFileSync(join(folder, 'newer.ptx'), ptx.replace(/\.target sm_80/, '.target sm_90'));
  const { status, stdout } = await selvage(['cost', 'newer.ptx', '--kernel', 'vectorAdd', '--format', 'json']);
  assert.equal(status, 0, stdout);
  assert.ok(reportOf(stdout).kernels[0]!.cost!.resources!.registers > 0);
  // A toolkit that is too old for a file is not an error of the file.
  writeFileSync(join(folder, 'future.ptx'), ptx.replace(/\.version \S+/, '.version 99.0'));
  const strange = await selvage(['cost', 'future.ptx', '--kernel', 'vectorAdd', '--format', 'json']);
  assert.equal(strange.status, 0, strange.stdout);
  assert.match(reportOf(strange.stdout).diagnostics[0]?.message ?? '', /Unsupported \.version/);
});

test('code that the assembler rejects is located in the source', { skip: withoutNvcc }, async () => {
  const text = `__global__ void fine(int *a) { a[threadIdx.x] = 0; }
__global__ void wrong(int *a) {
    asm volatile("bogus.u32 %0, 1;" : "=r"(a[0]));
}
`;
  writeFileSync(join(folder, 'wrong.cu'), text);
  const { status, stdout } = await selvage(['check', 'wrong.cu']);
  assert.equal(status, 3);
  assert.match(
    stdout,
    /^error\[compile\/refused\]: Nothing in wrong\.cu can run: ptxas rejects it for sm_80: .*bogus.*\n --> wrong\.cu:3/m,
  );
  assert.match(stdout, /what a warp costs \(unknown instruction bogus\.u32\)/);
  assert.match(stdout, /; incomplete because of 1 error$/m);
});

test('shared memory that the launch adds is reported, with its possible effect on occupancy', { skip: withoutNvcc }, async () => {
  const text = `extern __shared__ int s[];
__global__ void dynamic(int *a) {
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
`;
  writeFileSync(join(folder, 'dynamic.cu'), text);
  const words = ['cost', 'dynamic.cu', '--block', '256', '--grid', '4'];
  assert.match(
    (await selvage(words)).stdout,
    / 0 bytes of shared memory plus the dynamic shared memory of the launch, which is unknown, occupancy at most 100 %/,
  );
  assert.match((await selvage([...words, '--shared', '1024'])).stdout, / 1024 bytes of shared memory \(1024 dynamic\), occupancy 100 %/);
});

test('lines are sorted by cost without a specified size, and assumptions are listed once', async () => {
  const words = ['cost', 'paper.ptx', '--kernel', 'matMul*', '--block', '32,32', '--grid', '4,4'];
  const { stdout } = await selvage(words);
  assert.equal(stdout.split('The bounds assume: ').length, 2);
  assert.ok(!stdout.includes('    taken for granted'));
  const listed = stdout
    .split('matMulTrans')[1]!
    .split('sectors by line')[1]!
    .match(/line \d+ .*/)?.[0];
  assert.match(listed ?? '', /param3/, 'the loop precedes code that executes once');
});

test('costs together with verdicts, with --checks', async () => {
  const words = ['check', 'paper.ptx', '--kernel', 'vectorAdd', '--block', '256', '--grid', '4', '--format', 'json'];
  const [kernel] = reportOf((await selvage([...words, '--checks', 'race,cost'])).stdout).kernels;
  assert.equal(kernel?.race.verdict, 'proved');
  assert.equal(kernel.cost?.bounds.source?.sectors.bound, '12');
});

/** A kernel whose bounds sum many iterations of many warps, and one whose bounds are small. */
const sorts = `// selvage: block=512 grid=4
__global__ void sorted(unsigned* keys) {
  __shared__ unsigned s[1024];
  s[threadIdx.x] = keys[blockIdx.x * 1024 + threadIdx.x];
  s[threadIdx.x + 512] = keys[blockIdx.x * 1024 + threadIdx.x + 512];
  for (unsigned size = 2; size <= 1024; size <<= 1)
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      unsigned low = s[at], high = s[at + stride];
      if ((low > high) == ((threadIdx.x & (size / 2)) == 0)) { s[at] = high; s[at + stride] = low; }
    }
  __syncthreads();
  keys[blockIdx.x * 1024 + threadIdx.x] = s[threadIdx.x];
  keys[blockIdx.x * 1024 + threadIdx.x + 512] = s[threadIdx.x + 512];
}

// selvage: block=512 grid=4
__global__ void copied(unsigned* to, const unsigned* from) {
  to[blockIdx.x * 512 + threadIdx.x] = from[blockIdx.x * 512 + threadIdx.x];
}
`;

test('a check without --checks cost makes a bounded analysis of the costs of the production build', { skip: withoutNvcc }, async () => {
  writeFileSync(join(folder, 'sorts.cu'), sorts);
  const boundsOf = async (...words: string[]) => {
    const { stdout } = await selvage(['check', 'sorts.cu', '--format', 'json', ...words]);
    return reportOf(stdout).kernels.map(({ cost }) => cost!.bounds);
  };
  const [sorted, copied] = await boundsOf();
  assert.deepEqual([sorted!.source, sorted!.production!.steps.exact], [undefined, false]);
  assert.equal(copied!.source!.sectors.bound, '8');
  const [asked] = await boundsOf('--checks', 'race,cost');
  assert.notEqual(asked!.source!.steps.bound, null);
  assert.deepEqual(asked!.production, sorted!.production);
});
