/** 20,000 generated programs: `npm run test:long -- test/host-oracle/compare.long.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureUnit, nothingMeasured } from './measured-unit.ts';

const programs = 20_000;
const unitSize = 50;

test('every launch of 20,000 generated programs is stated', async (context) => {
  const sum = nothingMeasured();
  for (let first = 100_001; sum.programs < programs; first += unitSize) {
    const before = sum.missing.length;
    await measureUnit(first, unitSize, sum);
    for (const one of sum.missing.slice(before)) context.diagnostic(one);
  }
  context.diagnostic(`${sum.launches} launches: ${JSON.stringify(sum.known)}, ${sum.cutShort} functions cut short`);
  assert.deepEqual(sum.missing, []);
});
