import type { ParameterSource } from '../../../src/launch/parameter-source.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import {
  conditionsOf,
  encodeComparison,
  encodeCondition,
  multipleOf,
  namedScalar,
  pinnedScalar,
  scalarBounds,
} from '../../../src/check/premises/premises.ts';
import { parseAssumption } from '../../../src/assumptions/assumption-parser.ts';
import type { Condition } from '../../../src/assumptions/expression.ts';
import { type Lookup, evaluateCondition } from '../../../src/assumptions/evaluate.ts';

const parameters: ParameterSource[] = [
  { name: 'n', type: 'int' },
  { name: 'u', type: 'unsigned int' },
  { name: 'scale', type: 'float' },
  {
    name: 'v',
    type: 'View',
    fields: [
      { name: 'data', offset: 0, type: 'float *' },
      { name: 'inner.width', offset: 8, type: 'int' },
      { name: 'ratio', offset: 12, type: 'float' },
    ],
  },
  { name: 'opaque', type: 'Opaque' },
];

function conditions(...texts: string[]) {
  return conditionsOf(
    texts.map((text) => {
      const parsed = parseAssumption(text);
      if ('error' in parsed) assert.fail(`${text}: ${parsed.error}`);
      return { expression: parsed.expression, text };
    }),
  );
}
const pinned = (index: number, offset: number, bytes: number, ...texts: string[]): bigint | undefined =>
  pinnedScalar(conditions(...texts), parameters, index, offset, bytes);

test('a name denotes a whole integer of the kernel', () => {
  const place = (...path: string[]) => {
    const found = namedScalar(parameters, path);
    return found && [found.index, found.offset];
  };
  assert.deepEqual(place('n'), [0, 0]);
  assert.deepEqual(place('v', 'inner', 'width'), [3, 8]);
  assert.deepEqual(place('param3', 'inner', 'width'), [3, 8]);
  assert.deepEqual(place('param9'), [9, 0], 'PTX without source');
  assert.equal(place('v'), null, 'a struct is not an integer');
  assert.equal(place('v', 'width'), null);
  assert.equal(place('opaque', 'width'), null);
  assert.equal(place('scale'), null, 'the bits of a float are not an integer');
  assert.equal(place('v', 'ratio'), null);
  assert.equal(place('m'), null);
});

test('assumptions fix a scalar if only one value satisfies them', () => {
  assert.equal(pinned(0, 0, 4, 'n == 64'), 64n);
  assert.equal(pinned(0, 0, 4, 'n == -1'), 0xffffffffn);
  assert.equal(pinned(0, 0, 4, 'n > 2 && 4 > n'), 3n);
  assert.equal(pinned(0, 0, 4, '2 * 8 <= n', 'n <= warpSize / 2'), 16n);
  assert.equal(pinned(1, 0, 4, 'u <= 0'), 0n, 'an unsigned integer is at least 0');
  assert.equal(pinned(0, 0, 4, 'n <= 0'), undefined);
  assert.equal(pinned(0, 0, 4, 'n == 4 || n == 5'), undefined);
  assert.equal(pinned(0, 0, 4, 'n == 4', 'n == 5'), undefined);
  assert.equal(pinned(0, 0, 4, 'n == u'), undefined);
  assert.equal(pinned(3, 8, 4, 'v.inner.width == 7'), 7n);
  assert.equal(pinned(3, 0, 4, 'v.inner.width == 7'), undefined);
});

test('an assumption does not apply to part of an integer, to several at once, or to the bits of a float', () => {
  assert.equal(pinned(0, 0, 2, 'n == 64'), undefined);
  assert.equal(pinned(3, 8, 8, 'v.inner.width == 7'), undefined);
  assert.equal(pinned(2, 0, 4, 'scale == 1'), undefined);
  assert.equal(pinned(3, 12, 4, 'v.ratio == 1'), undefined);
  const { low, high } = scalarBounds(conditions('v.inner.width <= 7'), parameters, 3, 8, 8);
  assert.deepEqual([low, high], [-(1n << 63n), (1n << 63n) - 1n]);
});

test('masking with low bits is a remainder', () => {
  for (const text of ['(n & 7) == 0', '0 == (7 & n)', 'n % 8 == 0']) assert.equal(multipleOf(conditions(text)[0]!)?.divisor, 8n, text);
  for (const text of ['(n & 6) == 0', '(n & 7) == 1', '(n & -8) == 0', '(n & u) == 0', '(n & 0) == 0'])
    assert.equal(multipleOf(conditions(text)[0]!), null, text);
  const [odd] = conditions('(n & 1) == 1');
  assert.equal(encoded(odd!), '(= (mod n 2) 1)');
});

