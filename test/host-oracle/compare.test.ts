import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { measureUnit, nothingMeasured } from './measured-unit.ts';

/** Seeds of the first program of each unit; `compare.long.ts` has all others. */
const units = [1001, 4001];
/** A program takes three quarters of the time that it takes in a unit of 50. */
const unitSize = 150;

for (const first of units)
  test(`every launch that programs ${first} to ${first + unitSize - 1} make is stated`, { skip: withoutNvcc }, async () => {
    const sum = nothingMeasured();
    await measureUnit(first, unitSize, sum);
    assert.deepEqual(sum.missing, []);
    assert.ok(sum.launches >= 900, `${sum.launches} launches`);
    assert.ok(sum.known.exact + sum.known.constrained + sum.known.input > sum.launches / 2, JSON.stringify(sum.known));
  });

test('a negative difference that is converted to a wider type is a large number', { skip: withoutNvcc }, async () => {
  const sum = nothingMeasured();
  await measureUnit(116_696, 1, sum);
  assert.deepEqual(sum.missing, []);
});
