/** What functions return if their rules are switched off, and which returned something. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolve } from 'node:path';
import { nothingOf, RuleSwitches, rulesIn } from './rule-switches.ts';

test('types with a value that means nothing', () => {
  for (const [type, nothing] of [
    ['Term | null', 'null'],
    ['Steps<readonly Term[] | null>', 'null'],
    ['Access | undefined', 'undefined'],
    ['boolean', 'false'],
    ['value is Term', 'false'],
    ['readonly Term[]', '[]'],
    ['Set<Term>', 'new Set()'],
    ['ReadonlyMap<Term, bigint>', 'new Map()'],
    ['Steps<boolean>', 'false'],
  ] as const)
    assert.equal(nothingOf(type), nothing, type);
  for (const type of ['void', 'bigint', 'Term', 'Term[] | Set<Term>', 'Map<string, Term | Access>', 'Promise<boolean>'])
    assert.equal(nothingOf(type), null, type);
});

test('a rule that is off returns nothing, and only rules that returned something are listed', async () => {
  const root = resolve(import.meta.dirname, '../..');
  const rules = rulesIn(root, ['src/base/nearest.ts']);
  const switches = new RuleSwitches(root, rules);
  const url = `${new URL('../../src/base/nearest.ts', import.meta.url).href}?switched`;
  const { nearest } = (await import(url)) as { nearest: (word: string, candidates: readonly string[]) => string | undefined };
  const [rule] = rules;
  assert.equal(rule?.id, 'src/base/nearest.ts:nearest');
  const compute = (name: string) => async () => nearest(name, ['check', 'repair']);
  assert.deepEqual(await switches.without([], compute('chekc')), ['check', [rule.id]]);
  assert.deepEqual(await switches.without([], compute('quite different')), [undefined, []]);
  assert.deepEqual(await switches.without([rule], compute('chekc')), [undefined, []]);
});
