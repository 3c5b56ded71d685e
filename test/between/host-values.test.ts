/** Samples of a host program satisfy its facts, and give equal symbols equal values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fact, type HostTerm, integer, symbolTerm } from '../../src/assumptions/expression.ts';
import type { ArithmeticOperator, ComparisonOperator } from '../../src/assumptions/operators.ts';
import { samplesOf, spreadSamplesOf } from '../../src/between/host-values.ts';

const n = symbolTerm({ id: 'n', label: 'n' });
const m = symbolTerm({ id: 'm', label: 'm' });
const op = (operator: ArithmeticOperator, left: HostTerm, right: HostTerm): HostTerm => ({ kind: 'arithmetic', operator, left, right });
const is = (left: HostTerm, operator: ComparisonOperator, right: HostTerm): Fact => ({ kind: 'comparison', operator, left, right });
const unknown = (id: string): Fact => ({ kind: 'unknown', id });

test('values for which all facts hold', () => {
  const facts = [is(n, '>', integer(1000)), is(op('%', n, integer(128)), '==', integer(0)), is(m, '<', n)];
  const samples = samplesOf(facts, [n, m], 3);
  assert.equal(samples.length, 3);
  for (const sample of samples) {
    const [a, b] = [sample(n)!, sample(m)!];
    assert.ok(a > 1000n && a % 128n === 0n && b < a, `${a} ${b}`);
    assert.equal(sample(op('+', n, m)), a + b);
  }
  assert.equal(new Set(samples.map((sample) => `${sample(n)} ${sample(m)}`)).size, 3);
});

test('a number that a fact gives, and one near a constant', () => {
  assert.deepEqual(
    samplesOf([is(n, '==', integer(77))], [n], 3).map((sample) => sample(n)),
    [77n],
  );
  const [sample] = samplesOf([is(n, '>', integer(70_000)), is(n, '<', integer(70_002))], [n], 1);
  assert.equal(sample?.(n), 70_001n);
});

test('facts that exclude each other have no sample', () => {
  assert.deepEqual(samplesOf([is(n, '<', integer(3)), is(n, '>', integer(3))], [n], 1), []);
  assert.deepEqual(samplesOf([unknown('late'), { kind: 'not', operand: unknown('late') }], [n], 1), []);
});

test('a condition that is not understood has one truth in all facts', () => {
  const choice: HostTerm = { kind: 'choice', condition: unknown('late'), then: integer(1), otherwise: integer(2), size: 3 };
  const valueOf = (fact: Fact): bigint | undefined => samplesOf([fact], [choice], 1)[0]!(choice);
  assert.equal(valueOf(unknown('late')), 1n);
  assert.equal(valueOf({ kind: 'not', operand: unknown('late') }), 2n);
  assert.equal(valueOf({ kind: 'and', left: unknown('late'), right: is(n, '>', integer(0)) }), 1n);
});

test('terms without symbols have a single sample', () => {
  const samples = samplesOf([], [integer(4)], 3);
  assert.equal(samples.length, 1);
  assert.equal(samples[0]!(integer(4)), 4n);
});

test('spread samples give symbols different values, and offsets values that are far from each other', () => {
  const first = symbolTerm({ id: 'first', label: 'first' });
  const second = symbolTerm({ id: 'second', label: 'second' });
  const used = [{ extents: [n], offsets: [first, second], numbers: [m] }];
  const facts = [is(n, '>', integer(100)), is(m, '<', n)];
  const samples = spreadSamplesOf(facts, used, 3);
  assert.equal(samples.length, 3);
  for (const sample of samples) {
    const [a, b, extent, number] = [sample(first)!, sample(second)!, sample(n)!, sample(m)!];
    assert.equal(new Set([a, b, extent, number]).size, 4);
    assert.ok(a > 65_536n && b - a > 65_536n && extent > 100n && number < extent, `${a} ${b} ${extent} ${number}`);
  }
  assert.deepEqual(spreadSamplesOf([is(first, '==', second)], used, 3), [], 'a fact makes two of them equal');
  const [small] = spreadSamplesOf([is(first, '<', integer(9)), is(second, '<', integer(9))], used, 1);
  assert.ok(small!(first)! < 9n && small!(second)! < 9n && small!(first) !== small!(second), 'facts that exclude large offsets');
});
