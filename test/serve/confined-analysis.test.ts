/** Analyses in a process of their own, as the server of a GitHub App makes them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { analyseConfined } from '../../src/serve/confined-analysis.ts';
import { changedFiles } from '../../src/app/project/git.ts';
import { createWorkspace } from '../github/runner.ts';

const workspace = createWorkspace();
const folder = mkdtempSync(join(tmpdir(), 'selvage-confined-'));
after(() => {
  workspace.dispose();
  rmSync(folder, { recursive: true });
});

const SHIFT = `__global__ void shift(int *out) {
  __shared__ int s[256];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}
void launch(int *out) { shift<<<1, 256>>>(out); }
`;

test('a pull request is analysed without what the server knows, and within bounds', async () => {
  const base = workspace.commit({ 'src/shift.cu': SHIFT });
  const head = workspace.commit({ 'src/shift.cu': SHIFT.replace('  __syncthreads();\n', '') });
  const root = workspace.root;
  const diff = await changedFiles({ root, environment: process.env }, base, head);
  const confinement = {
    temporary: join(folder, 'work'),
    results: join(folder, 'results'),
    searchPath: process.env['PATH'] ?? '',
    milliseconds: 120_000,
    mebibytes: 1024,
    signal: new AbortController().signal,
  };
  const { report, sources } = await analyseConfined({ root, base, head, diff, fork: false }, confinement);
  if (report.toolchain.compiler !== null) {
    assert.deepEqual(report.kernels.map(({ race }) => race.verdict), ['race']); // prettier-ignore
    assert.equal(report.kernels[0]?.repair.status, 'repaired');
  }
  assert.match(sources['src/shift.cu'] ?? '', /__global__/);
  await assert.rejects(
    analyseConfined({ root, base, head, diff, fork: false }, { ...confinement, milliseconds: 20 }),
    /it took more than 0\.02 s/,
  );
});
