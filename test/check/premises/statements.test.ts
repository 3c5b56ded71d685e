/** Statements as ranges, sizes of arrays, sums of sizes and facts about elements: one rule in each row. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAssumption } from '../../../src/assumptions/assumption-parser.ts';
import { printExpression } from '../../../src/assumptions/print-assumption.ts';
import { statedExtents } from '../../../src/check/premises/extents.ts';
import {
  conditionsOf,
  dimensionBounds,
  encodeComparison,
  encodeCondition,
  hasEmptyRange,
  isUnsignedType,
  multipleOf,
  namedPointer,
  powerOfTwo,
  scalarBounds,
} from '../../../src/check/premises/premises.ts';
import { collectElementFacts } from '../../../src/check/premises/element-fact.ts';
import { type SizeFactor, type Size, SizeOrder } from '../../../src/check/premises/size-order.ts';
import { factsOfSizes, statedDivisorOf, statedSizes } from '../../../src/check/premises/stated-sizes.ts';
import type { ParameterSource, StatedAssumption } from '../../../src/launch/parameter-source.ts';
import { type Term, TermStore } from '../../../src/term/term.ts';

function stated(...texts: readonly string[]): StatedAssumption[] {
  return texts.map((text) => {
    const parsed = parseAssumption(text);
    if ('error' in parsed) assert.fail(`${text}: ${parsed.error}`);
    return { expression: parsed.expression, text };
  });
}
const conditions = (...texts: readonly string[]) => conditionsOf(stated(...texts));

const parameters: readonly ParameterSource[] = [
  { name: 'n', type: 'int' },
  { name: 'u', type: 'unsigned int' },
  { name: 'a', type: 'const float *' },
  { name: 'b', type: 'int *' },
  {
    name: 'v',
    type: 'View',
    fields: [
      { name: 'data', offset: 8, type: 'double *' },
      { name: 'w', offset: 4, type: 'short' },
      { name: 'h', offset: 2, type: 'unsigned char' },
    ],
  },
  { name: 'm', type: 'Opaque *' },
  { name: 'd', type: 'unsigned *const' },
  { name: 'f', type: 'float *' },
];

test('comparisons with constants narrow a range', () => {
  const whole = { low: -(1n << 31n), high: (1n << 31n) - 1n };
  const range = (...texts: readonly string[]) => scalarBounds(conditions(...texts), parameters, 0, 0, 4);
  const rows: readonly (readonly [string, bigint | null, bigint | null])[] = [
    ['n < 7', null, 6n],
    ['n <= 7', null, 7n],
    ['n == 7', 7n, 7n],
    ['n > 7', 8n, null],
    ['n >= 7', 7n, null],
    ['n != 7', null, null],
    ['7 < n', 8n, null],
    ['7 <= n', 7n, null],
    ['7 > n', null, 6n],
    ['7 >= n', null, 7n],
    ['!(n < 7)', 7n, null],
    ['!(n == 7)', null, null],
    ['!(n != 7)', 7n, 7n],
    ['!(n < 7 || n > 9)', 7n, 9n],
    ['n < u', null, null],
    ['u < 3', null, null],
    ['n + 1 < 7', null, null],
    ['n < gridDim.x', null, (1n << 31n) - 2n],
    ['n <= gridDim.x', null, (1n << 31n) - 1n],
    ['n > blockDim.x', 2n, null],
    ['n >= blockDim.x', 1n, null],
    ['n == blockDim.y', 1n, (1n << 31n) - 1n],
    ['n < 7 && n > 2', 3n, 6n],
    ['n < 7 || n > 2', null, null],
  ];
  for (const [text, low, high] of rows) assert.deepEqual(range(text), { low: low ?? whole.low, high: high ?? whole.high }, text);
  assert.deepEqual(range('n <= 7', 'n <= 9', 'n >= 1', 'n >= 0'), { low: 1n, high: 7n });
  const unsigned = scalarBounds(conditions('u < 7'), parameters, 1, 0, 4);
  assert.deepEqual(unsigned, { low: 0n, high: 6n });
  const member = (bytes: number, offset: number) => scalarBounds(conditions('v.w >= 3', 'v.h <= 9'), parameters, 4, offset, bytes);
  assert.deepEqual(member(2, 4), { low: 3n, high: 32767n });
  assert.deepEqual(member(1, 2), { low: 0n, high: 9n });
  assert.deepEqual(member(4, 4), whole, 'several members at once');
  const launch = { low: 1n, high: 1024n };
  assert.deepEqual(dimensionBounds(conditions('blockDim.x <= 64', 'gridDim.x >= 2', 'blockDim.y == 3'), 'blockDim', 0, launch), {
    low: 1n,
    high: 64n,
  });
  assert.deepEqual(dimensionBounds(conditions('blockDim.x <= 64', 'gridDim.x >= 2'), 'gridDim', 0, launch), { low: 2n, high: 1024n });
  assert.deepEqual(dimensionBounds(conditions('blockDim.y == 3'), 'blockDim', 1, launch), { low: 3n, high: 3n });
});

test('an expression is defined in all executions that satisfy its comparison', () => {
  const counts: readonly (readonly [string, number])[] = [
    ['n / u == 2', 2],
    ['n % u == 2', 2],
    ['n / 3 == 2', 1],
    ['n << u == 2', 3],
    ['n << 3 == 2', 1],
    ['n + u == 2', 1],
    ['n / u == u / n', 3],
    ['(n / u) / (u / n) == 1', 4],
    ['!(n / u == 2)', 2],
  ];
  for (const [text, expected] of counts) assert.equal(conditions(text).length, expected, text);
});

test('names of arrays', () => {
  const place = (name: string) => {
    const found = namedPointer(parameters, name);
    return found && [found.index, found.offset, found.type];
  };
  const rows: readonly (readonly [string, readonly [number, number, string] | null])[] = [
    ['a', [2, 0, 'const float *']],
    ['param2', [2, 0, 'const float *']],
    ['param11', [11, 0, '']],
    ['v.data', [4, 8, 'double *']],
    ['v.none', null],
    ['none', null],
    ['a.data', null],
    ['param', null],
  ];
  for (const [name, expected] of rows) assert.deepEqual(place(name), expected, name);
  for (const type of ['unsigned', 'unsigned int', 'uint32_t', 'size_t', 'uchar', 'const ushort']) assert.ok(isUnsignedType(type), type);
  for (const type of ['int', 'long', 'int32_t', 'ssize_t', 'char']) assert.ok(!isUnsignedType(type), type);
});

test('empty ranges, powers of two, and multiples', () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ['b[*] in 5..3', true],
    ['b[*] in 3..3', false],
    ['b[*] in 3..5', false],
    ['b[*] in 5..n', false],
    ['b[*] in n..3', false],
    ['distinct(b)', false],
  ];
  for (const [text, expected] of rows) assert.equal(hasEmptyRange(stated(text)), expected, text);
  const power = (text: string) => {
    const found = powerOfTwo(conditions(text)[0]!);
    return found && printExpression(found);
  };
  for (const text of ['(n & (n - 1)) == 0', '((n - 1) & n) == 0', '0 == (n & (n - 1))']) assert.equal(power(text), 'n', text);
  for (const text of [
    '(n & (n - 2)) == 0',
    '(n & (u - 1)) == 0',
    '(n & (n + 1)) == 0',
    '(n & (n - 1)) == 1',
    '(n | (n - 1)) == 0',
    '(n & (n - 1)) >= 0',
    '(n & u) == 0',
  ])
    assert.equal(power(text), null, text);
  const multiple = (text: string) => {
    const found = multipleOf(conditions(text)[0]!);
    return found && `${printExpression(found.expression)} ${found.divisor}`;
  };
  const multiples: readonly (readonly [string, string | null])[] = [
    ['n % 4 == 0', 'n 4'],
    ['0 == n % 4', 'n 4'],
    ['n % 2 == 0', 'n 2'],
    ['n % 1 == 0', null],
    ['n % 4 == 1', null],
    ['n % 4 >= 0', null],
    ['n / 4 == 0', null],
    ['n % u == 0', null],
    ['(n & 1) == 0', 'n 2'],
    ['n == 0', null],
  ];
  for (const [text, expected] of multiples) assert.equal(multiple(text), expected, text);
});

test('conditions without a form for the solver are left out', () => {
  const vocabulary = {
    parameter: ({ index }: { readonly index: number }): string => parameters[index]!.name,
    dimension: (name: string, axis: number): string => `${name}.${'xyz'[axis]!}`,
    product: (a: string, b: string): string => `(product ${a} ${b})`,
  };
  const encoded = (text: string) => encodeCondition(conditions(text)[0]!, (one) => encodeComparison(one, vocabulary, parameters));
  const rows: readonly (readonly [string, string | null])[] = [
    ['n == 3', '(= n 3)'],
    ['n != 3', '(not (= n 3))'],
    ['n <= -3', '(<= n (- 3))'],
    ['n * 2 < u', '(< (* n 2) u)'],
    ['2 * n < u', '(< (* 2 n) u)'],
    ['n * u < 3', '(< (product n u) 3)'],
    ['n + u >= 3', '(>= (+ n u) 3)'],
    ['n - u > 3', '(> (- n u) 3)'],
    ['n << 3 == u', '(= (* n 8) u)'],
    ['n << 0 == u', '(= (* n 1) u)'],
    ['(n & 7) == u', '(= (mod n 8) u)'],
    ['(7 & n) == u', '(= (mod n 8) u)'],
    ['(n & 6) == u', null],
    ['(n | 7) == u', null],
    ['n / 4 == u', '(= (ite (>= n 0) (div n 4) (- (div (- n) 4))) u)'],
    ['n % 4 == u', '(= (ite (>= n 0) (mod n 4) (- (mod (- n) 4))) u)'],
    ['n / -4 == u', null],
    ['n % -4 == u', null],
    ['blockDim.y == gridDim.z', '(= blockDim.y gridDim.z)'],
    ['n < 3 || n > 5', '(or (< n 3) (> n 5))'],
    ['n < 3 || (n | 1) > 5', null],
    ['v.w == 3', '(= v 3)'],
    ['q == 3', null],
  ];
  for (const [text, expected] of rows) assert.equal(encoded(text), expected, text);
  assert.equal(
    conditions('n / u == 2').map((one) => encodeCondition(one, (each) => encodeComparison(each, vocabulary, parameters)))[0],
    null,
  );
});

test('stated sizes of arrays are in bytes', () => {
  const scalars = new Map([
    [0, 10n],
    [1, 0xffff_ffffn],
    [4, 0x0007_ff03_0000n],
  ]);
  const dimensions = { block: [64, 2, 1], grid: [8, null, 1] } as never;
  type Launch = Parameters<typeof statedExtents>[2];
  const extents = (launch: Partial<Launch>, ...texts: readonly string[]) =>
    Object.fromEntries(statedExtents(stated(...texts), parameters, { scalars, ...launch }, dimensions));
  const rows: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
    ['extent(a) >= n', { '2.0': 40 }],
    ['extent(a) >= 3', { '2.0': 12 }],
    ['extent(a) >= 0', {}],
    ['extent(a) >= 1', { '2.0': 4 }],
    ['extent(a) >= -3', {}],
    ['extent(v.data) >= n + 1', { '4.8': 88 }],
    ['extent(b) >= u', { '3.0': 0xffff_ffff * 4 }],
    ['extent(b) >= 256 * u', { '3.0': 0xffff_ffff * 1024 }],
    ['extent(b) >= 257 * u', {}],
    ['extent(b) >= 1099511627776', { '3.0': 4 * 2 ** 40 }],
    ['extent(b) >= 1099511627777', {}],
    ['extent(b) >= v.w', { '3.0': 28 }],
    ['extent(b) >= v.h', { '3.0': 12 }],
    ['extent(b) >= blockDim.x', { '3.0': 256 }],
    ['extent(b) >= blockDim.y', { '3.0': 8 }],
    ['extent(b) >= gridDim.x * blockDim.x', { '3.0': 2048 }],
    ['extent(b) >= gridDim.y', {}],
    ['extent(b) >= q', {}],
    ['extent(m) >= 3', {}],
    ['extent(q) >= 3', {}],
    ['distinct(b)', {}],
  ];
  for (const [text, expected] of rows) assert.deepEqual(extents({}, text), expected, text);
  assert.deepEqual(extents({}, 'extent(a) >= 3', 'extent(a) >= 5', 'extent(a) >= 4'), { '2.0': 20 });
  assert.deepEqual(extents({ samePointers: [[2, 3]] }, 'extent(a) >= 3', 'extent(b) >= 3', 'extent(f) >= 3'), { '7.0': 12 });
  assert.deepEqual(extents({ distances: [[2, 7, 64n]] as never }, 'extent(a) >= 3', 'extent(b) >= 3', 'extent(f) >= 3'), { '3.0': 12 });
  assert.deepEqual(extents({ scalars: new Map([[0, 0xffff_fff6n]]) }, 'extent(a) >= n + 20'), { '2.0': 40 }, 'a negative scalar');
});

const store = new TermStore();
const terms = new Map(
  ['n', 'u', 'w', 'h'].map((name, key) => [
    name,
    store.atom(32, key < 3 ? { kind: 'grid-size', axis: key as 0 | 1 | 2 } : { kind: 'block-size', axis: 0 }),
  ]),
);
const constant = store.constant(32, 0xffff_fffen);
const least: Readonly<Record<string, bigint>> = { n: 0n, u: 0n, w: 1n, h: -5n };

function sizes(...texts: readonly string[]) {
  return statedSizes(conditions(...texts), (name) => {
    if (name.kind === 'dimension') return { term: constant, isSigned: name.name === 'blockDim' };
    const term = terms.get(name.path.join('.'));
    return term ? { term, isSigned: name.path[0] !== 'u' } : null;
  });
}
const factorOf = (term: Term): SizeFactor => {
  const name = [...terms].find(([, one]) => one === term)?.[0] ?? `term${term.id}`;
  return { key: name, term, least: least[name] ?? 0n };
};

/** The sums that statements imply not to be negative, as text. */
function sums(...texts: readonly string[]): string[] {
  const text = (size: Size) =>
    size
      .map(({ coefficient, factors }) => [coefficient, ...factors.map(({ key }) => key.replace(/^term\d+$/, 'q'))].join('*'))
      .sort()
      .join(' + ');
  return factsOfSizes(sizes(...texts), factorOf, store)
    .map(text)
    .sort();
}

