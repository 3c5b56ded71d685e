/** GIMPLE operators over values of the host program. The list is closed: any other operator has an unknown value. */
import { appliedSymbol } from '../assumptions/applied-symbol.ts';
import { type Fact, type HostTerm, integer, one, termConstant, zeroTerm } from '../assumptions/expression.ts';
import type { ArithmeticOperator, ComparisonOperator } from '../assumptions/operators.ts';
import { isLarge, symbolsOf } from '../assumptions/parts.ts';
import { arithmetic, choice, compared, dividedUp, joinedFact, negatedFact, truth } from '../assumptions/simplify.ts';
import {
  type HostValue,
  factOf,
  integerValue,
  nullPointer,
  pointerOfText,
  quotientOf,
  quotientOfNumber,
  termOf,
  valueKey,
} from '../cuda/launches/value.ts';
import type { HostType } from '../gimple/debug-types.ts';

type IntegerType = Extract<HostType, { kind: 'integer' }>;

const comparisons: Readonly<Record<string, ComparisonOperator>> = {
  eq_expr: '==',
  ne_expr: '!=',
  lt_expr: '<',
  le_expr: '<=',
  gt_expr: '>',
  ge_expr: '>=',
};

const arithmetics: Readonly<Record<string, ArithmeticOperator>> = {
  plus_expr: '+',
  minus_expr: '-',
  mult_expr: '*',
  trunc_div_expr: '/',
  exact_div_expr: '/',
  trunc_mod_expr: '%',
  bit_and_expr: '&',
  bit_ior_expr: '|',
};

/** The constant of an integer type that a number becomes. */
function wrap(value: bigint, { bytes, isSigned }: IntegerType): bigint {
  return isSigned ? BigInt.asIntN(8 * bytes, value) : BigInt.asUintN(8 * bytes, value);
}

function isBool({ name }: IntegerType): boolean {
  return /bool/i.test(name);
}

/** A value of another type, converted to an integer type. Null if it is unknown. */
function toInteger(value: HostValue, type: IntegerType, from: HostType | null): HostValue | null {
  if (isBool(type) && (from?.kind !== 'integer' || !isBool(from))) return { kind: 'condition', fact: factOf(value) };
  if (value.kind === 'condition') return value;
  const term = value.kind === 'quotient' || value.kind === 'number' || value.kind === 'symbol' ? termOf(value) : null;
  if (!term) return null;
  const constant = termConstant(term);
  if (constant !== undefined) return integerValue(integer(wrap(constant, type)));
  const isWider = from?.kind === 'integer' && from.bytes > type.bytes;
  // A narrow type holds only a part of the number, which is the same for equal numbers.
  if (type.bytes < 4 && (isWider || from?.kind !== 'integer'))
    return { kind: 'symbol', symbol: appliedSymbol(type.name, [valueKey(value)], 'a part of a number', type.name) };
  return integerValue(term);
}

/** A value converted to a floating-point type; null if it is unknown. */
function toFloat(value: HostValue, bytes: number): HostValue | null {
  if (value.kind === 'condition' || value.kind === 'number' || value.kind === 'symbol' || value.kind === 'quotient') {
    const quotient = quotientOf(value);
    if (!quotient) return null;
    if (bytes === 4 && quotient.numerator.kind === 'integer' && quotient.denominator.kind === 'integer') {
      const exact = Number(quotient.numerator.value) / Number(quotient.denominator.value);
      if (exact !== Math.fround(exact)) return quotientOfNumber(Math.fround(exact));
    }
    return { kind: 'quotient', ...quotient };
  }
  return null;
}

/** The value of a cast; null if it is unknown. */
export function castValue(value: HostValue, type: HostType, from: HostType | null): HostValue | null {
  // A difference that is negative is a large unsigned number, which a wider type shows.
  const isShown = type.kind === 'float' || (type.kind === 'integer' && from?.kind === 'integer' && type.bytes > from.bytes);
  if (isShown && from?.kind === 'integer' && !from.isSigned && value.kind !== 'condition') {
    const term = termOf(value);
    if (term && termConstant(term) === undefined && mayBeNegative(term))
      return { kind: 'symbol', symbol: appliedSymbol(`${type.name} of ${from.name}`, [valueKey(value)], 'a number', type.name) };
  }
  switch (type.kind) {
    case 'integer':
      return from?.kind === 'pointer' ? null : toInteger(value, type, from);
    case 'float':
      return toFloat(value, type.bytes);
    case 'pointer':
      if (value.kind === 'number') return termConstant(value.term) === 0n ? nullPointer : null;
      return value;
    default:
      return null;
  }
}

