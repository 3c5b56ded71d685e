import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope, Semantics } from '../../src/isa/model/operation.ts';
import { type MemoryOperation, conflictOf } from '../../src/memory-model/conflict.ts';

/**
 * An access from its text: `read`, `write` or `atomic`, then `weak`, `volatile` or a scope, then its bytes, of vectors and
 * packed types the number of elements times the bytes of each.
 */
function access(text: string): MemoryOperation {
  const [operation, strength, size] = text.split(' ') as [MemoryOperation['operation'], string, string];
  const [elements, elementBytes] = size.includes('x') ? size.split('x').map(Number) : [1, Number(size)];
  const strong = strength === 'weak' ? null : strength === 'volatile' ? 'sys' : (strength as Scope);
  const semantics: Semantics = strength === 'weak' || strength === 'volatile' ? strength : 'relaxed';
  const bytes = elements! * elementBytes!;
  return { operation, bytes, strong, semantics, ...(elements! > 1 && { elementBytes: elementBytes! }) };
}

/** In one block, in one cluster, in one grid: `R` a race, `V` one of volatile accesses, `-` none. */
const table: readonly (readonly [string, string, string])[] = [
  ['read weak 4', 'read weak 4', '---'],
  ['read weak 4', 'read volatile 4', '---'],
  ['read weak 4', 'write weak 4', 'RRR'],
  ['write weak 4', 'write weak 4', 'RRR'],
  ['read weak 4', 'write gpu 4', 'RRR'],
  ['write weak 4', 'write gpu 4', 'RRR'],
  ['read gpu 4', 'write weak 4', 'RRR'],
  ['read weak 4', 'atomic gpu 4', 'RRR'],
  ['read weak 4', 'write volatile 4', 'RRR'],
  ['write weak 4', 'read volatile 4', 'RRR'],
  // Strong loads and stores, and atomics.
  ['read gpu 4', 'write gpu 4', '---'],
  ['write gpu 4', 'write sys 4', '---'],
  ['read sys 4', 'atomic gpu 4', '---'],
  ['atomic gpu 4', 'atomic gpu 4', '---'],
  ['read gpu 4', 'read cta 4', '---'],
  // Scopes that do not reach.
  ['read cta 4', 'write gpu 4', '-RR'],
  ['write cta 4', 'write cta 4', '-RR'],
  ['atomic cta 4', 'atomic gpu 4', '-RR'],
  ['atomic cluster 4', 'atomic cluster 4', '--R'],
  ['atomic cluster 4', 'atomic sys 4', '--R'],
  ['read cluster 4', 'write cta 4', '-RR'],
  // Not the same bytes.
  ['read gpu 4', 'write gpu 8', 'RRR'],
  ['atomic gpu 4', 'atomic gpu 8', 'RRR'],
  ['atomic gpu 2x4', 'atomic gpu 8', 'RRR'],
  ['atomic gpu 2x2', 'atomic gpu 4', 'RRR'],
  ['read volatile 4', 'write volatile 1', 'RRR'],
  // Elements of vectors and packed types.
  ['atomic gpu 2x2', 'atomic gpu 2x2', '---'],
  ['atomic gpu 2x2', 'atomic gpu 2', '---'],
  ['read gpu 4x4', 'write gpu 4', '---'],
  ['read gpu 4x4', 'write gpu 2x4', '---'],
  ['write volatile 4x4', 'read volatile 2x4', 'VVV'],
  // Volatile ones are strong in PTX and no atomics in CUDA C++.
  ['read volatile 4', 'write volatile 4', 'VVV'],
  ['write volatile 4', 'write volatile 4', 'VVV'],
  ['read volatile 4', 'write gpu 4', 'VVV'],
  ['write volatile 4', 'read sys 4', 'VVV'],
  ['read volatile 4', 'atomic gpu 4', 'VVV'],
  ['write volatile 4', 'atomic cluster 4', 'VVR'],
  ['read volatile 4', 'atomic cta 4', 'VRR'],
  ['read volatile 4', 'read volatile 4', '---'],
];

for (const [one, other, expected] of table) {
  test(`conflict of ${one} and ${other}`, () => {
    const letters = { race: 'R', volatile: 'V', none: '-' };
    const [a, b] = [access(one), access(other)];
    const told = (x: MemoryOperation, y: MemoryOperation): string =>
      ([0, 1, 2] as const).map((distance) => letters[conflictOf(x, y, distance) ?? 'none']).join('');
    assert.equal(told(a, b), expected);
    assert.equal(told(b, a), expected);
  });
}
