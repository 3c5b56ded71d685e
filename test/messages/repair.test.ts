import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BuildCost, noBarriers } from '../../src/repair/build-cost.ts';
import type { EditStep, NoRepair, Obstacle } from '../../src/repair/explanation.ts';
import { explanationText, noRepairText, redundantMessage, repairCostText } from '../../src/messages/repair.ts';

const base: BuildCost = { registers: 16, spillBytes: 0, sharedBytes: 1024, barriers: 1, instructions: 40 };

test('the cost of an edit is described', () => {
  const change = { ...noBarriers, added: 1 };
  assert.equal(repairCostText(change, base, base), '1 barrier more, no extra register');
  assert.equal(
    repairCostText({ ...change, addedInLoops: 1 }, base, { ...base, registers: 17 }),
    '1 barrier more in the loop, 1 register more',
  );
  assert.equal(
    repairCostText({ ...noBarriers, removed: 2, removedInLoops: 1 }, base, { ...base, registers: 14 }),
    '1 barrier fewer outside of loops, 1 barrier fewer in the loop, 2 registers fewer',
  );
  assert.equal(repairCostText({ ...change, removed: 1 }, base, base), 'no extra barrier, no extra register');
  assert.equal(
    repairCostText(noBarriers, base, { ...base, spillBytes: 8, sharedBytes: 1028 }),
    'no extra register, 8 bytes more of spills, 4 bytes more of shared memory',
  );
});

test('an edit is described step by step, with notes for its reader', () => {
  const to = { kind: 'after', line: 11 } as const;
  const barrier: EditStep = { kind: 'placement', added: [{ statement: 'block', place: to }], removed: [] };
  const told: readonly (readonly [EditStep, string])[] = [
    [barrier, 'add `__syncthreads()` after line 11'],
    [
      { kind: 'placement', added: [{ statement: 'block', place: { kind: 'split', line: 9 } }], removed: [] },
      'add `__syncthreads()` between the two parts of line 9',
    ],
    [
      { kind: 'placement', added: [{ statement: 'block', place: { kind: 'condition', line: 9 } }], removed: [] },
      'add `__syncthreads()` at line 9 (between two parts of the `if`)',
    ],
    [
      { kind: 'placement', added: [{ statement: 'grid', place: { kind: 'existing', line: 9 } }], removed: [] },
      'replace the barrier on line 9 with `cooperative_groups::this_grid().sync()`',
    ],
    [{ kind: 'placement', added: [], removed: [12, 9] }, 'remove the barriers on lines 9, 12, which some threads miss'],
    [{ kind: 'move', line: 9, isOutOfIf: true, to }, 'move the barrier on line 9 out of the `if`, to after line 11'],
    [{ kind: 'move', line: 9, isOutOfIf: false, to }, 'move the barrier on line 9, which some threads miss, to after line 11'],
    [
      { kind: 'move', line: 9, isOutOfIf: true, to: { kind: 'condition', line: 9 } },
      'move the barrier on line 9 out of the `if`, which is split in two at line 9',
    ],
  ];
  for (const [step, text] of told) assert.equal(explanationText({ steps: [step], notes: [], leaves: [] }), text);
  const guard: EditStep = { kind: 'guard-returns', lines: [4] };
  assert.equal(
    explanationText({ steps: [guard, barrier], notes: ['returned-threads'], leaves: [] }),
    'replace the return on line 4 with a condition around the rest, and add `__syncthreads()` after line 11; threads that already returned do not reach this barrier; sm_70 and later allow that',
  );
});

test('obstacles are reported once', () => {
  const step: EditStep = { kind: 'atomics', lines: [4], updates: 1, isFloat: false };
  const noPlace: Obstacle = { kind: 'no-place', accesses: { first: 3, second: 5 } };
  const why: NoRepair = {
    kind: 'unrepairable',
    obstacles: [
      noPlace,
      noPlace,
      { kind: 'refused', step, refusal: { kind: 'does-not-compile' } },
      { kind: 'not-enough', step, obstacles: [{ kind: 'partial', accesses: { first: 3 } }] },
    ],
  };
  assert.equal(
    noRepairText(why),
    'no barrier can be added between the accesses of lines 3 and 5; ' +
      'Selvage tried to use an atomic operation on line 4, but the edited file does not compile; ' +
      'Selvage tried to use an atomic operation on line 4: only some threads reach the code between the accesses of lines 3 and ?, so no barrier can be added there',
  );
  assert.match(noRepairText({ kind: 'timeout', isLate: true }), /^the time limit .*; set a higher limit with `--timeout`$/);
});

test('redundant barriers are reported by their number', () => {
  assert.equal(
    redundantMessage('k', 1, 'no two accesses need it', '1 barrier fewer'),
    'The kernel k has a redundant barrier: no two accesses need it. Selvage proves the kernel without it (1 barrier fewer).',
  );
  assert.match(redundantMessage('k', 2, 'so', undefined), /^The kernel k has redundant barriers: so\. .* without them\.$/);
});
