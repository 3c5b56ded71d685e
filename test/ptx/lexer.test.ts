import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DIRECTIVE, END, JUNK, lex, NAME, NUMBER, STRING } from '../../src/ptx/lexer.ts';

function tokens(text: string): [kind: number, text: string][] {
  const stream = lex(text);
  return Array.from({ length: stream.count }, (_, at) => [stream.kinds[at]!, text.slice(stream.starts[at], stream.ends[at])]);
}

const texts = (text: string): string[] => tokens(text).map(([, part]) => part);

test('a name includes adjacent dotted parts, with :: inside them', () => {
  assert.deepEqual(texts('ld.shared::cta.L2::128B.v2.f32 %r1, [%rd1];'), [
    'ld.shared::cta.L2::128B.v2.f32',
    '%r1',
    ',',
    '[',
    '%rd1',
    ']',
    ';',
  ]);
  assert.deepEqual(texts('%tid.x $L__BB0_1: .reg .pred p;'), ['%tid.x', '$L__BB0_1', ':', '.reg', '.pred', 'p', ';']);
  assert.deepEqual(texts('tex.1d.v4'), ['tex.1d.v4']);
});

test('numbers keep their fraction, exponent and suffix; malformed ones stay one token', () => {
  assert.deepEqual(tokens('0x1FU 1.5e-3 .5 1. 0f3F800000 9.0 12abc 0b102'), [
    [NUMBER, '0x1FU'],
    [NUMBER, '1.5e-3'],
    [NUMBER, '.5'],
    [NUMBER, '1.'],
    [NUMBER, '0f3F800000'],
    [NUMBER, '9.0'],
    [NUMBER, '12abc'],
    [NUMBER, '0b102'],
  ]);
  assert.deepEqual(texts('5-3 [%r1+-4]'), ['5', '-', '3', '[', '%r1', '+', '-', '4', ']']);
});

test('comments and line markers yield no tokens; lines and columns count from 1', () => {
  const stream = lex('a // b ; c\n/* d\n e */ f\n# 12 "g.cu" 1 2\n  h');
  const found = Array.from({ length: stream.count }, (_, at) => [
    stream.lines[at],
    stream.starts[at]! - stream.lineStarts[stream.lines[at]! - 1]! + 1,
  ]);
  assert.deepEqual(found, [
    [1, 1],
    [3, 7],
    [5, 3],
  ]);
  assert.equal(stream.kinds[stream.count], END);
  assert.equal(lex('a\n/* b').unterminatedComment, 2);
});

test('directives in comments are kept, before the token that they precede', () => {
  const { markers } = lex(
    'a;\n\t// selvage.assume %r1; why\nb;\n//selvage.unknown %rd2\n// SELVAGE_CANDIDATE 3\n' +
      '// selvage.assumed %r1\n// selvage is a tool\n// SELVAGE_CANDIDATES 3\n// selvage.assume\n',
  );
  assert.deepEqual(markers, [
    { name: 'assume', operand: '%r1', line: 2, column: 2, before: 2 },
    { name: 'unknown', operand: '%rd2', line: 4, column: 1, before: 4 },
    { name: 'candidate', operand: '3', line: 5, column: 1, before: 4 },
    { name: 'assume', operand: '', line: 9, column: 1, before: 4 },
  ]);
});

test("characters outside of PTX's alphabet and unterminated texts are junk", () => {
  assert.deepEqual(tokens('a \u0000\u00e9\ud83d\ude00 "b" "c\nd $ #e'), [
    [NAME, 'a'],
    [JUNK, '\u0000\u00e9\ud83d\ude00'],
    [STRING, '"b"'],
    [JUNK, '"c'],
    [NAME, 'd'],
    [JUNK, '$'],
    [JUNK, '#'],
    [NAME, 'e'],
  ]);
  assert.deepEqual(tokens('. ..x'), [
    [JUNK, '.'],
    [JUNK, '.'],
    [DIRECTIVE, '.x'],
  ]);
});

