/** The values of constant expressions in host code, and what C++ computes with them. */
import { normalizeSpace } from '../syntax/outline.ts';
import { basicTypeOf, integerType, isFloatType } from '../syntax/basic-type.ts';

export type Extents = readonly [x: number, y: number, z: number];

/** A number is of a floating-point type. */
export type ConstantValue = bigint | number | boolean | Extents;

/** Why an expression has no known value, as the end of the sentence "X …". */
export class NotConstant extends Error {
  override name = 'NotConstant';
}

/** Whole numbers are of 64 bits at most. */
const limit = 1n << 63n;

/** The value of a number as written. @throws NotConstant where it is none */
export function numberOf(written: string): bigint | number {
  const text = written.replaceAll("'", '');
  const whole = /^(0[xX][\da-fA-F]+|0[bB][01]+|\d+)[uUlLzZ]*$/.exec(text)?.[1];
  if (whole !== undefined) return BigInt(/^0[0-7]+$/.test(whole) ? `0o${whole.slice(1)}` : whole);
  const value = Number(text.replace(/[fFlL]$/, ''));
  if (Number.isNaN(value)) throw new NotConstant(`is not a number: ${shorten(written)}`);
  return /[fF]$/.test(text) ? Math.fround(value) : value;
}

/** A value as a whole number. @throws NotConstant where it is none */
export function wholeNumber(value: ConstantValue): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new NotConstant('is not a whole number');
}

/** Whether a value counts as true. @throws NotConstant where it is no number */
export function truthOf(value: ConstantValue): boolean {
  return typeof value === 'number' ? value !== 0 : wholeNumber(value) !== 0n;
}

/** A `dim3` of up to three values; missing ones are 1. @throws NotConstant */
export function extentsOf(values: readonly ConstantValue[]): Extents {
  const [first] = values;
  if (values.length === 1 && Array.isArray(first)) return first as Extents;
  if (values.length > 3) throw new NotConstant('has more than three extents');
  const [x = 1, y = 1, z = 1] = values.map((value) =>
    Number(wholeNumber(typeof value === 'number' ? Math.trunc(value) : value)),
  );
  return [x, y, z];
}

/** The value of a list that has one. @throws NotConstant where it has none, or several */
export function singleValue(values: readonly ConstantValue[]): ConstantValue {
  const [value] = values;
  if (value === undefined || values.length !== 1) throw new NotConstant('is not a single value');
  return value;
}

/** The value in a type. @throws NotConstant where it does not fit */
export function convertTo(value: ConstantValue, type: string): ConstantValue {
  if (Array.isArray(value)) return value;
  if (/[*[]/.test(type)) throw new NotConstant('is a pointer');
  if (basicTypeOf(type) === 'bool') return truthOf(value);
  const kind = integerType(type.replaceAll('&', ''));
  if (kind) {
    const whole = wholeNumber(typeof value === 'number' ? Math.trunc(value) : value);
    const bits = kind.bytes * 8;
    const wrapped = kind.signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
    if (wrapped !== whole) throw new NotConstant(`does not fit ${basicTypeOf(type)}`);
    return whole;
  }
  if (isFloatType(type)) {
    const number = typeof value === 'number' ? value : Number(wholeNumber(value));
    return basicTypeOf(type) === 'double' ? number : Math.fround(number);
  }
  return value;
}

/** The value of a binary operator; the right side is evaluated only where it counts. @throws NotConstant */
export function applyBinary(operator: string, left: () => ConstantValue, right: () => ConstantValue): ConstantValue {
  if (operator === '&&') return truthOf(left()) && truthOf(right());
  if (operator === '||') return truthOf(left()) || truthOf(right());
  const a = left();
  const b = right();
  if (typeof a === 'number' || typeof b === 'number') return binaryFloat(operator, Number(a), Number(b));
  const result = binaryInteger(operator, wholeNumber(a), wholeNumber(b));
  if (typeof result === 'bigint' && (result >= limit || result < -limit)) throw new NotConstant('is too large');
  return result;
}

function binaryFloat(operator: string, a: number, b: number): number | boolean {
  const results: Readonly<Record<string, number | boolean>> = {
    '+': a + b, '-': a - b, '*': a * b, '/': a / b, '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b, '==': a === b, '!=': a !== b,
  }; // prettier-ignore
  const result = results[operator];
  if (result === undefined || (typeof result === 'number' && !Number.isFinite(result)))
    throw new NotConstant('has no value');
  return result;
}

function binaryInteger(operator: string, a: bigint, b: bigint): bigint | boolean {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
    case '%':
      if (b === 0n) throw new NotConstant('divides by 0');
      return operator === '/' ? a / b : a % b;
    case '<<':
    case '>>':
      if (b < 0n || b > 62n) throw new NotConstant('shifts too far');
      return operator === '<<' ? a << b : a >> b;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    case '==':
      return a === b;
    case '!=':
      return a !== b;
  }
  throw new NotConstant(`has the operator ${operator}`);
}

/** A text for a message. */
export function shorten(text: string): string {
  const line = normalizeSpace(text);
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
