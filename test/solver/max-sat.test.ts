import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { minimumHittingSets } from '../../src/repair/hitting-set.ts';
import { lightestSet } from '../../src/solver/max-sat.ts';
import { findNativeZ3 } from '../../src/solver/z3-native.ts';
import { startZ3 } from '../../src/solver/z3-wasm.ts';

const solver = await startZ3();
after(() => solver.close());
const budget = { units: 10_000_000, questions: 100 };
const native = findNativeZ3(process.env['PATH']);

interface Problem {
  readonly clauses: readonly (readonly number[])[];
  readonly weights: readonly number[];
}

function problem(random: ReturnType<typeof seededRandom>): Problem {
  const elements = random.between(1, 14);
  // As repairs weigh: a barrier, one in a loop, one of the grid, and how each reads.
  const weights = Array.from({ length: elements }, () => random.pick([1000, 10_000, 12_000]) + random.below(30));
  const clauses = Array.from({ length: random.between(0, 12) }, () =>
    Array.from({ length: random.between(1, 5) }, () => random.below(elements)),
  );
  return { clauses, weights };
}

/** The result of Z3's own optimiser, by `assert-soft`. */
function softWeight({ clauses, weights }: Problem): number {
  const script = [
    ...weights.map((_, element) => `(declare-const x${element} Bool)`),
    ...clauses.map((clause) => `(assert (or ${clause.map((element) => `x${element}`).join(' ')}))`),
    ...weights.map((weight, element) => `(assert-soft (not x${element}) :weight ${weight} :id cost)`),
    '(check-sat)',
    '(get-objectives)',
  ];
  const { stdout } = spawnSync(native!, ['-in'], { input: script.join('\n'), encoding: 'utf8' });
  const found = /\(cost (\d+)\)/.exec(stdout)?.[1];
  assert.ok(found, stdout);
  return Number(found);
}

test('Z3 finds no lighter set than the search for hitting sets, and no heavier', async () => {
  const random = seededRandom(5);
  for (let round = 0; round < 150; round++) {
    const one = problem(random);
    const weight = (element: number): number => one.weights[element]!;
    const searched = minimumHittingSets(one.clauses, weight, 1);
    assert.ok(searched.exact);
    const solved = await lightestSet(solver, one.clauses, weight, budget);
    assert.ok(solved?.exact);
    assert.equal(solved.weight, searched.weight, JSON.stringify(one));
    assert.ok(one.clauses.every((clause) => clause.some((element) => solved.set.includes(element))));
    if (native !== undefined && round < 25) assert.equal(softWeight(one), searched.weight, JSON.stringify(one));
  }
});

test('max-sat: an empty clause is unsatisfiable, an empty list of clauses satisfiable', async () => {
  assert.equal(await lightestSet(solver, [[1], []], () => 1, budget), null);
  assert.deepEqual(await lightestSet(solver, [], () => 1, budget), { set: [], weight: 0, exact: true });
});

test('an exhausted budget leaves the best result so far, marked as possibly not the lightest', async () => {
  const clauses = Array.from({ length: 40 }, (_, at) => [at, (at * 7 + 1) % 40, (at * 11 + 3) % 40]);
  const weight = (element: number): number => 1000 + element;
  assert.equal(await lightestSet(solver, clauses, weight, { units: 1, questions: 100 }), null);
  const cut = await lightestSet(solver, clauses, weight, { ...budget, questions: 1 });
  assert.equal(cut?.exact, false);
  assert.ok(clauses.every((clause) => clause.some((element) => cut.set.includes(element))));
});