test('comparisons of sizes are sums that are not negative', () => {
  const rows: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['n <= u'], ['-1*n + 1*u']],
    [['n < u'], ['-1 + -1*n + 1*u']],
    [['n >= u'], ['-1*u + 1*n']],
    [['n > u'], ['-1 + -1*u + 1*n']],
    [['n == u'], ['-1*n + 1*u', '-1*u + 1*n']],
    [['n != u'], []],
    [['n <= 3 * u + 2'], ['-1*n + 2 + 3*u']],
    [['n - w <= u * w'], ['-1*n + 1*u*w + 1*w']],
    [['n / 4 <= u'], ['-1*q + 1*u']],
    [['n / -4 <= u'], []],
    [['n / u <= w'], []],
    [['n % 4 <= u'], []],
    [['n % 4 == 0'], []],
    [['n <= gridDim.x'], ['-1*n + 4294967294']],
    [['n >= blockDim.x'], ['1*n + 2']],
    [['n <= x'], []],
    [['(n | 1) <= u'], []],
    [['n == u / w'], ['-1 + -1*u + 1*n*w + 1*w', '-1*n*w + 1*u']],
    [['u / w == n'], ['-1 + -1*u + 1*n*w + 1*w', '-1*n*w + 1*u']],
    [['n <= u / w'], []],
    [['n % 4 == u / w'], []],
    [['n + u % 4 <= w'], []],
    [['n == (h + u) / w'], []],
    [['n == (u - 2 * w) / w'], []],
    [['n == (u % 4) / w'], []],
    [['n == u / (w % 4)'], []],
    [['n == u / h'], []],
    [['n == h / w'], []],
    [['n == u / n'], []],
    [
      ['n == h / w', 'h % w == 0'],
      ['-1*h + 1*n*w', '-1*n*w + 1*h'],
    ],
    [
      ['n == u / h', 'u % h == 0'],
      ['-1*h*n + 1*u', '-1*u + 1*h*n'],
    ],
    [['n == h / w', 'h % w == 1'], []],
    [['n == h / w', 'h % n == 0'], []],
    [['n == h / w', 'w % h == 0'], []],
    [
      ['n == (h + 1) / w', '(h + 1) % w == 0'],
      ['-1 + -1*h + 1*n*w', '-1*n*w + 1 + 1*h'],
    ],
    [['n == (h + 1) / w', '(h + 2) % w == 0'], []],
    [['n == (h + 1) / w', '(h * 1) % w == 0'], []],
    [
      ['n == (h - w) / u', '(h - w) % u == 0'],
      ['-1*h + 1*n*u + 1*w', '-1*n*u + -1*w + 1*h'],
    ],
    [['n == (h - w) / u', '(w - h) % u == 0'], []],
  ];
  for (const [texts, expected] of rows) assert.deepEqual(sums(...texts), [...expected].sort(), texts.join(', '));
});

