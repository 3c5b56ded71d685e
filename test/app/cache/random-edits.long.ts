/** A thousand random edits: each cached build equals a fresh one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrappedCompiler, nvcc } from '../../toolchain/fixture.ts';
import { longSeed } from '../../run/long-seed.ts';
import { checkRandomEdits } from './random-edits.ts';

const skip = nvcc && wrappedCompiler(nvcc).features.separateFrontEnd ? false : 'no nvcc whose front end is known';

test('a thousand random edits of all inputs of a build', { skip }, async (t) => {
  const { steps, kept, refused } = await checkRandomEdits(longSeed, 1000);
  t.diagnostic(`seed ${longSeed}: ${kept} kept, ${refused} do not compile, of ${steps}`);
  assert.ok(kept >= 150 && steps - kept - refused >= 150);
});
