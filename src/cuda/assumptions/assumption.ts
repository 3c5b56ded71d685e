/**
 * The assumption language: comparisons and arithmetic over parameters and launch dimensions, read over mathematical
 * integers, and the predicates `distinct(A)`, `A[*] in lo..hi`, `apart(A, B)`,
 * `apart(A[*])`, `extent(A) >= n`.
 */
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '<<' | '&' | '|';
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type IntegerExpression =
  | { readonly kind: 'integer'; readonly value: bigint }
  /** `n` is `['n']`, `p.n` is `['p', 'n']`; `param0`, `param1`, … always work. */
  | { readonly kind: 'parameter'; readonly path: readonly string[] }
  | { readonly kind: 'dimension'; readonly name: 'blockDim' | 'gridDim'; readonly axis: 'x' | 'y' | 'z' }
  | { readonly kind: 'warp-size' }
  | { readonly kind: 'negative'; readonly operand: IntegerExpression }
  | {
      readonly kind: 'arithmetic';
      readonly operator: ArithmeticOperator;
      readonly left: IntegerExpression;
      readonly right: IntegerExpression;
    };

export type Condition =
  | {
      readonly kind: 'comparison';
      readonly operator: ComparisonOperator;
      readonly left: IntegerExpression;
      readonly right: IntegerExpression;
    }
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly operand: Condition };

export type AssumptionExpression =
  | { readonly kind: 'condition'; readonly condition: Condition }
  | { readonly kind: 'distinct'; readonly array: string }
  /** Every element is at least `low` and at most `high`. */
  | {
      readonly kind: 'elements';
      readonly array: string;
      readonly low: IntegerExpression;
      readonly high: IntegerExpression;
    }
  | { readonly kind: 'apart'; readonly first: string; readonly second: string }
  /** The arrays that pointers in `array` point to overlap neither each other nor any other array. */
  | { readonly kind: 'pointers-apart'; readonly array: string }
  | { readonly kind: 'extent'; readonly array: string; readonly atLeast: IntegerExpression };