test('a divisor that statements imply is the least common multiple of theirs', () => {
  const divisor = (name: string, isSigned: boolean, ...texts: readonly string[]) =>
    statedDivisorOf(sizes(...texts), terms.get(name)!, isSigned);
  const rows: readonly (readonly [bigint, string, boolean, ...texts: readonly string[]])[] = [
    [4n, 'n', true, 'n % 4 == 0'],
    [12n, 'n', true, 'n % 4 == 0', 'n % 6 == 0'],
    [4n, 'n', true, 'n % 4 == 0', 'n % 2 == 0'],
    [1n, 'n', true],
    [1n, 'n', true, 'n % 4 == 1'],
    [1n, 'n', true, 'n % 4 <= 0'],
    [1n, 'n', true, 'n % u == 0'],
    [1n, 'n', true, 'n / 4 == 0'],
    [1n, 'n', true, 'w % 4 == 0'],
    [1n, 'n', true, '(n + 1) % 4 == 0'],
    [1n, 'n', false, 'n % 4 == 0'],
    [4n, 'u', false, 'u % 4 == 0'],
    [1n, 'n', true, 'n % -4 == 0'],
    [1n, 'n', true, 'n % 4 == u'],
  ];
  for (const [expected, name, isSigned, ...texts] of rows) assert.equal(divisor(name, isSigned, ...texts), expected, texts.join(', '));
});