const encoded = (condition: Condition): string | null => encodeCondition(condition, (one) => encodeComparison(one, vocabulary, parameters));

const vocabulary = {
  parameter: ({ index }: { index: number }): string => parameters[index]!.name,
  dimension: (name: string, axis: number): string => `${name}.${'xyz'[axis]!}`,
  product: (): string => assert.fail('no products'),
};

/** The value of an SMT-LIB term over the integers. */
function valueOf(text: string, values: Readonly<Record<string, bigint>>): bigint | boolean {
  const tokens = text.match(/[()]|[^\s()]+/g)!;
  let at = 0;
  const read = (): bigint | boolean => {
    const token = tokens[at++]!;
    if (token !== '(') return values[token] ?? BigInt(token);
    const operator = tokens[at++]!;
    const operands: (bigint | boolean)[] = [];
    while (tokens[at] !== ')') operands.push(read());
    at++;
    const [a, b, c] = operands as [bigint, bigint, bigint];
    const rest = (): bigint => ((a % b) + b) % b;
    const meanings: Record<string, () => bigint | boolean> = {
      '=': () => a === b,
      '<': () => a < b,
      '<=': () => a <= b,
      '>': () => a > b,
      '>=': () => a >= b,
      not: () => !a,
      and: () => operands.every(Boolean),
      or: () => operands.some(Boolean),
      ite: () => (a ? b : c),
      '+': () => a + b,
      '*': () => a * b,
      '-': () => (operands.length === 1 ? -a : a - b),
      mod: rest,
      div: () => (a - rest()) / b,
    };
    return meanings[operator]!();
  };
  return read();
}

test('an execution satisfies an assumption if its conditions hold, and then its premises are true', () => {
  const random = seededRandom(5);
  const expression = (depth: number): string => {
    if (depth === 0 || random.chance(0.3)) return random.pick(['n', 'u', 'n', 'u', '0', '1', '3', '7', '-2']);
    const operand = expression(depth - 1);
    const operator = random.pick(['+', '-', '/', '%', '<<', '&', '*']);
    if (operator === '*') return `(${operand} * ${random.pick(['2', '-3'])})`;
    const other = random.chance(0.4) ? random.pick(['2', '1', '5']) : expression(depth - 1);
    return `(${operand} ${operator} ${operator === '&' && random.chance(0.5) ? '3' : other})`;
  };
  const condition = (depth: number): string => {
    if (depth > 0 && random.chance(0.5))
      return `${random.pick(['', '!'])}(${condition(depth - 1)} ${random.pick(['&&', '||'])} ${condition(depth - 1)})`;
    return `${random.pick(['', '', '!'])}(${expression(2)} ${random.pick(['==', '!=', '<', '>='])} ${expression(1)})`;
  };
  const counts = { satisfied: 0, unspecified: 0, premises: 0 };
  for (let sample = 0; sample < 4000; sample++) {
    const text = condition(2);
    const parsed = parseAssumption(text);
    if ('error' in parsed) {
      assert.match(parsed.error, /no value/, text);
      continue;
    }
    assert.ok(parsed.expression.kind === 'condition');
    const parts = conditions(text);
    for (let draw = 0; draw < 8; draw++) {
      const values: Record<string, bigint> = { n: BigInt(random.below(9)) - 4n, u: BigInt(random.below(5)) };
      const lookup: Lookup = (leaf) => (leaf.kind === 'parameter' ? values[leaf.path[0]!] : undefined);
      const meaning = evaluateCondition(parsed.expression.condition, lookup);
      const where = `${text} at n = ${values['n']}, u = ${values['u']}`;
      const isMet = parts.every((part) => evaluateCondition(part, lookup) !== false);
      assert.equal(isMet, meaning === true, where);
      counts[meaning === undefined ? 'unspecified' : 'satisfied'] += meaning === false ? 0 : 1;
      for (const part of meaning === true ? parts : []) {
        const premise = encoded(part);
        if (premise === null) continue;
        counts.premises++;
        assert.equal(valueOf(premise, values), true, `${where}: ${premise}`);
      }
    }
  }
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 500, `${name}: ${count}`);
});
