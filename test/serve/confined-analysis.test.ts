/** Analyses in a separate process, as the server of a GitHub App makes them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { analyseConfined, AnalysisEnded } from '../../src/serve/confined-analysis.ts';
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

test("a pull request is analysed without the server's secrets, and within limits", async () => {
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
    assert.deepEqual(
      report.kernels.map(({ race }) => race.verdict),
      ['race'],
    );
    assert.equal(report.kernels[0]?.repair.status, 'repaired');
  }
  assert.match(sources['src/shift.cu'] ?? '', /__global__/);
  await assert.rejects(
    analyseConfined({ root, base, head, diff, fork: false }, { ...confinement, milliseconds: 20 }),
    /it took more than 0\.02 s/,
  );
});

test('child processes of an analysis have no token and no network, and end with it at its memory limit', async () => {
  const base = workspace.commit({ 'src/shift.cu': SHIFT });
  const head = workspace.commit({ 'src/shift.cu': SHIFT.replace('255', '254') });
  const { root } = workspace;
  const diff = await changedFiles({ root, environment: process.env }, base, head);
  let connections = 0;
  const listener = createServer(() => (connections += 1));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  // Replaces the compiler: writes its environment to a file, and then allocates 600 MB until it is ended.
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  const [told, wait] = [join(folder, 'seen'), `600.${process.pid}`];
  const script = `#!/bin/bash
{ env; ls -l /proc/self/fd; (exec 3<>/dev/tcp/127.0.0.1/${port}) && echo connected; } > '${told}' 2>&1
tail -c 600000000 < <(head -c 600000000 /dev/zero; sleep ${wait}) > /dev/null
`;
  writeFileSync(join(tools, 'nvcc'), script);
  chmodSync(join(tools, 'nvcc'), 0o755);
  process.env['GITHUB_TOKEN'] = 'ghs_a-secret';
  process.env['SELVAGE_PRIVATE_KEY'] = 'a-secret-key';
  const isAlone = spawnSync('/usr/bin/unshare', ['-rnpf', '--kill-child', 'true']).status === 0;
  const confinement = {
    temporary: join(folder, 'greedy'),
    results: join(folder, 'results'),
    searchPath: `${tools}:/usr/bin:/bin`,
    milliseconds: 120_000,
    mebibytes: 512,
    signal: new AbortController().signal,
  };
  await assert.rejects(
    analyseConfined({ root, base, head, diff, fork: false }, confinement),
    (error) => error instanceof AnalysisEnded && /more than 512 MiB of memory/.test(error.message),
  );
  const seen = readFileSync(told, 'utf8');
  assert.match(seen, /PATH=/);
  assert.doesNotMatch(seen, /secret/);
  if (isAlone) {
    assert.equal(connections, 0);
    assert.doesNotMatch(seen, /^connected$/m);
    assert.deepEqual(commandsWith(wait), []);
  }
  listener.close();
});

/** The command lines of processes that contain a text. */
function commandsWith(text: string): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const line = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') : '';
      return line.startsWith('sleep') && line.includes(text) ? [line] : [];
    } catch {
      return [];
    }
  });
}