test('sizes are ordered by facts and by lower bounds', () => {
  const factor = (name: string): SizeFactor => factorOf(terms.get(name)!);
  const product = (coefficient: bigint, ...names: readonly string[]) => ({ coefficient, factors: names.map(factor) });
  const facts = (...texts: readonly string[]) =>
    factsOfSizes(sizes(...texts), factorOf, store).map((sum) => ({ sum, assumes: [terms.get('n')!] }));
  const rows: readonly (readonly [string, readonly string[], Size, Size, number | null])[] = [
    ['a lower bound', [], [], [product(1n, 'n')], 0],
    ['no lower bound', [], [], [product(1n, 'h')], null],
    ['a positive factor', [], [product(1n, 'n')], [product(1n, 'n', 'w')], 0],
    ['a factor that may be zero', [], [product(1n, 'n')], [product(1n, 'n', 'u')], null],
    ['a coefficient', [], [product(3n, 'n')], [product(2n, 'n', 'w')], null],
    ['a sum of two', [], [product(3n, 'n')], [product(2n, 'n', 'w'), product(1n, 'n')], 0],
    ['a fact', ['n <= u'], [product(1n, 'n')], [product(1n, 'u')], 1],
    ['a multiple of a fact', ['n <= u'], [product(2n, 'n', 'w')], [product(2n, 'u', 'w')], 1],
    ['two facts', ['n <= u', 'u <= w'], [product(1n, 'n')], [product(1n, 'w')], 2],
    ['the reverse of a fact', ['u <= n'], [product(1n, 'n')], [product(1n, 'u')], null],
    ['a fact times a factor that may be negative', ['n <= u'], [product(1n, 'n', 'h')], [product(1n, 'u', 'h')], null],
  ];
  for (const [what, texts, a, b, assumed] of rows) {
    const order = SizeOrder.under(facts(...texts), {});
    for (const attempt of [1, 2]) assert.equal(order.atMost(a, b)?.length ?? null, assumed, `${what} ${attempt}`);
  }
  const owner = {};
  assert.equal(SizeOrder.under(facts('n <= u'), owner), SizeOrder.under(facts('n <= u'), owner));
  assert.notEqual(SizeOrder.under(facts('n <= u'), owner), SizeOrder.under(facts('n <= w'), owner));
});

