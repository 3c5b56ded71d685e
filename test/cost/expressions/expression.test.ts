import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { parseBound } from '../../../src/cost/expressions/bound-parser.ts';
import { compareBounds } from '../../../src/cost/expressions/compared-bounds.ts';
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
  subtract,
} from '../../../src/cost/expressions/expression.ts';
import { expressionText } from '../../../src/cost/expressions/expression-text.ts';
import { isNonNegative, maximum, minimum, substitute } from '../../../src/cost/expressions/expression-order.ts';

const n = named('n');
const m = named('m');
const dim = named('blockDim.x', 1n);
const number = (value: number): Expression => constant(value);
const at = (expression: Expression, values: Record<string, number>): number => {
  const value = evaluate(expression, (name) => (name in values ? BigInt(values[name]!) : undefined));
  assert.ok(value, expressionText(expression));
  return Number(value.top) / Number(value.bottom);
};

test('expressions are printed in a normal form', () => {
  const cases: readonly (readonly [Expression, string])[] = [
    [add(scale(ceilDivide(n, number(32)), 8), number(4)), '8*ceil(n/32) + 4'],
    [subtract(add(n, m), add(m, n)), '0'],
    [floorQuotient(add(scale(n, 4), number(6)), number(4)), 'n + 1'],
    [floorQuotient(add(n, number(70)), number(32)), 'floor((n + 6)/32) + 2'],
    [ceilDivide(subtract(n, m), number(2)), 'ceil((n - m)/2)'],
    [ceilDivide(n, dim), 'ceil(n/blockDim.x)'],
    [ceilDivide(multiply(n, dim), dim), 'n'],
    [scale(multiply(n, subtract(n, number(1))), { top: 1n, bottom: 2n }), 'n*n/2 - n/2'],
    [maximum(n, number(0)), 'n'],
    [maximum(subtract(n, m), number(0)), 'max(0, n - m)'],
    [minimum(n, add(n, number(3)), m), 'min(m, n)'],
    [add(log2(n, 'ceil'), number(1)), 'ceil(log2(n)) + 1'],
    [log2(number(255), 'floor'), '7'],
    [log2(number(257), 'ceil'), '9'],
    [floorQuotient(number(-7), number(2)), '-4'],
    [number(-3), '-3'],
  ];
  for (const [expression, text] of cases) assert.equal(expressionText(expression), text);
});

test('the iteration count of a rotated loop is merged with adjacent addends', () => {
  const rounds = (length: Expression, step: number): Expression =>
    maximum(subtract(ceilDivide(length, number(step)), number(1)), number(0));
  const rotated = floorQuotient(maximum(subtract(n, number(1)), number(0)), number(128));
  const cases: readonly (readonly [Expression, string])[] = [
    [add(scale(rounds(n, 128), 404), number(404)), '404*max(1, ceil(n/128))'],
    [add(scale(rounds(n, 128), 4), number(10)), '4*max(1, ceil(n/128)) + 6'],
    [add(scale(multiply(m, rounds(n, 128)), 4), scale(m, 4)), '4*m*max(1, ceil(n/128))'],
    [add(scale(rotated, 4), number(4)), '4*max(1, ceil(n/128))'],
    // The addend is too small to be merged.
    [add(scale(rounds(n, 128), 4), number(3)), '4*max(0, ceil(n/128) - 1) + 3'],
  ];
  for (const [expression, text] of cases) assert.equal(expressionText(expression), text);
  const random = seededRandom(3);
  for (let round = 0; round < 300; round++) {
    const part = (): Expression => {
      const length = [n, m, add(n, scale(m, 2))][random.below(3)]!;
      const times = [number(1), n, rounds(m, 1 + random.below(9))][random.below(3)]!;
      return scale(multiply([rounds(length, 1 + random.below(40)), rotated, m][random.below(3)]!, times), random.below(9) - 2);
    };
    const expression = add(part(), part(), number(random.below(20)), scale(n, random.below(6)));
    const printed = parseBound(expressionText(expression));
    assert.ok('expression' in printed, expressionText(expression));
    const values = { n: random.below(300), m: random.below(300) };
    assert.equal(at(printed.expression, values), at(expression, values), expressionText(expression));
  }
});

