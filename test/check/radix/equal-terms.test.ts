/** Which coordinates are equal in two threads if some terms are, against all pairs of threads of a block. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EqualTerms } from '../../../src/check/radix/equal-terms.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import type { Term } from '../../../src/term/term.ts';
import { kernelOf, store } from '../kernel-text.ts';
import { problemsOf } from '../problem.ts';

const block = [64, 4, 1] as const;
const [problem] = problemsOf(kernelOf(store('%d1', '%r0', '%r0', 10)), { block });
const { context, instances, obligations } = problem!;
const { symbolic, dimensions } = context;
const { store: terms } = symbolic;
const [x, y] = ([0, 1] as const).map((axis) => terms.atom(32, { kind: 'thread', axis })) as [Term, Term];
const n = terms.atom(32, { kind: 'parameter', index: 2, offset: 0, bytes: 4 });
const number = (value: bigint): Term => terms.constant(32, value);
const shift = (term: Term, by: bigint): Term => terms.shift('lshr', 32, term, number(by));
const divide = (operator: 'udiv' | 'urem' | 'sdiv' | 'srem', term: Term, by: Term | bigint): Term =>
  terms.divide(operator, 32, term, typeof by === 'bigint' ? number(by) : by);
const sum = (...parts: readonly (readonly [Term, bigint])[]): Term => terms.sum(32, 0n, parts);

/** The coordinates that are equal; `both` if the two threads are one. */
function equalIf(...given: readonly Term[]): string {
  const equal = new EqualTerms({ symbolic, instances, dimensions, evaluations: 0, stated: [] }, obligations[0]!);
  for (const term of given) equal.add(term);
  const names = [x, y].flatMap((term, axis) => (equal.terms.includes(term) ? 'xy'[axis]! : []));
  const isOne = equal.sameThread() !== null;
  assert.equal(isOne, names.length === 2, given.map(({ operator }) => operator).join());
  // No two threads contradict it.
  const threads = Array.from({ length: block[0] * block[1] }, (_, thread) => [
    BigInt(thread % block[0]),
    BigInt(Math.floor(thread / block[0])),
  ]);
  const values = threads.map(([tx, ty]) =>
    given.map((term) => evaluateTerm(term, (leaf) => (leaf === x ? tx : leaf === y ? ty : 5n), new Map())).join(),
  );
  for (const [a, one] of threads.entries())
    for (const [b, other] of threads.slice(0, a).entries())
      if (values[a] === values[b])
        for (const name of names) assert.equal(one['xy'.indexOf(name)], other['xy'.indexOf(name)], `${values[a]}: ${name}`);
  return names.join('');
}

test('bits, quotients and digits that are equal determine coordinates', () => {
  const low = terms.and(32, x, number(31n));
  for (const [given, expected] of [
    [[x], 'x'],
    [[x, y], 'xy'],
    [[low], ''],
    [[low, shift(x, 5n)], 'x'],
    [[low, shift(x, 6n)], ''],
    [[terms.and(32, x, number(15n)), shift(x, 5n)], ''],
    [[terms.and(32, x, y)], ''],
    [[terms.zeroExtend(64, x)], 'x'],
    [[terms.signExtend(64, x)], 'x'],
    [[terms.zeroExtend(32, terms.truncate(16, low)), terms.shift('ashr', 32, x, number(5n))], 'x'],
    [[terms.pure('popc', 32, [x])], ''],
    [[divide('udiv', x, 7n)], ''],
    [[divide('udiv', x, 7n), divide('urem', x, 7n)], 'x'],
    [[divide('sdiv', x, 7n), divide('srem', x, 7n)], 'x'],
    [[divide('udiv', x, n), divide('urem', x, n)], 'x'],
    [[divide('udiv', x, 7n), divide('urem', x, 5n)], ''],
    [[divide('udiv', x, 7n), divide('urem', y, 3n)], ''],
    [[divide('udiv', x, y), divide('urem', x, y)], ''],
    [[divide('sdiv', x, n), divide('urem', x, n)], ''],
    [[sum([x, 1n], [y, 64n])], 'xy'],
    [[sum([x, 1n], [y, 63n])], ''],
    [[sum([x, 4n], [y, 256n])], 'xy'],
    [[sum([x, 1n], [y, -64n])], 'xy'],
    [[sum([x, 4n], [y, 1n])], 'xy'],
    [[sum([x, 3n], [y, 1n])], ''],
    [[divide('udiv', sum([x, 1n], [y, 64n]), 3n)], ''],
    [[divide('udiv', sum([x, 1n], [y, 64n]), 3n), divide('urem', sum([x, 1n], [y, 64n]), 3n)], 'xy'],
  ] as const)
    assert.equal(equalIf(...given), expected, given.map(({ id, operator }) => `${operator} ${id}`).join(', '));
});
