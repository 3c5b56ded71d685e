import { floorDivide } from '../../src/base/integer.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { type Bounds, LinearView, signedBounds } from '../../src/term/linear.ts';
import { type Term, TermStore } from '../../src/term/term.ts';
import { valuation } from './natural-value.ts';
import { atomValue, describeSample, randomSample } from './sample.ts';

const samples = 12_000;
const valuesEach = 4;

test('linear forms represent the values of their terms, within their ranges', () => {
  let assumed = 0;
  for (let seed = 0; seed < samples; seed++) {
    const random = seededRandom(seed);
    const width = random.pick([8, 16, 32, 64] as const);
    const sample = randomSample(random, width, random.between(1, 4));
    const { view, term } = sample;
    const readings = [
      ['natural', view.natural(term), (pattern: bigint, form: bigint) => form - pattern, 1n << BigInt(width)],
      ['signed', view.signed(term), (pattern: bigint, form: bigint) => form - BigInt.asIntN(width, pattern), 0n],
      ['unsigned', view.unsigned(term), (pattern: bigint, form: bigint) => form - pattern, 0n],
    ] as const;
    for (let i = 0; i < valuesEach; i++) {
      const values = sample.values();
      const of = valuation(view, (leaf) => atomValue(values, leaf));
      for (const [name, form, difference, modulus] of readings) {
        if (form.assumes.length > 0) assumed++;
        if (!of.holds(form)) continue;
        const where = `${name}, ${describeSample(seed, sample, values)}`;
        const value = of.form(form);
        const off = difference(of.pattern(term), value);
        assert.equal(modulus === 0n ? off : off % modulus, 0n, where);
        assert.ok(value >= form.low && value <= form.high, `${where}: ${value} not in ${form.low}..${form.high}`);
      }
    }
  }
  assert.ok(assumed > samples / 50, 'wrap-around occurs');
});

test('conditions decided by ranges agree with evaluation', () => {
  let decided = 0;
  for (let seed = 0; seed < samples; seed++) {
    const sample = randomSample(seededRandom(seed), 0, 3);
    const verdict = sample.view.decide(sample.term);
    if (verdict === undefined) continue;
    decided++;
    for (let i = 0; i < valuesEach; i++) {
      const values = sample.values();
      assert.equal(sample.reference(values) === 1n, verdict, describeSample(seed, sample, values));
    }
  }
  assert.ok(decided > samples / 5);
});

const store = new TermStore();
const t = store.atom(32, { kind: 'thread', axis: 0 });
const n = store.atom(32, { kind: 'parameter', index: 0, offset: 0, bytes: 4 });
const ranges = new Map<Term, Bounds>([
  [t, { low: 0n, high: 1023n }],
  [n, signedBounds(32)],
]);
const view = new LinearView(store, { atom: (leaf) => ranges.get(leaf)!, known: new Map() });
const number = (value: bigint, width = 32): Term => store.constant(width, value);
const formOf = (form: { constant: bigint; terms: ReadonlyMap<Term, bigint> }): unknown[] => [form.constant, [...form.terms]];

test('an index that cannot wrap needs no assumption', () => {
  const index = store.sum(32, 7n, [[t, 4n]]);
  assert.deepEqual(formOf(view.natural(store.signExtend(64, index))), [7n, [[t, 4n]]]);
  assert.deepEqual(view.signed(index).assumes, []);
  assert.deepEqual([view.signed(index).low, view.signed(index).high], [7n, 4099n]);
});

test('an index that may wrap has the assumption that it does not', () => {
  const index = store.sum(32, 0n, [
    [t, 1n],
    [n, 4n],
  ]);
  const wide = view.natural(store.signExtend(64, index));
  assert.deepEqual(wide.assumes, [index]);
  assert.deepEqual(formOf(wide), [
    0n,
    [
      [t, 1n],
      [n, 4n],
    ],
  ]);
});

test('an intentionally wrapping index has no assumption', () => {
  const exact = (term: Term): void => {
    assert.deepEqual(view.unsigned(term).assumes, []);
    assert.equal([...view.unsigned(term).terms.keys()][0]!.name, 'unsigned');
  };
  exact(store.add(32, n, store.and(32, n, number(12n))));
  exact(store.add(32, n, store.xor(32, n, t)));
  exact(store.add(32, n, store.shift('lshr', 32, n, number(3n))));
  // A hash, and arithmetic on less than an int.
  exact(store.mul(32, t, number(2654435761n)));
  exact(store.truncate(8, store.mul(32, t, number(3n))));
});

