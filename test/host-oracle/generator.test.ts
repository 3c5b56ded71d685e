/** Generated host programs: number and use of the rules, and that only the seed determines a program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawProgram, drawUnit, rules } from './generator.ts';

test('the grammar has at least 150 rules with different names', () => {
  assert.ok(rules.length >= 150, `${rules.length} rules`);
  assert.equal(new Set(rules).size, rules.length);
});

test('1,000 generated programs use every rule', () => {
  const used = new Set<string>();
  for (let seed = 1; seed <= 1000; seed++) for (const rule of drawProgram(seed).rules) used.add(rule);
  assert.deepEqual(
    rules.filter((rule) => !used.has(rule)),
    [],
  );
  assert.deepEqual(
    [...used].filter((rule) => !rules.includes(rule)),
    [],
  );
});

test('the same seed gives the same program, and another seed another one', () => {
  for (const seed of [1, 77, 4000]) assert.deepEqual(drawProgram(seed), drawProgram(seed));
  assert.notDeepEqual(drawProgram(1).files, drawProgram(2).files);
  assert.equal(drawUnit(5, 3).text, drawUnit(5, 3).text);
});

test('a unit contains the programs of its seeds', () => {
  const { programs, text } = drawUnit(40, 4);
  assert.deepEqual(
    programs.map(({ seed }) => seed),
    [40, 41, 42, 43],
  );
  assert.deepEqual(programs[2], drawProgram(42));
  for (const { seed } of programs) assert.match(text, new RegExp(`^namespace p${seed} \\{$`, 'm'));
});
