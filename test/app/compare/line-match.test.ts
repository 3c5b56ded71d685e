import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchLines } from '../../../src/app/compare/line-match.ts';

function match(base: string, head: string) {
  const lines = matchLines(
    (file) => (file === 'old.cu' ? base : undefined),
    (file) => (file === 'new.cu' ? head : undefined),
    (file) => (file === 'new.cu' ? 'old.cu' : file),
  );
  const was = head.split('\n').map((_, index) => lines.baseOf({ file: 'new.cu', line: index + 1 })?.line ?? null);
  return { was, changed: lines.changed('new.cu'), lines };
}

test('lines are matched if others are inserted, removed and indented', () => {
  const { was, changed, lines } = match('a\nb\nc\nd\ne', 'a\nx\n  b\nd\ne\nf');
  assert.deepEqual(was, [1, null, 2, 4, 5, null]);
  assert.deepEqual(changed, [2, 6]);
  assert.deepEqual(lines.baseOf({ file: 'new.cu', line: 3 }), { file: 'old.cu', line: 2 });
  assert.equal(lines.text('new.cu', 3), '  b');
});

test('a changed line matches the one at its place, and additional lines are new', () => {
  const { was, changed } = match('a\nb\nc\nd', 'a\nB\nB2\nc\nD');
  assert.deepEqual(was, [1, 2, null, 3, 4]);
  assert.deepEqual(changed, [2, 3, 5]);
  assert.deepEqual(match('a\nb\nc\nd', 'a\nX\nd').was, [1, 2, 4]);
});

test('a new file has no earlier lines', () => {
  const { lines } = match('', 'a');
  assert.equal(lines.baseOf({ file: 'other.cu', line: 7 }), null);
  assert.deepEqual(lines.changed('other.cu'), []);
});

test('a completely different file has no matches', () => {
  const text = (word: string): string => Array.from({ length: 3000 }, (_, index) => `${word}${index}`).join('\n');
  const { was, changed } = match(text('a'), text('b'));
  assert.ok(was.every((line) => line === null));
  assert.deepEqual(changed, []);
});
