/** Constant expressions by the rules of C (PTX ISA 4.5); ptxas stores these values for initial values of `.global`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConstant, startsConstant } from '../../src/ptx/constant-expression.ts';
import { lex } from '../../src/ptx/lexer.ts';
import { doubleOf } from '../../src/ptx/literal.ts';

/** The value of a text: bigint, number, or the message of an error with the index of its token. */
function valueOf(text: string): bigint | number | string {
  const cursor = { tokens: lex(text), index: 0 };
  const constant = parseConstant(cursor);
  if (constant.kind === 'error') return `${constant.message} @${constant.index}`;
  assert.equal(cursor.index, cursor.tokens.count, `${text}: all of it is read`);
  return constant.kind === 'integer' ? constant.value : doubleOf(constant.pattern);
}

const wraps = 2n ** 64n;

test('integers: each operator, signed and unsigned', () => {
  const cases: [string, bigint][] = [
    ['7 / 2', 3n],
    ['-7 / 3', -2n],
    ['7 % 4', 3n],
    // A remainder is one of unsigned numbers.
    ['-7 % 4', 1n],
    ['-7 % 3', 0n],
    ['7 % -4', 7n],
    ['0xFFFFFFFFFFFFFFFF / 2', 2n ** 63n - 1n],
    ['-1 / 2U', 2n ** 63n - 1n],
    ['0xFFFFFFFFFFFFFFFF % 10', 5n],
    ['1 - 2U', wraps - 1n],
    ['9223372036854775807 + 1', -(2n ** 63n)],
    ['2 * 3', 6n],
    ['1 << 62', 2n ** 62n],
    ['1 << 63', -(2n ** 63n)],
    ['1U << 63', 2n ** 63n],
    ['-1 >> 63', -1n],
    ['0x8000000000000000 >> 63', 1n],
    ['6 & 3', 2n],
    ['6 ^ 3', 5n],
    ['6 | 3', 7n],
    ['+5', 5n],
    ['-(3)', -3n],
    ['~0', -1n],
    ['~0U', wraps - 1n],
    ['!0', 1n],
    ['!5', 0n],
    ['(.u64) -1', wraps - 1n],
    ['(.s64) 0xFFFFFFFFFFFFFFFF', -1n],
    ['-WARP_SZ', -32n],
  ];
  for (const [text, value] of cases) assert.equal(valueOf(text), value, text);
});

test('comparisons and connectives are 0 or 1, on both sides of each border', () => {
  const holds: Record<string, (a: number, b: number) => boolean> = {
    '<': (a, b) => a < b,
    '<=': (a, b) => a <= b,
    '>': (a, b) => a > b,
    '>=': (a, b) => a >= b,
    '==': (a, b) => a === b,
    '!=': (a, b) => a !== b,
  };
  for (const [operator, rule] of Object.entries(holds))
    for (const [a, b] of [
      [1, 2],
      [2, 2],
      [3, 2],
    ] as const) {
      const expected = rule(a, b) ? 1n : 0n;
      assert.equal(valueOf(`${a} ${operator} ${b}`), expected);
      assert.equal(valueOf(`${a}.5 ${operator} ${b}.5`), expected);
    }
  for (const [a, b] of [
    [0, 0],
    [0, 2],
    [2, 0],
    [2, 3],
  ] as const) {
    assert.equal(valueOf(`${a} && ${b}`), a && b ? 1n : 0n);
    assert.equal(valueOf(`${a} || ${b}`), a || b ? 1n : 0n);
  }
  assert.equal(valueOf('-1 < 1'), 1n);
  // With an unsigned operand, both are unsigned.
  assert.equal(valueOf('-1 < 1U'), 0n);
  assert.equal(valueOf('1U < -1'), 1n);
});