/** The truth of a comparison; null if it is unknown. */
export function hostComparison(operator: string, left: HostValue, right: HostValue, type: HostType | null): Fact | null {
  const own = comparisons[operator];
  if (own === undefined) return null;
  if (type?.kind === 'pointer' || isAddress(left) || isAddress(right)) return pointersCompared(own, left, right);
  if (type?.kind === 'float' && (left.kind === 'symbol' || right.kind === 'symbol')) return null;
  if (left.kind === 'quotient' || right.kind === 'quotient') {
    const [a, b] = [quotientOf(left), quotientOf(right)];
    const [x, y] = a && b ? [arithmetic('*', a.numerator, b.denominator), arithmetic('*', b.numerator, a.denominator)] : [];
    return x && y ? compared(own, x, y) : null;
  }
  const [a, b] = [termOf(left), termOf(right)];
  if (!a || !b) return null;
  // A condition is compared with 0 or 1.
  const constant = termConstant(b);
  if (left.kind === 'condition' && (constant === 0n || constant === 1n) && (own === '==' || own === '!='))
    return (constant === 1n) === (own === '==') ? left.fact : negatedFact(left.fact);
  const ofRange = constant !== undefined && type?.kind === 'integer' && !type.isSigned ? rangeCompared(own, a, constant) : null;
  if (ofRange) return ofRange;
  const isOfZero = constant === 0n && (own === '==' || own === '!=');
  return compared(own, isOfZero ? remainderOf(a) : a, b);
}

/**
 * A range that the compiler tests with one comparison of unsigned numbers: `n >= 5 && n <= 9` becomes `n - 5 <= 4`, in
 * which smaller numbers than 5 become large ones. Null for other comparisons.
 */
function rangeCompared(operator: ComparisonOperator, term: HostTerm, limit: bigint): Fact | null {
  if (operator === '==' || operator === '!=' || limit < 0n) return null;
  if (term.kind !== 'arithmetic' || term.operator !== '+') return isUnsigned(term) ? null : ofSigned(operator, term, limit);
  const moved = termConstant(term.right);
  if (moved === undefined || moved === 0n || (moved > 0n && isUnsigned(term.left))) return null;
  const isAbove = operator === '>' || operator === '>=';
  const [least, most] = [integer(-moved), integer(limit - moved)];
  return joinedFact(isAbove ? 'or' : 'and', compared(isAbove ? '<' : '>=', term.left, least), compared(operator, term.left, most));
}

/** A comparison of a number that may be negative, and then is a large one. */
function ofSigned(operator: '<' | '>' | '<=' | '>=', term: HostTerm, limit: bigint): Fact {
  if (operator === '>' && limit === 0n) return compared('!=', term, zeroTerm);
  const isAbove = operator === '>' || operator === '>=';
  return joinedFact(isAbove ? 'or' : 'and', compared(isAbove ? '<' : '>=', term, zeroTerm), compared(operator, term, integer(limit)));
}

/** Whether all numbers in a term are of unsigned types, and none is subtracted. */
function isUnsigned(term: HostTerm): boolean {
  return !mayBeNegative(term) && [...symbolsOf(term).values()].every(({ type = '' }) => /unsigned|size_t|bool/i.test(type));
}

/** A remainder that the compiler computes with a mask, for comparison with 0: `n % 64` becomes `n & 63`. */
function remainderOf(term: HostTerm): HostTerm {
  if (term.kind !== 'arithmetic' || term.operator !== '&') return term;
  const mask = termConstant(term.right);
  const isLow = mask !== undefined && mask > 0n && (mask & (mask + 1n)) === 0n;
  return (isLow && arithmetic('%', term.left, integer(mask + 1n))) || term;
}

