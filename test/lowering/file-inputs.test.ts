/** The inputs of the preprocessor: while they are unchanged, its output is the same. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { areUnchanged, fileInputs, type FileInputs, includedNames, printsSearchList } from '../../src/lowering/file-inputs.ts';
import { filesOfPreprocessed } from '../../src/toolchain/confinement.ts';
import { pathIn } from '../../src/toolchain/file-place.ts';
import { temporaryFolder, writeFiles } from '../toolchain/fixture.ts';

const withoutGcc = spawnSync('g++', ['--version']).status === 0 ? false : 'no g++';

const tree = {
  'unit.cpp': '#include "a.h"\n#include <b.h>\n#include DEEP\n#if __has_include(<late.h>)\nint late;\n#endif\nint unit;\n',
  'a.h': '#pragma once\n#include "inner/c.h"\nint a;\n',
  'inner/c.h': '#if 0\n#include "unread.h"\n#endif\nint c;\n',
  'inner/unread.h': 'int unread;\n',
  'second/b.h': '#pragma once\n#include_next <b.h>\n#include "twin.h"\nint b;\n',
  'second/twin.h': '#pragma once\n#include_next <b.h>\n#include "twin.h"\nint b;\n',
  'third/b.h': 'int next;\n',
  'third/deep/d.h': 'int d;\n',
  'forced.h': '#define DEEP <deep/d.h>\n',
  'target/own.h': '',
};

interface Preprocessed {
  readonly output: string;
  readonly inputs: FileInputs | null;
}

function preprocess(root: string, more: readonly string[] = []): Preprocessed {
  const words = ['-E', '-I', 'first', '-Isecond/', '-isystem', 'third', '-include', 'forced.h', ...more, printsSearchList, 'unit.cpp'];
  const started = Date.now() + 60_000;
  const { stdout, stderr } = spawnSync('g++', words, { cwd: root, encoding: 'latin1' });
  const read = filesOfPreprocessed(stdout).map((name) => pathIn(root, name));
  return { output: stdout, inputs: fileInputs({ words, errors: stderr, read, cwd: root, started }, []) };
}

function written(context: TestContext): string {
  const root = temporaryFolder(context);
  writeFiles(root, tree);
  symlinkSync(join(root, 'target'), join(root, 'linked'));
  return root;
}

/** Changes of the tree, each with whether the preprocessor must run again. */
const changes: readonly (readonly [string, boolean, (root: string) => void])[] = [
  ['nothing', false, () => {}],
  ['a new file that nothing names', false, (root) => writeFiles(root, { 'other.h': 'int other;\n' })],
  ['a new time stamp', false, (root) => utimesSync(join(root, 'a.h'), 1, 1)],
  ['the unit', true, (root) => appendFileSync(join(root, 'unit.cpp'), 'int more;\n')],
  ['an included file', true, (root) => appendFileSync(join(root, 'inner/c.h'), 'int more;\n')],
  ['a file of -include', true, (root) => appendFileSync(join(root, 'forced.h'), 'int more;\n')],
  ['a file that was skipped as a copy', true, (root) => writeFileSync(join(root, 'second/twin.h'), 'int twin;\n')],
  ['a removed file', true, (root) => rmSync(join(root, 'second/b.h'))],
  ['a file of that name in an earlier folder', true, (root) => writeFiles(root, { 'second/deep/d.h': 'int shadow;\n' })],
  ['a folder that did not exist', true, (root) => writeFiles(root, { 'first/b.h': 'int shadow;\n' })],
  ['a file next to the one that includes it', true, (root) => writeFiles(root, { 'inner/inner/c.h': '', 'first/a.h': '' })],
  ['a file that was asked for', true, (root) => writeFiles(root, { 'third/late.h': '' })],
  ['a name that a macro expands to, elsewhere', true, (root) => writeFiles(root, { 'deep/d.h': '', 'first/deep/d.h': 'int shadow;\n' })],
  ['a folder under another name', true, (root) => renameSync(join(root, 'third/deep'), join(root, 'third/gone'))],
];

for (const [name, runsAgain, change] of changes)
  test(`the preprocessor runs again for ${name}: ${runsAgain}`, { skip: withoutGcc }, (context) => {
    // Files that were written long ago are compared by their metadata, others by their contents.
    for (const age of [0, 60_000]) {
      context.mock.timers.enable({ apis: ['Date'], now: Date.now() + age });
      const root = written(context);
      const before = preprocess(root);
      assert.ok(before.inputs);
      assert.equal(
        before.inputs.files.every(({ state }) => state !== null),
        age > 0,
      );
      change(root);
      assert.equal(areUnchanged(before.inputs), !runsAgain);
      if (!runsAgain) assert.equal(preprocess(root).output, before.output);
      context.mock.timers.reset();
    }
  });

