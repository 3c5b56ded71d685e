/** Literals (PTX ISA 4.5.1 and 4.5.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doubleOf, doublePattern, parseLiteral } from '../../src/ptx/literal.ts';

test('integers: base, suffix, and unsigned if they do not fit in 63 bits', () => {
  const cases: [string, bigint, boolean][] = [
    ['0', 0n, false],
    ['0U', 0n, true],
    ['10', 10n, false],
    ['10U', 10n, true],
    ['0x1f', 31n, false],
    ['0X1FU', 31n, true],
    ['0b101', 5n, false],
    ['0B101U', 5n, true],
    ['017', 15n, false],
    ['017U', 15n, true],
    ['999999999999999', 10n ** 15n - 1n, false],
    ['9007199254740993', 2n ** 53n + 1n, false],
    ['9007199254740993U', 2n ** 53n + 1n, true],
    ['9223372036854775807', 2n ** 63n - 1n, false],
    ['9223372036854775808', 2n ** 63n, true],
    ['18446744073709551615', 2n ** 64n - 1n, true],
    ['0xffffffffffffffff', 2n ** 64n - 1n, true],
    ['01777777777777777777777', 2n ** 64n - 1n, true],
    [`0b${'1'.repeat(64)}`, 2n ** 64n - 1n, true],
  ];
  for (const [text, value, unsigned] of cases) assert.deepEqual(parseLiteral(text), { kind: 'integer', value, unsigned }, text);
});

test('floats: bits of 0f and 0d, decimal ones as doubles', () => {
  const float = (bits: 32 | 64, pattern: bigint): object => ({ kind: 'float', bits, pattern });
  assert.deepEqual(parseLiteral('0f3F800000'), float(32, 0x3f80_0000n));
  assert.deepEqual(parseLiteral('0D3ff8000000000000'), float(64, 0x3ff8_0000_0000_0000n));
  for (const text of ['1.5', '.5', '1.', '1e3', '1.E+2', '1.5e-3', '09.5'])
    assert.deepEqual(parseLiteral(text), float(64, doublePattern(Number(text))));
  assert.equal(doubleOf(doublePattern(-0.1)), -0.1);
});

test('messages about malformed literals name what is expected', () => {
  const cases: [string, RegExp][] = [
    ['18446744073709551616', /^18446744073709551616 does not fit in 64 bits$/],
    ['0x10000000000000000', /does not fit in 64 bits$/],
    ['02000000000000000000000', /does not fit in 64 bits$/],
    [`1${'0'.repeat(23)}`, /^10{23} does not fit/],
    [`1${'0'.repeat(24)}`, /^10{23}… does not fit/],
    [`0x${'0'.repeat(67)}`, /does not fit/],
    ['0f3F80000', /8 hexadecimal digits/],
    ['0f3F8000000', /8 hexadecimal digits/],
    ['0d3FF', /16 hexadecimal digits/],
    ['0x', /a hexadecimal literal/],
    ['0xg', /a hexadecimal literal/],
    ['0b2', /a binary literal/],
    ['08', /octal/],
    ['09U', /octal/],
    ['12abc', /characters that do not belong/],
    ['1.5U', /characters that do not belong/],
  ];
  for (const [text, expected] of cases) {
    const parsed = parseLiteral(text);
    assert.ok(typeof parsed === 'string', text);
    assert.match(parsed, expected, text);
  }
});
