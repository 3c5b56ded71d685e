/** Cost of all iterations of a loop from the cost of one iteration. */
import { type Cost, loosened, mapCost, sumOverIterations, worstOf } from './costs-by-line.ts';
import { add, constant, type Expression, namesOf, zero } from './expressions/expression.ts';
import { isNonNegative, maximum } from './expressions/expression-order.ts';
import { isPolynomialIn, sumOverIterationRange } from './expressions/iteration-sum.ts';

/** Maximum of the cost and 0: a lane with a negative trip count does not enter the loop, because of a guard. */
export function atLeastNothing(cost: Cost, rounds: Expression): Cost {
  return isNonNegative(rounds) ? cost : mapCost(cost, (amount) => maximum(amount, zero));
}

/** The cost of all iterations: of those that are followed by another one, and of the last one. */
export function overRounds(each: Cost, last: Cost, name: string, rounds: Expression): Cost {
  const summed = (cost: Cost, times: Expression): Cost => mapCost(cost, (amount) => sumOverIterationRange(amount, name, times));
  const dependsOnRound = [...last.totals.values()].some((amount) => amount && namesOf(amount).has(name));
  // The index of the last iteration is not known exactly.
  if (dependsOnRound) return loosened(summed(worstOf([each, last]), add(rounds, constant(1))));
  const isRounded = [...each.totals.values()].some((amount) => amount && !isPolynomialIn(amount, name));
  return sumOverIterations([isRounded ? loosened(summed(each, rounds)) : summed(each, rounds), last]);
}
