/** Indices of ring buffers as functions of the iteration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import { contextOf } from '../../check/kernel-text.ts';

/** The values of a variable `%r20` in its first ten iterations; null without a closed form. */
function valuesOf(start: number | string, next: string): readonly bigint[] | null {
  const body = `mov.u32 %r20, ${start}; mov.u32 %r30, 0; L: mul.wide.u32 %d30, %r20, 4; add.s64 %d30, %d1, %d30; st.u32 [%d30], 1;
    ${next} add.s32 %r30, %r30, 1; setp.lt.s32 %p9, %r30, %r9; @%p9 bra L;`;
  const { offset } = contextOf(body).accesses[0]!.targets[0]!;
  if (offset.leaves.some(({ atom }) => atom?.kind === 'phi' || atom?.kind === 'havoc')) return null;
  return Array.from({ length: 10 }, (_, iteration) => {
    const value = evaluateTerm(offset, ({ atom }) => (atom!.kind === 'iteration' ? BigInt(iteration) : undefined), new Map());
    return value! / 4n;
  });
}

const ring = (start: number, step: number, size: number): readonly bigint[] =>
  Array.from({ length: 10 }, (_, iteration) => BigInt((start + step * iteration) % size));

test('the remainder or the mask of a sum is a ring', () => {
  const add = (step: number): string => `add.s32 %r21, %r20, ${step};`;
  assert.deepEqual(valuesOf(0, `${add(1)} rem.s32 %r20, %r21, 2;`), ring(0, 1, 2));
  assert.deepEqual(valuesOf(0, `${add(1)} rem.u32 %r20, %r21, 3;`), ring(0, 1, 3));
  assert.deepEqual(valuesOf(2, `${add(1)} rem.s32 %r20, %r21, 3;`), ring(2, 1, 3));
  assert.deepEqual(valuesOf(1, `${add(5)} rem.s32 %r20, %r21, 7;`), ring(1, 5, 7));
  assert.deepEqual(valuesOf(1, `${add(9)} rem.s32 %r20, %r21, 4;`), ring(1, 9, 4));
  assert.deepEqual(valuesOf(0, `${add(1)} and.b32 %r20, %r21, 3;`), ring(0, 1, 4));
  assert.deepEqual(valuesOf(3, `${add(3)} and.b32 %r20, %r21, 3;`), ring(3, 3, 4));
});

test('a variable that is reset at a limit is a ring', () => {
  const reset = (limit: number): string => `add.s32 %r21, %r20, 1; setp.eq.s32 %p1, %r21, ${limit}; selp.b32 %r20, 0, %r21, %p1;`;
  assert.deepEqual(valuesOf(0, reset(3)), ring(0, 1, 3));
  assert.deepEqual(valuesOf(2, reset(3)), ring(2, 1, 3));
  assert.equal(valuesOf(3, reset(3)), null);
});

test('other variables have no closed form', () => {
  // Starts at the size, or is unknown.
  assert.equal(valuesOf(2, 'add.s32 %r21, %r20, 1; rem.s32 %r20, %r21, 2;'), null);
  assert.equal(valuesOf('%r9', 'add.s32 %r21, %r20, 1; rem.s32 %r20, %r21, 2;'), null);
  // A mask with a gap; a negative step; a step that the thread chooses; a size that the launch chooses.
  assert.equal(valuesOf(0, 'add.s32 %r21, %r20, 1; and.b32 %r20, %r21, 5;'), null);
  assert.equal(valuesOf(1, 'add.s32 %r21, %r20, -1; rem.s32 %r20, %r21, 3;'), null);
  assert.equal(valuesOf(0, 'add.s32 %r21, %r20, %r0; rem.s32 %r20, %r21, 3;'), null);
  assert.equal(valuesOf(0, 'add.s32 %r21, %r20, 1; rem.s32 %r20, %r21, %r9;'), null);
  assert.equal(valuesOf(0, 'shl.b32 %r21, %r20, 1; add.s32 %r21, %r21, 1; rem.s32 %r20, %r21, 3;'), null);
});
