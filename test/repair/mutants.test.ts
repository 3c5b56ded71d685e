/** A sample of the mutants that `mutants.ts` makes; run that for all of them, `repair.long.ts` for some. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { mutantsOf, repairMutant } from './mutants.ts';
import { inWorkplace } from './repair-file.ts';
import { testMutants } from './seeded-tests.ts';

testMutants(3, 3, 1);

test('barriers deleted around a critical section are restored outside it', { skip: withoutNvcc }, async () => {
  const file = 'test/kernels/race/spin-lock.cu';
  const mutants = (await mutantsOf(file)).filter(({ kernel }) => kernel === 'shared_lock');
  const both = mutants.find(({ deleted }) => deleted.length === 2);
  assert.ok(both);
  const [result] = await inWorkplace(basename(file), (place) => repairMutant(both, place));
  assert.deepEqual([result?.outcome, result?.added], ['repaired', 2]);
});
