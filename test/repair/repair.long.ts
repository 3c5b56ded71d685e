/** More of the mutants, and every suggestion. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { longSeed } from '../run/long-seed.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { root } from './repair-file.ts';
import { testAddedBarrier, testMutants } from './seeded-tests.ts';
import { applyAll } from './suggestions.ts';

testMutants(longSeed, 40, 20);

for (const name of ['reduction-halving', 'stencil-halo', 'matmul-tiled', 'scan-hillis-steele', 'shared-reverse'])
  for (const seed of [1, 2, 3]) testAddedBarrier(name, 100 * longSeed + seed);

for (const file of kernelFiles(join(root, 'test/repair'))) {
  test(`all suggestions for ${file} compile and are proved, with either line end`, { skip: withoutNvcc }, async () => {
    const original = readFileSync(join(root, file), 'utf8');
    for (const text of [original, original.replaceAll('\n', '\r\n')]) {
      const { exceptions } = await applyAll(text, basename(file));
      assert.deepEqual(exceptions, []);
    }
  });
}
