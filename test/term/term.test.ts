import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { evaluateTerm } from '../../src/term/evaluate-term.ts';
import { type Term, TermStore } from '../../src/term/term.ts';
import { atomValue, describeSample, randomSample } from './sample.ts';
import { substituted } from '../../src/term/rewrite.ts';

const store = new TermStore();
const x = store.atom(32, { kind: 'thread', axis: 0 });
const y = store.atom(32, { kind: 'block', axis: 0 });
const n = store.atom(32, { kind: 'parameter', index: 0, offset: 0, bytes: 4 });
const p = store.unsignedLess(x, n);
const q = store.signedLess(y, n);
const r = store.equal(x, y);
const number = (value: bigint, width = 32): Term => store.constant(width, value);

test('structurally equal terms are the same object', () => {
  const left = store.add(32, store.mul(32, x, number(4n)), y);
  const right = store.sub(32, store.add(32, y, store.shift('shl', 32, x, number(3n))), store.mul(32, number(4n), x));
  assert.equal(left, right);
  assert.equal(left.operator, 'sum');
  assert.deepEqual(
    left.coefficients.toSorted((a, b) => Number(a - b)),
    [1n, 4n],
  );
});

test('sums are stored modulo 2^width', () => {
  assert.equal(store.sum(32, 1n << 32n, [[x, (1n << 32n) + 1n]]), x);
  assert.equal(store.sub(32, x, x), number(0n));
  assert.equal(
    store.sum(32, 0n, [
      [x, 1n << 31n],
      [x, 1n << 31n],
    ]),
    number(0n),
  );
  assert.deepEqual(store.mul(32, x, number(0xffffffffn)).coefficients, [-1n]);
  assert.equal(store.sum(32, -1n, []).value, 0xffffffffn);
});

test('products distribute over short sums, and are commutative', () => {
  const sum = store.add(32, x, number(3n));
  assert.equal(store.mul(32, sum, n), store.add(32, store.mul(32, n, x), store.mul(32, number(3n), n)));
  assert.equal(store.mul(32, x, n), store.mul(32, n, x));
});

test('quotient times divisor plus remainder simplifies to the dividend', () => {
  for (const [rem, div] of [
    ['urem', 'udiv'],
    ['srem', 'sdiv'],
  ] as const) {
    const [rest, quotient] = [store.divide(rem, 32, x, n), store.divide(div, 32, x, n)];
    assert.equal(store.add(32, rest, store.mul(32, quotient, n)), x);
    const more = store.sum(32, 5n, [
      [rest, 4n],
      [store.mul(32, n, quotient), 4n],
      [x, -4n],
      [y, 1n],
    ]);
    assert.equal(more, store.sum(32, 5n, [[y, 1n]]));
    const inner = store.divide(rem, 32, quotient, y);
    const outer = store.mul(32, y, store.divide(div, 32, quotient, y));
    assert.equal(store.add(32, rest, store.mul(32, n, store.add(32, inner, outer))), x);
    assert.notEqual(store.add(32, rest, store.mul(32, quotient, y)), x);
    assert.equal(
      store.sum(32, 0n, [
        [rest, 2n],
        [store.mul(32, quotient, n), 1n],
      ]).arguments.length,
      2,
    );
  }
  const mixed = store.add(32, store.divide('urem', 32, x, n), store.mul(32, n, store.divide('sdiv', 32, x, n)));
  assert.equal(mixed.arguments.length, 2);
});

test('the bitwise complement of x is stored as -1 - x', () => {
  assert.equal(store.xor(32, x, number(0xffffffffn)), store.sum(32, -1n, [[x, -1n]]));
  const parity = store.and(32, x, number(1n));
  assert.equal(store.xor(32, parity, number(1n)), store.sum(32, 1n, [[parity, -1n]]));
});

test('a mask that contains all possibly set bits of a value is a mask of low bits', () => {
  const eights = store.sum(32, 16n, [
    [x, 8n],
    [y, 24n],
  ]);
  assert.equal(store.and(32, eights, number(0xf8n)), store.and(32, eights, number(0xffn)));
  assert.equal(store.and(32, eights, number(0xfffffff8n)), eights);
  assert.notEqual(store.and(32, eights, number(0xf0n)), store.and(32, eights, number(0xffn)));
  const odd = store.add(32, eights, number(1n));
  assert.notEqual(store.and(32, odd, number(0xf8n)), store.and(32, odd, number(0xffn)));
});

