/** A sample of the mutants that `mutants.ts` makes; run that for all of them. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { mutantsOf, repairMutant } from './mutants.ts';
import { inWorkplace } from './repair-file.ts';

/** Mutants without one barrier, and without two. */
const sampled = [0, 4, 2];

test('barriers that were deleted are put back, and no more', { skip: withoutNvcc }, async () => {
  const random = seededRandom(3);
  const mutants = (await Promise.all(kernelFiles().map(mutantsOf))).flat();
  let repaired = 0;
  for (const [size, count] of sampled.entries()) {
    const own = mutants.filter(({ deleted }) => deleted.length === size);
    for (let round = 0; round < count; round++) {
      const mutant = random.pick(own);
      const results = await inWorkplace(basename(mutant.file), (place) => repairMutant(mutant, place));
      for (const { outcome, added, cost, kernel, detail } of results) {
        const which = `${mutant.file} without lines ${mutant.deleted.join(', ')}, ${kernel}: ${detail}`;
        assert.notEqual(outcome, 'failed', which);
        if (outcome !== 'repaired') continue;
        repaired++;
        assert.ok(added <= size, which);
        assert.notEqual(cost, 'more', which);
      }
    }
  }
  assert.ok(repaired > 0);
});

test('barriers before and behind a lock are put back, not under it', { skip: withoutNvcc }, async () => {
  const file = 'test/kernels/race/spin-lock.cu';
  const mutants = (await mutantsOf(file)).filter(({ kernel }) => kernel === 'shared_lock');
  const both = mutants.find(({ deleted }) => deleted.length === 2);
  assert.ok(both);
  const [result] = await inWorkplace(basename(file), (place) => repairMutant(both, place));
  assert.deepEqual([result?.outcome, result?.added], ['repaired', 2]);
});
