import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/base/random.ts';
import { parseAssumption } from '../../src/assumptions/assumption-parser.ts';
import { evaluateCondition, evaluateExpression } from '../../src/assumptions/evaluate.ts';
import {
  type AssumptionExpression,
  type Condition,
  type IntegerExpression,
  dimension,
  integer,
  negative,
  parameter,
} from '../../src/assumptions/expression.ts';
import type { ArithmeticOperator } from '../../src/assumptions/operators.ts';
import { printAssumption, printExpression } from '../../src/assumptions/print-assumption.ts';

function parsed(text: string): AssumptionExpression {
  const result = parseAssumption(text);
  if ('error' in result) assert.fail(`${text}: ${result.error} (column ${result.column})`);
  return result.expression;
}

function holds(text: string, values: Readonly<Record<string, bigint>> = {}): boolean | undefined {
  const assumption = parsed(text);
  assert.equal(assumption.kind, 'condition');
  return assumption.kind === 'condition' ? evaluateCondition(assumption.condition, (name) => values[printExpression(name)]) : undefined;
}

test('every form prints in its canonical spelling', () => {
  for (const [text, printed] of [
    ['n%32==0', 'n % 32 == 0'],
    ['n <= 1<<24', 'n <= 1 << 24'],
    ['( n ) > -( 3 )', 'n > -3'],
    ['p.n*2 >= gridDim.x * blockDim.x', 'p.n * 2 >= gridDim.x * blockDim.x'],
    ['a - (b - c) == (a - b) - c', 'a - (b - c) == a - b - c'],
    ['(n & 31) == 0', '(n & 31) == 0'],
    ['n == (1 | 2) + 1', 'n == (1 | 2) + 1'],
    ['!(a<b)&&(c==d||e!=f)', '!(a < b) && (c == d || e != f)'],
    ['a<1||b<1&&c<1', 'a < 1 || b < 1 && c < 1'],
    ['param0 == 0x10u', 'param0 == 16'],
    ['warpSize == 32', 'warpSize == 32'],
    ['distinct( idx )', 'distinct(idx)'],
    ['idx[*] in 0..n-1', 'idx[*] in 0..n - 1'],
    ['p.idx[ * ] in -1..(n|1)', 'p.idx[*] in -1..n | 1'],
    ['apart(a,p.b)', 'apart(a, p.b)'],
    ['apart( p.b [*])', 'apart(p.b[*])'],
    ['extent(A) >= 4*n', 'extent(A) >= 4 * n'],
  ] as const) {
    assert.equal(printAssumption(parsed(text)), printed);
    assert.deepEqual(parsed(printed), parsed(text));
  }
});

test('operators bind as in C', () => {
  assert.equal(holds('2 + 3 * 4 == 14'), true);
  assert.equal(holds('1 << 2 + 1 == 8'), true);
  assert.equal(holds('20 / 3 * 3 == 18'), true);
  assert.equal(holds('-7 / 2 == -3 && -7 % 2 == -1'), true);
  assert.equal(holds('(6 | 1 & 3) == 7'), true);
  assert.equal(holds('1 == 2 || 1 == 1 && 2 == 2'), true);
  assert.equal(holds('!(1 == 1) || !(2 == 3)'), true);
  assert.equal(holds('n % blockDim.x == 0', { n: 64n, 'blockDim.x': 32n }), true);
});

test('unknown operands make a result unknown, unless the others decide it', () => {
  assert.equal(holds('n > 0'), undefined);
  assert.equal(holds('n > 0 || 1 == 1'), true);
  assert.equal(holds('n > 0 && 1 == 2'), false);
  assert.equal(holds('1 / n == 1', { n: 0n }), undefined);
  assert.equal(holds('1 << n > 0', { n: 64n }), undefined);
  assert.equal(holds('1 << n > 0', { n: -1n }), undefined);
  const sum = parsed('a + 1 == 0');
  assert.ok(sum.kind === 'condition' && sum.condition.kind === 'comparison');
  assert.equal(
    evaluateExpression(sum.condition.left, () => undefined),
    undefined,
  );
});

