/** Indices that may count from the end, as in Python: representative ones do not, and proofs assume only that. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, closeSolver } from './kernel-text.ts';

after(closeSolver);

/** `if (x < n) a[y * m + x] = …`, where `m` is added to an `x` below 0; `y` is the index of the thread or of `row`. */
function rows(row: string): string {
  return `mov.u32 %r1, %tid.y; setp.ge.s32 %p1, %r7, %r9; @%p1 bra $L;
    shr.s32 %r2, %r7, 31; and.b32 %r2, %r2, %r8; add.s32 %r2, %r2, %r7;
    mad.lo.s32 %r3, ${row}, %r8, %r2; mul.wide.s32 %d10, %r3, 4; add.s64 %d11, %d1, %d10; st.global.u32 [%d11], %r1;
    $L:`;
}

test('matrix rows no longer than their stride are disjoint', async () => {
  const { race } = await check(rows('%r1'), { block: null, grid: [4, 1, 1] });
  assert.equal(race.verdict, 'proved');
  assert.ok(race.assumptions?.some(({ kind, text }) => kind === 'precondition' && /m >= n/.test(text)));
});

test('threads of one row overlap if no index distinguishes them', async () => {
  const { race } = await check(rows('0'), { block: [32, 2, 1], grid: [4, 1, 1] });
  assert.equal(race.verdict, 'race');
});
