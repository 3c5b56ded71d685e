/** What a function returns if its rule is switched off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingOf } from './rule-switches.ts';

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
