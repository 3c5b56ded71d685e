/** A project of 50 kernels, checked again after changes: the remaining work, and that the report is the same. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inspect } from 'node:util';
import { after, before, test } from 'node:test';
import { openProject } from '../../../src/app/build/open-project.ts';
import { keepingChecks } from '../../../src/app/cache/kept-checks.ts';
import { storeIn } from '../../../src/app/cache/result-store.ts';
import { checkProject } from '../../../src/app/pipeline/project-check.ts';
import { checkSteps } from '../../../src/check/check-kernel.ts';
import { complete } from '../../../src/base/coroutine.ts';
import { render } from '../../../src/report/render.ts';
import { parseCommandLine } from '../../../src/settings/options.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { wrappedCompiler, writeLoggedTools } from '../../toolchain/fixture.ts';
import { assets } from '../compare/change-fixture.ts';
import { checksBy } from '../workers/checks-by.ts';

const found = await findCompiler({ env: process.env });
/** The compiler itself, if the tests have one that caches its builds. */
const nvcc = 'compiler' in found ? wrappedCompiler(found.compiler).path : undefined;
const skip = !('compiler' in found && found.compiler.features.separateFrontEnd) && 'no nvcc whose front end is known';

let folder: string;
let tree: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'selvage-kept-'));
  tree = join(folder, 'tree');
  mkdirSync(join(tree, 'src'), { recursive: true });
  if (nvcc === undefined) return;
  writeLoggedTools(join(folder, 'tools'), nvcc, folder);
  writeFileSync(join(tree, 'src/shared.cuh'), '#pragma once\n#define TILE 128\n');
  for (let unit = 0; unit < 5; unit += 1) writeFileSync(join(tree, `src/unit${unit}.cu`), unitText(unit));
});
after(() => rmSync(folder, { recursive: true }));

/** Whether checks can be counted. */
const inThisThread = { limits: { alone: 1e9, stretch: 1e9 } };

/** Ten kernels, five of a kind: races, divergence that the source decides, a proof by Z3, and two that are proved. */
function unitText(unit: number, extra = ''): string {
  return `#include "shared.cuh"
${extra}
${kernels(`${unit}`, unit)}
${kernels(`${unit}b`, unit + 10)}`;
}

function kernels(suffix: string, unit: number): string {
  const name = (kernel: string): string => `${kernel}${suffix}`;
  return `__device__ int ${name('twice')}(int value) { return value * 2; }
__global__ void ${name('reverse')}(float *out) {
  __shared__ float tile[TILE];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[TILE - 1 - threadIdx.x];
}
__global__ void ${name('racy')}(float *out) {
  __shared__ float tile[TILE];
  tile[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = tile[TILE - 1 - threadIdx.x];
}
__global__ void ${name('leave')}(float *out, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();
  out[threadIdx.x] = n + ${unit};
}
__global__ void ${name('rows')}(float *out, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) out[row * width + column] = ${name('twice')}(row);
}
__global__ void ${name('copy')}(float *out, const float *in, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = in[at] + ${unit};
}
void launch${suffix}(float *p) {
  ${name('reverse')}<<<1, TILE>>>(p);
  ${name('racy')}<<<1, TILE>>>(p);
  ${name('leave')}<<<1, TILE>>>(p, 100);
}
`;
}

interface Work {
  readonly report: string;
  /** Units that were compiled: front ends that ran. */
  readonly compiled: number;
  /** Units that nvcc itself compiled. */
  readonly nvcc: number;
  readonly ptxas: number;
  /** Checks of a kernel under a launch. */
  readonly checks: string[];
  /** Number of requests for the solver. */
  readonly solver: number;
}

async function check(cache: string | null, cwd = tree): Promise<Work> {
  for (const tool of ['nvcc', 'cicc', 'ptxas']) rmSync(join(folder, `${tool}.log`), { force: true });
  const words = ['check', 'src', '--nvcc', join(folder, 'tools/nvcc'), '--jobs', '2'];
  const invocation = parseCommandLine([...words, ...(cache === null ? ['--no-cache'] : [])]);
  assert.ok(invocation.kind === 'command');
  const { options } = invocation;
  const environment = { ...process.env, SELVAGE_CACHE: join(folder, cache ?? 'none') };
  const services = { cwd, environment, assets };
  const progress = { log: () => undefined, defect: ({ error }: { error: unknown }) => assert.fail(String(error)) };
  const job = await openProject({ paths: ['src'], nvccArguments: [], options, progress, services });
  const checks: string[] = [];
  let solver = 0;
  const counting = checksBy((request) => {
    checks.push(request.name);
    const counted = async () => {
      solver += 1;
      return request.solver();
    };
    return complete(checkSteps({ ...request, solver: counted }));
  }, inThisThread);
  const openChecks: typeof counting = async (asked) => {
    const places = await counting(asked);
    return cache === null ? places : keepingChecks(places, storeIn(join(folder, cache)), { solver: asked.solver, effort: 1 });
  };
  try {
    const report = await checkProject({ ...job, tools: { ...job.tools, openChecks } });
    const runs = (tool: string, form: RegExp): number => {
      const log = join(folder, `${tool}.log`);
      // Without calls that query the version of a tool.
      return existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter((line) => form.test(line)).length
        : 0;
    };
    const text = await render('json', report, { color: false, verbose: true, source: () => undefined });
    return {
      report: text,
      compiled: runs('cicc', /-lgenfe/),
      nvcc: runs('nvcc', /unit\d/),
      ptxas: runs('ptxas', /\.ptx/),
      checks,
      solver,
    };
  } finally {
    await job.project.builder.close();
  }
}

