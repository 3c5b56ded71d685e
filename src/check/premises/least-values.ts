/**
 * Least values of the scalars of a launch that statements imply together: from `n >= 1`, `s1 >= n` and `s2 >= n * s1 + n -
 * s1` follows that `s2` is positive. Without that, an index with these strides may be negative, and its unsigned value is
 * no sum of digits.
 */
import { collected, plusProducts, timesProducts, type KeyedProduct } from '../../algebra/products.ts';
import { floorDivide } from '../../base/integer.ts';
import type { Condition, IntegerExpression, NumberComparison } from '../../assumptions/expression.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import { namedScalar } from './premises.ts';

type Sum = readonly KeyedProduct<{ readonly key: string }>[];

/** Passes over all statements; each carries bounds from one statement to others. */
const maxPasses = 6;
/** Limit on the factors of a product. */
const maxFactors = 4;

/** The least value of each scalar for which one is known, by {@link keyOfValue}. */
export function leastValues(conditions: readonly Condition[], parameters: readonly ParameterSource[]): ReadonlyMap<string, bigint> {
  const sums = conditions.flatMap((condition) => (condition.kind === 'comparison' ? sumsOf(condition, parameters) : []));
  const least = new Map<string, bigint>();
  for (let pass = 0, isOpen = true; isOpen && pass < maxPasses; pass++) {
    isOpen = false;
    for (const sum of sums)
      for (const { coefficient, factors } of sum) {
        const [factor, ...others] = factors;
        const isAlone = factor && sum.every((one) => one.factors === factors || one.factors.every(({ key }) => key !== factor.key));
        if (!factor || others.length > 0 || coefficient < 0n || !isAlone || isDimension(factor.key)) continue;
        // c * x + rest >= 0: x is at least the least value of -rest / c.
        const rest = plusProducts(
          [],
          sum.filter((one) => one.factors !== factors),
          -1n,
        );
        const most = leastOf(rest, least);
        if (most === null) continue;
        const bound = -floorDivide(-most, coefficient);
        if (bound <= (least.get(factor.key) ?? bound - 1n)) continue;
        least.set(factor.key, bound);
        isOpen = true;
      }
  }
  return least;
}

/** Key of a scalar by its place among the parameters. */
export function keyOfValue(index: number, offset: number): string {
  return `${index}.${offset}`;
}

function isDimension(key: string): boolean {
  return key.includes('Dim');
}

/** The sums that a comparison states not to be negative. */
function sumsOf({ operator, left, right }: NumberComparison, parameters: readonly ParameterSource[]): readonly Sum[] {
  const [a, b] = [sumOf(left, parameters), sumOf(right, parameters)];
  if (!a || !b) return [];
  const [more, less] = [plusProducts(a, b, -1n), plusProducts(b, a, -1n)];
  const minusOne = [{ coefficient: -1n, factors: [] }];
  switch (operator) {
    case '>=':
      return [more];
    case '>':
      return [plusProducts(more, minusOne)];
    case '<=':
      return [less];
    case '<':
      return [plusProducts(less, minusOne)];
    case '==':
      return [more, less];
    default:
      return [];
  }
}

/** A polynomial over scalars and dimensions; null for other expressions. */
function sumOf(expression: IntegerExpression, parameters: readonly ParameterSource[]): Sum | null {
  switch (expression.kind) {
    case 'integer':
      return collected([{ coefficient: expression.value, factors: [] }]);
    case 'parameter': {
      const scalar = namedScalar(parameters, expression.path);
      return scalar && [{ coefficient: 1n, factors: [{ key: keyOfValue(scalar.index, scalar.offset) }] }];
    }
    case 'dimension':
      return [{ coefficient: 1n, factors: [{ key: `${expression.name}.${expression.axis}` }] }];
    case 'arithmetic': {
      const [a, b] = [sumOf(expression.left, parameters), sumOf(expression.right, parameters)];
      if (!a || !b) return null;
      if (expression.operator === '+') return plusProducts(a, b);
      if (expression.operator === '-') return plusProducts(a, b, -1n);
      const product = expression.operator === '*' ? timesProducts(a, b) : null;
      return product?.every(({ factors }) => factors.length <= maxFactors) ? product : null;
    }
  }
}

/**
 * A lower bound of a sum, from those of its factors: with `x = least + x'` the sum is one over numbers that are not
 * negative, and at least its constant if no other product is negative. Null if one is, or if a factor has no bound.
 */
function leastOf(sum: Sum, least: ReadonlyMap<string, bigint>): bigint | null {
  let shifted: Sum = [];
  for (const { coefficient, factors } of sum) {
    let product: Sum = [{ coefficient, factors: [] }];
    for (const factor of factors) {
      const low = isDimension(factor.key) ? 1n : least.get(factor.key);
      if (low === undefined) return null;
      product = timesProducts(
        product,
        collected([
          { coefficient: low, factors: [] },
          { coefficient: 1n, factors: [factor] },
        ]),
      );
    }
    shifted = plusProducts(shifted, product);
  }
  if (shifted.some(({ coefficient, factors }) => factors.length > 0 && coefficient < 0n)) return null;
  return shifted.find(({ factors }) => factors.length === 0)?.coefficient ?? 0n;
}
