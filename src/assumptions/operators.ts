/** Operators of the language, as in C but over mathematical integers. */
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '<<' | '&' | '|';
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** Shift amounts are below this limit; other shifts have no value. */
export const shiftLimit = 64n;

/**
 * The result of an operation: `/` and `%` truncate towards zero, `&` and `|` work on two's complement of unlimited width.
 * @returns undefined for a division by zero, or a shift out of 0 to 63
 */
export function resultOf(operator: ArithmeticOperator, a: bigint, b: bigint): bigint | undefined {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0n ? undefined : a / b;
    case '%':
      return b === 0n ? undefined : a % b;
    case '<<':
      return b < 0n || b >= shiftLimit ? undefined : a << b;
    case '&':
      return a & b;
    case '|':
      return a | b;
  }
}

/** Whether a comparison of two numbers is true. */
export function comparisonHolds(operator: ComparisonOperator, a: bigint, b: bigint): boolean {
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
  }
}

/** The operator of the negated comparison. */
export const oppositeOperators = { '<': '>=', '>': '<=', '<=': '>', '>=': '<', '==': '!=', '!=': '==' } as const;

/** The operator of the comparison with exchanged sides. */
export const mirroredOperators = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!=' } as const;

/** As in C, but `&` and `|` next to a comparison need parentheses: readers often expect another precedence. */
export const precedences: Readonly<Record<string, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  '|': 4,
  '&': 5,
  '<<': 6,
  '+': 7,
  '-': 7,
  '*': 8,
  '/': 8,
  '%': 8,
};
