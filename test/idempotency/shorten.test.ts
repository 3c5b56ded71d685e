/** Shortened conditions are equivalent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { AddressSet, Quantity, ValidatorCondition } from '../../src/idempotency/model/quantity.ts';
import { shortCondition } from '../../src/idempotency/shorten.ts';
import { type InstanceArguments, isKnownToHold } from '../../src/idempotency/validator/instance-condition.ts';

const constant = (value: number): Quantity => ({ kind: 'constant', value: BigInt(value) });
const argument = (index: number): Quantity => ({ kind: 'argument', index, offset: 0, bytes: 8, signed: false });
const shifted = (index: number, by: number): Quantity => ({ kind: 'sum', operands: [argument(index), constant(by)] });

interface Drawn {
  readonly condition: ValidatorCondition;
  /** Whether it is true, by enumeration of its bytes and by its numbers. */
  readonly isMet: (values: readonly number[]) => boolean;
}

function drawApart(random: Random): Drawn {
  const strides = [random.pick([4, 8, 12]), random.pick([16, 40])];
  const counts = [random.between(0, 3), random.between(1, 3)];
  const draw = (index: number): { set: AddressSet; by: number; bytes: number } => {
    const [by, bytes] = [random.between(0, 24), random.pick([1, 4, 8])];
    const steps = strides.map((stride, at) => ({ stride: constant(stride), count: constant(counts[at]!) }));
    return { set: { base: shifted(index, by), steps, bytes }, by, bytes };
  };
  const [a, b] = [draw(0), draw(1)];
  const addresses = (start: number, { by, bytes }: typeof a): Set<number> => {
    const all = new Set<number>();
    for (let i = 0; i < counts[0]!; i++)
      for (let j = 0; j < counts[1]!; j++)
        for (let byte = 0; byte < bytes; byte++) all.add(start + by + strides[0]! * i + strides[1]! * j + byte);
    return all;
  };
  return {
    condition: { kind: 'disjoint', left: a.set, right: b.set },
    isMet: ([x, y]) => {
      const other = addresses(y!, b);
      return [...addresses(x!, a)].every((address) => !other.has(address));
    },
  };
}

function drawComparison(random: Random): Drawn {
  const [left, right] = random.pick([
    [0, 1],
    [1, 2],
    [2, 2],
  ] as const);
  const [by, most] = [random.between(-20, 20), random.between(-20, 60)];
  const comparison = random.pick(['<', '<=', '!='] as const);
  return {
    condition: { kind: 'compare', comparison, left: shifted(left, by), right: shifted(right, most) },
    isMet: (values) => {
      const [x, y] = [values[left]! + by, values[right]! + most];
      return comparison === '<' ? x < y : comparison === '<=' ? x <= y : x !== y;
    },
  };
}

function launchOf(values: readonly number[]): InstanceArguments {
  const view = new DataView(new ArrayBuffer(24));
  values.forEach((value, index) => view.setBigUint64(8 * index, BigInt(value), true));
  return { arguments: new Uint8Array(view.buffer), offsets: [0, 8, 16], grid: [1, 1, 1], block: [1, 1, 1], dynamicShared: 0 };
}

test('adjacent sets and comparisons of one sum are merged, and the condition stays equivalent', () => {
  const random = seededRandom(5);
  let joined = 0;
  for (let round = 0; round < 400; round++) {
    const parts = Array.from({ length: random.between(2, 6) }, () => (random.chance(0.6) ? drawApart : drawComparison)(random));
    // Several sets of one shape.
    const condition: ValidatorCondition = { kind: 'all', conditions: parts.map((part) => part.condition) };
    const short = shortCondition(condition);
    if (short.kind !== 'all' || short.conditions.length < parts.length) joined++;
    for (let launch = 0; launch < 20; launch++) {
      const values = [0, 1, 2].map(() => 1000 + random.below(160));
      const isMet = parts.every((part) => part.isMet(values));
      const told = isKnownToHold(short, launchOf(values));
      if (told) assert.ok(isMet, JSON.stringify(values));
      if (isKnownToHold(condition, launchOf(values))) assert.ok(told, JSON.stringify(values));
    }
  }
  assert.ok(joined > 30, `${joined}`);
});

test('contiguous rows of a stencil are merged to one set of bytes, sets with a gap are not merged', () => {
  const set = (by: number): AddressSet => ({ base: shifted(0, by), steps: [{ stride: constant(64), count: constant(9) }], bytes: 4 });
  const other: AddressSet = { base: argument(1), steps: [], bytes: 4 };
  const disjoint = [8, 0, 4, 16].map((by): ValidatorCondition => ({ kind: 'disjoint', left: set(by), right: other }));
  const short = shortCondition({ kind: 'all', conditions: disjoint });
  assert.ok(short.kind === 'all');
  assert.deepEqual(
    short.conditions.map((one) => (one.kind === 'disjoint' ? one.left.bytes : 0)),
    [12, 4],
  );
});
