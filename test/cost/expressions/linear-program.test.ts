/** Linear programs: compared with all corners of programs in two variables. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { minimise } from '../../../src/cost/expressions/linear-program.ts';
import { type Rational, addRational, compareRational, multiplyRational, rational } from '../../../src/cost/expressions/rational.ts';

type Row = readonly [a: bigint, b: bigint, least: bigint];

const whole = (value: number): bigint => BigInt(value);
const dot = ([a, b]: readonly [bigint, bigint, ...bigint[]], [x, y]: readonly [Rational, Rational]): Rational =>
  addRational(multiplyRational(rational(a), x), multiplyRational(rational(b), y));

/** The least weighted sum over the corners of the feasible region; null if it is empty. */
function byCorners(weights: readonly [bigint, bigint], rows: readonly Row[]): Rational | null {
  const all: readonly Row[] = [...rows, [1n, 0n, 0n], [0n, 1n, 0n]];
  let best: Rational | null = null;
  for (const [a, b, c] of all) {
    for (const [d, e, f] of all) {
      const determinant = a * e - b * d;
      if (determinant === 0n) continue;
      const corner = [rational(c * e - b * f, determinant), rational(a * f - c * d, determinant)] as const;
      if (!all.every((row) => compareRational(dot(row, corner), rational(row[2])) >= 0)) continue;
      const sum = dot(weights, corner);
      if (!best || compareRational(sum, best) < 0) best = sum;
    }
  }
  return best;
}

test('the minimum is attained at the best vertex of the feasible region', () => {
  const random = seededRandom(8);
  let solved = 0;
  for (let round = 0; round < 400; round++) {
    const rows = Array.from({ length: random.between(1, 5) }, (): Row => [
      whole(random.between(-4, 4)),
      whole(random.between(-4, 4)),
      whole(random.between(-5, 6)),
    ]);
    const weights = [whole(random.below(5)), whole(random.below(5))] as const;
    const found = minimise(
      weights.map((weight) => rational(weight)),
      rows.map(([a, b, least]) => ({
        coefficients: new Map([
          [0, rational(a)],
          [1, rational(b)],
        ]),
        least: rational(least),
      })),
      100,
    );
    const expected = byCorners(weights, rows);
    assert.equal(found === null, expected === null, `${round}`);
    if (!found || !expected) continue;
    solved++;
    const point = [found[0]!, found[1]!] as const;
    for (const row of rows) assert.ok(compareRational(dot(row, point), rational(row[2])) >= 0);
    assert.ok(found.every(({ top }) => top >= 0n));
    assert.equal(compareRational(dot(weights, point), expected), 0);
  }
  assert.ok(solved > 150);
});

test('the linear program returns no result if its step budget is too small', () => {
  const constraint = { coefficients: new Map([[0, rational(1n)]]), least: rational(1n) };
  assert.equal(minimise([rational(1n)], [constraint], 0), null);
});
