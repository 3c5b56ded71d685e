/** Stated comparisons of sizes, such as `ld >= w` or `n == images * size`, as sums that are not negative. */
import { gcd } from '../../base/integer.ts';
import type { Term, TermStore } from '../../term/term.ts';
import type { Condition, IntegerExpression, LaunchName } from '../../assumptions/expression.ts';
import type { ComparisonOperator } from '../../assumptions/operators.ts';
import { plusProducts, timesProducts } from '../../algebra/products.ts';
import { type SizeFactor, type Size, constantSize } from './size-order.ts';

/** A number in a comparison: a polynomial over terms, or the quotient of two. */
type StatedNumber =
  | { readonly kind: 'constant'; readonly value: bigint }
  | { readonly kind: 'term'; readonly term: Term; readonly isSigned: boolean }
  | { readonly kind: '+' | '-' | '*' | '/' | '%'; readonly left: StatedNumber; readonly right: StatedNumber };

export interface StatedSize {
  readonly operator: ComparisonOperator;
  readonly left: StatedNumber;
  readonly right: StatedNumber;
}

/** The comparisons among conditions whose numbers are polynomials or quotients of polynomials. */
export function statedSizes(
  conditions: readonly Condition[],
  termOf: (name: LaunchName) => { term: Term; isSigned: boolean } | null,
): readonly StatedSize[] {
  const numberOf = (expression: IntegerExpression): StatedNumber | null => {
    switch (expression.kind) {
      case 'integer':
        return { kind: 'constant', value: expression.value };
      case 'parameter':
      case 'dimension': {
        const found = termOf(expression);
        if (found?.term.operator === 'constant')
          return { kind: 'constant', value: found.isSigned ? BigInt.asIntN(found.term.width, found.term.value) : found.term.value };
        return found && { kind: 'term', ...found };
      }
      case 'arithmetic': {
        const { operator } = expression;
        if (operator !== '+' && operator !== '-' && operator !== '*' && operator !== '/' && operator !== '%') return null;
        const [left, right] = [numberOf(expression.left), numberOf(expression.right)];
        return left && right && { kind: operator, left, right };
      }
    }
  };
  return conditions.flatMap((condition): StatedSize[] => {
    if (condition.kind !== 'comparison' || condition.operator === '!=') return [];
    const [left, right] = [numberOf(condition.left), numberOf(condition.right)];
    return left && right ? [{ operator: condition.operator, left, right }] : [];
  });
}

/**
 * A constant of which a number, read as signed or unsigned, is stated to be a multiple: 2 for `n % 2 == 0`; 1 without
 * such a statement.
 */
export function statedDivisorOf(stated: readonly StatedSize[], number: Term, isSigned: boolean): bigint {
  return stated.reduce((most, { operator, left, right }) => {
    const isZero = operator === '==' && right.kind === 'constant' && right.value === 0n;
    if (!isZero || left.kind !== '%' || left.left.kind !== 'term' || left.right.kind !== 'constant') return most;
    const isOwn = left.left.term === number && left.left.isSigned === isSigned && left.right.value > 0n;
    return isOwn ? (most / gcd(most, left.right.value)) * left.right.value : most;
  }, 1n);
}

/** Whether a comparison states that one number is a multiple of another one. */
function isMultipleOf({ operator, left, right }: StatedSize, number: StatedNumber, of: StatedNumber): boolean {
  const isZero = operator === '==' && right.kind === 'constant' && right.value === 0n;
  return isZero && left.kind === '%' && isSameNumber(left.left, number) && isSameNumber(left.right, of);
}

function isSameNumber(a: StatedNumber, b: StatedNumber): boolean {
  if (a.kind === 'constant') return b.kind === 'constant' && a.value === b.value;
  if (a.kind === 'term') return b.kind === 'term' && a.term === b.term && a.isSigned === b.isSigned;
  if (b.kind === 'constant' || b.kind === 'term' || a.kind !== b.kind) return false;
  return isSameNumber(a.left, b.left) && isSameNumber(a.right, b.right);
}

/** Sums that the comparisons state not to be negative. */
export function factsOfSizes(
  stated: readonly StatedSize[],
  factorOf: (term: Term, isSigned: boolean) => SizeFactor,
  store: TermStore,
): readonly Size[] {
  const sizeOf = (number: StatedNumber): Size | null => {
    switch (number.kind) {
      case 'constant':
        return constantSize(number.value);
      case 'term':
        return [{ coefficient: 1n, factors: [factorOf(number.term, number.isSigned)] }];
      case '/': {
        const { left, right } = number;
        const isDivisor = right.kind === 'constant' && right.value > 0n && right.value < 1n << 31n;
        if (left.kind !== 'term' || !isDivisor) return null;
        const { width } = left.term;
        const term = store.divide(left.isSigned ? 'sdiv' : 'udiv', width, left.term, store.constant(width, right.value));
        return [{ coefficient: 1n, factors: [factorOf(term, left.isSigned)] }];
      }
      case '%':
        return null;
      default: {
        const [left, right] = [sizeOf(number.left), sizeOf(number.right)];
        if (!left || !right) return null;
        return number.kind === '*' ? timesProducts(left, right) : plusProducts(left, right, number.kind === '+' ? 1n : -1n);
      }
    }
  };
  const isNatural = (size: Size): boolean =>
    size.every(({ coefficient, factors }) => coefficient > 0n && factors.every(({ least }) => least >= 0n));
  /**
   * `x == a / b` for nonnegative `a` and positive `b`: `b * x <= a` and `a < b * x + b`; for any numbers with `a % b ==
   * 0`, `b * x == a`.
   */
  const quotients = ({ operator, left, right }: StatedSize): readonly Size[] => {
    if (operator !== '==' || right.kind !== '/') return [];
    const [x, a, b] = [sizeOf(left), sizeOf(right.left), sizeOf(right.right)];
    const isPositive = b?.length === 1 && b[0]!.coefficient > 0n && b[0]!.factors.every(({ least }) => least > 0n);
    if (!x || !a || !b) return [];
    const rest = plusProducts(a, timesProducts(x, b), -1n);
    if (stated.some((one) => isMultipleOf(one, right.left, right.right))) return [rest, plusProducts([], rest, -1n)];
    if (!isPositive || !isNatural(a)) return [];
    return [rest, plusProducts(plusProducts(b, constantSize(1n), -1n), rest, -1n)];
  };
  return stated.flatMap((one): readonly Size[] => {
    const [left, right] = [sizeOf(one.left), sizeOf(one.right)];
    if (!left || !right) return [...quotients(one), ...quotients({ ...one, left: one.right, right: one.left })];
    const [more, less] = [plusProducts(left, right, -1n), plusProducts(right, left, -1n)];
    switch (one.operator) {
      case '==':
        return [more, less];
      case '>=':
        return [more];
      case '<=':
        return [less];
      case '>':
        return [plusProducts(more, constantSize(1n), -1n)];
      case '<':
        return [plusProducts(less, constantSize(1n), -1n)];
      default:
        return [];
    }
  });
}
