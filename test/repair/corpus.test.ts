/** A racy kernel of `corpus/`, chosen by a seed; `corpus.ts` repairs all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { brokenKernels, repairBroken } from './corpus.ts';
import { inWorkplace } from './repair-file.ts';

test('a racy kernel is repaired as expected', { skip: withoutNvcc }, async () => {
  const broken = seededRandom(22).pick(brokenKernels());
  const name = broken.file.replace(/\.txt$/, '');
  const { status, reason } = await inWorkplace(name, (place) => repairBroken(broken, place));
  assert.equal(status, broken.expected, `${name} ${broken.kernel}: ${reason}`);
  assert.ok(reason.includes(broken.because), reason);
});
