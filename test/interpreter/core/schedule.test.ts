/** Orders of blocks and warps: each is a permutation, seeds have little in common, 1 is the reverse one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockOrder, firstBuffered, firstInterleaved, warpOrder } from '../../../src/interpreter/core/schedule.ts';
import { Trace } from '../../../src/interpreter/trace.ts';
import { kernel, launch } from './launch-text.ts';

const seeds = Array.from({ length: 1000 }, (_, index) => index + 2);

test('the schedule is in index order without a seed, and reversed with seed 1', () => {
  assert.equal(blockOrder(4, undefined), null);
  assert.equal(warpOrder(4, undefined, 0), null);
  assert.deepEqual(blockOrder(4, 1), [3, 2, 1, 0]);
  assert.deepEqual(warpOrder(3, 1, 7), [2, 1, 0]);
});

test('every schedule contains each index once, and is reproducible', () => {
  for (const count of [0, 1, 2, 7, 64])
    for (const seed of [0, 1, 2, 5, 2 ** 32 - 1]) {
      const order = blockOrder(count, seed)!;
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        Array.from({ length: count }, (_, index) => index),
      );
      assert.deepEqual(blockOrder(count, seed), order);
    }
});

test('each of two thread blocks is scheduled first about equally often, for small seeds too', () => {
  const second = (of: readonly number[]): number => of.filter((seed) => blockOrder(2, seed)![0] === 1).length;
  assert.ok(Math.abs(second(seeds) - 500) < 60, `${second(seeds)}`);
  assert.ok(second(seeds.slice(0, 16)) > 3 && second(seeds.slice(0, 16)) < 13);
});

test('the warps of two blocks have independent orders', () => {
  const alike = seeds.filter((seed) => warpOrder(4, seed, 0)!.join() === warpOrder(4, seed, 1)!.join()).length;
  // One in 24 by chance.
  assert.ok(alike < 80, `${alike}`);
  const orders = new Set(seeds.map((seed) => warpOrder(4, seed, 3)!.join()));
  assert.equal(orders.size, 24);
});

test('a traced run has the same schedule as one without a trace', () => {
  // Threads of two blocks lose additions to each other, as their turns have it.
  const code = kernel(`mov.u32 %r3, 0;
    AGAIN: ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 8; @%p1 bra AGAIN;
    st.global.u32 [%d3+4], %r1;`);
  const left = new Set<string>();
  for (const seed of [firstInterleaved, firstInterleaved + 1, firstInterleaved + 2, firstInterleaved + 3, firstBuffered]) {
    const options = { block: [3, 1, 1], grid: [2, 1, 1], seed, detectRaces: false } as const;
    const untraced = launch(code, options);
    const observer = new Trace(
      () => true,
      () => undefined,
    );
    const traced = launch(code, { ...options, observer });
    assert.deepEqual(traced.readBytes(0, 0, 16), untraced.readBytes(0, 0, 16), `schedule ${seed}`);
    assert.equal(traced.steps, untraced.steps);
    left.add(untraced.readBytes(0, 0, 16).join());
  }
  assert.ok(left.size > 2, [...left].join('; '));
});
