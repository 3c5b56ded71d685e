import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BuildCost, compareCost, isLeast, worstCost } from '../../src/repair/build-cost.ts';

const base: BuildCost = { registers: 16, spillBytes: 0, sharedBytes: 1024, barriers: 1, instructions: 40 };

test('spills outweigh shared memory, which outweighs registers; within an allocation unit registers are free', () => {
  assert.ok(compareCost(base, { ...base, spillBytes: 4, sharedBytes: 0 }) < 0);
  assert.ok(compareCost({ ...base, sharedBytes: 2048, registers: 8 }, base) > 0);
  assert.ok(compareCost(base, { ...base, registers: 33 }) < 0);
  assert.equal(compareCost({ ...base, registers: 33 }, { ...base, registers: 40, instructions: 99 }), 0);
});

test('registers have no cost up to the number at maximum occupancy', () => {
  assert.equal(compareCost({ ...base, registers: 8 }, { ...base, registers: 32 }), 0);
  assert.ok(isLeast({ ...base, registers: 32 }, base));
  assert.ok(!isLeast({ ...base, registers: 33 }, base));
  assert.ok(!isLeast({ ...base, spillBytes: 4 }, base));
  assert.ok(!isLeast({ ...base, sharedBytes: 1028 }, base));
});

test('the cost of several instances is the maximum of each resource', () => {
  const other = { ...base, registers: 8, sharedBytes: 2048 };
  assert.deepEqual(worstCost([base, other]), { ...base, sharedBytes: 2048 });
});