test('expressions evaluate to the result of their operations', () => {
  const random = seededRandom(11);
  for (let round = 0; round < 500; round++) {
    const [a, b, c] = [random.below(300), random.below(300), 1 + random.below(40)];
    const values = { n: a, m: b, 'blockDim.x': c };
    const k = 1 + random.below(40);
    assert.equal(at(ceilDivide(add(scale(n, 3), m), number(k)), values), Math.ceil((3 * a + b) / k));
    assert.equal(at(floorQuotient(subtract(n, m), number(k)), values), Math.floor((a - b) / k));
    assert.equal(at(ceilDivide(add(multiply(n, dim), m), dim), values), Math.ceil((a * c + b) / c));
    assert.equal(at(maximum(subtract(n, m), number(0), number(k)), values), Math.max(a - b, k));
    assert.equal(at(minimum(scale(n, 2), m), values), Math.min(2 * a, b));
    if (a > 0) assert.equal(at(log2(n, 'floor'), values), Math.floor(Math.log2(a)));
    if (a > 0) assert.equal(at(log2(n, 'ceil'), values), Math.ceil(Math.log2(a)));
    const inner = substitute(ceilDivide(n, number(k)), () => add(m, number(5)));
    assert.equal(at(inner, values), Math.ceil((b + 5) / k));
  }
  assert.equal(
    evaluate(n, () => undefined),
    null,
  );
  assert.equal(at(log2(n, 'ceil'), { n: 0 }), 0);
});

test('expressions that are proved non-negative never evaluate to a negative value', () => {
  const random = seededRandom(12);
  const leaves = [n, m, dim, number(1), number(3), number(-2)];
  const draw = (depth: number): Expression => {
    if (depth === 0) return random.pick(leaves);
    const [a, b] = [draw(depth - 1), draw(depth - 1)];
    const choices = [
      () => add(a, b),
      () => subtract(a, b),
      () => multiply(a, b),
      () => floorQuotient(a, number(1 + random.below(9))),
      () => ceilDivide(a, dim),
      () => maximum(a, b),
      () => minimum(a, b),
      () => log2(a, random.pick(['floor', 'ceil'])),
    ];
    return random.pick(choices)();
  };
  let proved = 0;
  for (let round = 0; round < 3000; round++) {
    const expression = draw(1 + random.below(3));
    if (!isNonNegative(expression)) continue;
    proved++;
    for (let sample = 0; sample < 12; sample++) {
      const values = { n: random.below(60), m: random.below(60), 'blockDim.x': 1 + random.below(40) };
      assert.ok(at(expression, values) >= 0, `${expressionText(expression)} at ${JSON.stringify(values)}`);
    }
  }
  assert.ok(proved > 500, String(proved));
});

test('expressions are compared', () => {
  const base = add(scale(ceilDivide(n, number(32)), 8), number(4));
  assert.deepEqual(compareBounds(base, add(number(4), scale(ceilDivide(n, number(32)), 8))), { kind: 'equal' });
  assert.deepEqual(compareBounds(base, scale(base, 4)), { kind: 'larger' });
  assert.deepEqual(compareBounds(scale(base, 4), base), { kind: 'smaller' });
  assert.deepEqual(compareBounds(base, multiply(base, n)), { kind: 'other-order', name: 'n', grows: 'faster' });
  assert.deepEqual(compareBounds(n, log2(n, 'floor')), { kind: 'other-order', name: 'n', grows: 'slower' });
  assert.deepEqual(compareBounds(number(8), log2(n, 'floor')), { kind: 'other-order', name: 'n', grows: 'faster' });
  assert.deepEqual(compareBounds(scale(n, 2), add(n, number(7))), { kind: 'incomparable' });
  assert.deepEqual(compareBounds(n, m), { kind: 'incomparable' });
  assert.deepEqual(compareBounds(number(3), number(12)), { kind: 'larger' });
});

test('comparisons of names with the same name and other least values are separate', () => {
  // One after the other, as kernels of one run are compared.
  assert.equal(expressionText(maximum(number(1), named('k', 1n))), 'k');
  assert.equal(expressionText(maximum(number(1), named('k'))), 'max(1, k)');
  const half = (least: bigint): Expression => floorQuotient(add(named('k', least), number(1)), number(2));
  assert.equal(expressionText(maximum(number(1), half(1n))), 'ceil(k/2)');
  assert.equal(expressionText(maximum(number(1), half(0n))), 'max(1, ceil(k/2))');
});
