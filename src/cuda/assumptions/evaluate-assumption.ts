import { warpSize } from '../../device/hardware-limits.ts';
import type { Condition, IntegerExpression } from './assumption.ts';

/** The names in an expression. */
type Leaf = Extract<IntegerExpression, { kind: 'parameter' | 'dimension' }>;
/** The value of a name; undefined if unknown. */
export type Lookup = (leaf: Leaf) => bigint | undefined;

/** Shift amounts are below this limit; other shifts have no value. */
export const shiftLimit = 64n;

/**
 * The value of an expression over mathematical integers; `/` and `%` round towards zero as in C, `&` and `|` work on
 * two's complement of unlimited width.
 * @param lookup - returns the known values
 * @returns undefined if a value is unknown, a divisor is 0 or a shift is out of 0 to 63
 */
export function evaluateExpression(expression: IntegerExpression, lookup: Lookup): bigint | undefined {
  switch (expression.kind) {
    case 'integer':
      return expression.value;
    case 'parameter':
    case 'dimension':
      return lookup(expression);
    case 'warp-size':
      return BigInt(warpSize);
    case 'negative': {
      const operand = evaluateExpression(expression.operand, lookup);
      return operand === undefined ? undefined : -operand;
    }
    case 'arithmetic': {
      const left = evaluateExpression(expression.left, lookup);
      const right = evaluateExpression(expression.right, lookup);
      if (left === undefined || right === undefined) return undefined;
      switch (expression.operator) {
        case '+':
          return left + right;
        case '-':
          return left - right;
        case '*':
          return left * right;
        case '/':
          return right === 0n ? undefined : left / right;
        case '%':
          return right === 0n ? undefined : left % right;
        case '<<':
          return right < 0n || right >= shiftLimit ? undefined : left << right;
        case '&':
          return left & right;
        case '|':
          return left | right;
      }
    }
  }
}

/** Whether a condition holds; undefined if the known values do not decide it. */
export function evaluateCondition(condition: Condition, lookup: Lookup): boolean | undefined {
  switch (condition.kind) {
    case 'comparison': {
      const left = evaluateExpression(condition.left, lookup);
      const right = evaluateExpression(condition.right, lookup);
      if (left === undefined || right === undefined) return undefined;
      switch (condition.operator) {
        case '==':
          return left === right;
        case '!=':
          return left !== right;
        case '<':
          return left < right;
        case '<=':
          return left <= right;
        case '>':
          return left > right;
        case '>=':
          return left >= right;
      }
    }
    case 'not': {
      const operand = evaluateCondition(condition.operand, lookup);
      return operand === undefined ? undefined : !operand;
    }
    case 'and':
    case 'or': {
      const left = evaluateCondition(condition.left, lookup);
      const right = evaluateCondition(condition.right, lookup);
      const decisive = condition.kind === 'or';
      if (left === decisive || right === decisive) return decisive;
      return left === undefined || right === undefined ? undefined : !decisive;
    }
  }
}
