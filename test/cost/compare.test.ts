/** `selvage compare` on kernels that differ in one thing: the regressions and their lines, and nothing else. */
import type { Regression } from '../../src/report-model/regression.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Report } from '../../src/report-model/report.ts';
import schema from '../../src/report/report.schema.json' with { type: 'json' };
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { selvage } from '../app/commands/in-process.ts';

const folder = fileURLToPath(new URL('pairs', import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-compare-')));
after(() => rmSync(scratch, { recursive: true, force: true }));
const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';

const validate = new Ajv2020({ strict: false }).compile(schema);

async function regressions(base: string, head: string): Promise<readonly Regression[]> {
  const { stdout, stderr } = await selvage(['compare', base, head, '--checks', 'cost', '--format', 'json'], folder);
  assert.equal(stderr, '');
  const { comparison, diagnostics } = JSON.parse(stdout) as Report;
  assert.deepEqual(diagnostics, []);
  return comparison!.regressions;
}

/** Kernel, code, and the source line. */
function told(found: readonly Regression[], file: string): string[][] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  return found.map(({ kernel, code, location }) => [kernel.replace(/\(.*/, ''), code, lines[location!.line - 1]!.trim()]);
}

test('each mutated kernel: exactly the regressions of its mutation, with their lines', { skip }, async () => {
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
  // Without a configured threshold nothing blocks.
  assert.ok(found.every(({ severity }) => severity === 'notice'));
  const by = new Map(found.map((one) => [one.kernel.replace(/\(.*/, ''), one]));
  assert.deepEqual(
    [by.get('gather')?.base, by.get('gather')?.head, by.get('gather')?.reason],
    ['8', '36', '32 sectors per access instead of 4'],
  );
  assert.match(by.get('transpose')?.reason ?? '', /32-way bank conflicts/);
  assert.deepEqual([by.get('reverse')?.base, by.get('reverse')?.head], [0.75, 0.375]);
  assert.deepEqual([by.get('accumulate')?.asymptotic, by.get('chain')?.asymptotic], [true, true]);
  assert.deepEqual([by.get('chain')?.at, by.get('accumulate')?.at], [{ n: 512 }, { n: 1024 }]);
});

test('with base and head exchanged regressions become improvements, and vice versa', { skip }, async () => {
  const found = await regressions('after.cu', 'before.cu');
  assert.deepEqual(told(found, 'before.cu'), [['better', 'cost/sectors', 'out[i] = in[8 * i];']]);
});

test('two builds of one file compare as equal', { skip }, async () => {
  assert.deepEqual(await regressions('after.cu', 'after.cu'), []);
});

const [before, later] = ['before.cu', 'after.cu'].map((file) => readFileSync(join(folder, file), 'utf8')) as [string, string];

/** Compares two sources under a configuration; regressions by kernel and metric. */
async function compareTexts(base: string, head: string, configuration = '', ...words: readonly string[]) {
  writeFileSync(join(scratch, 'base.cu'), base);
  writeFileSync(join(scratch, 'head.cu'), head);
  writeFileSync(join(scratch, '.selvage.yml'), `version: 1\n${configuration}\n`);
  const given = ['--checks', 'cost', '--format', 'json', ...words];
  const { status, stdout, stderr } = await selvage(['compare', 'base.cu', 'head.cu', ...given], scratch);
  assert.ok(stdout !== '', stderr);
  const report = JSON.parse(stdout) as Report;
  assert.ok(validate(report), JSON.stringify(validate.errors));
  const { comparison } = report;
  const list = comparison!.regressions.map((one) => [`${one.kernel.replace(/\(.*/, '')} ${one.metric}`, one] as const);
  return { status, comparison: comparison!, found: new Map<string, Regression>(list) };
}

test('values are in one series if kernel, architecture, launch and arguments are the same', { skip }, async () => {
  const kernel = (stride: number) => `__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[${stride} * i];
}
void launch(const float* in, float* out) { copy<<<16, 256>>>(in, out, 4000); }
`;
  const series = async (base: string, head: string, ...words: readonly string[]) =>
    [...(await compareTexts(base, head, 'checks: { cost: { span: { warn: "+0%" } } }', ...words)).found.values()]
      .map(({ metric, series: name }) => [metric, name] as const)
      .filter(([metric]) => metric === 'sectors' || metric === 'span');
  const known = await series(kernel(1), kernel(8));
  assert.deepEqual(
    known.map(([metric]) => metric),
    ['span', 'sectors'],
  );
  assert.ok(known.every(([, name]) => /^[0-9a-f]{16}$/.test(name ?? '')));
  assert.deepEqual(await series(kernel(2), kernel(32)), known);
  assert.deepEqual(await series(kernel(1), `// moved\n${kernel(16)}`), known);
  const others = [await series(kernel(1), kernel(8), '--arch', 'sm_90')];
  const replaced: [string, string][] = [
    ['copy', 'other'],
    ['256', '128'],
    ['<<<16', '<<<17'],
    ['4000', '2000'],
  ];
  for (const [from, to] of replaced) others.push(await series(kernel(1).replaceAll(from, to), kernel(8).replaceAll(from, to)));
  const names = [known, ...others].map((found) => found.map(([, name]) => name));
  assert.deepEqual(
    others.map((found) => found.map(([metric]) => metric)),
    others.map(() => ['span', 'sectors']),
  );
  assert.equal(new Set(names.flat()).size, 2 * names.length);
});

/** The source of one kernel with the comment above it. */
function kernelOf(text: string, name: string): string {
  const found = text.split(/^(?=\/\/ selvage:)/m).find((part) => part.includes(` ${name}(`));
  assert.ok(found);
  return found;
}

/** The source without one of its kernels. */
function without(text: string, name: string): string {
  return text.replace(kernelOf(text, name), '');
}

test('thresholds determine which regressions are warnings and which are errors', { skip }, async () => {
  const severities = async (cost: string, names: readonly string[]) => {
    const texts = [before, later].map((text) => names.map((name) => kernelOf(text, name)).join('')) as [string, string];
    const { status, found } = await compareTexts(...texts, `checks: { cost: { ${cost} } }`);
    return { status, of: (key: string) => found.get(key)?.severity };
  };
  const strict = await severities(
    'sectors: { warn: "+5%", fail: "+349%" }, registers: { warn: "+4" }, occupancy: { warn: "-10 points", fail: "-30 points" }',
    ['gather', 'accumulate', 'reverse', 'transpose'],
  );
  assert.equal(strict.status, 1);
  const metrics = ['gather sectors', 'accumulate registers', 'reverse occupancy', 'transpose conflicts', 'gather registers'];
  assert.deepEqual(metrics.map(strict.of), ['error', 'warning', 'error', 'notice', undefined]);
  const loose = await severities(
    'sectors: { warn: "+350%" }, occupancy: { fail: "-50%" }, conflicts: { warn: "+31" }, spillBytes: { fail: "+0" }',
    ['gather', 'accumulate', 'reverse', 'transpose', 'recurrences'],
  );
  assert.equal(loose.status, 1, 'spills');
  // A change within its threshold is not reported; another order of growth exceeds any percentage.
  assert.deepEqual(
    ['gather sectors', 'accumulate sectors', 'reverse occupancy', 'transpose conflicts', 'recurrences spillBytes'].map(loose.of),
    [undefined, 'warning', undefined, undefined, 'error'],
  );
  const within = await severities('sectors: { fail: "+2000" }', ['accumulate', 'chain']);
  assert.deepEqual([within.status, within.of('accumulate sectors')], [0, 'notice'], 'growth is reported regardless');
});

test('contradictory thresholds end the run with line and column', { skip }, async () => {
  writeFileSync(join(scratch, '.selvage.yml'), 'version: 1\nchecks:\n  cost:\n    sectors: { warn: "+30%", fail: "+5%" }\n');
  writeFileSync(join(scratch, 'base.cu'), before);
  const { status, stderr } = await selvage(['compare', 'base.cu', 'base.cu'], scratch);
  assert.equal(status, 2);
  assert.match(stderr, /\.selvage\.yml:4:22: checks\.cost\.sectors\.warn is \+30% and is looser than .* \+5%/);
});

test('without reference arguments expressions decide, and sizes are named', { skip }, async () => {
  const stripped = (text: string): string => text.replace(/^\/\/ selvage:.*$/gm, '//');
  const texts = [before, later].map((text) => stripped(without(text, 'recurrences'))) as [string, string];
  const { found } = await compareTexts(...texts);
  const chain = found.get('chain steps');
  assert.deepEqual([chain?.growsWith, chain?.at], ['n', { n: 1000 }]);
  assert.match(chain?.message ?? '', /grows faster with n: .* at n = 1000\)$/);
  assert.deepEqual([found.get('gather sectors')?.base, found.get('gather sectors')?.head], ['10', '37']);
  assert.equal(found.has('reverse occupancy'), false, 'no block, no occupancy');
});

test('kernels and parameters that are renamed are compared with their former versions', { skip }, async () => {
  // All except the one that takes longest.
  const [base, changed] = [without(before, 'recurrences'), without(later, 'recurrences')];
  const head = changed
    .replaceAll('gather(', 'collect(')
    .replace('chain(float *out, float seed, int n)', 'chain(float *out, float seed, int rounds)')
    .replaceAll(/(?<=chain[^]*?)\bn;/g, 'rounds;');
  const { comparison, found } = await compareTexts(base, head);
  assert.deepEqual([comparison.addedKernels, comparison.removedKernels], [[], []]);
  assert.deepEqual(comparison.renamedKernels, [{ base: 'gather(float*, float const*, int)', head: 'collect(float*, float const*, int)' }]);
  assert.equal(found.get('collect sectors')?.ratio, 4.5);
  assert.equal(found.get('chain steps')?.growsWith, 'rounds');
  assert.equal(found.size, 6);
  const only = await compareTexts(base, base.replaceAll('gather(', 'collect('));
  assert.deepEqual([...only.found.keys()], []);
});

test('kernels with changed parameters or template arguments are compared', { skip }, async () => {
  const base = `
// selvage: block=256 grid=64
__global__ void rows(const float4 *in, float *out) {
  float4 v = in[blockIdx.x * blockDim.x + threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}
template <int N> __global__ void times(float *a) { a[blockIdx.x * 256 + threadIdx.x] *= N; }
template __global__ void times<2>(float *);
__global__ void scaled(float *a) { a[threadIdx.x] = 2; }
__global__ void scaled(int *a) { a[threadIdx.x] = 2; }
`;
  const head = base
    .replace('const float4 *in, float *out', 'const Four *in, float *out, int unused')
    .replace('float4 v', 'Four v')
    .replace(/times<2>/, 'times<3>')
    .replace('scaled(float *a)', 'scaled(double *a)')
    .replace('scaled(int *a)', 'scaled(long *a)');
  const { comparison, found } = await compareTexts(base, `struct Four { float x, y, z, w; };${head}`);
  assert.deepEqual(comparison.renamedKernels?.map(({ head: name }) => name).slice(0, 2), [
    'rows(Four const*, float*, int)',
    'times<3>(float*)',
  ]);
  const { base: was, head: is, location } = found.get('rows sectors')!;
  assert.deepEqual([was, is, location?.line], ['20', '68', 4]);
  // Overloads are matched only by their bodies.
  assert.equal(found.size, 1);
});

const shaped = `
struct Shape { int rows; int columns; };

// selvage: block=256 grid=64
__global__ void fill(float *out, Shape shape) {
  for (int i = 0; i < shape.rows; i++)
    for (int k = 0; k < shape.columns; k++)
      out[(i * shape.columns + k) * 256 + threadIdx.x] = 0.0f;
}
`;

test('members of structs that are renamed are compared with their former versions', { skip }, async () => {
  const renamed = shaped.replaceAll('rows', 'height').replaceAll('columns', 'width');
  assert.deepEqual([...(await compareTexts(shaped, renamed)).found.keys()], []);
  const both = await compareTexts(shaped, renamed.replaceAll(/\bshape\b/g, 'extent'));
  assert.deepEqual([...both.found.keys()], []);
  const taller = await compareTexts(shaped, renamed.replace('i < shape.height', 'i < shape.height + shape.width'));
  assert.equal(taller.found.get('fill sectors')?.base, '4*shape.height*shape.width');
});

test('changes of the code are reported in addition to all other checks', { skip }, async () => {
  writeFileSync(join(scratch, 'base.cu'), kernelOf(before, 'gather'));
  writeFileSync(join(scratch, 'head.cu'), kernelOf(later, 'gather'));
  writeFileSync(join(scratch, '.selvage.yml'), 'version: 1\n');
  const { stdout } = await selvage(['compare', 'base.cu', 'head.cu', '--format', 'json'], scratch);
  const { codeLines = [] } = (JSON.parse(stdout) as Report).comparison!;
  assert.deepEqual(
    codeLines.map(({ kernel }) => kernel.replace(/\(.*/, '')),
    ['gather'],
  );
});

test('launches that are not compared are counted', { skip }, async () => {
  const kernel = '__global__ void one(float *out) { out[threadIdx.x * STRIDE] = 1; }\n';
  const sites = (from: number): string =>
    Array.from({ length: 8 }, (_, at) => `void go${at}(float *o) { one<<<${at + 1}, ${at === 7 ? from : 64}>>>(o); }\n`).join('');
  const [base, head] = [
    ['1', 64],
    ['2', 128],
  ].map(([stride, from]) => kernel.replace('STRIDE', String(stride)) + sites(Number(from)));
  const { comparison } = await compareTexts(base!, head!);
  assert.deepEqual(
    comparison.costNotes?.map(({ message }) => message),
    ['of 8 launches 6 are compared: Selvage compares at most 6, and only launches that both sides have and that a run can count'],
  );
  // The changed launch is among them.
  assert.ok(comparison.regressions.some(({ metric }) => metric === 'sectors'));
});

test('added and removed kernels are listed, without costs', { skip }, async () => {
  const [base, head] = [kernelOf(before, 'gather'), kernelOf(later, 'chain')];
  const { comparison } = await compareTexts(base, head);
  assert.deepEqual(comparison.addedKernels, ['chain(float*, float, int)']);
  assert.deepEqual(comparison.removedKernels, ['gather(float*, float const*, int)']);
  assert.deepEqual(comparison.regressions, []);
});

test('a bound that the head no longer has is reported with the reason', { skip }, async () => {
  const loop = 'for (int i = 0; i < n; i++)\n    v = __sinf(v);';
  const base = kernelOf(before, 'chain');
  assert.ok(base.includes(loop));
  const { found } = await compareTexts(base, base.replace(loop, 'while (out[0] < v)\n    v = __sinf(v);'));
  assert.deepEqual([found.get('chain steps')?.head, found.get('chain steps')?.severity], [null, 'notice']);
  assert.match(
    found.get('chain steps')?.message ?? '',
    /no longer a bound on the instructions .*: .*the trip count of this loop is not known/,
  );
});

test('commits of a repository: only touched kernels, suppressions and every format', { skip }, async () => {
  const repository = join(scratch, 'repository');
  mkdirSync(repository);
  const git = (...words: string[]): void => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgSign=false'];
    execFileSync('git', [...identity, ...words], { cwd: repository, stdio: 'ignore' });
  };
  git('init', '--initial-branch=main');
  writeFileSync(join(repository, 'kernels.cu'), without(before, 'recurrences'));
  git('add', '--all');
  git('commit', '--message', 'base');
  const head = without(later, 'recurrences').replace(
    '    out[i] = 2.0f',
    '    // selvage-ignore cost/sectors: measured, no slower\n    out[i] = 2.0f',
  );
  writeFileSync(join(repository, 'kernels.cu'), head);
  git('commit', '--all', '--message', 'head');
  const formats = ['json', 'pretty', 'markdown', 'html', 'sarif'] as const;
  const compared = async (format: (typeof formats)[number]) => {
    const words = ['compare', 'HEAD~1', 'HEAD', '--checks', 'cost', '--format', format];
    const { status, stdout, stderr, rendered } = await selvage(words, repository, { formats });
    assert.equal(status, 0, stderr);
    assert.equal(stdout, rendered.get(format));
    return formats.map((one) => rendered.get(one)!);
  };
  const texts = await compared('json');
  assert.deepEqual(await compared('html'), texts, 'each format is the same each time');
  const { kernels, comparison } = JSON.parse(texts[0]!) as Report;
  assert.ok(!kernels.some(({ name }) => name.startsWith('untouched')));
  const silent = comparison?.regressions.filter(({ suppressed }) => suppressed !== undefined) ?? [];
  assert.deepEqual(
    silent.map(({ kernel, severity }) => [kernel.replace(/\(.*/, ''), severity]),
    [['gather', 'notice']],
  );
  for (const text of texts.slice(1)) assert.match(text, /grows faster with n/);
  assert.match(texts[2]!, /```mermaid\nxychart-beta\n/);
  assert.match(texts[3]!, /<pre class="code heat">/);
  // GitHub ignores suppressions, and closes the alert of a result that is missing.
  const { runs } = JSON.parse(texts[4]!) as { runs: { results: { ruleId: string }[] }[] };
  const told = (comparison?.regressions ?? []).filter(({ suppressed }) => suppressed === undefined);
  const names = (list: readonly string[]): string => [...list].sort().join();
  assert.equal(names(runs[0]!.results.map(({ ruleId }) => ruleId)), names(told.map(({ code }) => code)));
  const same = await selvage(['compare', 'HEAD', 'HEAD', '--checks', 'cost'], repository);
  assert.equal(same.status, 0);
});