test('facts about elements are about whole elements of one array that the kernel does not write', () => {
  const base = { kind: 'parameter', index: 3, offset: 0, key: 'b' };
  const offset = store.constant(64, 0n);
  const read = (more: { effect?: object; results?: readonly (number | null)[]; operation?: string; bases?: readonly object[] } = {}) => ({
    instruction: { operation: { effect: { kind: 'load', lanes: 1, bytes: 4, ...more.effect } }, results: more.results ?? [7] },
    operation: more.operation ?? 'read',
    targets: (more.bases ?? [base]).map((one) => ({ base: one, offset })),
  });
  const facts = (texts: readonly string[], access = read(), memory = 'fixed', filled?: object) => {
    const { elements, stated: values } = collectElementFacts(
      parameters,
      stated(...texts),
      [access] as never,
      () => memory as never,
      filled as never,
    );
    return [
      [...elements].map(([value, { array, distinct, ranges, unsigned, isFilled }]) => [
        value,
        array,
        distinct,
        ranges.length,
        unsigned,
        isFilled ?? false,
      ]),
      [...values],
    ];
  };
  const known = [[7, 'b:4', true, 0, false, false]];
  assert.deepEqual(facts(['distinct(b)']), [known, [7]]);
  assert.deepEqual(facts(['b[*] in 0..3']), [[[7, 'b:4', false, 1, false, false]], [7]]);
  assert.deepEqual(facts(['distinct(b)', 'b[*] in 0..3', 'b[*] in 1..9']), [[[7, 'b:4', true, 2, false, false]], [7]]);
  assert.deepEqual(facts(['distinct(a)']), [[], []]);
  assert.deepEqual(facts(['n > 3']), [[], []]);
  assert.deepEqual(facts(['distinct(b)'], read(), 'changing'), [[], [7]]);
  assert.deepEqual(facts(['distinct(b)'], read({ operation: 'write' })), [[], [7]]);
  assert.deepEqual(facts(['distinct(b)'], read({ effect: { kind: 'atomic' } })), [[], [7]]);
  assert.deepEqual(facts(['distinct(b)'], read({ effect: { lanes: 2 }, results: [7, 8] })), [[], [7, 8]]);
  assert.deepEqual(facts(['distinct(b)'], read({ results: [null] })), [[], []]);
  assert.deepEqual(facts(['distinct(b)'], read({ effect: { bytes: 2 } })), [[], [7]]);
  assert.deepEqual(facts(['distinct(b)'], read({ bases: [base, { ...base, index: 2 }] })), [[], [7]]);
  assert.deepEqual(facts(['distinct(b)'], read({ bases: [{ kind: 'unknown' }] })), [[], []]);
  assert.deepEqual(facts(['distinct(b)'], read({ bases: [{ ...base, offset: 8 }] })), [[], []]);
  const inView = read({ bases: [{ ...base, index: 4, offset: 8 }], effect: { bytes: 8 } });
  assert.deepEqual(facts(['distinct(v.data)'], inView), [[], [7]], 'the bits of a float are not an integer');
  const ofUnsigned = read({ bases: [{ ...base, index: 6, key: 'd' }] });
  assert.deepEqual(facts(['distinct(d)'], ofUnsigned), [[[7, 'd:4', true, 0, true, false]], [7]]);
  assert.deepEqual(facts(['distinct(m)'], read({ bases: [{ ...base, index: 5 }] })), [[], [7]]);
  const filled = { arrays: new Map([[3, {}]]) };
  assert.deepEqual(facts(['distinct(b)'], read(), 'fixed', filled)[0], [[7, 'b:4', true, 0, false, true]]);
  assert.deepEqual(facts(['distinct(d)'], ofUnsigned, 'fixed', filled)[0], [[7, 'd:4', true, 0, true, false]]);
});