function isAddress({ kind }: HostValue): boolean {
  return kind === 'pointer' || kind === 'function' || kind === 'text';
}

function pointersCompared(operator: ComparisonOperator, left: HostValue, right: HostValue): Fact | null {
  if (left.kind === 'either') {
    const [then, otherwise] = [pointersCompared(operator, left.then, right), pointersCompared(operator, left.otherwise, right)];
    return then && otherwise && chosenFact(left.condition, then, otherwise);
  }
  const isEquality = operator === '==' || operator === '!=';
  const isNull = (value: HostValue): boolean =>
    (value.kind === 'pointer' && value.memory.id === 'null') || (value.kind === 'number' && termConstant(value.term) === 0n);
  if (isNull(left) && isNull(right)) return isEquality ? truth(operator === '==') : null;
  const other = isNull(left) ? right : isNull(right) ? left : null;
  if (other) {
    if (!isEquality) return null;
    // Allocations of the runtime may fail; a program that goes on then is not considered, but its check is unknown.
    const isSure =
      other.kind === 'function' ||
      other.kind === 'text' ||
      (other.kind === 'pointer' && other.memory.text !== undefined) ||
      (other.kind === 'pointer' && other.memory.isAllocation !== true && other.memory.id.includes('@'));
    const fact: Fact = isSure ? truth(true) : factOf(other.kind === 'pointer' || other.kind === 'symbol' ? other : left);
    return operator === '!=' ? fact : negatedFact(fact);
  }
  if (left.kind === 'function' && right.kind === 'function' && !left.others && !right.others && isEquality)
    return truth((left.name === right.name) === (operator === '=='));
  if (left.kind === 'pointer' && right.kind === 'pointer' && left.memory.id === right.memory.id && left.offset && right.offset)
    return compared(operator, left.offset, right.offset);
  // Two objects have no byte in common.
  if (isEquality && isInside(left) && isInside(right) && left.memory.id !== right.memory.id) return truth(operator === '!=');
  return null;
}

/** Whether a value points to a byte of an object that the program makes, and not after its end. */
function isInside(value: HostValue): value is HostValue & { kind: 'pointer' } {
  if (value.kind !== 'pointer' || !value.memory.id.includes('@') || value.memory.id.startsWith('*')) return false;
  const [offset, bytes] = [value.offset, value.memory.bytes].map((term) => (term ? termConstant(term) : undefined));
  return offset !== undefined && bytes !== undefined && 0n <= offset && offset < bytes;
}

/** The condition of one of two cases. */
function chosenFact(condition: Fact, then: Fact, otherwise: Fact): Fact | null {
  const fact = joinedFact('or', joinedFact('and', condition, then), joinedFact('and', negatedFact(condition), otherwise));
  return isLarge(fact) ? null : fact;
}

