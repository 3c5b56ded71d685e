/** Integers and conditions of host programs, simplified as they are built. */
import { type Condition, type Fact, type HostTerm, integer, one, termConstant, zeroTerm } from './expression.ts';
import { type ArithmeticOperator, type ComparisonOperator, comparisonHolds, oppositeOperators, resultOf } from './operators.ts';
import { isSame, maxTreeSize, treeSize } from './parts.ts';

/** Larger shifts of numbers leave the types of C, in which their results are negative. */
const maxShift = 62n;

/**
 * An operation of C on two integers, simplified.
 * @returns null if it has no value or is too large: a division by zero, a shift amount out of range
 */
export function arithmetic(operator: ArithmeticOperator, left: HostTerm, right: HostTerm): HostTerm | null {
  const [a, b] = [termConstant(left), termConstant(right)];
  if (a !== undefined && b !== undefined) {
    const value = operator === '<<' && b > maxShift ? undefined : resultOf(operator, a, b);
    return value === undefined ? null : integer(value);
  }
  if (b === 0n && (operator === '/' || operator === '%')) return null;
  const simple = simplified(operator, left, right, a, b);
  if (simple) return simple;
  const size = treeSize(left) + treeSize(right) + 1;
  return size > maxTreeSize ? null : { kind: 'arithmetic', operator, left, right, size };
}

function simplified(
  operator: ArithmeticOperator,
  left: HostTerm,
  right: HostTerm,
  a: bigint | undefined,
  b: bigint | undefined,
): HostTerm | null {
  switch (operator) {
    case '+': {
      if (a === 0n) return right;
      if (b === 0n) return left;
      if (a !== undefined) return arithmetic('+', right, left);
      if (left.kind === 'arithmetic' && b !== undefined) {
        const inner = termConstant(left.right);
        if (left.operator === '+' && inner !== undefined) return arithmetic('+', left.left, integer(inner + b));
      }
      return roundedUp(left, right) ?? roundedUp(right, left);
    }
    case '-': {
      if (b !== undefined) return arithmetic('+', left, integer(-b));
      if (isSame(left, right)) return zeroTerm;
      // (a + b) - a
      if (left.kind === 'arithmetic' && left.operator === '+') {
        if (isSame(left.left, right)) return left.right;
        if (isSame(left.right, right)) return left.left;
      }
      return null;
    }
    case '*': {
      if (a === 0n || b === 0n) return zeroTerm;
      if (a === 1n) return right;
      if (b === 1n) return left;
      if (a !== undefined) return arithmetic('*', right, left);
      if (b !== undefined && left.kind === 'arithmetic' && left.operator === '*') {
        const inner = termConstant(left.right);
        if (inner !== undefined) return arithmetic('*', left.left, integer(inner * b));
      }
      return null;
    }
    case '/': {
      if (b === 1n) return left;
      if (a === 0n) return zeroTerm;
      if (isSame(left, right)) return one;
      if (left.kind !== 'arithmetic') return null;
      const inner = termConstant(left.right);
      if (b !== undefined && inner !== undefined) {
        if (left.operator === '*' && inner % b === 0n) return arithmetic('*', left.left, integer(inner / b));
        if (left.operator === '*' && inner > 0n && b % inner === 0n) return arithmetic('/', left.left, integer(b / inner));
        if (left.operator === '/' && inner > 0n && b > 0n) return arithmetic('/', left.left, integer(inner * b));
      }
      if (left.operator === '*' && isSame(left.right, right)) return left.left;
      if (left.operator === '*' && isSame(left.left, right)) return left.right;
      return null;
    }
    case '%':
      if (b === 1n || a === 0n) return zeroTerm;
      return null;
    case '<<':
      return b !== undefined && b >= 0n && b <= maxShift ? arithmetic('*', left, integer(1n << b)) : null;
    case '&':
      return a === 0n || b === 0n ? zeroTerm : null;
    case '|':
      return a === 0n ? right : b === 0n ? left : null;
  }
}

/** `n / b + (n % b != 0)` equals `(n + b - 1) / b`. */
function roundedUp(quotient: HostTerm, added: HostTerm): HostTerm | null {
  if (quotient.kind !== 'arithmetic' || quotient.operator !== '/' || added.kind !== 'choice') return null;
  const { condition, then, otherwise } = added;
  const isRest = restOf(condition, quotient);
  const [some, none] = isRest === true ? [then, otherwise] : isRest === false ? [otherwise, then] : [];
  if (!some || !none || termConstant(some) !== 1n || termConstant(none) !== 0n) return null;
  return dividedUp(quotient.left, quotient.right);
}

