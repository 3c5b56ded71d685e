import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { addedLines, hunkAt, inSameHunk, parseHunks, parseUnifiedDiff } from '../../../src/source/diff.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');

test("git's own output: every kind of change, odd names, no newline at the end", () => {
  const root = mkdtempSync(join(tmpdir(), 'selvage-diff-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  const write = (name: string, text: string) => writeFileSync(join(root, name), text);
  try {
    git('init', '-q');
    write('a.txt', numbers(40));
    write('sp ace.txt', numbers(5));
    write('old.txt', numbers(20));
    write('moved.txt', numbers(20));
    write('binary', '\0\x01');
    write('gone', numbers(3));
    write('q"uoté.txt', 'x\n');
    write('no-newline', 'x');
    write('mode.sh', 'x\n');
    git('add', '.');
    const tree = git('write-tree').trim();
    write('a.txt', numbers(40).replace('3\n', '').replace('\n20\n', '\ntwenty\n'));
    write('sp ace.txt', `${numbers(5)}z\n`);
    renameSync(join(root, 'old.txt'), join(root, 'new.txt'));
    write('new.txt', numbers(20).replace('\n5\n', '\n'));
    renameSync(join(root, 'moved.txt'), join(root, 'moved2.txt'));
    write('binary', '\0\x02');
    rmSync(join(root, 'gone'));
    write('q"uoté.txt', 'x\ny\n');
    write('no-newline', 'y');
    write('added', '--- not a header\n+++ neither\n');
    write('empty', '');
    chmodSync(join(root, 'mode.sh'), 0o755);
    git('add', '.');
    const files = parseUnifiedDiff(git('diff', '--cached', '-M', tree));
    const facts = files.map((file) => {
      const ranges = file.hunks?.map((h) => `${h.oldStart},${h.oldLines} ${h.newStart},${h.newLines}`) ?? null;
      return [file.path, file.previousPath, file.status, ranges, [...addedLines(file)]];
    });
    assert.deepEqual(facts, [
      ['a.txt', undefined, 'modified', ['1,6 1,5', '17,7 16,7'], [19]],
      ['added', undefined, 'added', ['0,0 1,2'], [1, 2]],
      ['binary', undefined, 'modified', null, []],
      ['empty', undefined, 'added', [], []],
      ['gone', undefined, 'removed', ['1,3 0,0'], []],
      ['mode.sh', undefined, 'modified', [], []],
      ['moved2.txt', 'moved.txt', 'renamed', [], []],
      ['new.txt', 'old.txt', 'renamed', ['2,7 2,6'], []],
      ['no-newline', undefined, 'modified', ['1,1 1,1'], [1]],
      ['q"uoté.txt', undefined, 'modified', ['1,1 1,2'], [2]],
      ['sp ace.txt', undefined, 'modified', ['3,3 3,4'], [6]],
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('lines in hunks include context, and only one hunk holds both ends of a range', () => {
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

test('what is no diff is refused', () => {
  assert.throws(() => parseHunks('@@ -1,2 +1,2 @@\n a'));
  assert.deepEqual(parseUnifiedDiff(''), []);
});
