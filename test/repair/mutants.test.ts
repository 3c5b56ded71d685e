/** A sample of the mutants that `mutants.ts` makes; run that for all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { withoutNvcc } from '../unit/toolchain/fixture.ts';
import { mutantsOf, repairMutant } from './mutants.ts';

const sampled = 6;

test('barriers that were deleted are put back, and no more', { skip: withoutNvcc }, async () => {
  const random = seededRandom(2);
  const files = kernelFiles().filter((file) => /\/race\//.test(file) && !/grid-barrier/.test(file));
  const mutants = (await Promise.all(files.map(mutantsOf))).flat();
  let repaired = 0;
  for (let round = 0; round < sampled; round++) {
    const mutant = random.pick(mutants);
    for (const { outcome, added, kernel, detail } of await repairMutant(mutant)) {
      const which = `${mutant.file} without lines ${mutant.deleted.join(', ')}, ${kernel}: ${detail}`;
      assert.ok(outcome === 'repaired' || outcome === 'proved', which);
      if (outcome === 'repaired') repaired++;
      assert.ok(added <= mutant.deleted.length, which);
    }
  }
  assert.ok(repaired > 0);
});
