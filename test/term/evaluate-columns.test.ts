import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { type AtomColumn, ColumnEvaluation } from '../../src/term/evaluate-columns.ts';
import { evaluateTerm } from '../../src/term/evaluate-term.ts';
import type { Term } from '../../src/term/term.ts';
import { atomValue, describeSample, randomSample } from './sample.ts';

test('element i of a column is the value of the term under valuation i', () => {
  let columns = 0;
  let unknown = 0;
  for (let seed = 0; seed < 4000; seed++) {
    const random = seededRandom(seed);
    const sample = randomSample(random, random.pick([0, 0, 8, 16, 32, 64]), random.between(1, 6));
    const count = random.between(1, 5);
    const lanes = Array.from({ length: count }, () => sample.values());
    // Each atom varies, is the same in all valuations, or has no value.
    const kinds = sample.bounds.map(() => random.pick(['varies', 'varies', 'same', 'unknown'] as const));
    const pattern = (leaf: Term, lane: number): bigint | undefined => {
      const { index } = leaf.atom as { readonly index: number };
      if (kinds[index] === 'unknown') return undefined;
      return BigInt.asUintN(leaf.width, atomValue(lanes[kinds[index] === 'varies' ? lane : 0]!, leaf));
    };
    const atom = (leaf: Term): AtomColumn => {
      const patterns = lanes.map((_, lane) => pattern(leaf, lane));
      const isColumn = patterns.every((value) => value !== undefined && value < 1n << 53n);
      return isColumn ? Float64Array.from(patterns, Number) : patterns[0];
    };
    const isColumn = (leaf: Term): boolean => typeof atom(leaf) === 'object';
    const expected = lanes.map((_, lane) => evaluateTerm(sample.term, (leaf) => pattern(leaf, isColumn(leaf) ? lane : 0), new Map()));
    const evaluation = new ColumnEvaluation(count, atom);
    assert.deepEqual(evaluation.patterns(sample.term), expected, describeSample(seed, sample, lanes[0]!));
    if (sample.term.width === 0)
      assert.equal(
        evaluation.someNotFalse(sample.term),
        expected.some((value) => value !== 0n),
      );
    if (new Set(expected).size > 1) columns++;
    if (expected.includes(undefined)) unknown++;
  }
  assert.ok(columns > 500 && unknown > 100, `${columns} of different values, ${unknown} with unknown ones`);
});