test('malformed assumptions are rejected, with their column', () => {
  for (const [text, column, message] of [
    ['', 1, /empty/],
    ['n', 1, /not a condition/],
    ['n = 3', 3, /write ==/],
    ['n >> 2 == 1', 3, />>/],
    ['n ^ 2 == 1', 3, /"\^"/],
    ['p->n == 1', 2, /p\.n/],
    ['n & 31 == 0', 1, /parentheses around n & 31/],
    ['0 == n & 31', 6, /parentheses around n & 31/],
    ['0 <= n < 5', 8, /do not chain/],
    ['n == 1.5', 6, /1\.5/],
    ['n == 010', 6, /octal/],
    ['n == 5x', 6, /5x/],
    ['blockDim == 1', 1, /blockDim\.x, \.y or \.z/],
    ['gridDim.w == 1', 1, /three components/],
    ['threadIdx.x == 1', 1, /differs between threads/],
    ['true', 1, /write a comparison/],
    ['min(a, b) == 1', 1, /min\(…\) is not part/],
    ['distnct(a)', 1, /did you mean distinct/],
    ['n > 0 && distinct(a)', 10, /separate assumption/],
    ['distinct(a) && n > 0', 13, /separate assumption/],
    ['a[0] == 1', 2, /expected "\*"|a\[\*\] in/],
    ['n == a[0]', 7, /a\[\*\] in lo\.\.hi/],
    ['a[*] in 0', 10, /expected "\.\." before the end/],
    ['apart(a)', 8, /expected ","/],
    ['apart(a[*], b)', 11, /expected "\)" before ","/],
    ['extent(a) > 3', 11, /expected ">="/],
    ['(n == 1', 8, /expected "\)" before the end/],
    ['n == 1)', 7, /not expected/],
    ['n == 1 n', 8, /not expected/],
    ['n == ', 5, /before the end/],
    ['(a == 1) + 2 == 3', 1, /not a number/],
    ['a + (b < c) == 1', 5, /not a number/],
    ['n ? 1 : 2', 3, /"\?"/],
    ['n == "x"', 6, /"""/],
    ['n == n;', 7, /";"/],
    ['n % 0 == 5', 5, /no value for the divisor 0; write another/],
    ['n / 0 == 1', 5, /no value for the divisor 0; write another/],
    ['n == 8 % (warpSize - 32)', 10, /no value for the divisor warpSize - 32, which is 0/],
    ['n < 5 || !(7 / (3 & 4) == n)', 16, /the divisor 3 & 4, which is 0/],
    ['n << -1 == 0', 6, /no value for a shift by -1; write 0 to 63/],
    ['n << 64 == 0', 6, /no value for a shift by 64; write 0 to 63/],
    ['a[*] in 0..1 << 2 * 40', 17, /a shift by 2 \* 40, which is 80/],
  ] as const) {
    const result = parseAssumption(text);
    if (!('error' in result)) assert.fail(`${text} was accepted`);
    assert.match(result.error, message, text);
    assert.equal(result.column, column, `${text}: ${result.error}`);
  }
  for (const text of ['('.repeat(5000), '!'.repeat(1999), '-'.repeat(1500) + '1 == 1', 'n'.repeat(3000)]) {
    assert.ok('error' in parseAssumption(text));
  }
});

test('printing and parsing are inverse on random assumptions', () => {
  const random = seededRandom(3);
  for (let round = 0; round < 1000; round++) {
    const assumption = randomAssumption(random);
    const text = printAssumption(assumption);
    assert.deepEqual(parsed(text), assumption, text);
  }
});

function randomAssumption(random: Random): AssumptionExpression {
  if (random.chance(0.7)) return { kind: 'condition', condition: randomCondition(random, 3) };
  return random.pick([
    { kind: 'distinct', array: 'a' },
    { kind: 'apart', first: 'a', second: 'p.b' },
    { kind: 'extent', array: 'a', atLeast: randomExpression(random, 3) },
    { kind: 'elements', array: 'a.b', low: randomExpression(random, 2), high: randomExpression(random, 2) },
  ] as const);
}

function randomCondition(random: Random, depth: number): Condition {
  const kind = depth === 0 ? 'comparison' : random.pick(['comparison', 'and', 'or', 'not'] as const);
  if (kind === 'not') return { kind, operand: randomCondition(random, depth - 1) };
  if (kind !== 'comparison') return { kind, left: randomCondition(random, depth - 1), right: randomCondition(random, depth - 1) };
  const operator = random.pick(['==', '!=', '<', '<=', '>', '>='] as const);
  return { kind, operator, left: randomExpression(random, 3), right: randomExpression(random, 3) };
}

function randomExpression(random: Random, depth: number): IntegerExpression {
  if (depth > 0 && random.chance(0.6)) {
    if (random.chance(0.2)) return negative(randomExpression(random, depth - 1));
    const left = randomExpression(random, depth - 1);
    const right = randomExpression(random, depth - 1);
    const known = evaluateExpression(right, () => undefined);
    // Divisors and shifts without a value are rejected.
    const operators = [
      '+',
      '-',
      '*',
      '&',
      '|',
      ...(known === 0n ? [] : ['/', '%']),
      ...(known === undefined || (known >= 0n && known < 64n) ? ['<<'] : []),
    ] as const;
    return { kind: 'arithmetic', operator: random.pick(operators) as ArithmeticOperator, left, right };
  }
  return random.pick([
    integer(random.below(200) - 99),
    parameter('n'),
    parameter('p', 'x'),
    dimension('blockDim', 1),
    { ...integer(32), text: 'warpSize' },
  ] as const);
}
