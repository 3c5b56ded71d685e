import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, type Random } from '../../../src/base/random.ts';
import { areDisjoint, isWithin, type LaunchedSet } from '../../../src/idempotency/validator/address-sets.ts';

interface Counts {
  stride: number;
  count: number;
}

function set(base: number | bigint, steps: readonly Counts[], bytes: number): LaunchedSet {
  return {
    base: BigInt(base),
    steps: steps.map(({ stride, count }) => ({ stride: BigInt(stride), count: BigInt(count) })),
    bytes,
  };
}

function bytesOf({ base, steps, bytes }: LaunchedSet): Set<bigint> {
  let starts = new Set([base!]);
  for (const { stride, count } of steps) {
    const next = new Set<bigint>();
    for (const start of starts) for (let i = 0n; i < count!; i += 1n) next.add(start + i * stride!);
    starts = next;
  }
  const all = new Set<bigint>();
  for (const start of starts) for (let byte = 0; byte < bytes; byte += 1) all.add(start + BigInt(byte));
  return all;
}

const overlap = (a: LaunchedSet, b: LaunchedSet): boolean => {
  const bytes = bytesOf(b);
  return [...bytesOf(a)].some((address) => bytes.has(address));
};
const contains = (outer: LaunchedSet, inner: LaunchedSet): boolean => {
  const bytes = bytesOf(outer);
  return [...bytesOf(inner)].every((address) => bytes.has(address));
};

/** A set with arbitrary strides. */
function anySet(random: Random): LaunchedSet {
  const steps = Array.from({ length: random.below(4) }, () => ({
    stride: random.between(-16, 24),
    count: random.chance(0.05) ? random.between(-1, 0) : random.between(1, 5),
  }));
  return set(random.between(200, 300), steps, random.pick([1, 2, 4, 8]));
}

/** Part of an array of rows and columns, as threads traverse it: every q-th element, of every r-th row. */
function partOfArray(random: Random, element: number, pitch: number): LaunchedSet {
  const width = Math.floor(pitch / element);
  const [column, row] = [random.between(1, 3), random.between(1, 3)];
  const columns = random.between(1, Math.max(1, Math.floor(width / column)));
  const steps = [
    { stride: element * column, count: columns },
    { stride: pitch * row, count: random.between(1, 4) },
  ];
  if (random.chance(0.3)) steps.push({ stride: pitch * row * 4, count: random.between(1, 3) });
  return set(1000 + random.below(4) * element + random.below(3) * pitch + random.below(2), steps, element);
}

/** Every q-th element of each step of a set, from one of its elements on. */
function partOf({ base, steps, bytes }: LaunchedSet, random: Random): LaunchedSet {
  let first = base!;
  const part = steps.map(({ stride, count }) => {
    const every = BigInt(random.between(1, 2));
    const from = BigInt(random.below(Math.max(1, Number(count))));
    first += from * stride!;
    return { stride: stride! * every, count: (count! - from + every - 1n) / every };
  });
  return { base: first, steps: part, bytes: random.between(1, bytes) };
}

function rangesMeet(a: LaunchedSet, b: LaunchedSet): boolean {
  const [first, second] = [a, b].map((one) => [...bytesOf(one)].sort((x, y) => Number(x - y)));
  return first!.length > 0 && second!.length > 0 && first![0]! <= second!.at(-1)! && second![0]! <= first!.at(-1)!;
}

/** Recall of `areDisjoint` and `isWithin`; of disjoint sets, only those with overlapping ranges are counted. */
function pairs(make: (random: Random) => [LaunchedSet, LaunchedSet], seed: number, count: number) {
  const random = seededRandom(seed);
  const found = { disjoint: 0, saidDisjoint: 0, within: 0, saidWithin: 0 };
  for (let n = 0; n < count; n += 1) {
    const [a, b] = make(random);
    const shown = JSON.stringify([a, b], (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    const [disjoint, within] = [!overlap(a, b), contains(b, a)];
    const [saidDisjoint, saidWithin] = [areDisjoint(a, b) === true, isWithin(a, b) === true];
    assert.ok(disjoint || !saidDisjoint, `not disjoint: ${shown}`);
    assert.ok(within || !saidWithin, `not within: ${shown}`);
    assert.equal(areDisjoint(b, a), saidDisjoint, `disjointness is symmetric: ${shown}`);
    if (rangesMeet(a, b)) {
      found.disjoint += Number(disjoint);
      found.saidDisjoint += Number(saidDisjoint);
    } else assert.ok(saidDisjoint, `disjoint ranges: ${shown}`);
    found.within += Number(within);
    found.saidWithin += Number(saidWithin);
  }
  return { ...found, disjointShare: found.saidDisjoint / found.disjoint, withinShare: found.saidWithin / found.within };
}

function array(random: Random): [number, number] {
  const element = random.pick([1, 2, 4]);
  return [element, element * random.between(2, 12) + (random.chance(0.2) ? 1 : 0)];
}

test('sets of random strides: answers are sound and nearly complete', (context) => {
  const shares = pairs((random) => [anySet(random), anySet(random)], 1, 8000);
  context.diagnostic(JSON.stringify(shares));
  assert.ok(shares.disjointShare > 0.99, `disjoint: ${shares.disjointShare}`);
  assert.ok(shares.withinShare > 0.92, `within: ${shares.withinShare}`);
});

test('disjointness within one array: answers are sound and nearly complete', (context) => {
  const shares = pairs(
    (random) => {
      const [element, pitch] = array(random);
      return [partOfArray(random, element, pitch), partOfArray(random, element, pitch)];
    },
    2,
    8000,
  );
  context.diagnostic(JSON.stringify(shares));
  assert.ok(shares.disjointShare > 0.99, `disjoint: ${shares.disjointShare}`);
  assert.ok(shares.withinShare > 0.98, `within: ${shares.withinShare}`);
});

test('inclusion of one set in another: answers are sound and nearly complete', (context) => {
  const shares = pairs(
    (random) => {
      const outer = random.chance(0.5) ? anySet(random) : partOfArray(random, ...array(random));
      return [partOf(outer, random), outer];
    },
    3,
    8000,
  );
  context.diagnostic(JSON.stringify(shares));
  assert.ok(shares.withinShare > 0.99, `within: ${shares.withinShare}`);
});

test('empty sets are disjoint from and contained in all sets, even unknown ones', () => {
  const empty = { base: undefined, steps: [{ stride: undefined, count: 0n }], bytes: 4 };
  const full = set(1000, [], 4);
  assert.equal(areDisjoint(empty, full), true);
  assert.equal(isWithin(empty, full), true);
  assert.equal(isWithin(full, empty), undefined);
  assert.equal(isWithin(full, set(1000, [{ stride: 4, count: 0 }], 4)), undefined);
});

test('an address set that exceeds 64 bits is unknown', () => {
  const last = (1n << 64n) - 4n;
  const near = set(64, [], 4);
  assert.equal(areDisjoint(set(last, [], 4), near), true);
  assert.equal(areDisjoint(set(last, [], 5), near), undefined);
  assert.equal(areDisjoint(set(last, [{ stride: 4, count: 2 }], 4), near), undefined);
  assert.equal(areDisjoint(set(8, [{ stride: -4, count: 4 }], 4), near), undefined);
  assert.equal(isWithin(set(last, [], 8), set(last, [], 16)), undefined);
});
