import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stopped, within } from '../../src/system/stretch.ts';

test('code that does not return is stopped', () => {
  assert.throws(() => {
    within(20, () => {
      for (;;);
    });
  }, Stopped);
});

test('a time that no clock of Node counts is as good as none', () => {
  assert.equal(
    within(2 ** 40, () => 3),
    3,
  );
});
