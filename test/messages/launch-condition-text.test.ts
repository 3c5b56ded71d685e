import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AddressSet, Quantity, ValidatorCondition } from '../../src/idempotency/model/quantity.ts';
import { idempotencyDetails, idempotencyReasonText, overlapsText } from '../../src/messages/idempotency.ts';
import { launchConditionText } from '../../src/messages/launch-condition-text.ts';

const number = (value: number | bigint): Quantity => ({ kind: 'constant', value: BigInt(value) });
const width: Quantity = { kind: 'block-size', axis: 0 };
const count: Quantity = { kind: 'argument', index: 2, offset: 0, bytes: 4, signed: true };
const pointer = (index: number): Quantity => ({ kind: 'argument', index, offset: 0, bytes: 8, signed: false });

function set(base: Quantity, size: Quantity, bytes = 4): AddressSet {
  return { base, steps: [{ stride: number(bytes), count: size }], bytes };
}

function blockOf(size: number): ValidatorCondition {
  return { kind: 'compare', comparison: '=', left: width, right: number(size) };
}

const own = set(number(0), width);
const dynamic: ValidatorCondition = {
  kind: 'within',
  inner: own,
  outer: set(number(0), { kind: 'dynamic-shared' }, 1),
};
const read: ValidatorCondition = { kind: 'within', inner: set(number(0), count), outer: own };
const fits: ValidatorCondition = {
  kind: 'compare',
  comparison: '<',
  left: { kind: 'max', operands: [width, count] },
  right: number(2n ** 31n),
};
const halves: ValidatorCondition = {
  kind: 'disjoint',
  left: set({ kind: 'sum', operands: [pointer(0), count] }, width),
  right: set(pointer(0), width),
};
const rounded: ValidatorCondition = {
  kind: 'compare',
  comparison: '<=',
  left: { kind: 'quotient', dividend: count, divisor: number(3) },
  right: width,
};

const cases: readonly (readonly [ValidatorCondition, text: string | null, isWhole: boolean])[] = [
  [dynamic, 'its dynamic shared memory is large enough for all that it writes there', true],
  [{ kind: 'within', inner: own, outer: set(number(0), number(256), 1) }, 'its writes to shared memory stay within the arrays there', true],
  [{ kind: 'any', conditions: [read, blockOf(64), blockOf(128)] }, 'its blocks write all shared memory that they read', true],
  [{ kind: 'any', conditions: [blockOf(128), blockOf(64)] }, '`blockDim.x` is 64 or 128', true],
  [fits, 'its indices fit in 32 bits', true],
  [{ kind: 'compare', comparison: '<=', left: number(-(1 << 23)), right: count }, 'its indices fit in 24 bits', true],
  [halves, 'what it writes of `out` does not overlap its other accesses there', true],
  // The disjointness of arrays is stated by other clauses.
  [
    { kind: 'all', conditions: [{ kind: 'disjoint', left: set(pointer(0), width), right: set(pointer(1), width) }, fits] },
    'its indices fit in 32 bits',
    true,
  ],
  [
    { kind: 'all', conditions: [dynamic, fits, rounded] },
    'its dynamic shared memory is large enough for all that it writes there and its indices fit in 32 bits',
    false,
  ],
  // The alternative would need parentheses.
  [
    { kind: 'any', conditions: [halves, { kind: 'all', conditions: [fits, { kind: 'any', conditions: [read, rounded] }] }] },
    'what it writes of `out` does not overlap its other accesses there',
    false,
  ],
  // Under a launch at hand, or under any.
  [
    {
      kind: 'any',
      conditions: [
        { kind: 'all', conditions: [blockOf(64), rounded] },
        { kind: 'all', conditions: [halves, fits] },
      ],
    },
    'what it writes of `out` does not overlap its other accesses there and its indices fit in 32 bits',
    false,
  ],
  [
    { kind: 'compare', comparison: '<=', left: { kind: 'sum', operands: [width, number(-16)] }, right: count },
    '`blockDim.x - 16 <= n`',
    true,
  ],
  [rounded, null, false],
];

test('a condition on a launch is described in words, if these are few', () => {
  const names = ['out', 'in', 'n'];
  for (const [condition, text, isWhole] of cases) {
    assert.deepEqual(
      launchConditionText(condition, ({ index }) => names[index]!),
      { text, isWhole },
    );
  }
});

test('conditions omitted in the description are reported as tested', () => {
  const overlaps = [{ written: 'out', read: ['in', '?'], locations: [] }];
  const unless = 'unless `out` overlaps `in` or memory at an unknown pointer';
  assert.equal(overlapsText(overlaps), unless);
  assert.equal(overlapsText(overlaps, { text: 'A', isWhole: true, blocks: ['64'] }), `${unless}, if A`);
  const partly = '; its validator tests more, which launches with blocks of 64 threads usually satisfy';
  assert.equal(overlapsText(overlaps, { text: 'A', isWhole: false, blocks: ['64'] }), `${unless}, if A${partly}`);
  assert.equal(overlapsText(overlaps, { text: null, isWhole: true, blocks: [] }), unless);
  assert.equal(overlapsText([], { text: 'A', isWhole: false, blocks: [] }), 'if A; its validator tests more');
});

test('reasons name the array and the operation, and equal ones are reported once', () => {
  const shared = { kind: 'uninitialised-shared', locations: [], read: 'tile' } as const;
  assert.equal(idempotencyReasonText(shared), 'the kernel may read the shared array `tile` before it writes it');
  const effect = (what: string): string => idempotencyReasonText({ kind: 'effect', locations: [], what });
  assert.equal(effect('special register %clock64'), 'the kernel reads a clock (`%clock64`)');
  assert.equal(effect('vprintf'), 'the kernel prints (`vprintf`)');
  assert.equal(effect('discard.global'), 'the kernel has an effect that another run may not repeat (`discard.global`)');
  const at = (line: number) => ({ kind: 'atomic', text: 'told', locations: [{ file: 'a.cu', line, column: 1 }] });
  const report = { kernel: 'unknown', reasons: ['told'], details: [at(3), at(4), at(3)] } as const;
  assert.deepEqual(idempotencyDetails(report), ['told (a.cu:3:1, a.cu:4:1)']);
});
