/** Launches of units that are compiled with stubs for missing headers. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder, withoutNvcc, writeFiles } from '../../toolchain/fixture.ts';
import { selvage } from './in-process.ts';

interface Report {
  readonly kernels: readonly { readonly name: string; readonly launches: readonly Launch[] }[];
  readonly diagnostics: readonly { readonly code: string; readonly message: string }[];
}

interface Launch {
  readonly source: string;
  readonly block: readonly number[] | null;
  readonly grid: readonly number[] | null;
  readonly open?: readonly string[];
}

const kernel = '__global__ void k(float* x, int n) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) x[i] = i; }\n';

async function reportOf(t: TestContext, text: string, key = true): Promise<Report> {
  const root = temporaryFolder(t);
  writeFiles(root, {
    'a.cu': `#include <lib.h>\n${kernel}${text}`,
    '.selvage.yml': `version: 1\n${key ? 'nvcc: { stub-missing-headers: true }\n' : ''}`,
  });
  const { stdout, stderr } = await selvage(['check', '.', '--checks', 'race,divergence', '--no-cache', '--format', 'json'], root);
  assert.notEqual(stdout, '', stderr);
  assert.ok(!existsSync(join(root, 'lib.h')));
  return JSON.parse(stdout) as Report;
}

const codesOf = ({ diagnostics }: Report): string[] => diagnostics.map(({ code }) => code);

test('a launch between calls of a library keeps its dimensions', { skip: withoutNvcc }, async (t) => {
  const report = await reportOf(t, 'void f(float* x) { lib_t h; lib_open(&h); k<<<4, 256>>>(x, 1000); lib_close(h); }\n');
  assert.deepEqual(codesOf(report), ['compile/stubbed-headers']);
  assert.deepEqual(
    report.kernels[0]!.launches.map(({ source, block, grid }) => [source, block, grid]),
    [['launch-site', [256, 1, 1], [4, 1, 1]]],
  );
});

test('values of a stub are unknown in a launch', { skip: withoutNvcc }, async (t) => {
  const launches = [
    'k<<<n / LIB_TILE, 256>>>(x, n);',
    'k<<<lib_blocks(n), 256>>>(x, n);',
    'lib_t h; const int blocks = h.size(0); k<<<blocks, 256>>>(x, n);',
    'int blocks = 4; lib_set(&blocks); k<<<blocks, 256>>>(x, n);',
    'static lib_t h; k<<<h.blocks, 256>>>(x, n);',
    'int blocks = 4; blocks += lib_more(); k<<<blocks, 256>>>(x, n);',
    'int blocks = lib_is() ? 4 : 8; k<<<blocks, 256>>>(x, n);',
    'dim3 grid(lib_blocks(n)); k<<<grid, 256>>>(x, n);',
  ];
  for (const text of launches) {
    const report = await reportOf(t, `void f(float* x, int n) { ${text} }\n`);
    assert.deepEqual(
      codesOf(report).filter((code) => code !== 'compile/stubbed-headers' && !code.startsWith('race/')),
      [],
      text,
    );
    for (const { block, grid } of report.kernels[0]!.launches) {
      assert.deepEqual(block, [256, 1, 1], text);
      // Each alternative is a separate launch.
      if (!text.includes('? 4 : 8')) assert.equal(grid, null, text);
    }
    assert.ok(report.kernels[0]!.launches.length > 0, text);
  }
});

test('launches are not read if the size of a stub type could reach them', { skip: withoutNvcc }, async (t) => {
  const report = await reportOf(t, 'void f(float* x) { lib_t h; lib_open(&h); k<<<sizeof(h), 256>>>(x, 1000); }\n');
  assert.ok(codesOf(report).includes('launch/unread') && codesOf(report).includes('compile/stubbed-headers'));
  assert.ok(report.kernels[0]!.launches.every(({ source }) => source !== 'launch-site'));
});

test('without the key nothing is stubbed', { skip: withoutNvcc }, async (t) => {
  const report = await reportOf(t, 'void f() { lib_init(); }\n', false);
  assert.deepEqual([codesOf(report), report.kernels], [['compile/failed'], []]);
});