/** The value of an operator on numbers; null if it is unknown. @param type of the result */
export function numberOf(operator: string, operands: readonly HostValue[], type: HostType): HostValue | null {
  const [left, right] = operands;
  if (!left) return null;
  if (type.kind === 'float') return floatOf(operator, operands, type.bytes);
  if (type.kind !== 'integer') return null;
  const a = termOf(left);
  const b = right && termOf(right);
  if (isBool(type) || operator.startsWith('truth_')) {
    const fact = logical(operator, operands);
    if (fact) return { kind: 'condition', fact };
  }
  if (!a || left.kind === 'quotient') return null;
  const kept = (term: HostTerm | null): HostValue | null => {
    const constant = term ? termConstant(term) : undefined;
    return constant === undefined ? term && integerValue(term) : integerValue(integer(wrap(constant, type)));
  };
  const [x, y] = [termConstant(a), b ? termConstant(b) : undefined];
  // A difference that is negative has another quotient as an unsigned number.
  if (!type.isSigned && /^(?:trunc_div|trunc_mod|rshift)_expr$/.test(operator) && [a, b].some((term) => term && mayBeNegative(term)))
    return { kind: 'symbol', symbol: appliedSymbol(`${type.name} ${operator}`, operands.map(valueKey), 'a number', type.name) };
  // Arithmetic of narrow types wraps: C computes in `int` and converts, and the compiler moves the conversion inside.
  if (type.bytes < 4 && (x === undefined || (right && y === undefined)) && /^(?:plus|minus|mult|negate|lshift)_expr$/.test(operator))
    return { kind: 'symbol', symbol: appliedSymbol(`${type.name} ${operator}`, operands.map(valueKey), 'a part of a number', type.name) };
  switch (operator) {
    case 'negate_expr':
      return kept(arithmetic('-', zeroTerm, a));
    case 'bit_not_expr':
      return x !== undefined || type.isSigned ? kept(arithmetic('-', integer(-1), a)) : null;
    case 'abs_expr': {
      const minus = arithmetic('-', zeroTerm, a);
      return kept(minus && choice(compared('<', a, zeroTerm), minus, a));
    }
    case 'min_expr':
    case 'max_expr':
      return b ? kept(operator === 'min_expr' ? choice(compared('<', a, b), a, b) : choice(compared('<', a, b), b, a)) : null;
    case 'lshift_expr':
      return y !== undefined && (y < 0n || y >= BigInt(8 * type.bytes)) ? null : b ? kept(arithmetic('<<', a, b)) : null;
    case 'rshift_expr': {
      if (y === undefined || y < 0n || y >= BigInt(8 * type.bytes)) return null;
      if (x !== undefined) return kept(integer(x >> y));
      return kept(arithmetic('/', a, integer(1n << y)));
    }
    case 'bit_xor_expr':
      return x !== undefined && y !== undefined ? kept(integer(x ^ y)) : null;
    case 'bit_and_expr':
    case 'bit_ior_expr':
      if (x !== undefined && y !== undefined) return kept(integer(operator === 'bit_and_expr' ? x & y : x | y));
      break;
  }
  const own = arithmetics[operator];
  // `n - 1u` adds 2^32 - 1, and `n & ~31u` has such a mask: negative numbers, since arithmetic does not wrap.
  const isOfSign = operator === 'plus_expr' || operator === 'bit_and_expr';
  const operand = isOfSign && x === undefined && y !== undefined && type.bytes >= 4 ? integer(BigInt.asIntN(8 * type.bytes, y)) : b;
  return own === undefined || !operand ? null : kept(arithmetic(own, a, operand));
}

/**
 * Whether a number may be negative because of a subtraction. Symbols count as positive: that sizes are is assumed, as it
 * is that arithmetic does not wrap.
 */
function mayBeNegative(term: HostTerm): boolean {
  const least = leastOf(term);
  return least === null || least < 0n;
}

/** A lower bound of a term whose symbols are at least 1; null without one. */
function leastOf(term: HostTerm): bigint | null {
  switch (term.kind) {
    case 'integer':
      return term.value;
    case 'choice': {
      const [a, b] = [leastOf(term.then), leastOf(term.otherwise)];
      return a === null || b === null ? null : a < b ? a : b;
    }
    case 'arithmetic': {
      const [a, b] = [leastOf(term.left), leastOf(term.right)];
      if (a === null || b === null) return null;
      switch (term.operator) {
        case '+':
          return a + b;
        case '-':
          return termConstant(term.right) === undefined ? null : a - b;
        case '*':
          return a >= 0n && b >= 0n ? a * b : null;
        case '|':
          return a >= 0n && b >= 0n ? 0n : null;
        case '&':
          return a >= 0n || b >= 0n ? 0n : null;
        default:
          return a >= 0n && b >= 0n ? 0n : null;
      }
    }
    default:
      return 1n;
  }
}

/** An operator on truth values. */
function logical(operator: string, operands: readonly HostValue[]): Fact | null {
  const [a, b] = operands.map(factOf);
  switch (operator) {
    case 'bit_and_expr':
    case 'truth_and_expr':
    case 'truth_andif_expr':
      return a && b ? joinedFact('and', a, b) : null;
    case 'bit_ior_expr':
    case 'truth_or_expr':
    case 'truth_orif_expr':
      return a && b ? joinedFact('or', a, b) : null;
    case 'bit_not_expr':
    case 'truth_not_expr':
      return a ? negatedFact(a) : null;
    default:
      return null;
  }
}

