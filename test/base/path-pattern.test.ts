import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { pathPattern } from '../../src/base/path-pattern.ts';

test('patterns match whole paths', () => {
  for (const [pattern, matching, other] of [
    ['a.cu', ['a.cu'], ['b.cu', 'a.cux', 'x/a.cu', 'axcu']],
    ['*.cu', ['a.cu', '.cu'], ['x/a.cu', 'a.cuh']],
    ['**/*.cu', ['a.cu', 'x/a.cu', 'x/y/a.cu'], ['a.cuh']],
    ['src/**', ['src/a', 'src/x/a.cu', 'src/'], ['src', 'srcs/a']],
    ['src/**/t.cu', ['src/t.cu', 'src/a/b/t.cu'], ['src/at.cu', 't.cu']],
    ['a**z', ['az', 'a/b/z'], ['a/b/y']],
    ['?.cu', ['a.cu', '\u{1F600}.cu'], ['.cu', 'ab.cu', '/.cu']],
    ['{a,b*}.{cu,cuh}', ['a.cu', 'b.cuh', 'bcd.cu'], ['c.cu', 'a.c', 'a,b*.cu']],
    ['{a,{b,c}d,}x', ['ax', 'bdx', 'cdx', 'x'], ['bx', 'adx']],
    ['{a,b', ['a', 'b'], ['{a,b', 'ab']],
    ['a,b}', ['a,b}'], ['a', 'b']],
    ['[a-cx].cu', ['a.cu', 'c.cu', 'x.cu'], ['d.cu', '-.cu']],
    ['[!a-c]', ['d', '-'], ['a', 'c', '/', '']],
    ['[]a]', [']', 'a'], ['b', '[]a]']],
    ['[a-]', ['a', '-'], ['b']],
    ['[z-a]', [], ['a', 'z', 'm']],
    ['[a', ['[a'], ['a']],
    ['(a|b)+$^.\\d', ['(a|b)+$^.\\d'], ['a', 'b']],
    ['', [''], ['a']],
  ] as const) {
    for (const path of matching) assert.equal(pathPattern(pattern).test(path), true, `${pattern} takes ${path}`);
    for (const path of other) assert.equal(pathPattern(pattern).test(path), false, `${pattern} refuses ${path}`);
  }
});

test('path patterns agree with regular expressions on random inputs', () => {
  const random = seededRandom(7);
  const word = (letters: string, length: number): string =>
    Array.from({ length }, () => letters[random.below(letters.length)] ?? '').join('');
  let matched = 0;
  for (let round = 0; round < 3000; round++) {
    const pattern = word('ab*?/', 1 + random.below(7)).replace(/\*{3,}/g, '**');
    const expression = pattern
      .replace(/(^|\/)\*\*\//g, '$1<any>')
      .replace(/\*\*/g, '<all>')
      .replace(/\*/g, '[^/]*')
      .replace(/\?/g, '[^/]')
      .replace(/<all>/g, '.*')
      .replace(/<any>/g, '(?:.*/)<nothing>')
      .replace(/<nothing>/g, '?');
    const path = word('ab/', random.below(8));
    const expected = new RegExp(`^${expression}$`).test(path);
    matched += Number(expected);
    assert.equal(pathPattern(pattern).test(path), expected, `${pattern} on ${path}`);
  }
  assert.ok(matched > 100);
});

test('an adversarial pattern is matched without backtracking', () => {
  const path = `${'a'.repeat(4000)}b`;
  for (const pattern of ['**a'.repeat(60), '*a'.repeat(60), '{a,aa,*}'.repeat(60), '**/'.repeat(500), '{'.repeat(2000)])
    assert.equal(pathPattern(`${pattern}c`).test(path), false);
  assert.equal(pathPattern('a'.repeat(100_000)).test('a'.repeat(100_000)), false, 'no path is so long');
});
