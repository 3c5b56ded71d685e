/** Arrays without end take no more memory than a run may. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegion, regionPage, touchedPage } from '../../../src/interpreter/core/global-memory.ts';
import { RunStop } from '../../../src/interpreter/core/run-stop.ts';

const description = {
  name: 'a',
  writable: true,
  elementBytes: 4,
  fill: 7n,
  values: new Map<number, bigint>(),
  initial: null,
  uninitialised: false,
};

test('a run ends if threads access more pages than the limit', () => {
  const region = createRegion(1, { ...description, bytes: null }, { left: 2 });
  const first = touchedPage(region, 0);
  touchedPage(region, 1 << 20);
  assert.equal(touchedPage(region, 0), first);
  assert.throws(
    () => touchedPage(region, 2),
    (stop) => stop instanceof RunStop && stop.outcome === 'budget',
  );
  // Untouched pages can be read all the same.
  assert.equal(regionPage(region, 3).i32[0], 7);
});

test('bounded arrays have their size', () => {
  const region = createRegion(1, { ...description, bytes: 1 << 20 }, { left: 0 });
  assert.equal(touchedPage(region, 5).i32[0], 7);
});
