import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedLines, hunkAt, inSameHunk, parseHunks } from '../../src/source/diff.ts';

test('hunks as git prints them: sides of no lines, no newline at the end, lines that look like headers', () => {
  const ranges = (patch: string) => parseHunks(patch).map((hunk) => [hunk.oldStart, hunk.oldLines, hunk.newStart, hunk.newLines]);
  assert.deepEqual(ranges('@@ -0,0 +1,2 @@\n+a\n+b'), [[0, 0, 1, 2]]);
  assert.deepEqual(ranges('@@ -4,2 +3,0 @@ void k()\n-a\n-b'), [[4, 2, 3, 0]]);
  assert.deepEqual(ranges('@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file'), [[1, 1, 1, 1]]);
  assert.deepEqual(ranges('@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n@@ -9 +9,2 @@\n d\n+@@ -1 +1 @@'), [
    [1, 2, 1, 2],
    [9, 1, 9, 2],
  ]);
});

test('lines in hunks include context, and only one hunk contains both ends of a range', () => {
  const hunks = parseHunks('@@ -10,2 +10,3 @@ void k()\n a\n+b\n c\n@@ -30,2 +31,1 @@\n a\n-b');
  const file = { path: 'a.cu', status: 'modified', hunks } as const;
  assert.deepEqual(
    [9, 10, 11, 12, 13, 31, 32].map((line) => hunkAt(file, line) !== undefined),
    [false, true, true, true, false, true, false],
  );
  assert.equal(inSameHunk(file, 10, 12), true);
  assert.equal(inSameHunk(file, 10, 31), false);
  assert.equal(inSameHunk(file, 12, 13), false);
  assert.deepEqual([...addedLines(file)], [11]);
  assert.equal(hunkAt({ ...file, hunks: null }, 10), undefined);
});

test('an invalid diff is rejected', () => {
  assert.throws(() => parseHunks('@@ -1,2 +1,2 @@\n a'));
  assert.deepEqual(parseHunks(''), []);
});
