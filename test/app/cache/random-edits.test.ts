import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrappedCompiler, nvcc } from '../../toolchain/fixture.ts';
import { checkRandomEdits } from './random-edits.ts';

const skip = nvcc && wrappedCompiler(nvcc).features.separateFrontEnd ? false : 'no nvcc whose front end is known';

test('after random edits cached builds equal fresh ones', { skip }, async () => {
  const { steps, kept, refused } = await checkRandomEdits(1, 40);
  // The test is void unless it has many cache hits and many misses.
  assert.ok(kept >= 10 && steps - kept - refused >= 10, `${kept} kept, ${refused} do not compile, of ${steps}`);
});
