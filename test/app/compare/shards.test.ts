/** Reviews that several jobs share: each with its own folder, as on separate computers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { shares } from '../../../src/app/compare/shards.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { createWorkspace, type Workspace } from '../../github/runner.ts';
import { selvage, type Ran } from '../commands/in-process.ts';

const skip = ((): string | false => {
  try {
    execFileSync('nvcc', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'nvcc is missing';
  }
})();

const launches = 'void launchD(float *p);\n';

let workspace: Workspace;
let folder: string;
let range: readonly string[];
before(() => {
  workspace = createWorkspace();
  folder = mkdtempSync(join(tmpdir(), 'selvage-shards-'));
  const files = (barrier: string): Record<string, string> =>
    Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`src/${name}.cu`, unitText(name, barrier)]));
  // `e` had a race that is fixed; `c` goes away.
  const first = files('__syncthreads();');
  const base = workspace.commit({ ...first, 'src/e.cu': unitText('e', ''), 'src/launch.h': launches });
  const head = workspace.commit({ ...files(''), 'src/e.cu': first['src/e.cu']!, 'src/c.cu': null });
  range = ['--base', base, '--head', head, '--checks', 'race,divergence,repair'];
});
after(() => {
  workspace.dispose();
  rmSync(folder, { recursive: true });
});

/** Among them kernels that another unit launches. */
function unitText(name: string, barrier: string): string {
  return `#include "launch.h"
__global__ void reverse_${name}(float *out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = out[threadIdx.x];
  ${barrier}
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void scale_${name}(float *out, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] *= 2;
}
void launch${name.toUpperCase()}(float *p) {
  reverse_${name}<<<1, 64>>>(p);
  scale_${name}<<<4, 128>>>(p, 500);
}
`;
}

const review = (words: readonly string[], cache?: string): Promise<Ran> =>
  selvage(['review', ...range, ...words], workspace.root, {
    environment: { NO_COLOR: '1', SELVAGE_CACHE: cache ?? 'off' },
  });

/** The review of a single job. A separate cache saves the work of the second one. */
const unshared = (words: readonly string[] = []): Promise<Ran> => review(words, join(folder, 'unshared'));

/** Jobs share a cache, for the time of this test; what merges their results has none. */
async function sharded(count: number, left: readonly number[] = []): Promise<string> {
  const results = mkdtempSync(join(folder, `of-${count}-`));
  for (let index = 1; index <= count; index += 1) {
    if (left.includes(index)) continue;
    const ran = await review(['--shard', `${index}/${count}`, '--shards', join(results, `job-${index}`)], join(folder, 'jobs'));
    assert.equal(ran.status, 0, ran.stderr);
    assert.equal(ran.stdout, '');
  }
  return results;
}

test('1, 2 and 4 shards give the review of a single job, byte for byte', { skip }, async () => {
  const whole = await unshared();
  assert.match(whole.stdout, /Data race on shared `tile`/);
  const json = (await unshared(['--format', 'json'])).stdout;
  for (const count of [1, 2, 4]) {
    const results = await sharded(count);
    const merged = await review(['--shards', results]);
    assert.equal(merged.stdout, whole.stdout, `${count} shards`);
    assert.equal(merged.status, whole.status);
    assert.equal((await review(['--shards', results, '--format', 'json'])).stdout, json);
  }
});

test('a missing shard is reported, and nothing counts as fixed for it', { skip }, async () => {
  const results = await sharded(2, [2]);
  const [manifest] = readdirSync(results, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
  const { units } = JSON.parse(readFileSync(join(results, manifest!), 'utf8')) as { units: string[] };
  assert.ok(units.length >= 2 && units.length <= 3);
  const lost = ['src/a.cu', 'src/b.cu', 'src/c.cu', 'src/d.cu', 'src/e.cu'].filter((unit) => !units.includes(unit));
  const merged = await review(['--shards', results, '--format', 'json']);
  assert.equal(merged.status, 3);
  const report = JSON.parse(merged.stdout) as {
    diagnostics: { code: string; message: string }[];
    kernels: { location: { file: string } }[];
    comparison: { fixed: string[]; removedKernels: string[] };
  };
  const [missing] = report.diagnostics.filter(({ code }) => code === 'review/shard-missing');
  assert.match(missing?.message ?? '', /Shard 2 of 2 left no results/);
  for (const unit of lost) assert.ok(missing?.message.includes(unit), unit);
  for (const { location } of report.kernels) assert.ok(units.includes(location.file));
  assert.equal(report.comparison.fixed.length, units.includes('src/e.cu') ? 1 : 0);
  assert.equal(report.comparison.removedKernels.length, units.includes('src/c.cu') ? 2 : 0);
});

test('results of another commit, and truncated ones, count as missing or are recomputed', { skip }, async () => {
  const whole = await unshared();
  const results = await sharded(2);
  const pack = join(results, 'job-1/shard-1-of-2.results');
  const bytes = readFileSync(pack);
  writeFileSync(pack, bytes.subarray(0, bytes.length / 2));
  assert.equal((await review(['--shards', results])).stdout, whole.stdout);
  const manifest = join(results, 'job-2/shard-2-of-2.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"head":"[0-9a-f]{4}/, '"head":"0000'));
  assert.match((await review(['--shards', results])).stdout, /Shard 2 of 2 left no results/);
  writeFileSync(manifest, '{');
  assert.match((await review(['--shards', results])).stdout, /Shard 2 of 2 left no results/);
});

test('a file that is not a shard is rejected', async () => {
  for (const shard of ['0/2', '3/2', '1/0', '1', '1/1000', 'a/b'])
    assert.equal((await review(['--shard', shard, '--shards', folder])).status, 2);
  assert.equal((await review(['--shard', '1/2'])).status, 2);
  assert.equal((await review(['--shards', join(folder, 'nowhere')])).status, 2);
});

test('units are distributed by cost: all of them, each once, with balanced shards', () => {
  const draw = seededRandom(3);
  for (let round = 0; round < 200; round += 1) {
    const units = Array.from({ length: draw.below(30) }, (_, index) => `unit${index}.cu`);
    const costs = new Map(units.map((unit) => [unit, draw.between(1, 1000)]));
    const count = draw.between(1, 6);
    const shared = shares(units, (unit) => costs.get(unit)!, count);
    assert.deepEqual(shared.flat().sort(), [...units].sort());
    const loads = shared.map((own) => own.reduce((sum, unit) => sum + costs.get(unit)!, 0));
    const dearest = Math.max(0, ...costs.values());
    assert.ok(Math.max(...loads) - Math.min(...loads) <= dearest);
    assert.deepEqual(
      shares([...units].reverse(), (unit) => costs.get(unit)!, count),
      shared,
    );
  }
});