test('tokens are in the text, in order, without common characters', () => {
  const cases = [
    '\u00e9',
    'a \u0000',
    '"a',
    '"a\\"b"',
    '"a\\',
    '.',
    '$',
    '1e',
    '1e+',
    '@@DWARF x',
    '// a',
    '/* a',
    '# 1 "f"',
    '/',
    '/*',
    '\u00e9\u00e9;',
  ];
  for (const text of cases) {
    const { count, starts, ends } = lex(text);
    let last = 0;
    for (let at = 0; at < count; at++) {
      assert.ok(starts[at]! >= last && ends[at]! > starts[at]! && ends[at]! <= text.length, `${text}: ${starts[at]} to ${ends[at]}`);
      last = ends[at]!;
    }
    assert.deepEqual([starts[count], ends[count]], [text.length, text.length], text);
  }
});

test('the ends of numbers, dotted parts, texts, junk and comments', () => {
  const cases: [string, string[]][] = [
    ['1e5', ['1e5']],
    ['1e+5', ['1e+5']],
    ['1e-5', ['1e-5']],
    ['1e+', ['1e', '+']],
    ['1E-5x', ['1E-5x']],
    ['0xe+5', ['0xe', '+', '5']],
    ['0xe', ['0xe']],
    ['.5e+1', ['.5e+1']],
    ['1.5.6', ['1.5', '.6']],
    ['1.x', ['1.x']],
    ['a::b', ['a', ':', ':', 'b']],
    ['.a::b::c:', ['.a::b::c', ':']],
    ['.a::', ['.a', ':', ':']],
    ['.a:b', ['.a', ':', 'b']],
    ['a.b.', ['a.b', '.']],
    ['a. b', ['a', '.', 'b']],
    ['%', ['%']],
    ['_', ['_']],
    ['"a\\"b" c', ['"a\\"b"', 'c']],
    ['"a\\x" c', ['"a\\x"', 'c']],
    ['"" c', ['""', 'c']],
    ['`"a"', ['`', '"a"']],
    ['`.a', ['`', '.a']],
    ['`1', ['`', '1']],
    ['a/b', ['a', '/', 'b']],
    ['a/*b*/c', ['a', 'c']],
    ['/**/c', ['c']],
    ['/*/c*/d', ['d']],
    ['@@DWARF x y\nz', ['@@DWARF x y', 'z']],
    ['@@D x', ['@', '@', 'D', 'x']],
    ['\t\r\f a', ['a']],
  ];
  for (const [text, expected] of cases) assert.deepEqual(texts(text), expected, text);
});

test('line markers of the preprocessor begin their line', () => {
  for (const marker of ['# 12 "g.cu"', ' \t# 12 "g.cu" 1 2', '#12 "g.cu"\r', '# 1 ""'])
    assert.deepEqual(texts(`a\n${marker}\nb`), ['a', 'b'], marker);
  for (const text of ['a # 12 "g.cu"', '# "g.cu"', '# 12 g.cu', '# 12"g.cu"', '# 12 "g.cu" x'])
    assert.ok(texts(`\n${text}\nb`).includes('#'), text);
  assert.deepEqual(texts('# 12 "g.cu"'), []);
});

test('comments with a meaning end at their semicolon or line', () => {
  const marker = (text: string): unknown[] => lex(text).markers.map(({ name, operand, before }) => [name, operand, before]);
  assert.deepEqual(marker('//selvage.assume'), [['assume', '', 0]]);
  assert.deepEqual(marker('//  selvage.assume;'), [['assume', '', 0]]);
  assert.deepEqual(marker('a // selvage.assume\t%r1 ; %r2\n'), [['assume', '%r1', 1]]);
  assert.deepEqual(marker('// selvage.assume:3'), [['assume', ':3', 0]]);
  for (const text of [
    '// selvage.assume.x %r1',
    '// selvage.assume2 %r1',
    '// xselvage.assume %r1',
    '//',
    '// Selvage.assume %r1',
    '"// selvage.assume %r1"',
  ])
    assert.deepEqual(marker(text), [], text);
  const column = lex('x\n  // selvage.unknown 1').markers[0]!;
  assert.deepEqual([column.line, column.column], [2, 3]);
});