test('widening followed by narrowing simplifies to the value', () => {
  const wide = store.zeroExtend(64, x);
  assert.equal(store.truncate(32, wide), x);
  assert.equal(store.truncate(16, wide), store.truncate(16, x));
  assert.equal(store.signExtend(64, store.zeroExtend(48, x)), wide);
  assert.equal(store.truncate(32, store.sum(64, 5n, [[wide, 3n]])), store.sum(32, 5n, [[x, 3n]]));
  assert.equal(store.and(64, wide, number(0xffffffffn, 64)), wide);
});

test('comparisons that constants decide are folded', () => {
  assert.equal(store.equal(store.add(32, x, number(1n)), store.add(32, x, number(2n))), store.false);
  assert.equal(store.equal(store.zeroExtend(64, x), number(1n << 40n, 64)), store.false);
  assert.equal(store.equal(store.signExtend(64, x), number(0xffffffff00000000n, 64)), store.false);
  assert.equal(store.equal(store.signExtend(64, x), number(-1n, 64)), store.equal(x, number(-1n)));
  assert.equal(store.unsignedLess(x, number(0n)), store.false);
  assert.equal(store.signedLess(number(-1n), number(0n)), store.true);
  assert.equal(store.unsignedLess(number(-1n), number(0n)), store.false);
  const chosen = store.select(p, number(7n), number(9n));
  assert.equal(store.equal(chosen, number(7n)), p);
  assert.equal(store.equal(chosen, number(9n)), store.not(p));
  assert.equal(store.equal(chosen, number(8n)), store.false);
});

test('conjunctions and disjunctions drop redundant operands', () => {
  assert.equal(store.all([p, store.true, p]), p);
  assert.equal(store.all([p, store.not(p)]), store.false);
  assert.equal(store.any([p, store.not(p)]), store.true);
  assert.equal(store.all([store.all([p, q]), r]), store.all([r, store.all([q, p])]));
  assert.equal(store.any([store.all([p, q]), store.all([p, store.not(q)])]), p);
  assert.equal(store.any([p, store.all([p, q])]), p);
  assert.equal(store.any([p, store.all([store.not(p), q])]), store.any([p, q]));
  assert.equal(store.select(store.not(p), x, y), store.select(p, y, x));
  assert.equal(store.differ(p, store.not(p)), store.true);
});

test('substitution simplifies the resulting term', () => {
  const term = store.select(store.signedLess(x, number(5n)), store.mul(32, x, n), n);
  const at = (value: bigint): Term => substituted(store, term, (leaf) => (leaf === x ? number(value) : undefined), new Map());
  assert.equal(at(3n), store.mul(32, number(3n), n));
  assert.equal(at(5n), n);
  assert.equal(
    substituted(store, term, () => undefined, new Map()),
    term,
  );
});

test('the leaves of a term are its atomic subterms', () => {
  assert.deepEqual(new Set(store.add(32, store.mul(32, x, n), x).leaves), new Set([x, n]));
  assert.deepEqual(store.add(32, number(1n), number(2n)).leaves, []);
});

test('an atom without a value makes dependent terms unknown', () => {
  const value = (leaf: Term): bigint | undefined => (leaf === x ? 3n : undefined);
  const of = (term: Term): bigint | undefined => evaluateTerm(term, value, new Map());
  assert.equal(of(store.add(32, x, number(4n))), 7n);
  assert.equal(of(store.add(32, x, n)), undefined);
  assert.equal(of(store.all([p, store.equal(x, number(4n))])), 0n);
  assert.equal(of(store.any([p, store.equal(x, number(3n))])), 1n);
  assert.equal(of(store.select(store.equal(x, number(3n)), x, n)), 3n);
  assert.equal(of(store.pure('fns', 32, [x])), undefined);
  assert.equal(of(store.pure('brev', 32, [x])), 0xc0000000n);
  assert.deepEqual([of(store.pure('popc', 32, [x])), of(store.pure('clz', 32, [x]))], [2n, 30n]);
});

test('simplified terms have the value of the original terms', () => {
  for (let seed = 0; seed < 8000; seed++) {
    const random = seededRandom(seed);
    const sample = randomSample(random, random.pick([0, 8, 16, 32, 64]), random.between(1, 5));
    for (let i = 0; i < 4; i++) {
      const values = sample.values();
      const value = evaluateTerm(sample.term, (leaf) => atomValue(values, leaf), new Map());
      assert.equal(value, sample.reference(values), describeSample(seed, sample, values));
    }
  }
});