test('a table with an initialiser has the facts of its values', () => {
  const table = (more: object = {}) => ({
    space: 'const',
    bytes: 12,
    alignment: 4,
    initial: new Uint8Array([3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 9]),
    ...more,
  });
  const facts = (object: object, effect: object = {}, more: object = {}, memory = 'fixed', others: readonly object[] = []) => {
    const access = {
      instruction: { operation: { effect: { kind: 'load', lanes: 1, bytes: 4, ...effect } }, results: [7] },
      operation: 'read',
      targets: [{ base: { kind: 'object', key: 't', object }, offset: store.constant(64, 0n) }, ...others],
      ...more,
    };
    const { elements } = collectElementFacts([], [], [access] as never, () => memory as never, undefined);
    const [found] = elements.values();
    return (
      found && [found.array, found.distinct, ...found.ranges.flatMap(({ low, high }) => [printExpression(low), printExpression(high)])]
    );
  };
  assert.deepEqual(facts(table()), ['t:4', true, '-1', '9']);
  assert.deepEqual(facts(table({ bytes: 16 })), ['t:4', true, '-1', '9']);
  assert.deepEqual(facts(table({ bytes: 20 })), ['t:4', false, '-1', '9']);
  assert.deepEqual(facts(table({ space: 'global', bytes: 8 })), ['t:4', true, '-1', '3']);
  assert.deepEqual(facts(table({ bytes: 4 })), undefined, 'a single value');
  assert.deepEqual(facts(table({ bytes: 4 * 4096 }))?.length, 4);
  assert.deepEqual(facts(table({ bytes: 4 * 4097 })), undefined);
  assert.deepEqual(facts(table({ bytes: 10 })), undefined);
  assert.deepEqual(facts(table({ bytes: null })), undefined);
  assert.deepEqual(facts(table({ alignment: 2 })), undefined);
  assert.deepEqual(facts(table({ space: 'shared' })), undefined);
  assert.deepEqual(facts(table({ initial: undefined })), undefined);
  assert.deepEqual(facts(table({ addresses: [{}] })), undefined);
  assert.deepEqual(facts(table(), { lanes: 2 }), undefined);
  assert.deepEqual(facts(table(), { kind: 'atomic' }), undefined);
  assert.deepEqual(facts(table(), {}, { operation: 'write' }), undefined);
  assert.deepEqual(facts(table(), {}, {}, 'changing'), undefined);
  assert.deepEqual(facts(table(), {}, {}, 'fixed', [{ base: { kind: 'unknown' } }]), undefined);
});
