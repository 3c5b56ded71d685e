/** Sums over the iterations of a loop. */
import {
  type Addend,
  type Expression,
  type Factor,
  add,
  constant,
  constantValue,
  made,
  multiply,
  named,
  namesOf,
  scale,
  single,
  subtract,
} from './expression.ts';
import { isNonNegative, maximum, substitute } from './expression-order.ts';
import { sharedSumOf, holdsShared, isSteady, joined } from './shared-iterations.ts';

/**
 * Upper bound of the sum of an amount over the iterations 0 to `rounds` - 1.
 * @param name the name of the iteration index in the amount
 * @returns null if none is found
 */
export function sumOverIterationRange(amount: Expression, name: string, rounds: Expression): Expression | null {
  if (holdsShared(amount)) {
    const sum = sharedSumOf(amount);
    const rest = sum && isSteady(sum, name) ? sumOverIterationRange(sum.rest, name, rounds) : null;
    return rest && joined({ rest, shared: sum!.shared });
  }
  const parts: Expression[] = [];
  for (const [key, addend] of amount.addends) {
    const summed = sumOfAddend(made(new Map([[key, addend]])), addend, name, rounds);
    if (!summed) return null;
    parts.push(summed);
  }
  return add(...parts);
}

/** Whether the iteration index occurs in no quotient, logarithm, minimum or maximum. The sum is exact then. */
export function isPolynomialIn(amount: Expression, name: string): boolean {
  return [...amount.addends.values()].every(({ factors }) =>
    factors.every((factor) => factor.kind === 'name' || !namesOf(single(factor)).has(name)),
  );
}

function sumOfAddend(whole: Expression, addend: Addend, name: string, rounds: Expression): Expression | null {
  const { coefficient, factors } = addend;
  const containsName = (factor: Factor): boolean => namesOf(single(factor)).has(name);
  const hidden = factors.filter((factor) => factor.kind !== 'name' && containsName(factor));
  const others = factors.filter((factor) => !hidden.includes(factor));
  const cofactor = others.reduce((product, factor) => multiply(product, single(factor)), constant(coefficient));
  const [factor] = hidden;
  if (!factor) {
    const own = factors.filter((other) => containsName(other)).length;
    const still = others.filter((other) => !containsName(other));
    const power = powerSum(own, rounds);
    return (
      power &&
      multiply(
        still.reduce((product, other) => multiply(product, single(other)), constant(coefficient)),
        power,
      )
    );
  }
  if (hidden.length > 1 || coefficient.top < 0n || !others.every((other) => isNonNegative(single(other)))) return null;
  const open = opened(factor, name, rounds);
  if (open) return sumOverIterationRange(multiply(cofactor, open), name, rounds);
  // A factor that is monotone in the iteration index is largest at one of its ends.
  if (others.some(containsName) || !isMonotone(factor, name)) return null;
  const at = (round: Expression): Expression => substitute(whole, (other) => (other === name ? round : undefined));
  return multiply(rounds, maximum(at(constant(0)), at(subtract(rounds, constant(1))), constant(0)));
}

/** An upper bound of a factor without rounding and maximum; null if none is found. */
function opened(factor: Factor, name: string, rounds: Expression): Expression | null {
  if (factor.kind === 'floor') {
    const divisor = constantValue(factor.divisor);
    return divisor && scale(factor.dividend, { top: divisor.bottom, bottom: divisor.top });
  }
  if (factor.kind !== 'max') return null;
  const [moving, ...more] = factor.parts.filter((part) => constantValue(part) === null);
  const isOverZero = factor.parts.every((part) => part === moving || (constantValue(part)?.top ?? 1n) <= 0n);
  if (!moving || more.length > 0 || !isOverZero || !isLinear(moving, name)) return null;
  // An iteration exists only if the trip count is at least 1.
  const ends = [constant(0), subtract(rounds, constant(1))];
  const isPositive = ends.every((end) =>
    isNonNegative(
      withSomeRound(
        substitute(moving, (other) => (other === name ? end : undefined)),
        rounds,
      ),
    ),
  );
  return isPositive ? moving : null;
}

/** The expression under the assumption that the trip count is at least 1, if the trip count has a single name. */
function withSomeRound(expression: Expression, rounds: Expression): Expression {
  const names = [...namesOf(rounds)];
  const [name] = names;
  const less = name === undefined ? null : constantValue(subtract(rounds, named(name)));
  if (names.length !== 1 || !less || less.bottom !== 1n || less.top >= 1n) return expression;
  return substitute(expression, (other) => (other === name ? add(named(name), constant(1n - less.top)) : undefined));
}

/** Whether a factor is monotone in the iteration index. */
function isMonotone(factor: Factor, name: string): boolean {
  switch (factor.kind) {
    case 'name':
      return true;
    case 'floor':
      return isLinear(factor.dividend, name) && !namesOf(factor.divisor).has(name);
    case 'floor-log2':
    case 'ceil-log2':
      return isLinear(factor.of, name);
    case 'min':
    case 'max': {
      const moving = factor.parts.filter((part) => namesOf(part).has(name));
      return moving.length === 1 && isLinear(moving[0]!, name);
    }
  }
}

/** Whether the iteration index occurs once, in a product without factors that may change its sign. */
function isLinear(expression: Expression, name: string): boolean {
  const containsName = (factor: Factor): boolean => namesOf(single(factor)).has(name);
  const [moving, ...more] = [...expression.addends.values()].filter(({ factors }) => factors.some(containsName));
  if (!moving || more.length > 0) return false;
  const inner = moving.factors.filter(containsName);
  if (inner.length !== 1) return false;
  if (!moving.factors.every((factor) => containsName(factor) || isNonNegative(single(factor)))) return false;
  return isMonotone(inner[0]!, name);
}

/** The sum of k^power for k from 0 to n - 1. */
function powerSum(power: number, n: Expression): Expression | null {
  const square = multiply(n, n);
  switch (power) {
    case 0:
      return n;
    case 1:
      return scale(subtract(square, n), { top: 1n, bottom: 2n });
    case 2:
      return scale(add(scale(multiply(square, n), 2), scale(square, -3), n), { top: 1n, bottom: 6n });
    default:
      return null;
  }
}
