/** Orders of blocks and warps: each is a permutation, seeds have little in common, 1 is the reverse one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockOrder, warpOrder } from '../../../src/machine/core/schedule.ts';

const seeds = Array.from({ length: 1000 }, (_, index) => index + 2);

test('without a seed by number, with seed 1 reversed', () => {
  assert.equal(blockOrder(4, undefined), null);
  assert.equal(warpOrder(4, undefined, 0), null);
  assert.deepEqual(blockOrder(4, 1), [3, 2, 1, 0]);
  assert.deepEqual(warpOrder(3, 1, 7), [2, 1, 0]);
});

test('every order holds each number once, and is the same each time', () => {
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

test('of two blocks either comes first about as often, for small seeds too', () => {
  const second = (of: readonly number[]): number => of.filter((seed) => blockOrder(2, seed)![0] === 1).length;
  assert.ok(Math.abs(second(seeds) - 500) < 60, `${second(seeds)}`);
  assert.ok(second(seeds.slice(0, 16)) > 3 && second(seeds.slice(0, 16)) < 13);
});

test('the warps of two blocks have orders of their own', () => {
  const alike = seeds.filter((seed) => warpOrder(4, seed, 0)!.join() === warpOrder(4, seed, 1)!.join()).length;
  // One in 24 by chance.
  assert.ok(alike < 80, `${alike}`);
  const orders = new Set(seeds.map((seed) => warpOrder(4, seed, 3)!.join()));
  assert.equal(orders.size, 24);
});
