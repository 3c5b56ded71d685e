import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { type VectorClock, clockKey, countOf, join, includesEpoch, withCount } from '../../../src/interpreter/detector/vector-clock.ts';

test('the join of vector clocks is the maximum of each key', () => {
  const random = seededRandom(5);
  for (let round = 0; round < 200; round++) {
    const bits = random.pick([3, 8, 31]);
    const clocks: VectorClock[] = [null];
    const maps: Map<number, number>[] = [new Map()];
    for (let step = 0; step < 60; step++) {
      const a = random.below(clocks.length);
      if (random.chance(0.5)) {
        const key = random.below(2 ** bits) | 0;
        const count = random.between(1, 9);
        clocks.push(withCount(clocks[a]!, key, count));
        maps.push(new Map(maps[a]).set(key, Math.max(count, maps[a]!.get(key) ?? 0)));
      } else {
        const b = random.below(clocks.length);
        clocks.push(join(clocks[a]!, clocks[b]!));
        const both = new Map(maps[a]);
        for (const [key, count] of maps[b]!) both.set(key, Math.max(count, both.get(key) ?? 0));
        maps.push(both);
      }
    }
    const keys = new Set(maps.flatMap((map) => [...map.keys()]));
    for (const [index, map] of maps.entries()) {
      for (const key of keys) {
        const count = map.get(key) ?? 0;
        assert.ok(!includesEpoch(clocks[index]!, key, count + 1));
        if (count > 0) assert.ok(includesEpoch(clocks[index]!, key, count));
        assert.equal(countOf(clocks[index]!, key), count);
      }
    }
  }
});

test('a join with the last clock joined is the same clock', () => {
  const one = withCount(null, clockKey(0, 1), 3);
  const two = withCount(null, clockKey(0, 2), 3);
  const all = join(one, two);
  for (const part of [null, one, two, all]) {
    assert.equal(join(all, part), all);
    assert.equal(join(part, all), all);
  }
  assert.equal(withCount(one, clockKey(0, 1), 2), one);
});

test('a long chain of vector clocks gives the same answers as a trie', () => {
  let all: VectorClock = null;
  for (let thread = 0; thread < 600_000; thread++) all = withCount(all, clockKey(0, thread % 5000), 1 + thread);
  assert.ok(includesEpoch(all, clockKey(0, 4999), 600_000));
  assert.ok(includesEpoch(all, clockKey(0, 0), 595_001));
  assert.ok(!includesEpoch(all, clockKey(0, 0), 595_002));
  assert.ok(!includesEpoch(all, clockKey(0, 5000), 1));
});

test('vector clock keys of different kinds are distinct', () => {
  const clock = withCount(withCount(null, clockKey(0, 5), 1), clockKey(1, 5), 2);
  assert.deepEqual(
    [0, 1, 2].map((kind) => countOf(clock, clockKey(kind, 5))),
    [1, 2, 0],
  );
});
