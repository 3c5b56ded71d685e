/** Linear programs, solved exactly. */
import { type Rational, addRational, compareRational, multiplyRational, negate, divideRational, rational } from './rational.ts';

/** sum of coefficient * variable >= least. */
export interface Constraint {
  readonly coefficients: ReadonlyMap<number, Rational>;
  readonly least: Rational;
}

const zero = rational(0n);

/**
 * Non-negative values that satisfy constraints and minimise a weighted sum, by the dual simplex method with Bland's
 * rule, which terminates.
 * @param weights by variable, none negative
 * @param pivots steps at most
 * @returns null if the constraints are infeasible, or the steps do not suffice
 */
export function minimise(weights: readonly Rational[], constraints: readonly Constraint[], pivots: number): Rational[] | null {
  const count = weights.length;
  // A row expresses a basic variable by the non-basic ones, which are zero: basic = constant + sum of coefficient *
  // other.
  let rows: Row[] = constraints.map(({ coefficients, least }, index) => ({
    basic: count + index,
    constant: negate(least),
    of: new Map([...coefficients].filter(([, by]) => by.top !== 0n)),
  }));
  let costs = new Map(weights.map((weight, variable) => [variable, weight]));
  for (let step = 0; ; step++) {
    const [leaving] = rows.filter(({ constant }) => constant.top < 0n).sort((a, b) => a.basic - b.basic);
    if (!leaving) break;
    if (step === pivots) return null;
    let entering: { readonly variable: number; readonly ratio: Rational } | null = null;
    for (const [variable, by] of [...leaving.of].sort(([a], [b]) => a - b)) {
      if (by.top <= 0n) continue;
      const ratio = divideRational(costs.get(variable) ?? zero, by);
      if (!entering || compareRational(ratio, entering.ratio) < 0) entering = { variable, ratio };
    }
    if (!entering) return null;
    const { variable } = entering;
    const by = leaving.of.get(variable)!;
    // The same row, solved for the entering variable.
    const own = new Map<number, Rational>([[leaving.basic, divideRational(rational(1n), by)]]);
    for (const [other, factor] of leaving.of) if (other !== variable) own.set(other, negate(divideRational(factor, by)));
    const solved: Row = { basic: variable, constant: negate(divideRational(leaving.constant, by)), of: own };
    rows = rows.map((row) => (row === leaving ? solved : { ...row, ...replaced(row, solved) }));
    costs = replaced({ constant: zero, of: costs }, solved).of;
  }
  const values = weights.map(() => zero);
  for (const { basic, constant } of rows) if (basic < count) values[basic] = constant;
  return values;
}

interface Sum {
  readonly constant: Rational;
  readonly of: Map<number, Rational>;
}

interface Row extends Sum {
  readonly basic: number;
}

/** A sum with the variable of a row replaced by the row. */
function replaced({ constant, of }: Sum, row: Row): Sum {
  const factor = of.get(row.basic);
  if (!factor) return { constant, of };
  const sum = new Map(of);
  sum.delete(row.basic);
  for (const [variable, by] of row.of) {
    const total = addRational(sum.get(variable) ?? zero, multiplyRational(factor, by));
    if (total.top === 0n) sum.delete(variable);
    else sum.set(variable, total);
  }
  return { constant: addRational(constant, multiplyRational(factor, row.constant)), of: sum };
}
