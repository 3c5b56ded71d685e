/** Which accesses of two operations conflict. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import type { LaunchEffect, OperationBytes } from '../../src/between/launch-effects.ts';
import { isBeforeWait, overlapsOf } from '../../src/between/overlap.ts';
import type { InstructionId } from '../../src/ir/form/kernel.ts';

const touch = (memory: string, offset: number, bytes: number, operation: OperationBytes['operation']): OperationBytes => ({
  memory,
  offset,
  bytes,
  operation,
});

test('accesses conflict if they share a byte of one memory, one writes, and not both are atomic', () => {
  const cases: readonly (readonly [first: OperationBytes, second: OperationBytes, offset: number | null])[] = [
    [touch('x', 0, 4, 'write'), touch('x', 0, 4, 'read'), 0],
    [touch('x', 0, 4, 'read'), touch('x', 0, 4, 'write'), 0],
    [touch('x', 0, 4, 'write'), touch('x', 0, 4, 'write'), 0],
    [touch('x', 0, 4, 'read'), touch('x', 0, 4, 'read'), null],
    [touch('x', 0, 4, 'write'), touch('y', 0, 4, 'read'), null],
    [touch('x', 0, 4, 'atomic'), touch('x', 0, 4, 'atomic'), null],
    [touch('x', 0, 4, 'atomic'), touch('x', 0, 4, 'read'), 0],
    [touch('x', 0, 4, 'read'), touch('x', 0, 4, 'atomic'), 0],
    [touch('x', 0, 4, 'write'), touch('x', 4, 4, 'read'), null],
    [touch('x', 4, 4, 'write'), touch('x', 0, 4, 'read'), null],
    [touch('x', 0, 8, 'write'), touch('x', 4, 16, 'read'), 4],
    [touch('x', 12, 8, 'write'), touch('x', 16, 4, 'read'), 16],
    [touch('x', -8, 16, 'write'), touch('x', 0, 4, 'read'), 0],
    [touch('x', 0, 4096, 'write'), touch('x', 4092, 4, 'read'), 4092],
    [touch('x', 0, 4096, 'write'), touch('x', 4096, 4, 'read'), null],
    [touch('x', 4092, 4, 'write'), touch('x', 0, 4096, 'read'), 4092],
  ];
  for (const [first, second, offset] of cases) {
    const overlaps = overlapsOf([first], [second]);
    assert.deepEqual(
      overlaps.map((one) => one.offset),
      offset === null ? [] : [offset],
      JSON.stringify([first, second]),
    );
  }
});

test('the accesses of the second operation that conflict are those of a comparison of all pairs', () => {
  const random = seededRandom(7);
  const drawn = (): OperationBytes =>
    touch(random.pick(['x', 'y']), random.below(4000) - 500, random.pick([1, 4, 16, 900, 2000]), random.pick(['read', 'write', 'atomic']));
  for (let round = 0; round < 200; round++) {
    const [first, second] = [Array.from({ length: 3 }, drawn), Array.from({ length: 6 }, drawn)];
    const isHit = (b: OperationBytes): boolean =>
      first.some(
        (a) =>
          a.memory === b.memory &&
          a.offset < b.offset + b.bytes &&
          b.offset < a.offset + a.bytes &&
          (a.operation === 'write' || b.operation === 'write' || a.operation !== b.operation),
      );
    assert.deepEqual(
      overlapsOf(first, second).map((one) => one.second),
      second.filter(isHit),
      String(round),
    );
  }
});

test('an early access is unordered with writes, and with reads after the trigger', () => {
  const effect = (operation: OperationBytes['operation'], isEarly: boolean, isAfterTrigger: boolean): LaunchEffect => ({
    ...touch('x', 0, 4, operation),
    instruction: 0 as InstructionId,
    block: [0, 0, 0],
    thread: [0, 0, 0],
    isEarly,
    isAfterTrigger,
  });
  const second = effect('write', true, false);
  assert.equal(isBeforeWait(effect('write', false, false), second), true);
  assert.equal(isBeforeWait(effect('atomic', false, false), second), true);
  assert.equal(isBeforeWait(effect('read', false, true), second), true);
  assert.equal(isBeforeWait(effect('read', false, false), second), false);
  assert.equal(isBeforeWait(effect('write', true, true), effect('read', false, false)), false);
});
