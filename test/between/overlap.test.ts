/** Which accesses of two operations conflict. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import type { LaunchEffect, OperationBytes } from '../../src/between/launch-effects.ts';
import { mayBeLater, overlapsOf, possibleOverlaps } from '../../src/between/overlap.ts';
import type { InstructionId } from '../../src/ir/form/kernel.ts';

const touch = (memory: string, offset: number, bytes: number, operation: OperationBytes['operation']): OperationBytes => ({
  memory,
  offset,
  bytes,
  operation,
  strong: operation === 'atomic' ? 'gpu' : null,
  semantics: operation === 'atomic' ? 'relaxed' : 'weak',
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

test('strong accesses of the device do not conflict, nor stores of equal literals', () => {
  const made = (operation: OperationBytes['operation'], other: Partial<OperationBytes>): OperationBytes => ({
    ...touch('x', 0, 4, operation),
    ...other,
  });
  const load = made('read', { strong: 'gpu', semantics: 'acquire' });
  const cases: readonly (readonly [first: OperationBytes, second: OperationBytes, conflicts: boolean])[] = [
    [made('atomic', {}), load, false],
    [made('write', { strong: 'sys', semantics: 'release' }), load, false],
    [made('write', {}), load, true],
    [made('atomic', { strong: 'cta' }), made('atomic', {}), true],
    [made('atomic', { strong: 'cluster' }), made('atomic', {}), true],
    [made('atomic', { bytes: 8 }), made('atomic', {}), true],
    [made('write', { strong: 'sys', semantics: 'volatile' }), load, false],
    [made('write', { stored: '1' }), made('write', { stored: '1' }), false],
    [made('write', { stored: '1' }), made('write', { stored: '0' }), true],
    [made('write', { stored: '1' }), made('write', { stored: '1', bytes: 2 }), true],
    [made('write', { stored: '1' }), made('write', {}), true],
    [made('write', { stored: '1' }), made('read', {}), true],
  ];
  for (const [first, second, isConflict] of cases) {
    const shared = [overlapsOf([first], [second]), possibleOverlaps([{ ...first, isOpen: true }], [second])];
    for (const found of shared) assert.equal(found.length, Number(isConflict), JSON.stringify([first, second]));
  }
  const zero = made('write', { stored: '0', isOpen: true });
  assert.equal(possibleOverlaps([zero, { ...zero, stored: '1' }], [made('write', { stored: '0' })]).length, 1, 'another literal');
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
          (a.operation === 'write' ||
            b.operation === 'write' ||
            a.operation !== b.operation ||
            (a.operation === 'atomic' && a.bytes !== b.bytes)),
      );
    assert.deepEqual(
      overlapsOf(first, second).map((one) => one.second),
      second.filter(isHit),
      String(round),
    );
  }
});

test('an access may be made after the next launch has started, unless it is a read before the trigger', () => {
  const effect = (operation: OperationBytes['operation'], isAfterTrigger: boolean): LaunchEffect => ({
    ...touch('x', 0, 4, operation),
    instruction: 0 as InstructionId,
    block: [0, 0, 0],
    thread: [0, 0, 0],
    isEarly: false,
    isAfterTrigger,
  });
  assert.equal(mayBeLater(effect('write', false)), true);
  assert.equal(mayBeLater(effect('atomic', false)), true);
  assert.equal(mayBeLater(effect('read', true)), true);
  assert.equal(mayBeLater(effect('read', false)), false);
});

test('accesses of which it is open which bytes they access may overlap, and certainly do not', () => {
  const open = (...of: Parameters<typeof touch>): OperationBytes => ({ ...touch(...of), isOpen: true });
  const cases: readonly (readonly [first: OperationBytes, second: OperationBytes, isPossible: boolean])[] = [
    [open('x', 0, 4, 'write'), touch('x', 64, 4, 'read'), true],
    [touch('x', 64, 4, 'write'), open('x', 0, 4, 'read'), true],
    [open('x', 0, 4, 'write'), open('x', 0, 4, 'write'), true],
    [open('x', 0, 4, 'read'), touch('x', 0, 4, 'read'), false],
    [open('x', 0, 4, 'atomic'), touch('x', 0, 4, 'atomic'), false],
    [open('x', 0, 4, 'write'), touch('y', 0, 4, 'read'), false],
    [touch('x', 0, 4, 'write'), touch('x', 0, 4, 'read'), false],
  ];
  for (const [first, second, isPossible] of cases) {
    assert.equal(possibleOverlaps([first], [second]).length, Number(isPossible), JSON.stringify([first, second]));
    if (isPossible) assert.deepEqual(overlapsOf([first], [second]), []);
  }
});
