import type { Fact, HostTerm, LaunchName } from './expression.ts';
import { comparisonHolds, resultOf } from './operators.ts';

/** The value of a name; undefined if unknown. */
export type Lookup = (name: LaunchName) => bigint | undefined;

/** Values of the symbols and unknown conditions of a host program, by their ids; undefined if unknown. */
export interface SymbolValues {
  readonly symbol: (id: string) => bigint | undefined;
  readonly condition: (id: string) => boolean | undefined;
}

/**
 * The value of an expression over mathematical integers.
 * @param lookup - returns the known values
 * @param symbols - absent if those of symbols are unknown
 * @returns undefined if a value is unknown, a divisor is 0 or a shift is out of 0 to 63
 */
export function evaluateExpression(expression: HostTerm, lookup: Lookup, symbols?: SymbolValues): bigint | undefined {
  switch (expression.kind) {
    case 'integer':
      return expression.value;
    case 'parameter':
    case 'dimension':
      return lookup(expression);
    case 'symbol':
      return symbols?.symbol(expression.symbol.id);
    case 'choice': {
      const isThen = evaluateCondition(expression.condition, lookup, symbols);
      return isThen === undefined ? undefined : evaluateExpression(isThen ? expression.then : expression.otherwise, lookup, symbols);
    }
    case 'arithmetic': {
      const left = evaluateExpression(expression.left, lookup, symbols);
      const right = evaluateExpression(expression.right, lookup, symbols);
      return left === undefined || right === undefined ? undefined : resultOf(expression.operator, left, right);
    }
  }
}

/** Whether a condition holds; undefined if the known values do not decide it. */
export function evaluateCondition(condition: Fact, lookup: Lookup, symbols?: SymbolValues): boolean | undefined {
  switch (condition.kind) {
    case 'truth':
      return condition.value;
    case 'unknown':
      return symbols?.condition(condition.id);
    case 'comparison': {
      const left = evaluateExpression(condition.left, lookup, symbols);
      const right = evaluateExpression(condition.right, lookup, symbols);
      return left === undefined || right === undefined ? undefined : comparisonHolds(condition.operator, left, right);
    }
    case 'not': {
      const operand = evaluateCondition(condition.operand, lookup, symbols);
      return operand === undefined ? undefined : !operand;
    }
    case 'and':
    case 'or': {
      const left = evaluateCondition(condition.left, lookup, symbols);
      const right = evaluateCondition(condition.right, lookup, symbols);
      const decisive = condition.kind === 'or';
      if (left === decisive || right === decisive) return decisive;
      return left === undefined || right === undefined ? undefined : !decisive;
    }
  }
}

/** The value of an expression without names; undefined if it contains a name. */
export function constantOf(expression: HostTerm): bigint | undefined {
  return evaluateExpression(expression, () => undefined);
}
