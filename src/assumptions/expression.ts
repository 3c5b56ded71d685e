/**
 * Integers and conditions over the names of a launch and the symbols of a host program. Statements of users and
 * constraints of launches have names only; values of host programs have symbols, and choices between values.
 */
import { type ArithmeticOperator, type ComparisonOperator, mirroredOperators } from './operators.ts';

/** A parameter or a dimension of a launch. */
export type LaunchName =
  /** `n` is `['n']`, `p.n` is `['p', 'n']`; `param0`, `param1`, … always work. */
  | { readonly kind: 'parameter'; readonly path: readonly string[] }
  | { readonly kind: 'dimension'; readonly name: 'blockDim' | 'gridDim'; readonly axis: 0 | 1 | 2 };

/** An unknown that has a value only when the host program runs. Symbols with the same id have the same value. */
export interface HostSymbol {
  readonly id: string;
  /** As the source names it, for messages. */
  readonly label: string;
  /** Its type without qualifiers, if declared. */
  readonly type?: string;
  /** Where it comes from, for messages, if more is known than its label: `the result of strtol()`. */
  readonly origin?: string;
}

/** A value of a host program that depends on a condition. */
interface Choice {
  readonly kind: 'choice';
  readonly condition: Fact;
  readonly then: HostTerm;
  readonly otherwise: HostTerm;
  readonly size: number;
}

type HostLeaf = LaunchName | { readonly kind: 'symbol'; readonly symbol: HostSymbol } | Choice;

/** An integer over mathematical integers: index arithmetic of host programs is assumed not to wrap around. */
export type IntegerExpression<Leaf = LaunchName> =
  /** `text` is present if the number is not written with digits; the 0 in `-n`, which is `0 - n`, is not written. */
  | { readonly kind: 'integer'; readonly value: bigint; readonly text?: 'warpSize' | '' }
  | Leaf
  | {
      readonly kind: 'arithmetic';
      readonly operator: ArithmeticOperator;
      readonly left: IntegerExpression<Leaf>;
      readonly right: IntegerExpression<Leaf>;
      /** Number of nodes; present in terms of host programs. */
      readonly size?: number;
    };

export interface NumberComparison<Leaf = LaunchName> {
  readonly kind: 'comparison';
  readonly operator: ComparisonOperator;
  readonly left: IntegerExpression<Leaf>;
  readonly right: IntegerExpression<Leaf>;
}

export type Condition<Leaf = LaunchName, Atom = never> =
  | NumberComparison<Leaf>
  | { readonly kind: 'and' | 'or'; readonly left: Condition<Leaf, Atom>; readonly right: Condition<Leaf, Atom> }
  | { readonly kind: 'not'; readonly operand: Condition<Leaf, Atom> }
  | Atom;

/** An integer as a host program computes it. */
export type HostTerm = IntegerExpression<HostLeaf>;

/** A condition of a host program. */
export type Fact = Condition<
  HostLeaf,
  | { readonly kind: 'truth'; readonly value: boolean }
  /** An unknown condition, the same wherever its id appears. */
  | { readonly kind: 'unknown'; readonly id: string }
>;

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

type Integer = Extract<IntegerExpression, { kind: 'integer' }>;

/** A number. */
export function integer(value: bigint | number): Integer {
  return { kind: 'integer', value: BigInt(value) };
}

export const zeroTerm = integer(0);
export const one = integer(1);

/** The name of a parameter, or of a member of one. */
export function parameter(...path: readonly string[]): LaunchName {
  return { kind: 'parameter', path };
}

/** The name of an extent of the block or the grid. */
export function dimension(name: 'blockDim' | 'gridDim', axis: number): LaunchName {
  return { kind: 'dimension', name, axis: axis as 0 | 1 | 2 };
}

/** The term of a symbol. */
export function symbolTerm(symbol: HostSymbol): HostTerm {
  return { kind: 'symbol', symbol };
}

/** The number that a term is; undefined for other terms. */
export function termConstant(term: HostTerm): bigint | undefined {
  return term.kind === 'integer' ? term.value : undefined;
}

/** An operation as it is, not simplified. */
export function operation(operator: ArithmeticOperator, left: IntegerExpression, right: IntegerExpression): IntegerExpression {
  return { kind: 'arithmetic', operator, left, right };
}

/** `-n` is the difference `0 - n`, and `-5` a number. */
export function negative(operand: IntegerExpression): IntegerExpression {
  const isLiteral = operand.kind === 'integer' && operand.text === undefined && operand.value > 0n;
  return isLiteral ? integer(-operand.value) : operation('-', { ...zeroTerm, text: '' }, operand);
}

/** A comparison as it is, not decided. */
export function comparison(left: IntegerExpression, operator: ComparisonOperator, right: IntegerExpression): NumberComparison {
  return { kind: 'comparison', operator, left, right };
}

/** `m == 2 || m == 8`. */
export function equalsOneOf(name: IntegerExpression, [first, ...more]: readonly bigint[]): Condition {
  const equal = (value: bigint): Condition => comparison(name, '==', integer(value));
  return more.map(equal).reduce((left, right): Condition => ({ kind: 'or', left, right }), equal(first!));
}

/** Whether an expression is one name. */
export function isLaunchName(expression: IntegerExpression): expression is LaunchName {
  return expression.kind === 'parameter' || expression.kind === 'dimension';
}

/** Both orders of the sides of a comparison. */
export function sidesOf({
  left,
  right,
  operator,
}: NumberComparison): readonly (readonly [IntegerExpression, ComparisonOperator, IntegerExpression])[] {
  return [
    [left, operator, right],
    [right, mirroredOperators[operator], left],
  ];
}