test('no inputs are known if others may decide the output', { skip: withoutGcc }, (context) => {
  const root = written(context);
  assert.ok(preprocess(root, ['-DX=1', '-U', 'Y', '-std=c++17', '-O2', '-fopenmp', '-m64', '-w']).inputs);
  for (const more of [['-imacros', 'a.h'], ['-remap'], ['-fmodules-ts'], ['@words'], ['-DHAS(x)=__has_include(x)']])
    assert.equal(preprocess(root, more).inputs, null, more[0]);
  writeFileSync(join(root, 'a.h'), 'const char* when = __TIMESTAMP__;\n');
  assert.equal(preprocess(root).inputs, null);
});

test('no inputs are known if a file may come into being without a change of its folder', { skip: withoutGcc }, (context) => {
  const cases: readonly ((root: string) => void)[] = [
    (root) => symlinkSync(join(root, 'gone/late.h'), join(root, 'second/late.h')),
    (root) => mkdirSync(join(root, 'second/late.h')),
    (root) => writeFileSync(join(root, 'first'), ''),
    (root) => writeFiles(root, { 'target/own.h': '#line 7 "made.h"\n' }),
  ];
  for (const [at, change] of cases.entries()) {
    const root = written(context);
    change(root);
    assert.equal(preprocess(root, ['-include', 'target/own.h']).inputs, null, String(at));
  }
});

test('another name of a folder may become one of another folder', { skip: withoutGcc }, (context) => {
  const root = written(context);
  symlinkSync('second', join(root, 'other'));
  const before = preprocess(root, ['-Iother/']);
  assert.ok(before.inputs && areUnchanged(before.inputs));
  rmSync(join(root, 'other'));
  symlinkSync('third', join(root, 'other'));
  assert.equal(areUnchanged(before.inputs), false);
});

test('a name that no file can have does not exist', { skip: withoutGcc }, (context) => {
  const root = written(context);
  appendFileSync(join(root, 'unit.cpp'), `#if 0\n#include "${'a'.repeat(300)}"\n#endif\n`);
  const { inputs } = preprocess(root);
  assert.ok(inputs && areUnchanged(inputs));
});

test('no inputs are known if a file changed while the preprocessor ran', { skip: withoutGcc }, (context) => {
  const root = written(context);
  const words = ['-E', printsSearchList, '-DDEEP="a.h"', '-Ithird', 'unit.cpp'];
  const { stdout, stderr } = spawnSync('g++', words, { cwd: root, encoding: 'latin1' });
  const read = filesOfPreprocessed(stdout).map((path) => pathIn(root, path));
  const since = (started: number) => fileInputs({ words, errors: stderr, read, cwd: root, started }, []);
  assert.ok(since(Date.now() + 60_000));
  assert.equal(since(Date.now() - 60_000), null);
});

test('directives are found in every spelling', () => {
  const named = (name: string, isQuoted = true) => [{ name, isQuoted }];
  const cases: readonly (readonly [string, ReturnType<typeof includedNames>])[] = [
    ['#include "a.h"', named('a.h')],
    ['  #  include_next <sys/a.h> // b', named('sys/a.h', false)],
    ['%:import "a.h"', named('a.h')],
    ['/* x\n */ # /* y */ include "a.h"', named('a.h')],
    ['#inc\\\nlude "a.h"', named('a.h')],
    ['#include NAME', ['computed']],
    ['#include /* x */ "a.h"', ['computed']],
    ['// #include "a.h"', []],
    ['#if defined(__has_include) && __has_include("a.h")', named('a.h')],
    ['#define HAS_INCLUDE(X) __has_include(X)\n#if HAS_INCLUDE(<a.h>)', named('a.h', false)],
    ['#define HAS_INCLUDE(X) 0', []],
    ['/* Asks __has_include\n whether */', []],
    ['#if __has_include(NAME)', null],
    ['#define ASK __has_include', null],
    ['\xef\xbb\xbf#include "a.h"', named('a.h')],
    ['#if /* http://a */ __has_include(<a.h>)', named('a.h', false)],
    ['#define ASKED __has_include(<a.h>)', named('a.h', false)],
    ['#define ASKED __has_include("a.h")', null],
    ['#define HAS(x) __has_include(<lib/x.h>)', null],
    ['// what??/\n#include <a.h>', named('a.h', false)],
    ['#inc??/\nlude <a.h>', named('a.h', false)],
    ['#embed "a.bin"', null],
    ['#pragma GCC dependency "a.h"', null],
  ];
  for (const [text, names] of cases) assert.deepEqual(includedNames(text), names, text);
});
