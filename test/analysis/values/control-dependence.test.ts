import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlDependence } from '../../../src/analysis/values/control-dependence.ts';
import type { Block, Kernel } from '../../../src/ir/form/kernel.ts';
import { kernelOf } from '../../check/kernel-text.ts';

/** The immediate that the compare instruction of a branch compares with: names branches in these tests. */
function nameOf(block: Block): string {
  const compare = block.instructions.findLast(({ operation }) => operation.opcode === 'setp')!;
  const constant = compare.arguments[1]!;
  return constant.kind === 'constant' ? String(constant.value) : '?';
}

function withBarrier({ blocks }: Kernel): Block {
  return blocks.find(({ instructions }) => instructions.some(({ operation }) => operation.effect.kind === 'barrier'))!;
}

/** Branches that control the block with the barrier: whether it is reached at all, and in which iterations. */
function controlling(body: string): { atAll: string[]; inRound: string[] } {
  const kernel = kernelOf(body);
  const { id } = withBarrier(kernel);
  const dependence = controlDependence(kernel);
  const names = (loop: Parameters<typeof dependence.controlling>[1]): string[] =>
    [...dependence.controlling(id, loop)].map((block) => nameOf(kernel.blocks[block]!)).sort();
  return { atAll: names(null), inRound: names(kernel.loopOf[id] ?? null) };
}

const st = 'st.u32 [%d1], %r0;';

test('a branch controls its arms and not the code after them', () => {
  const arm = `setp.eq.s32 %p1, %r9, 1; @%p1 bra X; bar.sync 0; X: ${st}`;
  assert.deepEqual(controlling(arm), { atAll: ['1'], inRound: ['1'] });
  const join = `setp.eq.s32 %p1, %r9, 1; @%p1 bra X; ${st} X: bar.sync 0; ${st}`;
  assert.deepEqual(controlling(join), { atAll: [], inRound: [] });
});

test('an outer branch controls the code inside nested branches as well', () => {
  const body = `setp.eq.s32 %p1, %r9, 1; @%p1 bra X; setp.eq.s32 %p2, %r9, 2; @%p2 bra X; bar.sync 0; X: ${st}`;
  assert.deepEqual(controlling(body).atAll, ['1', '2']);
});

test('a return controls all later code', () => {
  assert.deepEqual(controlling(`setp.eq.s32 %p1, %r9, 1; @%p1 ret; bar.sync 0; ${st}`).atAll, ['1']);
});

test('the condition of a loop controls its body and not the code after it', () => {
  const body = `mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, 8; @%p1 bra X; bar.sync 0; add.s32 %r1, %r1, 1; bra L; X: ${st}`;
  assert.deepEqual(controlling(body), { atAll: ['8'], inRound: ['8'] });
  const after = `mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, 8; @%p1 bra X; add.s32 %r1, %r1, 1; bra L; X: bar.sync 0; ${st}`;
  assert.deepEqual(controlling(after), { atAll: [], inRound: [] });
});

test('the condition at the end of a loop controls its next iteration', () => {
  const body = `mov.u32 %r1, 0; L: bar.sync 0; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 8; @%p1 bra L; ${st}`;
  assert.deepEqual(controlling(body).inRound, ['8']);
});

test('a branch that skips a barrier in one iteration controls in which iterations it is reached', () => {
  // A thread that continues with the next iteration returns to the branch: the barrier postdominates it.
  const body = `mov.u32 %r1, 0; L: setp.eq.s32 %p1, %r0, 1; @%p1 bra N; bar.sync 0; setp.eq.s32 %p2, %r9, 2; @%p2 bra X;
    N: add.s32 %r1, %r1, 1; bra L; X: ${st}`;
  assert.deepEqual(controlling(body), { atAll: ['2'], inRound: ['1', '2'] });
});

test('an inner loop does not control the code after it in the iteration', () => {
  const body = `mov.u32 %r1, 0; O: setp.ge.s32 %p1, %r1, 8; @%p1 bra X; mov.u32 %r2, 0;
    I: setp.ge.s32 %p2, %r2, 3; @%p2 bra Y; add.s32 %r2, %r2, 1; bra I; Y: bar.sync 0; add.s32 %r1, %r1, 1; bra O; X: ${st}`;
  assert.deepEqual(controlling(body).inRound, ['8']);
});
