import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fact, integer, symbolTerm, termConstant } from '../../src/assumptions/expression.ts';
import { compared } from '../../src/assumptions/simplify.ts';
import { substitutionOf } from '../../src/assumptions/substitution.ts';

const symbol = (at: number) => symbolTerm({ id: `s${at}`, label: `s${at}` });
const equal = (at: number, value: number): Fact => compared('==', symbol(at), integer(value));
const below = (at: number, value: number): Fact => compared('<', symbol(at), integer(value));

test('the condition of an iteration holds in the later iterations, and not in earlier ones', () => {
  // More iterations than layers, queried in order as the launches of a loop are.
  const facts = Array.from({ length: 50 }, (_, at) => equal(at, at + 1));
  const asked = facts.map((_, at) => substitutionOf(facts.slice(0, at + 1)));
  for (const [at, { term }] of asked.entries()) {
    for (let other = 0; other < facts.length; other++)
      assert.equal(termConstant(term(symbol(other))), other <= at ? BigInt(other + 1) : undefined, `${at}, ${other}`);
  }
});

test('facts about one path are not used on another path', () => {
  const shared = [equal(0, 4)];
  const [first, second] = [substitutionOf(shared, [equal(1, 5), below(2, 9)]), substitutionOf(shared, [equal(1, 6)])];
  assert.equal(termConstant(first.term(symbol(1))), 5n);
  assert.equal(termConstant(second.term(symbol(1))), 6n);
  assert.equal(termConstant(second.term(symbol(0))), 4n);
  assert.equal(termConstant(substitutionOf(shared).term(symbol(1))), undefined);
});
