/** Orders between terms, and limits that follow through quotients, shifts and masks: for all values of 8 bits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readComparison, uncovered } from '../../../src/analysis/loops/ordered-terms.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import { type Term, TermStore } from '../../../src/term/term.ts';

const width = 8;
const store = new TermStore();
const x = store.atom(width, { kind: 'parameter', index: 0, offset: 0, bytes: 1 });
const number = (value: number): Term => store.constant(width, BigInt(value));
const at = (term: Term, value: number): bigint => evaluateTerm(term, () => BigInt(value), new Map())!;

function holds(
  { smaller, larger, strict, signed }: { smaller: Term; larger: Term; strict: boolean; signed: boolean },
  value: number,
): boolean {
  const read = (term: Term): bigint => (signed ? BigInt.asIntN(width, at(term, value)) : at(term, value));
  return strict ? read(smaller) < read(larger) : read(smaller) <= read(larger);
}

const tests: readonly Term[] = [1, 5, 100, 200].flatMap((limit) => [
  store.unsignedLess(x, number(limit)),
  store.signedLess(x, number(limit)),
  store.unsignedLess(number(limit), x),
  store.signedLess(number(limit), x),
  store.not(store.unsignedLess(x, number(limit))),
  store.not(store.signedLess(number(limit), x)),
  store.not(store.equal(x, number(0))),
]);

test('a comparison is the same order', () => {
  for (const condition of tests) {
    const comparison = readComparison(condition);
    assert.ok(comparison);
    for (let value = 0; value < 256; value++)
      assert.equal(holds(comparison, value), at(condition, value) === 1n, `${condition.operator} ${value}`);
  }
  for (const condition of [store.equal(x, number(0)), store.equal(x, number(3)), store.not(store.equal(x, number(3))), store.true])
    assert.equal(readComparison(condition), null, condition.operator);
});

test('the limit of a covered term is that of its operand', () => {
  const covers: readonly [string, (term: Term) => Term][] = [
    ['as it is', (term) => term],
    ['/ 3', (term) => store.divide('udiv', width, term, number(3))],
    ['/ 10', (term) => store.divide('udiv', width, term, number(10))],
    ['>> 2', (term) => store.shift('lshr', width, term, number(2))],
    ['& 15', (term) => store.and(width, term, number(15))],
    ['& 7', (term) => store.and(width, term, number(7))],
    ['& 14', (term) => store.and(width, term, number(14))],
    ['* 3', (term) => store.sum(width, 0n, [[term, 3n]])],
  ];
  let changed = 0;
  for (const [outer, cover] of covers)
    for (const [inner, under] of covers)
      for (const signed of [false, true])
        for (const strict of [false, true])
          for (const limit of [0, 1, 3, 7, 8, 14, 15, 16, 40, 127, 128, 255]) {
            const smaller = cover(under(x));
            const comparison = { smaller, larger: number(limit), strict, signed };
            const { most, ...found } = uncovered(store, comparison);
            const where = `x ${inner} ${outer} ${signed ? 'signed' : 'unsigned'} ${strict ? '<' : '<='} ${limit}`;
            if (found.smaller === smaller) {
              assert.deepEqual({ ...found }, comparison, where);
              continue;
            }
            changed++;
            for (let value = 0; value < 256; value++) {
              if (most !== null && at(found.smaller, value) > most) continue;
              // A signed limit bounds negative values on one side only.
              const isExact = !signed || at(found.smaller, value) < 128n;
              assert.ok(holds(found, value) || !holds(comparison, value), `${where}, x = ${value}`);
              if (isExact) assert.equal(holds(found, value), holds(comparison, value), `${where}, x = ${value}`);
            }
          }
  assert.ok(changed > 100, `${changed}`);
  // Which limits are found.
  const limitOf = (smaller: Term, limit: number, strict = true): string => {
    const { larger, most } = uncovered(store, { smaller, larger: number(limit), strict, signed: false });
    return `${larger.value} ${most}`;
  };
  const quotient = store.divide('udiv', width, x, number(10));
  assert.equal(limitOf(quotient, 5), '49 null');
  assert.equal(limitOf(quotient, 5, false), '59 null');
  assert.equal(limitOf(quotient, 25), '249 null');
  assert.equal(limitOf(quotient, 26), '26 null');
  assert.equal(limitOf(quotient, 0), '0 null');
  assert.equal(limitOf(store.shift('lshr', width, x, number(2)), 8), '31 null');
  assert.equal(limitOf(store.and(width, x, number(15)), 8), '7 15');
  assert.equal(limitOf(store.and(width, x, number(15)), 15), '14 15');
  assert.equal(limitOf(store.and(width, x, number(15)), 16), '16 null');
});
