import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { type VectorClock, clockKey, countOf, join, withCount } from '../../../src/machine/detector/vector-clock.ts';

test('joins keep the greatest count of each key', () => {
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
      for (const key of keys) assert.equal(countOf(clocks[index]!, key), map.get(key) ?? 0);
    }
  }
});

test('a join that adds nothing is the same clock', () => {
  let all: VectorClock = null;
  const parts: VectorClock[] = [];
  for (let thread = 0; thread < 1000; thread++) {
    all = withCount(all, clockKey(0, thread), 3);
    parts.push(all);
  }
  for (const part of parts) {
    assert.equal(join(all, part), all);
    assert.equal(join(part, all), all);
  }
  assert.equal(withCount(all, clockKey(0, 7), 2), all);
});

test('keys of different kinds are apart', () => {
  const clock = withCount(withCount(null, clockKey(0, 5), 1), clockKey(1, 5), 2);
  assert.deepEqual([0, 1, 2].map((kind) => countOf(clock, clockKey(kind, 5))), [1, 2, 0]); // prettier-ignore
});
