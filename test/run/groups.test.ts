/** Which files of tests share a process. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { groupsOf, isAlone } from './groups.ts';

const files = globSync('test/**/*.test.ts').sort();

test('each test file is run once; files that share a process are of one folder', () => {
  const groups = groupsOf(files, {});
  assert.deepEqual(groups.flat().sort(), files);
  for (const group of groups) assert.equal(new Set(group.map((file) => file.split('/')[1])).size, 1, group.join());
  assert.ok(groups.length < files.length - 100, `${groups.length}`);
});

test('slow test files have a separate process, and start first', () => {
  const [first, second] = files.filter((file) => file.startsWith('test/term/') || file.startsWith('test/isa/'));
  const groups = groupsOf(files, { [first!]: 80, [second!]: 61 });
  assert.deepEqual(groups.slice(0, 2), [[first], [second]]);
  assert.equal(groupsOf(files, {}, 0).length, files.length);
});

test('test files that start programs or change process state have a separate process', () => {
  for (const text of [
    "import { spawn } from 'node:child_process';",
    "process.env['X'] = '1';",
    'beforeEach(() => x);',
    "process.on('exit', f);",
    "import { selvage } from './in-process.ts';",
    'const folder = mkdtempSync(x);',
    'before(make);',
  ])
    assert.ok(isAlone(text), text);
  for (const text of ['const root = process.cwd();', "import { test } from 'node:test';", '// as it was before'])
    assert.ok(!isAlone(text), text);
  for (const file of ['test/e2e/security.test.ts', 'test/app/commands/cli.test.ts', 'test/toolchain/compile.test.ts'])
    assert.ok(
      groupsOf(files, {}).some((group) => group.join() === file),
      file,
    );
});
