/** Results of operators: numbers, quotients, pointers. */
import type { ArithmeticOperator, ComparisonOperator } from '../assumptions/assumption.ts';
import { isFloatType } from '../syntax/basic-type.ts';
import { type Kinds, type NumberKind, asComputed, commonKind, inCommonKind } from './expression-type.ts';
import { type Interpreter, moved } from './interpreter.ts';
import { type HostTerm, arithmetic, compared, integer, negatedFact, zeroTerm } from './term.ts';
import { type HostValue, factOf, integerValue, quotientOf, termOf } from './value.ts';

const arithmeticOperators = /^(?:[-+*/%&|]|<<)$/;

/** The value of an operator with one operand; null if unknown. */
export function unary(operator: string, operand: HostValue, kind: NumberKind | undefined): HostValue | null {
  if (operator === '+') return operand;
  if (operator === '!') return { kind: 'condition', fact: negatedFact(factOf(operand)) };
  if (operator === '~') {
    const mask = termOf(operand);
    // Only for constants: for other values, the result may depend on the width.
    return mask?.kind === 'integer' ? asComputed(integerValue(integer(-mask.value - 1n)), kind) : null;
  }
  if (operator !== '-') return null;
  if (operand.kind === 'quotient') {
    // Negating zero gives a negative zero, which is not a quotient.
    if (operand.numerator.kind !== 'integer' || operand.numerator.value === 0n) return null;
    const numerator = arithmetic('-', zeroTerm, operand.numerator);
    return numerator && { ...operand, numerator };
  }
  const term = termOf(operand);
  const value = term && arithmetic('-', zeroTerm, term);
  if (term?.kind === 'integer') return value && asComputed(integerValue(value), kind);
  return value && integerValue(value);
}

/** The value of a comparison. */
export function comparison(
  operator: ComparisonOperator,
  first: HostValue,
  second: HostValue,
  kinds: Kinds,
): HostValue | null {
  if (first.kind === 'quotient' || second.kind === 'quotient') {
    const [a, b] = [quotientOf(first), quotientOf(second)];
    const [left, right] = a && b ? [arithmetic('*', a.numerator, b.denominator), arithmetic('*', b.numerator, a.denominator)] : []; // oxfmt-ignore
    return left && right ? { kind: 'condition', fact: compared(operator, left, right) } : null;
  }
  const [a, b] = [termOf(first), termOf(second)];
  const terms = a && b && inCommonKind(a, b, kinds);
  return terms && { kind: 'condition', fact: compared(operator, ...terms) };
}

/** Whether a value is a pointer, or is declared as one. */
export function isPointer(value: HostValue, type: string | undefined): boolean {
  return (
    value.kind === 'pointer' ||
    value.kind === 'place' ||
    (type !== undefined && /(?:\*|\[\])\s*(?:const)?\s*$/.test(type))
  );
}

/** The result of a binary arithmetic operator, also on pointers. */
export function combined(
  operator: string,
  first: HostValue,
  second: HostValue,
  type: string | undefined,
  host: Interpreter,
  kinds: Kinds,
): HostValue | null {
  if (isPointer(first, type)) {
    if (operator !== '+' && operator !== '-') return null;
    if (first.kind === 'place') {
      host.expose(first.cell);
      return null;
    }
    const by = termOf(second);
    const signed = by && operator === '-' ? arithmetic('-', zeroTerm, by) : by;
    return moved(first, signed, type, host.declarations);
  }
  if (first.kind === 'quotient' || second.kind === 'quotient') {
    const [a, b] = [quotientOf(first), quotientOf(second)];
    return a && b ? quotientOperation(operator, a, b) : null;
  }
  const isReal = type !== undefined && isFloatType(type);
  if (isReal) return null;
  const [own, by] = [termOf(first), termOf(second)];
  if (!own || !by) return null;
  const isShift = operator === '>>' || operator === '<<';
  const isConstant = own.kind === 'integer' && by.kind === 'integer';
  const terms = !isConstant || isShift ? ([own, by] as const) : inCommonKind(own, by, kinds);
  if (!terms) return null;
  const [a, b] = terms;
  const kept = (value: HostValue | null): HostValue | null =>
    isConstant && value ? asComputed(value, isShift ? kinds[0] : commonKind(...kinds), isShift) : value;
  if (operator === '>>') {
    if (a.kind === 'integer' && b.kind === 'integer' && b.value >= 0n && b.value < 63n) return kept(integerValue(integer(a.value >> b.value))); // oxfmt-ignore
    const shift = b.kind === 'integer' && b.value >= 0n && b.value < 63n ? integer(1n << b.value) : null;
    const quotient = shift && arithmetic('/', a, shift);
    return quotient && integerValue(quotient);
  }
  if (operator === '^' && a.kind === 'integer' && b.kind === 'integer')
    return kept(integerValue(integer(a.value ^ b.value)));
  if (!arithmeticOperators.test(operator)) return null;
  const term = arithmetic(operator as ArithmeticOperator, a, b);
  return kept(term && integerValue(term));
}

interface Quotient {
  readonly numerator: HostTerm;
  readonly denominator: HostTerm;
}

function quotientOperation(operator: string, a: Quotient, b: Quotient): HostValue | null {
  // A quotient that floating-point numbers only approximate: one more operation may round to either side.
  const isExact = ({ denominator: term }: Quotient): boolean => term.kind === 'integer' && term.value > 0n && (term.value & (term.value - 1n)) === 0n; // oxfmt-ignore
  if (!isExact(a) || !isExact(b)) return null;
  const times = (x: HostTerm, y: HostTerm): HostTerm | null => arithmetic('*', x, y);
  const isNegative = [a, b].some(({ numerator }) => numerator.kind === 'integer' && numerator.value < 0n);
  const make = (numerator: HostTerm | null, denominator: HostTerm | null): HostValue | null => {
    if (!numerator || !denominator) return null;
    if (numerator.kind === 'integer' && denominator.kind === 'integer') {
      // A zero that may be negative, and a value that a `float` cannot represent, are not quotients.
      if (numerator.value === 0n && isNegative && /[*/]/.test(operator)) return null;
      const value = Number(numerator.value) / Number(denominator.value);
      if (operator !== '/' && Math.fround(value) !== value) return null;
    }
    return { kind: 'quotient', numerator, denominator };
  };
  switch (operator) {
    case '*':
      return make(times(a.numerator, b.numerator), times(a.denominator, b.denominator));
    case '/':
      return make(times(a.numerator, b.denominator), times(a.denominator, b.numerator));
    case '+':
    case '-': {
      const [left, right] = [times(a.numerator, b.denominator), times(b.numerator, a.denominator)];
      return make(left && right && arithmetic(operator, left, right), times(a.denominator, b.denominator));
    }
  }
  return null;
}
