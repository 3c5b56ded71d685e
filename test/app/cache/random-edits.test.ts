import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrappedCompiler, nvcc } from '../../toolchain/fixture.ts';
import { checkRandomEdits } from './random-edits.ts';

const skip = nvcc && wrappedCompiler(nvcc).features.separateFrontEnd ? false : 'no nvcc whose front end is known';

test('after random edits what is kept gives what nothing kept gives', { skip }, async () => {
  const { steps, kept, refused } = await checkRandomEdits(1, 40);
  // It is no test unless much is kept, and much is not.
  assert.ok(kept >= 10 && steps - kept - refused >= 10, `${kept} kept, ${refused} do not compile, of ${steps}`);
});
