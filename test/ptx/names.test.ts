/** Names: scopes and their ranges, special registers, paths of files, spellings of registers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOfFile, readDebugStrings, spellingOfPath } from '../../src/ptx/debug-information.ts';
import { lex } from '../../src/ptx/lexer.ts';
import { innerScope, resolveName } from '../../src/ptx/name-scope.ts';
import { isSpecialRegister, isVectorSpecialRegister } from '../../src/ptx/special-register-names.ts';
import { isModifier } from '../../src/ptx/vocabulary.ts';

test('a range declares its indices, in any spelling with leading zeros', () => {
  const outer = innerScope(undefined);
  outer.names.set('a', 'register').set('g', 'symbol').set('t1', 'symbol');
  outer.ranges.set('%r', 12).set('t', 3);
  const scope = innerScope(outer);
  scope.names.set('a', 'symbol');
  scope.ranges.set('t1', 2);
  const register = (name: string): object => ({ kind: 'register', name });
  const cases: [string, object | undefined][] = [
    ['%r0', register('%r0')],
    ['%r11', register('%r11')],
    ['%r011', register('%r11')],
    ['%r12', undefined],
    ['%r', undefined],
    ['r1', undefined],
    ['%r1x', undefined],
    ['%r000000001', register('%r1')],
    ['%r0000000001', undefined],
    ['t2', register('t2')],
    // The inner range t1<2> is nearer than t<3>, and the name t1 of the outer scope than its range.
    ['t10', register('t10')],
    ['t11', register('t11')],
    ['t12', undefined],
    ['t1', { kind: 'symbol', name: 't1' }],
    ['a', { kind: 'symbol', name: 'a' }],
    ['g', { kind: 'symbol', name: 'g' }],
    ['12', undefined],
  ];
  for (const [name, expected] of cases) assert.deepEqual(resolveName(scope, name), expected, name);
  assert.deepEqual(resolveName(outer, 'a'), register('a'));
  assert.equal(resolveName(undefined, 'a'), undefined);
});

test('special registers (PTX ISA 10)', () => {
  for (const name of ['%tid', '%tid.x', '%ntid.w', '%cluster_ctaid.y', '%laneid', '%clock', '%clock64', '%clock_hi', '%lanemask_lt'])
    assert.ok(isSpecialRegister(name), name);
  for (const name of ['%pm0', '%pm7', '%pm7_64', '%envreg0', '%envreg19', '%envreg31', '%reserved_smem_offset_1', '%globaltimer_lo'])
    assert.ok(isSpecialRegister(name), name);
  for (const name of ['%tid.a', '%tid.xy', '%laneid.x', '%pm8', '%pm0_32', '%envreg32', '%envreg', '%r1', 'tid', '%reserved_smem_offset_2'])
    assert.ok(!isSpecialRegister(name), name);
  assert.deepEqual(['%tid', '%nctaid', '%laneid', '%tid.x'].map(isVectorSpecialRegister), [true, true, false, false]);
});

test('modifiers are words, textures in dimensions, shapes of matrices; no directives', () => {
  for (const word of ['u32', 'L2::128B', '1d', '5d', '2dms', '16x256b', '128x64b', 'weak', 'shared', 'global'])
    assert.ok(isModifier(word), word);
  for (const word of ['6d', '1dx', '16x256', '9', 'reg', 'align', 'maxntid', 'noreturn', 'extern']) assert.ok(!isModifier(word), word);
});

test('paths: octal escapes are bytes of UTF-8, quotation marks and backslashes are escaped', () => {
  const cases: [string, string][] = [
    ['plain.cu', 'plain.cu'],
    ['gr\\303\\274n.cu', 'grün.cu'],
    ['a\\"b.cu', 'a"b.cu'],
    ['C:\\\\dir\\\\a.cu', 'C:\\dir\\a.cu'],
    ['\\0011', '\u00011'],
  ];
  for (const [spelling, path] of cases) {
    assert.equal(pathOfFile(spelling), path, spelling);
    assert.equal(spellingOfPath(path), spelling, path);
  }
  assert.equal(pathOfFile('grün\\\\.cu'), 'grün\\.cu');
  assert.equal(pathOfFile('a\\x.cu'), 'a\\x.cu');
});

test('.debug_str: labels, bytes over several lines, other data and numbers without a label', () => {
  const read = (text: string): object => {
    const tokens = lex(text);
    const strings = new Map<string, string>();
    readDebugStrings(tokens, 0, tokens.count, strings);
    return Object.fromEntries(strings);
  };
  assert.deepEqual(read('A: .b8 102, 0x6f\n.b8 111, 0\nB: .b8 0 C: .b8 195, 188, 0'), { A: 'foo', B: '', C: 'ü' });
  // A second text after the 0 has no label, and neither has the data of a text without an end.
  assert.deepEqual(read('.b8 102, 0 A: .b8 102, 0, 103, 0 B: .b8 104 C: .b8 105, 0'), { A: 'f', C: 'i' });
  assert.deepEqual(read('A: .b32 0 B: .b8 104 .b32 0'), {});
  assert.deepEqual(read('A: .b8 104 B: .b8 0'), { B: '' });
});
