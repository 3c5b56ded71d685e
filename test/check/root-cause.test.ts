/** Pairs that one barrier would order are one finding; pairs that need two barriers are two. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instruction, Kernel } from '../../src/ir/form/kernel.ts';
import { groupByCause } from '../../src/check/root-cause.ts';
import { kernelOf } from './kernel-text.ts';

const isBarrier = ({ operation }: Instruction): boolean => operation.effect.kind === 'barrier';

/** The shared accesses of a kernel, in order. */
function sharedAccesses({ blocks }: Kernel): Instruction[] {
  return blocks.flatMap(({ instructions }) =>
    instructions.filter(({ operation: { effect } }) => 'space' in effect && effect.space === 'shared'),
  );
}

function accessOf(instruction: Instruction): {
  readonly instruction: Instruction;
  readonly operation: 'read' | 'write';
} {
  return { instruction, operation: instruction.operation.effect.kind === 'store' ? 'write' : 'read' };
}

/** Groups of pairs, each pair as the indices of its accesses. */
function groups(body: string, ...pairs: readonly (readonly [number, number, ('block' | 'grid')?])[]): string[] {
  const kernel = kernelOf(body);
  const accesses = sharedAccesses(kernel);
  const all = pairs.map(([a, b, scope = 'block']) => ({
    name: `${a}-${b}`,
    scope,
    first: accessOf(accesses[a]!),
    second: accessOf(accesses[b]!),
  }));
  return groupByCause(kernel, all, isBarrier).map((group) => group.map(({ name }) => name).join(' '));
}

const store = 'st.shared.u32 [s], %r0;';
const load = 'ld.shared.u32 %r1, [s]; st.global.u32 [%d1], %r1;';

test('several reads before one write share one missing barrier', () => {
  assert.deepEqual(groups(`${load} ${load} ${store}`, [0, 2], [1, 2]), ['0-2 1-2']);
});

test('a write, a read and a later write are two root causes', () => {
  assert.deepEqual(groups(`${store} ${load} ${store}`, [0, 1], [1, 2]), ['0-1', '1-2']);
  // The outer pair is ordered by either: it joins the first.
  const body = `${store} ${load} ${store} ${load}`;
  assert.deepEqual(groups(body, [0, 1], [0, 3], [1, 2], [2, 3]), ['0-1 0-3', '1-2', '2-3']);
});

test('stores of two threads to one element are the cause of all races with them', () => {
  assert.deepEqual(groups(`${store} ${load} ${store}`, [0, 1], [0, 2], [1, 2]), ['0-1 0-2 1-2']);
  assert.deepEqual(groups(`${store} ${load}`, [0, 0], [0, 1]), ['0-0 0-1']);
  const parted = `${store} bar.sync 0; ${store} ${load}`;
  assert.deepEqual(groups(parted, [0, 0], [1, 2]), ['0-0', '1-2']);
});

test('a barrier in between separates the causes', () => {
  const body = `${store} ${load} bar.sync 0; ${store} ${load}`;
  assert.deepEqual(groups(body, [0, 1], [2, 3]), ['0-1', '2-3']);
});

test('in a loop one barrier separates the iterations', () => {
  const body = `mov.u32 %r3, 0; TOP: ${load} bar.sync 0; ${store} add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r9; @%p1 bra TOP;`;
  assert.deepEqual(groups(body, [0, 1], [1, 0]), ['0-1 1-0']);
});

test('races between blocks are one cause, in addition to those within a block', () => {
  const body = `${store} ${load} ${store}`;
  assert.deepEqual(groups(body, [0, 1], [0, 2, 'grid'], [1, 2], [1, 1, 'grid']), ['0-1', '0-2 1-1', '1-2']);
});
