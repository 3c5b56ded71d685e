/** Loop variables that are updated only while a condition holds: which are found, with the number of their updates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frozenVariables } from '../../../src/analysis/loops/frozen-variables.ts';
import { kernelOf } from '../../check/kernel-text.ts';

/** A loop of n iterations with variables in `%r20` and `%r21`, which are stored after it. */
const loop = (body: string): string =>
  `mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r1, 0; L: ${body} add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r9; @%p1 bra L;
    X: st.u32 [%d1], %r20; st.u32 [%d1+4], %r21;`;
const held = (update: string, label = 'N'): string => `setp.ge.s32 %p2, %r20, 5; @%p2 bra ${label}; ${update} ${label}:`;

test('variables that keep their values once a condition fails', () => {
  const cases: [string, number[]][] = [
    [held('add.s32 %r20, %r20, 1;'), [1]],
    [held('add.s32 %r20, %r20, 1; add.s32 %r21, %r21, %r20;'), [2]],
    // On every path, or not at all.
    ['add.s32 %r20, %r20, 1;', []],
    ['', []],
    // Two different updates; one update on two paths.
    ['setp.eq.s32 %p2, %r8, 0; @%p2 bra A; add.s32 %r20, %r20, 1; bra N; A: add.s32 %r20, %r20, 2; N:', []],
    [held('setp.eq.s32 %p3, %r8, 0; @%p3 bra A; add.s32 %r20, %r20, 1; bra N; A: add.s32 %r20, %r20, 2;'), []],
    // The loop may be left before the update.
    [held('setp.eq.s32 %p3, %r8, 0; @%p3 bra X; add.s32 %r20, %r20, 1;'), [1]],
    // A part of the updating code may be skipped.
    [held('setp.eq.s32 %p3, %r8, 0; @%p3 bra N; add.s32 %r20, %r20, 1;'), [1]],
    // Under two conditions, each with a part.
    [`${held('add.s32 %r20, %r20, 1;')} ${held('add.s32 %r21, %r21, 1;', 'M')}`, [1, 1]],
    // In an inner loop, which may update it more than once.
    [`mov.u32 %r2, 0; I: ${held('add.s32 %r20, %r20, 1;')} add.s32 %r2, %r2, 1; setp.lt.s32 %p4, %r2, %r8; @%p4 bra I;`, [1]],
  ];
  const wrong = cases.flatMap(([body, expected]) => {
    const found = frozenVariables(kernelOf(loop(body))).map(({ updates }) => updates.size);
    return found.join() === expected.join() ? [] : [[body, found]];
  });
  assert.deepEqual(wrong, []);
});
