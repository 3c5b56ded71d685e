import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternativesOf } from '../../src/assumptions/cases.ts';
import { isContradictory } from '../../src/assumptions/contradiction.ts';
import { constantOf, evaluateCondition, evaluateExpression } from '../../src/assumptions/evaluate.ts';
import {
  type Condition,
  type Fact,
  type HostTerm,
  type LaunchName,
  comparison,
  integer,
  one,
  operation,
  parameter,
  symbolTerm,
} from '../../src/assumptions/expression.ts';
import { hasChoice, isSame } from '../../src/assumptions/parts.ts';
import { printExpression } from '../../src/assumptions/print-assumption.ts';
import { namesOfTerms, renamed, renamedFact } from '../../src/assumptions/renaming.ts';
import { arithmetic, choice, compared, dividedUp, negatedFact } from '../../src/assumptions/simplify.ts';
import { substitutionOf } from '../../src/assumptions/substitution.ts';
import { seededRandom } from '../../src/base/random.ts';
import { type RandomTerm, RandomTerms } from './random-terms.ts';

/** The value of a term for values of the symbols. */
function valueOf(term: HostTerm, symbols: readonly RandomTerm[]): bigint | undefined {
  return constantOf(substitutionOf(symbols.map(({ term: symbol, value }) => compared('==', symbol, integer(value)))).term(term));
}

test('a simplified term has the value of its operations', () => {
  const random = seededRandom(11);
  for (let sample = 0; sample < 2000; sample++) {
    const terms = new RandomTerms(random);
    const { term, value } = terms.term(4);
    assert.equal(valueOf(term, terms.symbols), value, printExpression(term));
  }
});

test('what true facts imply for a term does not change its value, and they do not contradict each other', () => {
  const random = seededRandom(12);
  const counts = { changed: 0, alternatives: 0 };
  for (let sample = 0; sample < 2000; sample++) {
    const terms = new RandomTerms(random);
    const pinned = terms.term(1);
    const stated = [1, 2].map(() => terms.fact(2)).map(({ fact, holds }) => (holds ? fact : negatedFact(fact)));
    const facts = [compared('==', pinned.term, integer(pinned.value)), ...stated];
    const { term, value } = terms.term(3);
    const replaced = substitutionOf(facts).term(term);
    const where = `${printExpression(term)} becomes ${printExpression(replaced)}`;
    assert.equal(valueOf(replaced, terms.symbols), value, where);
    assert.equal(isContradictory(facts), false);
    if (!isSame(term, replaced)) counts.changed++;
    const cases = hasChoice(term) ? alternativesOf([term], 8) : null;
    if (!cases) continue;
    counts.alternatives++;
    // Exactly one case holds, and gives the term its value.
    const known = substitutionOf(terms.symbols.map(({ term: symbol, value: own }) => compared('==', symbol, integer(own))));
    const holding = cases.filter((one) => one.every((fact) => evaluateCondition(known.fact(fact), () => undefined) === true));
    assert.equal(holding.length, 1, where);
    assert.equal(valueOf(substitutionOf(holding[0]!).term(term), terms.symbols), value, where);
  }
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 150, `${name}: ${count}`);
});

test('two terms have one text if and only if they are equal', () => {
  const random = seededRandom(13);
  const known = new Map<string, HostTerm>();
  for (let sample = 0; sample < 3000; sample++) {
    const { term } = new RandomTerms(random).term(3);
    const text = printExpression(term);
    const other = known.get(text);
    if (other) assert.ok(isSame(term, other), text);
    known.set(text, term);
  }
  const all = [...known.values()].slice(0, 300);
  for (const [at, a] of all.entries()) for (const b of all.slice(at + 1)) assert.ok(!isSame(a, b), printExpression(a));
});

test('a term over the names of a launch has the value of the term over symbols', () => {
  const random = seededRandom(14);
  const counts = { terms: 0, facts: 0 };
  for (let sample = 0; sample < 4000; sample++) {
    const terms = new RandomTerms(random);
    const named = [...terms.symbols.slice(0, 2), terms.term(1), terms.term(2)].map((own, at): readonly [RandomTerm, LaunchName] => [
      own,
      parameter(`p${at}`),
    ]);
    const names = namesOfTerms(named.map(([{ term }, name]) => [term, name]));
    const lookup = (name: LaunchName): bigint | undefined => named.find(([, own]) => isSame(own, name))?.[0].value;
    const { term, value } = terms.term(3);
    const expression = renamed(term, names);
    if (expression) {
      counts.terms++;
      assert.equal(evaluateExpression(expression, lookup), value, `${printExpression(term)}: ${printExpression(expression)}`);
    }
    const { fact, holds } = terms.fact(2);
    const condition = renamedFact(fact, names);
    if (!condition) continue;
    counts.facts++;
    assert.equal(evaluateCondition(condition, lookup), holds);
  }
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 500, `${name}: ${count}`);
});

test('quotients that are rounded up have one form', () => {
  const [n, b] = ['n', 'b'].map((id) => symbolTerm({ id, label: id }));
  const whole = dividedUp(n!, b!)!;
  assert.equal(printExpression(whole), '(‹n› + (‹b› + -1)) / ‹b›');
  const [quotient, rest] = [arithmetic('/', n!, b!)!, arithmetic('%', n!, b!)!];
  const next = arithmetic('+', quotient, one)!;
  for (const same of [
    arithmetic('+', quotient, choice(compared('!=', rest, integer(0)), one, integer(0))!),
    choice(compared('==', rest, integer(0)), quotient, next),
    choice(compared('>', rest, integer(0)), next, quotient),
  ])
    assert.ok(same && isSame(same, whole));
});

test('an unknown condition decides choices, and comparisons of one term contradict each other', () => {
  const [n, m] = ['n', 'm'].map((id) => symbolTerm({ id, label: id })) as [HostTerm, HostTerm];
  const unknown: Fact = { kind: 'unknown', id: 'q' };
  const chosen = choice(unknown, n, m)!;
  assert.equal(substitutionOf([unknown]).term(chosen), n);
  assert.equal(substitutionOf([negatedFact(unknown)]).term(chosen), m);
  const above = compared('>', arithmetic('+', n, integer(2))!, integer(5));
  assert.ok(isContradictory([above, compared('<', n, integer(4))]));
  assert.ok(!isContradictory([above, compared('<', n, integer(5))]));
  assert.ok(isContradictory([above, compared('<=', n, integer(4)), compared('!=', integer(4), n)]));
  const power = arithmetic('<<', integer(1), m)!;
  assert.ok(isContradictory([compared('>', power, integer(4)), compared('<', power, integer(8))]));
});

test('bounds of quotients become bounds of names', () => {
  const n = symbolTerm({ id: 'n', label: 'n' });
  const names = namesOfTerms([[arithmetic('*', n, integer(4)), parameter('m')]]);
  const restated = (operator: '<' | '<=' | '>' | '>='): Condition | null =>
    renamedFact(compared(operator, arithmetic('/', n, integer(2))!, integer(10)), names);
  const limits = { '<': 80n, '<=': 87n, '>': 87n, '>=': 80n };
  for (const [operator, limit] of Object.entries(limits))
    assert.deepEqual(
      restated(operator as keyof typeof limits),
      comparison(parameter('m'), operator as keyof typeof limits, integer(limit)),
    );
  assert.deepEqual(renamed(arithmetic('-', n, integer(1))!, names), operation('-', operation('/', parameter('m'), integer(4)), integer(1)));
});