/** A cache that has the results of the first one: a cold check for each test would take long. */
function keptIn(cache: string): string {
  cpSync(join(folder, 'kept'), join(folder, cache), { recursive: true });
  return cache;
}

function keptFiles(cache: string): string[] {
  return readdirSync(join(folder, cache), { recursive: true, encoding: 'utf8' }).filter((file) => /[0-9a-f]{64}$/.test(file));
}

test('if one of 50 kernels changes only it is checked; the report equals a cold run', { skip }, async () => {
  const cold = await check('kept');
  assert.equal(cold.checks.length, 50);
  assert.deepEqual([cold.compiled, cold.nvcc], [5, 0]);
  assert.ok(cold.ptxas >= 5);
  assert.match(cold.report, /race\/shared/);
  assert.match(cold.report, /barrier\/early-exit/);

  const warm = await check('kept');
  assert.deepEqual({ ...warm, report: '' }, { report: '', compiled: 0, nvcc: 0, ptxas: 0, checks: [], solver: 0 });
  assert.equal(warm.report, cold.report);

  const path = join(tree, 'src/unit3.cu');
  writeFileSync(path, unitText(3).replace('in[at] + 3', 'in[at] * 3 + out[at + 1]'));
  const changed = await check('kept');
  assert.deepEqual(changed.checks, ['copy3']);
  assert.equal(changed.compiled, 1);
  assert.equal(changed.ptxas, cold.ptxas / 5);
  assert.equal(changed.report, (await check(null)).report);
  assert.notEqual(changed.report, cold.report);
});

test('kernels that move in their file are not checked again, but reported on their new lines', { skip }, async () => {
  await check(keptIn('moved'));
  writeFileSync(join(tree, 'src/unit2.cu'), unitText(2, '// One line.\n// Another line.\n'));
  const moved = await check('moved');
  // `twice` moves with the kernels: the distance is the same.
  assert.deepEqual(moved.checks, []);
  assert.equal(moved.compiled, 1);
  assert.equal(moved.report, (await check(null)).report);
});

test('another checkout of the same files is not recompiled, but reported with its paths', { skip }, async () => {
  const cold = await check(keptIn('places'));
  const other = join(folder, 'élsewhere');
  cpSync(tree, other, { recursive: true });
  const warm = await check('places', other);
  assert.equal(warm.compiled, 0);
  assert.equal(warm.report, cold.report);
  rmSync(other, { recursive: true });
});

test('a source with a changed classification is checked again, although its PTX is the same', { skip }, async () => {
  await check(keptIn('source'));
  const path = join(tree, 'src/unit4.cu');
  const text = unitText(4);
  const passing = text
    .replace('  if (threadIdx.x >= n) return;\n  __syncthreads();\n', '  if (threadIdx.x < n) {\n  __syncthreads();\n')
    .replace('= n + 4;\n}', '= n + 4; }\n}');
  writeFileSync(path, passing);
  const changed = await check('source');
  const cold = await check(null);
  assert.equal(changed.report, cold.report);
  assert.match(cold.report, /barrier\/divergent/);
  writeFileSync(path, text);
});

test('units are rebuilt if one of their headers changes, but not for an unused header', { skip }, async () => {
  await check(keptIn('headers'));
  writeFileSync(join(tree, 'src/shared.cuh'), '#pragma once\n#define TILE 64\n');
  const changed = await check('headers');
  assert.equal(changed.compiled, 5);
  assert.equal(changed.report, (await check(null)).report);
  writeFileSync(join(tree, 'src/shared.cuh'), '#pragma once\n#define TILE 128 // as before\n');
  assert.equal((await check('headers')).compiled, 0);
  mkdirSync(join(tree, 'other'));
  writeFileSync(join(tree, 'other/shared.cuh'), '#define TILE 32\n');
  assert.equal((await check('headers')).compiled, 0);
  rmSync(join(tree, 'other'), { recursive: true });
});

test('with a damaged result store the report equals a cold run', { skip }, async () => {
  const cold = await check(keptIn('damage'));
  const files = keptFiles('damage');
  assert.ok(files.length >= 60);
  for (const [index, file] of files.entries()) {
    const path = join(folder, 'damage', file);
    const bytes = readFileSync(path);
    if (index % 3 === 0) bytes[index % bytes.length]! ^= 0x10;
    writeFileSync(path, index % 3 === 1 ? bytes.subarray(0, index) : bytes);
  }
  const again = await check('damage');
  assert.ok(again.checks.length > 20 && again.checks.length < 50);
  assert.equal(again.report, cold.report);
});

test('results cut short by the time limit are not cached', { skip }, async () => {
  const services = { cwd: tree, environment: { ...process.env, SELVAGE_CACHE: join(folder, 'late') }, assets };
  const words = parseCommandLine(['check', 'src/unit0.cu', '--timeout', '0.000001', '--nvcc', join(folder, 'tools/nvcc')]);
  assert.ok(words.kind === 'command');
  const run = async (): Promise<string> => {
    const progress = { log: () => undefined, defect: () => undefined };
    const job = await openProject({
      paths: ['src/unit0.cu'],
      nvccArguments: [],
      options: words.options,
      progress,
      services,
    });
    try {
      return JSON.stringify(await checkProject(job));
    } finally {
      await job.project.builder.close();
    }
  };
  assert.match(await run(), /"nondeterministic":true/);
  const store = storeIn(join(folder, 'late'));
  const checks = keptFiles('late').flatMap((file) => {
    const value = store.read(basename(file));
    return typeof value === 'object' && value !== null && 'results' in value ? [inspect(value, { depth: null })] : [];
  });
  // A proof that needed no time-limited query is cached.
  for (const text of checks) assert.doesNotMatch(text, /nondeterministic|out-of-time/);
});
