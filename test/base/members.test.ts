/** Groups of items, and objects without members that are undefined. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grouped } from '../../src/base/grouped.ts';
import { withoutUndefined } from '../../src/base/without-undefined.ts';

test('items are grouped in their order', () => {
  const groups = grouped(['ab', 'c', 'de', '', 'f'], (text, index) => (text === '' ? undefined : index === 4 ? 9 : text.length));
  assert.deepEqual(
    [...groups],
    [
      [2, ['ab', 'de']],
      [1, ['c']],
      [9, ['f']],
    ],
  );
});

test('members that are undefined are left out, others stay in their order', () => {
  interface Members {
    readonly first?: number;
    readonly second: string | null;
    readonly third?: boolean;
  }
  const members = withoutUndefined<Members>({ third: false, first: undefined, second: null });
  assert.deepEqual(Object.entries(members), [
    ['third', false],
    ['second', null],
  ]);
});
