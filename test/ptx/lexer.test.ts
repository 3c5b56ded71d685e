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