/** `ceil(a / b)` of numbers that are not negative: `(a + b - 1) / b`. */
export function dividedUp(a: HostTerm, b: HostTerm): HostTerm | null {
  const less = arithmetic('-', b, one);
  const sum = less && arithmetic('+', a, less);
  return sum && arithmetic('/', sum, b);
}

/** Whether a condition implies that a division has a remainder (true) or none (false); undefined if neither. */
function restOf(condition: Fact, quotient: HostTerm): boolean | undefined {
  if (condition.kind === 'not') {
    const inner = restOf(condition.operand, quotient);
    return inner === undefined ? undefined : !inner;
  }
  if (condition.kind !== 'comparison' || quotient.kind !== 'arithmetic') return undefined;
  const { left, right, operator } = condition;
  const isOfIt =
    left.kind === 'arithmetic' &&
    left.operator === '%' &&
    isSame(left.left, quotient.left) &&
    isSame(left.right, quotient.right) &&
    termConstant(right) === 0n;
  if (!isOfIt) return undefined;
  if (operator === '!=' || operator === '>') return true;
  return operator === '==' || operator === '<=' ? false : undefined;
}

/** A choice between two integers by a condition. */
export function choice(condition: Fact, then: HostTerm, otherwise: HostTerm): HostTerm | null {
  if (condition.kind === 'truth') return condition.value ? then : otherwise;
  if (isSame(then, otherwise)) return then;
  if (condition.kind === 'not') return choice(condition.operand, otherwise, then);
  // `n % b == 0 ? n / b : n / b + 1`
  for (const [low, high, isRest] of [
    [otherwise, then, true],
    [then, otherwise, false],
  ] as const) {
    const isNext = high.kind === 'arithmetic' && high.operator === '+' && termConstant(high.right) === 1n;
    if (isNext && isSame(high.left, low) && restOf(condition, low) === isRest && low.kind === 'arithmetic')
      return dividedUp(low.left, low.right);
  }
  const size = treeSize(condition) + treeSize(then) + treeSize(otherwise) + 1;
  return size > maxTreeSize ? null : { kind: 'choice', condition, then, otherwise, size };
}

/** A condition that is always true, or always false. */
export function truth(value: boolean): Fact {
  return { kind: 'truth', value };
}

/** The opposite of a condition. */
export function negatedFact(fact: Condition): Condition;
export function negatedFact(fact: Fact): Fact;
export function negatedFact(fact: Fact): Fact {
  switch (fact.kind) {
    case 'truth':
      return truth(!fact.value);
    case 'not':
      return fact.operand;
    case 'comparison':
      return { ...fact, operator: oppositeOperators[fact.operator] };
    case 'and':
    case 'or':
      return { kind: fact.kind === 'and' ? 'or' : 'and', left: negatedFact(fact.left), right: negatedFact(fact.right) };
    case 'unknown':
      return { kind: 'not', operand: fact };
  }
}

/** A comparison; constant if it is decidable. */
export function compared(operator: ComparisonOperator, left: HostTerm, right: HostTerm): Fact {
  const [a, b] = [termConstant(left), termConstant(right)];
  if (a !== undefined && b !== undefined) return truth(comparisonHolds(operator, a, b));
  if (isSame(left, right)) return truth(operator === '==' || operator === '<=' || operator === '>=');
  // A comparison with a choice between two numbers is decided by the condition of the choice, if the comparison is
  // decided for each of the two numbers.
  if (left.kind === 'choice' && b !== undefined) {
    const [then, otherwise] = [compared(operator, left.then, right), compared(operator, left.otherwise, right)];
    if (then.kind === 'truth' && otherwise.kind === 'truth') {
      if (then.value === otherwise.value) return then;
      return then.value ? left.condition : negatedFact(left.condition);
    }
  }
  return { kind: 'comparison', operator, left, right };
}

/** The conjunction or disjunction of two conditions. */
export function joinedFact(kind: 'and' | 'or', left: Fact, right: Fact): Fact {
  const decisive = kind === 'or';
  if (left.kind === 'truth') return left.value === decisive ? left : right;
  if (right.kind === 'truth') return right.value === decisive ? right : left;
  return { kind, left, right };
}
