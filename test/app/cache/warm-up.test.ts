/** A run on the default branch fills the cache that pull requests read. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { analyseRange } from '../../../src/app/compare/review-range.ts';
import { analyseRepository } from '../../../src/app/pipeline/whole-repository.ts';
import { defaultOptions } from '../../../src/settings/options.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { createWorkspace } from '../../github/runner.ts';
import { wrappedCompiler, writeLoggedTools } from '../../toolchain/fixture.ts';
import { assets } from '../compare/change-fixture.ts';

const found = await findCompiler({ env: process.env });
const compiler = 'compiler' in found ? wrappedCompiler(found.compiler) : undefined;
const skip = compiler?.features.separateFrontEnd ? false : 'no nvcc whose front end is known';
const folder = mkdtempSync(join(tmpdir(), 'selvage-warm-'));
const workspace = createWorkspace();
after(() => {
  rmSync(folder, { recursive: true });
  workspace.dispose();
});

const unit = (name: string, value: number): string => `__global__ void ${name}(int *out) { out[threadIdx.x] = ${value}; }
void launch_${name}(int *out) { ${name}<<<1, 64>>>(out); }
`;

test('a pull request compiles only its changes, and reads all other results from the run on the default branch', { skip }, async () => {
  const [log, nvcc] = [join(folder, 'cicc.log'), join(folder, 'tools/nvcc')];
  writeLoggedTools(join(folder, 'tools'), compiler!.path, folder);
  /** The units that were compiled since the last call. */
  const compiled = (): string[] => {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
    rmSync(log, { force: true });
    return [...new Set(lines.flatMap((line) => /\b([abc])\.cu\b/.exec(line)?.[1] ?? []))].sort();
  };
  const base = workspace.commit({ 'a.cu': unit('a', 1), 'b.cu': unit('b', 1), 'c.cu': unit('c', 1) });
  const head = workspace.commit({ 'b.cu': unit('b', 2) });
  workspace.checkOut(base);
  const common = {
    root: workspace.root,
    options: { ...defaultOptions(), nvcc, checks: ['race', 'divergence', 'cost'] as const },
    nvccArguments: [],
    environment: { ...process.env, CI: 'true', SELVAGE_CACHE: join(folder, 'results') },
    assets,
    progress: { log: () => undefined, defect: ({ error }: { error: unknown }) => assert.fail(String(error)) },
  };
  const { report } = await analyseRepository(common);
  assert.equal(report.kernels.length, 3);
  assert.deepEqual(compiled(), ['a', 'b', 'c']);
  const range = { base, head, fromMergeBase: false, configurationFrom: 'head', trust: 'pull-request' } as const;
  await analyseRange({ ...common, ...range });
  const warm = execFileSync('sh', ['-c', `grep -c . '${log}' || true`], { encoding: 'utf8' }).trim();
  assert.deepEqual(compiled(), ['b']);
  await analyseRange({ ...common, ...range, environment: { ...common.environment, SELVAGE_CACHE: 'off' } });
  const cold = execFileSync('sh', ['-c', `grep -c . '${log}' || true`], { encoding: 'utf8' }).trim();
  assert.ok(Number(warm) < Number(cold), `${warm} of ${cold}`);
  compiled();
  // An unchanged run reads everything from the cache.
  await analyseRange({ ...common, ...range });
  assert.deepEqual(compiled(), []);
});
