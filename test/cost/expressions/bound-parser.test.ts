import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { parseBound } from '../../../src/cost/expressions/bound-parser.ts';
import { expressionText } from '../../../src/cost/expressions/expression-text.ts';
import {
  type Expression,
  add,
  ceilDivide,
  constant,
  evaluate,
  floorQuotient,
  log2,
  multiply,
  named,
  scale,
} from '../../../src/cost/expressions/expression.ts';
import { maximum, minimum } from '../../../src/cost/expressions/expression-order.ts';

function expressionOf(text: string): Expression {
  const parsed = parseBound(text);
  assert.ok('expression' in parsed, JSON.stringify(parsed));
  return parsed.expression;
}

test('bounds are read as they are printed', () => {
  const texts = [
    '0',
    '8*ceil(n/32) + 4',
    'floor(n/32)',
    '3*n/2',
    'n*p.n - 2*n',
    'max(n, 4)',
    'min(n, 64)',
    '2*floor(log2(n)) + 1',
    'ceil(log2(blockDim.x))',
    'ceil(n/(blockDim.x*gridDim.x))',
    'ceil((n + 3*m)/32)',
    '4*p@8',
  ];
  for (const text of texts) assert.equal(expressionText(expressionOf(text)), text);
  assert.equal(expressionText(expressionOf(' 8 * ceil( n / 32 )+ (4)')), '8*ceil(n/32) + 4');
  assert.equal(expressionText(expressionOf('ceil(n/4)/2 + ceil(n/4)/2')), 'ceil(n/4)');
  assert.equal(expressionText(expressionOf('floor((n/2)/(3/4))')), expressionText(floorQuotient(scale(named('n'), 2), constant(3))));
});

test('parsing a printed random expression gives the same expression', () => {
  const random = seededRandom(20261121);
  const make = (depth: number): Expression => {
    const part = (): Expression => make(depth - 1);
    if (depth === 0) return random.below(3) === 0 ? constant(random.below(40)) : named(['n', 'm', 'p.k'][random.below(3)]!);
    switch (random.below(8)) {
      case 0:
        return add(part(), part());
      case 1:
        return multiply(part(), part());
      case 2:
        return floorQuotient(part(), constant(1 + random.below(40)));
      case 3:
        return ceilDivide(part(), named('gridDim.x', 1n));
      case 4:
        return log2(part(), random.below(2) === 0 ? 'floor' : 'ceil');
      case 5:
        return maximum(part(), part());
      case 6:
        return minimum(part(), part());
      default:
        return ceilDivide(part(), constant(1 + random.below(40)));
    }
  };
  for (let round = 0; round < 400; round += 1) {
    const expression = make(3);
    const again = expressionOf(expressionText(expression));
    for (let point = 0; point < 5; point += 1) {
      const values = new Map(['n', 'm', 'p.k', 'gridDim.x'].map((name) => [name, BigInt(random.below(2000) + 1)]));
      const at = (name: string): bigint | undefined => values.get(name);
      assert.deepEqual(evaluate(again, at), evaluate(expression, at), expressionText(expression));
    }
  }
});

const refused: readonly (readonly [string, RegExp, number])[] = [
  ['', /ends too early/, 1],
  ['8*', /ends too early/, 3],
  ['8*ceil(n/32', /"\)" is missing/, 12],
  ['n/m', /must be rounded/, 1],
  ['log2(n)', /must be rounded/, 1],
  ['sqrt(n)', /no function "sqrt"/, 1],
  ['n 4', /"4" is not expected/, 3],
  ['n/0', /not positive/, 3],
  ['floor(n/0)', /not positive/, 9],
  ['1.5*n', /"\." is not expected/, 2],
  ['n % 4', /"%" is not expected/, 3],
  [`${'('.repeat(200)}n`, /too many parentheses/, 101],
];
for (const [text, message, column] of refused) {
  test(`a malformed bound is rejected: ${text.slice(0, 20)}`, () => {
    const parsed = parseBound(text);
    assert.ok('error' in parsed);
    assert.match(parsed.error, message);
    assert.equal(parsed.column, column);
  });
}
