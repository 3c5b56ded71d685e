import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnnotations } from '../../../src/cuda/reading/annotation.ts';

function read(...texts: string[]) {
  const comments = texts.map((text, index) => ({ text, line: 10 + index, column: 5 }));
  return readAnnotations(comments, 'a.cu');
}

test('all properties are read', () => {
  const { annotation, diagnostics } = read(
    '// selvage: block=16,16 grid=64 shared=4096 cluster=2,1 cooperative assume(n % 32 == 0) arg(n=4096)',
    '// selvage: assume((n & 1) == 0) arg(p.scale=-2.5)',
  );
  assert.deepEqual(diagnostics, []);
  assert.ok(annotation);
  const { assumptions, args, places, ...rest } = annotation;
  assert.deepEqual(rest, {
    block: [16, 16, 1],
    grid: [64, 1, 1],
    cluster: [2, 1, 1],
    sharedBytes: 4096,
    cooperative: true,
    location: { file: 'a.cu', line: 10, column: 5 },
  });
  assert.deepEqual(
    assumptions.map(({ text }) => text),
    ['n % 32 == 0', '(n & 1) == 0'],
  );
  assert.deepEqual(assumptions[1]?.location, { file: 'a.cu', line: 11, column: 17 });
  assert.deepEqual(
    [...places].map(([property, { column }]) => [property, column]),
    [
      ['block', 17],
      ['grid', 29],
      ['sharedBytes', 37],
      ['cluster', 49],
    ],
  );
  assert.deepEqual(
    [...args],
    [
      ['n', '4096'],
      ['p.scale', '-2.5'],
    ],
  );
});

test('positions in a block comment of several lines', () => {
  const { annotation, diagnostics } = read('/* selvage: block=32\n   grid=0 */');
  assert.deepEqual(annotation?.block, [32, 1, 1]);
  assert.equal(annotation.grid, undefined);
  assert.deepEqual(
    diagnostics.map(({ location }) => location),
    [{ file: 'a.cu', line: 11, column: 9 }],
  );
});

test('errors are reported with their column, and the other parts are used', () => {
  for (const [text, column, code, message] of [
    ['// selvage: blok=16', 17, 'annotation/syntax', /Did you mean block=…\?/],
    ['// selvage: block=0', 23, 'annotation/syntax', /block=0/],
    ['// selvage: block=1,2,3,4', 23, 'annotation/syntax', /one to three/],
    ['// selvage: block', 17, 'annotation/syntax', /Write block=…/],
    ['// selvage: block=1 block=2', 25, 'annotation/syntax', /twice/],
    ['// selvage: shared=many', 24, 'annotation/syntax', /bytes/],
    ['// selvage: cooperative=1', 17, 'annotation/syntax', /Write cooperative/],
    ['// selvage: assume=3', 17, 'annotation/syntax', /Write assume\(…\)/],
    ['// selvage: assume(n > 0', 23, 'annotation/syntax', /not closed/],
    ['// selvage: assume(n = 0)', 26, 'assumption/syntax', /write ==/],
    ['// selvage: arg(4)', 21, 'annotation/syntax', /arg\(n=4096\)/],
    ['// selvage: arg(n=1) arg(n=2)', 30, 'annotation/syntax', /twice/],
    ['// selvage: (', 17, 'annotation/syntax', /not an annotation/],
  ] as const) {
    const { annotation, diagnostics } = read(text, '// selvage: grid=7');
    assert.equal(diagnostics.length, 1, text);
    assert.equal(diagnostics[0]?.code, code);
    assert.match(diagnostics[0].message, message, text);
    assert.deepEqual(diagnostics[0].location, { file: 'a.cu', line: 10, column }, text);
    assert.deepEqual(annotation?.grid, [7, 1, 1]);
  }
});

test('a line without a comment has no annotation', () => {
  assert.equal(read().annotation, undefined);
});
