import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BuildCost,
  compareCost,
  describeCost,
  isLeast,
  noBarriers,
  worstCost,
} from '../../src/repair/build-cost.ts';

const base: BuildCost = { registers: 16, spillBytes: 0, sharedBytes: 1024, barriers: 1, instructions: 40 };

test('spills count before shared memory, that before registers; one register more within a step is the same', () => {
  assert.ok(compareCost(base, { ...base, spillBytes: 4, sharedBytes: 0 }) < 0);
  assert.ok(compareCost({ ...base, sharedBytes: 2048, registers: 8 }, base) > 0);
  assert.ok(compareCost(base, { ...base, registers: 33 }) < 0);
  assert.equal(compareCost({ ...base, registers: 33 }, { ...base, registers: 40, instructions: 99 }), 0);
});

test('nothing costs less than what leaves room for as many threads as there can be', () => {
  assert.equal(compareCost({ ...base, registers: 8 }, { ...base, registers: 32 }), 0);
  assert.ok(isLeast({ ...base, registers: 32 }, base));
  assert.ok(!isLeast({ ...base, registers: 33 }, base));
  assert.ok(!isLeast({ ...base, spillBytes: 4 }, base));
  assert.ok(!isLeast({ ...base, sharedBytes: 1028 }, base));
});

test('of several instances the worst of each counts', () => {
  const other = { ...base, registers: 8, sharedBytes: 2048 };
  assert.deepEqual(worstCost([base, other]), { ...base, sharedBytes: 2048 });
});

test('what an edit costs reads as it should', () => {
  const change = { ...noBarriers, added: 1 };
  assert.equal(describeCost(change, base, base), '1 barrier more, no extra register');
  assert.equal(
    describeCost({ ...change, addedInLoops: 1 }, base, { ...base, registers: 17 }),
    '1 barrier more in the loop, 1 register more',
  );
  assert.equal(
    describeCost({ ...noBarriers, removed: 2, removedInLoops: 1 }, base, { ...base, registers: 14 }),
    '1 barrier fewer outside of loops, 1 barrier fewer in the loop, 2 registers fewer',
  );
  assert.equal(describeCost({ ...change, removed: 1 }, base, base), 'no extra barrier, no extra register');
  assert.equal(
    describeCost(noBarriers, base, { ...base, spillBytes: 8, sharedBytes: 1028 }),
    'no extra register, 8 bytes more of spills, 4 bytes more of shared memory',
  );
});
