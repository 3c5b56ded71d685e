import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { includingUnits } from '../../../src/app/project/include-graph.ts';
import { findInputs, passes } from '../../../src/app/project/input-files.ts';
import { isPattern, pathPattern } from '../../../src/base/path-pattern.ts';
import { openSourceTree, relativeTo } from '../../../src/app/project/source-tree.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-inputs-')));
after(() => rmSync(root, { recursive: true, force: true }));
const files: Record<string, string> = {
  'src/a.cu': '#include "util/math.cuh"\n',
  'src/b.cu': '  #  include <math.cuh>\n',
  'src/c.cu': '// nothing\n',
  'src/util/math.cuh': '#include "deep.h"\n',
  'src/util/deep.h': '#include "math.cuh"\n',
  'src/lonely.cuh': '',
  'third_party/d.cu': '',
  'notes.txt': '',
  'ready.ptx': '',
  'built/ready.ptx': '',
  '.hidden/e.cu': '',
};
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const tree = openSourceTree(root);
const everything = { include: [], exclude: [] };
const find = (...words: string[]) => findInputs(words, root, tree, everything);
const paths = (...words: string[]): string[] => find(...words).units.map(({ path }) => path);

test('files, folders and patterns name units, each once and in order', () => {
  assert.deepEqual(paths('src/c.cu', 'ready.ptx', './src/c.cu'), ['ready.ptx', 'src/c.cu']);
  assert.deepEqual(paths('src'), ['src/a.cu', 'src/b.cu', 'src/c.cu']);
  assert.deepEqual(paths('.'), ['src/a.cu', 'src/b.cu', 'src/c.cu', 'third_party/d.cu']);
  assert.deepEqual(paths('built'), ['built/ready.ptx'], 'PTX of a folder counts if it has no source');
  assert.deepEqual(paths('**/[ab].cu'), ['src/a.cu', 'src/b.cu']);
  assert.deepEqual(paths('{src,third_party}/?.cu'), ['src/a.cu', 'src/b.cu', 'src/c.cu', 'third_party/d.cu']);
});

test('the paths of the configuration apply to folders, not to explicit files', () => {
  const filter = { include: ['**/*.cu'], exclude: ['third_party/**'] };
  const found = findInputs(['.'], root, tree, filter).units.map(({ path }) => path);
  assert.deepEqual(found, ['src/a.cu', 'src/b.cu', 'src/c.cu']);
  assert.equal(findInputs(['third_party/d.cu'], root, tree, filter).units.length, 1);
  assert.equal(passes('third_party/x/y.cu', filter), false);
});

test('a header represents the units that include it', () => {
  const { units } = find('src/util/deep.h');
  assert.deepEqual(
    units.map(({ path, throughHeaders }) => [path, [...(throughHeaders ?? [])]]),
    [
      ['src/a.cu', ['src/util/deep.h']],
      ['src/b.cu', ['src/util/deep.h']],
    ],
  );
  const { units: none, diagnostics } = find('src/lonely.cuh');
  assert.equal(none.length, 0);
  assert.equal(diagnostics[0]?.code, 'input/no-unit');
});

test('a name without a match is rejected', () => {
  assert.throws(() => find('src/missing.cu'), /does not exist/);
  assert.throws(() => find('notes.txt'), /not a \.cu/);
  assert.throws(() => find('*.cuda'), /matches no/);
  assert.throws(() => find('src/util'), /no \.cu or \.ptx file/);
});

test('includes are followed through headers and cycles', () => {
  assert.deepEqual(includingUnits(tree, ['src/util/math.cuh']).get('src/util/math.cuh'), ['src/a.cu', 'src/b.cu']);
});

test('a symbolic link out of the tree is not followed', () => {
  const outside = mkdtempSync(join(tmpdir(), 'selvage-outside-'));
  writeFileSync(join(outside, 'secret.cu'), 'secret');
  symlinkSync(join(outside, 'secret.cu'), join(root, 'link.cu'));
  assert.equal(openSourceTree(root).text('link.cu'), undefined);
  rmSync(outside, { recursive: true });
  rmSync(join(root, 'link.cu'));
});

test('path patterns match files', () => {
  const matches = (pattern: string, path: string): boolean => pathPattern(pattern).test(path);
  assert.ok(matches('src/**/*.cu', 'src/a.cu'));
  assert.ok(matches('src/**/*.cu', 'src/x/y/a.cu'));
  assert.ok(matches('third_party/**', 'third_party/x/y.cu'));
  assert.ok(!matches('src/*.cu', 'src/x/a.cu'));
  assert.ok(!matches('src/a.cu', 'src/aXcu'));
  assert.ok(matches('[!a]b', 'xb') && !matches('[!a]b', 'ab'));
  assert.ok(matches('a+(b).cu', 'a+(b).cu'), 'characters special only to regular expressions match literally');
  assert.ok(isPattern('a*') && !isPattern('a+b.cu'));
});

test('paths inside the root become relative, other paths stay absolute', () => {
  assert.equal(relativeTo(root, join(root, 'src/a.cu')), 'src/a.cu');
  assert.equal(relativeTo(root, '/elsewhere/a.cu'), '/elsewhere/a.cu');
  assert.equal(relativeTo(root, join(root, '..dots.cu')), '..dots.cu');
});
