import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SymbolicKernel } from '../../../src/analysis/values/symbolic.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { Unexpressible, compileTruth, compileValue } from '../../../src/analysis/values/compiled-term.ts';
import type { Term } from '../../../src/term/term.ts';
import { valuation } from '../../term/natural-value.ts';
import { type Sample, atomValue, describeSample, randomSample } from '../../term/sample.ts';

const samples = 12_000;

/** The compiled JavaScript of a sample as a function of its atoms; null if it has no exact form. */
function stage(sample: Sample): ((values: readonly bigint[]) => unknown) | null {
  const symbolic = { store: sample.store, view: sample.view } as SymbolicKernel;
  const name = (leaf: Term): { name: string; offset: bigint } => ({
    name: `v[${(leaf.atom as { index: number }).index}]`,
    offset: 0n,
  });
  try {
    const text = (sample.term.width === 0 ? compileTruth : compileValue)(symbolic, sample.term, name);
    const run = new Function('v', `return ${text}`) as (values: readonly number[]) => unknown;
    return (values) => run(values.map(Number));
  } catch (error) {
    if (!(error instanceof Unexpressible)) throw error;
    return null;
  }
}

/** Whether JavaScript represents all of them exactly. */
function areSafe(values: readonly bigint[]): boolean {
  return values.every((value) => value > -(1n << 52n) && value < 1n << 52n);
}

test('a staged condition has the same value as the original condition', () => {
  let staged = 0;
  for (let seed = 0; seed < samples; seed++) {
    const sample = randomSample(seededRandom(seed), 0, 3);
    const run = stage(sample);
    if (!run) continue;
    staged++;
    for (let i = 0; i < 4; i++) {
      const values = sample.values();
      if (areSafe(values)) assert.equal(run(values), sample.reference(values) === 1n, describeSample(seed, sample, values));
    }
  }
  assert.ok(staged > samples / 2);
});

test('compiled terms evaluate to the same integers as the terms', () => {
  let staged = 0;
  for (let seed = 0; seed < samples; seed++) {
    const random = seededRandom(seed);
    const sample = randomSample(random, random.pick([8, 16, 32, 64]), random.between(1, 4));
    const run = stage(sample);
    if (!run) continue;
    staged++;
    const form = sample.view.natural(sample.term);
    for (let i = 0; i < 4; i++) {
      const values = sample.values();
      const of = valuation(sample.view, (leaf) => atomValue(values, leaf));
      // An assumption of its form is not an assumption of the text: there it is exact.
      if (!areSafe(values) || !of.holds(form)) continue;
      assert.equal(Number(run(values)), Number(of.form(form)), describeSample(seed, sample, values));
    }
  }
  assert.ok(staged > samples / 3);
});
