/** Divisions that are done in 32 bits where that is enough, and signs as masks: the simpler terms mean the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { termDomain } from '../../src/term/term-domain.ts';
import { evaluateTerm } from '../../src/term/evaluate-term.ts';
import { type Term, TermStore } from '../../src/term/term.ts';
import { wideDivision } from '../../src/term/wide-division.ts';

const store = new TermStore();
const domain = termDomain(store);
const parameter = (index: number): Term => store.atom(64, { kind: 'parameter', index, offset: 0, bytes: 8 });
const [x, y, z] = [parameter(0), parameter(1), parameter(2)];
const thread = store.zeroExtend(64, store.atom(32, { kind: 'thread', axis: 0 }));
const zero = store.constant(64, 0n);
const upper = store.constant(64, 0xffffffff00000000n);

const samples = [0n, 1n, 2n, 7n, 0x7fffffffn, 0xffffffffn, 1n << 32n, (1n << 32n) + 5n, 1n << 63n, (1n << 64n) - 3n];

function valueOf(term: Term, values: ReadonlyMap<Term, bigint>): bigint | undefined {
  return evaluateTerm(term, (atom) => values.get(atom), new Map());
}

function isNarrow(...terms: readonly Term[]): Term {
  return store.equal(
    store.and(
      64,
      terms.reduce((all, term) => store.or(64, all, term)),
      upper,
    ),
    zero,
  );
}

function narrow(operator: 'udiv' | 'urem', a: Term, b: Term): Term {
  return store.zeroExtend(64, store.divide(operator, 32, store.truncate(32, a), store.truncate(32, b)));
}

for (const operator of ['udiv', 'sdiv', 'urem', 'srem'] as const)
  test(`${operator}: the single division has the value of the select, also if the divisor is 0`, () => {
    const short = operator.endsWith('div') ? 'udiv' : 'urem';
    for (const dividend of [x, thread]) {
      const wide = store.divide(operator, 64, dividend, y);
      const one = wideDivision(store, isNarrow(dividend, y), narrow(short, dividend, y), wide);
      assert.ok(one);
      if (short === 'urem') assert.equal(one, wide);
      for (const a of samples)
        for (const b of samples) {
          const values = new Map([
            [x, a],
            [y, b],
            [thread.leaves[0]!, a & 0xffffffffn],
          ]);
          const choice = store.select(isNarrow(dividend, y), narrow(short, dividend, y), wide);
          assert.equal(valueOf(one, values), valueOf(choice, values), `${a} ${b}`);
        }
    }
  });

test('other selects do not match: another operand, another operation, a condition on only one of them', () => {
  const wide = store.divide('urem', 64, x, y);
  const short = narrow('urem', x, y);
  assert.equal(wideDivision(store, isNarrow(x, y), short, wide), wide);
  assert.equal(wideDivision(store, store.not(isNarrow(x, y)), wide, short), wide);
  assert.equal(wideDivision(store, store.not(isNarrow(x, y)), short, wide), null);
  assert.equal(wideDivision(store, isNarrow(x), short, wide), null);
  assert.equal(wideDivision(store, isNarrow(x, z), short, wide), null);
  assert.equal(wideDivision(store, isNarrow(x, y), narrow('urem', x, z), wide), null);
  assert.equal(wideDivision(store, isNarrow(x, y), narrow('udiv', x, y), wide), null);
  assert.equal(wideDivision(store, store.equal(store.or(64, x, y), zero), short, wide), null);
});

test('an and with the sign mask of another term is a select', () => {
  const mask = store.shift('ashr', 64, x, store.constant(64, 63n));
  const kept = domain.and(64, mask, y);
  assert.equal(kept.operator, 'select');
  assert.equal(domain.and(64, y, mask), kept);
  const shorter = domain.and(64, store.shift('ashr', 64, x, store.constant(64, 62n)), y);
  assert.equal(shorter.operator, 'and');
  for (const a of samples)
    for (const b of samples) {
      const values = new Map([
        [x, a],
        [y, b],
      ]);
      assert.equal(valueOf(kept, values), a >> 63n === 1n ? b : 0n);
    }
});
