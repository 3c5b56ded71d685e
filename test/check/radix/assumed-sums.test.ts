/** What the digits of an address assume not to wrap around: the sums whose values count, but not their parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Term } from '../../../src/term/term.ts';
import { kernelOf, store } from '../kernel-text.ts';
import { problemsOf, refutedIn } from '../problem.ts';

/** The kinds of the terms that the proofs of one scope assume not to wrap around; null if a pair is not refuted. */
function assumedIn(scope: 'block' | 'grid', body: string): readonly string[] | null {
  const problems = problemsOf(kernelOf(body), { block: null, grid: null, assume: ['n >= 1'] });
  const problem = problems[scope === 'block' ? 0 : 1]!;
  const all = new Set<Term>();
  assert.ok(problem.obligations.length > 0);
  for (const obligation of problem.obligations) {
    const assumes = refutedIn(problem, obligation);
    if (!assumes) return null;
    for (const term of assumes) all.add(term);
  }
  return [...all].map(({ operator, atom }) => atom?.kind ?? operator).sort();
}

/** `for (i = tid; i < n; i += ntid) a[index] = 0`, where `index` is computed from i in %r20. */
function rowLoop(index: string): string {
  return `mov.u32 %r20, %r0;\nROW: setp.ge.s32 %p1, %r20, %r9; @%p1 bra END;\n${index} ${store('%d1', '%r21', '%r9', 10)}
    add.s32 %r20, %r20, %r5; bra ROW;\nEND:`;
}

test('the products of a sum may wrap around if the sum does not', () => {
  const row = rowLoop('mad.lo.s32 %r21, %r6, %r9, %r20;');
  // The index, and the column that the condition compares.
  for (const scope of ['block', 'grid'] as const) assert.deepEqual(assumedIn(scope, row), ['sum', 'sum']);
});

test('a counter that a condition compares is the number of iterations only if it does not wrap around', () => {
  const endless = `mov.u32 %r20, 0;\nCOLUMN: ld.u32 %r22, [%d2]; setp.ne.s32 %p2, %r22, 0; @%p2 bra END;
    setp.ge.s32 %p1, %r20, %r9; @%p1 bra NEXT; mad.lo.s32 %r21, %r7, %r9, %r20; ${store('%d1', '%r21', '%r9', 10)}
    NEXT: add.s32 %r20, %r20, 1; bra COLUMN;\nEND:`;
  assert.deepEqual(assumedIn('grid', endless), ['iteration', 'sum']);
});

test('an index that is shifted to the left and back stays whole, so that its upper bits may be lost', () => {
  const narrow = rowLoop('shl.b32 %r22, %r20, 16; shr.s32 %r23, %r22, 16; mad.lo.s32 %r21, %r6, %r9, %r23;');
  assert.equal(assumedIn('block', narrow), null);
  const halves = rowLoop('shl.b32 %r22, %r20, 1; shr.u32 %r23, %r22, 1; mad.lo.s32 %r21, %r6, %r9, %r23;');
  assert.notEqual(assumedIn('block', halves), null);
});

test('a quotient without a rest assumes that its number does not wrap around', () => {
  for (const quotient of ['mul.lo.s32 %r22, %r22, 4; shr.u32 %r21, %r22, 1;', 'mul.lo.s32 %r22, %r22, 12; div.s32 %r21, %r22, 3;'])
    for (const scope of ['block', 'grid'] as const)
      // The number, and the column that the condition compares.
      assert.deepEqual(assumedIn(scope, rowLoop(`mad.lo.s32 %r22, %r6, %r9, %r20; ${quotient}`)), ['sum', 'sum'], quotient);
});