test('an or of parts with disjoint bits is a sum, which is assumed not to wrap around', () => {
  const block = store.atom(32, { kind: 'block', axis: 0 });
  const wide = new LinearView(store, {
    atom: (leaf) => (leaf === block ? { low: 0n, high: (1n << 31n) - 1n } : { low: 0n, high: 127n }),
    known: new Map(),
  });
  const blocks = (by: bigint): Term => store.shift('shl', 32, block, number(by));
  const index = store.or(32, blocks(7n), t);
  assert.deepEqual(formOf(wide.signed(index)), [
    0n,
    [
      [block, 128n],
      [t, 1n],
    ],
  ]);
  assert.deepEqual(wide.signed(index).assumes, [index]);
  const exact = (term: Term): void => assert.deepEqual(wide.signed(term).assumes, []);
  // Bits overlap, are cut off, or are inserted again at the other end.
  exact(store.or(32, blocks(6n), t));
  exact(store.or(32, store.and(32, blocks(7n), number(896n)), t));
  exact(store.or(32, blocks(7n), store.shift('lshr', 32, block, number(25n))));
  // The same if the block is not known to end at 128 threads.
  assert.deepEqual(view.signed(store.or(32, store.shift('shl', 32, n, number(7n)), t)).assumes, []);
});

test('a factor of mul24 is assumed to fit, a mask is not', () => {
  for (const signed of [false, true]) {
    assert.deepEqual(formOf(view.natural(store.factor24(signed, t))), [0n, [[t, 1n]]]);
    assert.deepEqual(view.natural(store.factor24(signed, t)).assumes, []);
    const index = store.sum(32, -3n, [[n, 5n]]);
    const factor = store.factor24(signed, index);
    const form = view.natural(factor);
    assert.deepEqual(form.assumes, [factor]);
    assert.deepEqual(formOf(form), [-3n, [[n, 5n]]]);
    assert.deepEqual([form.low, form.high], signed ? [-(1n << 23n), (1n << 23n) - 1n] : [0n, (1n << 24n) - 1n]);
  }
  const masked = store.and(32, n, number(0xffffffn));
  assert.deepEqual(formOf(view.natural(masked)), [0n, [[masked, 1n]]]);
  assert.deepEqual(view.natural(store.factor24(false, masked)).assumes, []);
});

test('terms that depend only on the launch have no assumption', () => {
  const wide = store.mul(32, t, number(1n << 24n));
  assert.deepEqual(view.signed(wide).assumes, [wide]);
  const launched = new LinearView(store, {
    atom: (leaf) => ranges.get(leaf)!,
    known: new Map(),
    isExhaustive: (leaf) => leaf === t,
  });
  assert.deepEqual(launched.signed(wide).assumes, []);
  assert.deepEqual(launched.signed(store.mul(32, n, number(3n))).assumes.length, 1);
  const far = store.factor24(false, store.mul(32, t, number(1n << 20n)));
  assert.deepEqual(launched.natural(far).assumes, []);
  assert.deepEqual(formOf(launched.natural(far)), [0n, [[far, 1n]]]);
});

test('offsets in 32 bits are the values that the hardware computes', () => {
  const offset = store.mul(32, t, number(1n << 23n));
  const form = view.offset(offset);
  assert.ok(form.high <= signedBounds(32).high);
  assert.deepEqual(form.assumes, [offset]);
});

test('masks, quotients and remainders without effect are simplified', () => {
  assert.deepEqual(formOf(view.natural(store.and(32, t, number(1023n)))), [0n, [[t, 1n]]]);
  assert.deepEqual(formOf(view.natural(store.divide('urem', 32, t, number(2000n)))), [0n, [[t, 1n]]]);
  const row = store.sum(32, 3n, [[t, 64n]]);
  assert.deepEqual(formOf(view.natural(store.divide('udiv', 32, row, number(64n)))), [0n, [[t, 1n]]]);
  assert.deepEqual(formOf(view.natural(store.shift('lshr', 32, row, number(6n)))), [0n, [[t, 1n]]]);
  assert.deepEqual(formOf(view.natural(store.or(32, store.mul(32, t, number(4n)), number(3n)))), [3n, [[t, 4n]]]);
});

test('an externally known range bounds a term', () => {
  const known = new Map<Term, Bounds>();
  const limited = new LinearView(store, { atom: (leaf) => ranges.get(leaf)!, known });
  const condition = store.signedLess(n, number(100n));
  assert.equal(limited.decide(condition), undefined);
  known.set(n, { low: 0n, high: 99n });
  assert.equal(limited.decide(condition), undefined);
  limited.reset();
  assert.equal(limited.decide(condition), true);
});

test('the smaller of two values that are not read as signed has no effect', () => {
  const wide = store.atom(64, { kind: 'parameter', index: 1, offset: 0, bytes: 8 });
  ranges.set(wide, signedBounds(64));
  const low = store.truncate(32, wide);
  const smaller = store.select(store.signedLess(low, number(5n)), low, number(5n));
  assert.equal(view.decide(store.signedLess(smaller, number(0n))), undefined);
});

test('floorDivide rounds towards minus infinity', () => {
  for (let a = -9n; a <= 9n; a++) {
    for (const b of [-3n, -1n, 1n, 2n, 4n]) assert.equal(floorDivide(a, b), BigInt(Math.floor(Number(a) / Number(b))), `${a} / ${b}`);
  }
});
