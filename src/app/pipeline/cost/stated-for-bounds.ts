/** User statements that make bounds tighter: values of array elements, and divisors of parameters. */
import { parseBound } from '../../../cost/expressions/bound-parser.ts';
import type { TermBounds } from '../../../cost/lanes/term-bound.ts';
import { multipleOf, namedPointer } from '../../../check/premises/premises.ts';
import type { Condition } from '../../../assumptions/expression.ts';
import { printAssumption, printCondition, printExpression } from '../../../assumptions/print-assumption.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';

/** User statements about the values of the elements of an array. */
export function elementsOf(
  { parameters, assumptions }: LaunchedKernel,
  index: number,
  offset: number,
): (TermBounds & { readonly text: string }) | null {
  for (const { expression } of assumptions) {
    if (expression.kind !== 'elements') continue;
    const array = namedPointer(parameters, expression.array);
    if (array?.index !== index || array.offset !== offset) continue;
    const [low, high] = [expression.low, expression.high].map((side) => parseBound(printExpression(side)));
    if ('expression' in low! && 'expression' in high!)
      return { low: low.expression, high: high.expression, text: printAssumption(expression) };
  }
  return null;
}

/** Divisors of parameters that the user states, as in `n % 32 == 0`. */
export function divisorsOf(conditions: readonly Condition[]): Map<string, { readonly divisor: bigint; readonly text: string }> {
  const divisors = new Map<string, { readonly divisor: bigint; readonly text: string }>();
  const visit = (condition: Condition): void => {
    if (condition.kind === 'and') {
      visit(condition.left);
      visit(condition.right);
    }
    const { expression, divisor } = multipleOf(condition) ?? {};
    if (expression?.kind === 'parameter') divisors.set(expression.path.join('.'), { divisor: divisor!, text: printCondition(condition) });
  };
  conditions.forEach(visit);
  return divisors;
}
