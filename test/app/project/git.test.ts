import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { changedFiles, checkOut, isCheckedOut, mergeBase, resolveCommit, type Repository } from '../../../src/app/project/git.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-git-')));
after(() => rmSync(root, { recursive: true, force: true }));
const repository: Repository = { root, environment: process.env };

function git(...words: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgSign=false'];
  return execFileSync('git', [...identity, ...words], { cwd: root, encoding: 'utf8' }).trim();
}

function commit(files: Readonly<Record<string, string | null>>, message: string): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (text === null) rmSync(join(root, path));
    else writeFileSync(join(root, path), text);
  }
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
  return git('rev-parse', 'HEAD');
}

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');
git('init', '--quiet', '--initial-branch=main');
const first = commit({ 'a.cu': lines(20), 'old name.cu': lines(30), 'gone.cu': 'x\n', 'sub/ünï "q".cu': 'x\n' }, 'first');
const onMain = commit({ 'main.txt': 'x\n' }, 'on main');
git('checkout', '--quiet', '-b', 'topic', first);
const topic = commit(
  {
    'a.cu': lines(20).replace('line 10\n', 'line ten\nand more\n'),
    'old name.cu': null,
    'new name.cu': lines(30) + 'last\n',
    'gone.cu': null,
    'sub/ünï "q".cu': 'y\n',
    'data.bin': 'a\0b',
    'no-newline.cu': 'end',
  },
  'topic',
);

test('revisions resolve to commits, others are rejected', async () => {
  assert.equal(await resolveCommit(repository, 'topic'), topic);
  assert.equal(await resolveCommit(repository, 'topic~1'), first);
  await assert.rejects(resolveCommit(repository, 'nothing'), /not in this repository/);
  await assert.rejects(resolveCommit(repository, '--help'), /not in this repository/);
});

test('a branch starts at its merge base with the other', async () => {
  assert.equal(await mergeBase(repository, onMain, topic), first);
});

test('changed files with their hunks, for any file names', async () => {
  const files = await changedFiles(repository, first, topic);
  assert.deepEqual(
    files.map(({ path, previousPath, status }) => [path, status, previousPath]),
    [
      ['a.cu', 'modified', undefined],
      ['data.bin', 'added', undefined],
      ['gone.cu', 'removed', undefined],
      ['new name.cu', 'renamed', 'old name.cu'],
      ['no-newline.cu', 'added', undefined],
      ['sub/ünï "q".cu', 'modified', undefined],
    ],
  );
  const [hunk] = files[0]?.hunks ?? [];
  assert.deepEqual([hunk?.oldStart, hunk?.oldLines, hunk?.newStart, hunk?.newLines], [8, 7, 8, 8]);
  assert.ok(hunk?.lines.includes('+line ten'));
  assert.equal(files[1]?.hunks, null, 'binary');
  assert.deepEqual(files[5]?.hunks?.[0]?.lines, ['-x', '+y']);
});

test('a commit is written out without touching the checkout', async () => {
  const { root: folder, dispose } = await checkOut(repository, first);
  assert.equal(readFileSync(join(folder, 'gone.cu'), 'utf8'), 'x\n');
  assert.ok(!existsSync(join(folder, 'new name.cu')));
  assert.equal(git('status', '--porcelain'), '');
  assert.equal(git('rev-parse', 'HEAD'), topic);
  await dispose();
  assert.ok(!existsSync(folder));
});

test('the checkout represents a commit only without uncommitted changes', async () => {
  assert.equal(await isCheckedOut(repository, topic), true);
  assert.equal(await isCheckedOut(repository, first), false);
  writeFileSync(join(root, 'a.cu'), 'edited\n');
  assert.equal(await isCheckedOut(repository, topic), false);
  git('checkout', '--quiet', '--', 'a.cu');
});
