import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printTerm } from '../../../src/analysis/values/print-term.ts';
import { type Term, TermStore } from '../../../src/term/term.ts';

const store = new TermStore();
const t = store.atom(32, { kind: 'thread', axis: 0 });
const b = store.atom(32, { kind: 'block', axis: 0 });
const n = store.atom(32, { kind: 'parameter', index: 0, offset: 0, bytes: 4 });
const loaded = store.atom(32, { kind: 'havoc', value: 7 });
const number = (value: bigint): Term => store.constant(32, value);
const print = (term: Term): string =>
  printTerm(term, {
    parameter: () => 'n',
    object: () => 's',
    unknown: (value) => (value === 7 ? 'a[threadIdx.x]' : undefined),
  });

test('printed terms use the operator precedence of C++', () => {
  assert.equal(print(store.equal(store.and(32, t, number(1n)), number(0n))), '(threadIdx.x & 1) == 0');
  assert.equal(
    print(
      store.signedLess(
        store.sum(32, 0n, [
          [t, 1n],
          [b, 256n],
        ]),
        n,
      ),
    ),
    'threadIdx.x + blockIdx.x * 256 < n',
  );
  assert.equal(print(store.mul(32, store.sum(32, 1n, [[n, 1n]]), t)), 'threadIdx.x + threadIdx.x * n');
  assert.equal(print(store.and(32, store.xor(32, t, n), number(31n))), '(threadIdx.x ^ n) & 31');
  assert.equal(print(store.sum(32, -1n, [[t, -4n]])), '-threadIdx.x * 4 - 1');
});

test('a negation is printed as the opposite comparison, constants on the right side', () => {
  assert.equal(print(store.not(store.equal(number(3n), t))), 'threadIdx.x != 3');
  assert.equal(print(store.not(store.signedLess(t, n))), 'threadIdx.x >= n');
  const both = store.all([store.signedLess(t, n), store.not(store.equal(b, number(0n)))]);
  assert.equal(print(both), 'threadIdx.x < n && blockIdx.x != 0');
  assert.match(print(store.not(both)), /^threadIdx\.x >= n \|\| blockIdx\.x == 0$|^!\(/);
});

test('unknown values are printed with their name if they have one', () => {
  assert.equal(print(store.equal(loaded, number(0n))), 'a[threadIdx.x] == 0');
  assert.equal(print(store.atom(32, { kind: 'havoc', value: 8 })), '?');
});

test('parentheses depend on the printed form of an operand', () => {
  const wide = (term: Term): Term => store.zeroExtend(64, term);
  const sum = store.sum(32, 0n, [
    [t, 1n],
    [n, 1n],
  ]);
  // A conversion is not printed, so the operator within it decides.
  assert.equal(print(store.sum(64, 0n, [[wide(sum), 4n]])), '(threadIdx.x + n) * 4');
  assert.equal(print(store.sum(64, 0n, [[wide(store.and(32, t, n)), 4n]])), '(threadIdx.x & n) * 4');
  assert.equal(print(store.sum(64, 0n, [[wide(t), 4n]])), 'threadIdx.x * 4');
  assert.equal(print(store.divide('udiv', 32, sum, number(3n))), '(threadIdx.x + n) / 3');
  assert.equal(print(store.divide('udiv', 32, t, store.divide('udiv', 32, n, b))), 'threadIdx.x / (n / blockIdx.x)');
  assert.equal(print(store.divide('urem', 32, store.divide('udiv', 32, t, n), b)), '(threadIdx.x / n) % blockIdx.x');
  assert.equal(print(store.shift('lshr', 32, sum, n)), 'threadIdx.x + n >> n');
  assert.equal(print(store.select(store.signedLess(t, n), t, n)), '(threadIdx.x < n ? threadIdx.x : n)');
  const less = store.signedLess(t, n);
  const zero = store.equal(b, number(0n));
  assert.equal(print(store.any([less, store.all([zero, store.equal(t, number(1n))])])).includes('('), false);
  assert.equal(
    print(store.all([less, store.any([zero, store.equal(t, number(1n))])])),
    'threadIdx.x < n && (blockIdx.x == 0 || threadIdx.x == 1)',
  );
});

test('constants by width and sign, long terms, names of atoms', () => {
  assert.equal(print(store.true), 'true');
  assert.equal(print(store.not(store.true)), 'false');
  assert.equal(print(number(0xffff_ffffn)), '-1');
  assert.equal(print(store.constant(64, 5n)), '5');
  assert.equal(print(store.sum(32, 3n, [[t, 1n]])), 'threadIdx.x + 3');
  assert.equal(
    print(
      store.sum(32, -3n, [
        [t, 1n],
        [n, -1n],
      ]),
    ),
    'threadIdx.x - n - 3',
  );
  const axes = (['thread', 'block', 'block-size', 'grid-size'] as const).map((kind) => print(store.atom(32, { kind, axis: 2 })));
  assert.deepEqual(axes, ['threadIdx.z', 'blockIdx.z', 'blockDim.z', 'gridDim.z']);
  let long = store.xor(32, t, n);
  for (let i = 0; i < 600; i++) long = store.pure('f', 32, [long]);
  assert.equal(print(long), '?');
  assert.equal(print(store.pure('f', 32, [t, n])), 'f(threadIdx.x, n)');
});