interface Quotient {
  readonly numerator: HostTerm;
  readonly denominator: HostTerm;
}

function floatOf(operator: string, [left, right]: readonly HostValue[], bytes: number): HostValue | null {
  const [a, b] = [left && asQuotient(left), right && asQuotient(right)];
  if (!a) return null;
  if (operator === 'negate_expr') {
    if (a.numerator.kind !== 'integer' || a.numerator.value === 0n) return null;
    return { kind: 'quotient', numerator: integer(-a.numerator.value), denominator: a.denominator };
  }
  return b ? quotientOperation(operator, a, b, bytes) : null;
}

function asQuotient(value: HostValue): Quotient | null {
  return value.kind === 'quotient' ? value : null;
}

function quotientOperation(operator: string, a: Quotient, b: Quotient, bytes: number): HostValue | null {
  // A quotient that floating-point numbers only approximate: one more operation may round to either side.
  const isExact = ({ denominator: term }: Quotient): boolean =>
    term.kind === 'integer' && term.value > 0n && (term.value & (term.value - 1n)) === 0n;
  if (!isExact(a) || !isExact(b)) return null;
  const times = (x: HostTerm, y: HostTerm): HostTerm | null => arithmetic('*', x, y);
  const isNegative = [a, b].some(({ numerator }) => numerator.kind === 'integer' && numerator.value < 0n);
  const make = (numerator: HostTerm | null, denominator: HostTerm | null): HostValue | null => {
    if (!numerator || !denominator) return null;
    if (numerator.kind === 'integer' && denominator.kind === 'integer') {
      // A zero that may be negative, and a value that the type cannot represent, are not quotients.
      if (numerator.value === 0n && isNegative) return null;
      if (denominator.value === 0n) return null;
      const value = Number(numerator.value) / Number(denominator.value);
      const held = bytes === 4 ? Math.fround(value) : value;
      return held === value && operator !== 'rdiv_expr'
        ? { kind: 'quotient', numerator, denominator }
        : (quotientOfNumber(held) ?? (operator === 'rdiv_expr' ? { kind: 'quotient', numerator, denominator } : null));
    }
    return { kind: 'quotient', numerator, denominator };
  };
  switch (operator) {
    case 'mult_expr':
      return make(times(a.numerator, b.numerator), times(a.denominator, b.denominator));
    case 'rdiv_expr':
      return make(times(a.numerator, b.denominator), times(a.denominator, b.numerator));
    case 'plus_expr':
    case 'minus_expr': {
      const [left, right] = [times(a.numerator, b.denominator), times(b.numerator, a.denominator)];
      return make(left && right && arithmetic(operator === 'plus_expr' ? '+' : '-', left, right), times(a.denominator, b.denominator));
    }
    default:
      return null;
  }
}

/** `ceil`, `floor` and `trunc` of a quotient; null if unknown. */
export function roundedValue(name: string, value: HostValue): HostValue | null {
  if (value.kind !== 'quotient') return null;
  const { numerator, denominator } = value;
  const term = name.startsWith('ceil') ? dividedUp(numerator, denominator) : arithmetic('/', numerator, denominator);
  const [a, b] = [termConstant(numerator), termConstant(denominator)];
  if (a !== undefined && b !== undefined && a < 0n) return null;
  return term && { kind: 'quotient', numerator: term, denominator: one };
}

/** A pointer moved by bytes. */
export function movedBy(value: HostValue, bytes: HostTerm | null): HostValue | null {
  const pointer = pointerOfText(value);
  if (pointer.kind === 'pointer') return { ...pointer, offset: bytes && pointer.offset && arithmetic('+', pointer.offset, bytes) };
  if (pointer.kind === 'either') {
    const [then, otherwise] = [movedBy(pointer.then, bytes), movedBy(pointer.otherwise, bytes)];
    return then && otherwise && { ...pointer, then, otherwise };
  }
  if (pointer.kind !== 'symbol') return null;
  return { kind: 'pointer', memory: { id: pointer.symbol.id, label: pointer.symbol.label }, offset: bytes };
}