test('precedence and associativity are those of C', () => {
  const cases: [string, bigint][] = [
    ['8 - 4 - 2', 2n],
    ['2 * 3 % 4', 2n],
    ['100 / 10 / 5', 2n],
    ['1 + 2 * 3', 7n],
    ['1 << 2 + 1', 8n],
    ['2 < 1 << 3', 1n],
    ['2 < 3 == 1', 1n],
    ['4 & 4 == 4', 0n],
    ['1 | 2 ^ 3 & 5', 3n],
    ['0 && 0 || 1', 1n],
    ['1 || 0 && 0', 1n],
    ['1 ? 2 : 0 ? 3 : 4', 2n],
    ['0 ? 1 : 0 ? 3 : 4', 4n],
    ['0 ? 1 ? 2 : 3 : 4', 4n],
    ['2 > 1 ? 5 : 6', 5n],
    // An operator of two characters has no space between them.
    ['- -3', 3n],
    ['3 - -3', 6n],
  ];
  for (const [text, value] of cases) assert.equal(valueOf(text), value, text);
  assert.equal(valueOf('1 < < 2'), 'expected a constant @2');
});

test('doubles: arithmetic, signs; single-precision literals and bit operations are errors', () => {
  const cases: [string, number][] = [
    ['1.5', 1.5],
    ['-1.5', -1.5],
    ['+1.5', 1.5],
    ['1.0 + 2.0', 3],
    ['1.0 - 2.0', -1],
    ['3.0 * 0.5', 1.5],
    ['1.0 / 4.0', 0.25],
    ['-1.5 * 2.0', -3],
    ['0d3FF8000000000000', 1.5],
  ];
  for (const [text, value] of cases) assert.equal(valueOf(text), value, text);
  for (const operator of ['%', '<<', '>>', '&', '^', '|'])
    assert.equal(valueOf(`2.0 ${operator} 1.0`), `${operator} applies to integers only @1`);
  assert.equal(valueOf('~1.5'), '~ applies to integers only @0');
  for (const text of ['-0f3F800000', '0f3F800000 + 1.0', '1.0 + 0f3F800000', '0f3F800000 * 1'])
    assert.match(`${valueOf(text)}`, /^a 0f literal cannot be part of an expression/, text);
});

test('errors name the token', () => {
  const cases: [string, string][] = [
    ['1 / 0', 'division by zero @1'],
    ['1 % 0', 'division by zero @1'],
    ['1 +', 'expected a constant @2'],
    ['(1', 'expected `)` @2'],
    ['(.u32) 1', 'a cast is (.s64) or (.u64) @1'],
    ['(.u64 1', 'expected `)` @2'],
    ['(.u64) 1.5', 'a cast applies to an integer @4'],
    ['(.u64) ,', 'expected a constant @3'],
    ['1 ? 2', 'expected the `:` of a `?` @3'],
    ['1 ? , : 2', 'expected a constant @2'],
    ['1 ? 2 : ,', 'expected a constant @4'],
    ['name', 'expected a constant @0'],
    ['099', 'a literal that begins with 0 is octal: its digits are 0 to 7 @0'],
    ['1 + (2 * 099)', 'a literal that begins with 0 is octal: its digits are 0 to 7 @5'],
  ];
  for (const [text, expected] of cases) assert.equal(valueOf(text), expected, text);
});

test('nesting is limited to 64', () => {
  for (const [open, close] of [
    ['(', ')'],
    ['-', ''],
    ['(.u64)', ''],
    ['0 ? 0 : ', ''],
  ] as const) {
    const nested = (depth: number): bigint | number | string => valueOf(`${open.repeat(depth)}1${close.repeat(depth)}`);
    assert.equal(typeof nested(64), 'bigint', open);
    assert.match(`${nested(65)}`, /^a constant expression is nested too deeply/, open);
  }
});

test('what a constant may begin with', () => {
  const begins = (text: string): boolean => startsConstant({ tokens: lex(text), index: 0 });
  for (const text of ['1', '.5', '-1', '+1', '~1', '!1', '(1)', 'WARP_SZ']) assert.equal(begins(text), true, text);
  for (const text of ['name', '%r1', '[', '{', '*', '', '"1"']) assert.equal(begins(text), false, text);
});
