/** Integer types of C++ on 64-bit Linux, and operators on values with intervals. */
import type { Value } from './draft.ts';

/** Values of 64 bits stay below this, so that bounds in doubles are exact. */
const exact = 2 ** 52;

/** A literal of type int, or long if it needs 64 bits. */
export function literal(value: number): Value {
  const type: IntegerType = value >= -(2 ** 31) && value < 2 ** 31 ? 'int' : 'long';
  const text = `${value}${type === 'long' ? 'L' : ''}`;
  return { text: value < 0 ? `(${text})` : text, type, low: value, high: value };
}

/** Interval of a value after conversion to the type. */
export function convertedRange(value: Value, type: IntegerType): { low: number; high: number } {
  if (type === 'bool') return { low: value.low > 0 ? 1 : 0, high: value.low === 0 && value.high === 0 ? 0 : 1 };
  const range = rangeOf(type);
  return value.low >= range.low && value.high <= range.high ? { low: value.low, high: value.high } : range;
}

/** The value with another text and type. */
export function convert(value: Value, type: IntegerType, text: string): Value {
  return { text, type, ...convertedRange(value, type) };
}

function result(text: string, type: IntegerType, low: number, high: number): Value | null {
  const range = rangeOf(type);
  if (isSigned(type) ? low < range.low || high > range.high || low < -exact || high > exact : high >= exact && bitsOf(type) < 64)
    return isSigned(type) ? null : { text, type, ...range };
  if (!isSigned(type) && (low < 0 || high > exact)) return { text, type, ...range };
  return { text, type, low: low === 0 ? 0 : low, high: high === 0 ? 0 : high };
}

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '&' | '|' | '^';

/** All bits below the highest one of the value. */
const filled = (value: number): number => 2 ** Math.ceil(Math.log2(value + 1)) - 1;

/** `(left operator right)`; null if the result would overflow or be undefined. */
export function binary(left: Value, operator: BinaryOperator, right: Value): Value | null {
  const text = `(${left.text} ${operator} ${right.text})`;
  if (operator === '<<' || operator === '>>') {
    const type = promoted(left.type);
    if (right.low < 0 || right.high >= Math.min(31, bitsOf(type)) || left.high > exact) return null;
    if (operator === '>>') {
      const corners = [left.low, left.high].flatMap((value) => [right.low, right.high].map((count) => Math.floor(value / 2 ** count)));
      return result(text, type, Math.min(...corners), Math.max(...corners));
    }
    if (left.low < 0) return null;
    return result(text, type, left.low * 2 ** right.low, left.high * 2 ** right.high);
  }
  const type = commonType(left.type, right.type);
  const a = convertedRange(left, type);
  const b = convertedRange(right, type);
  const limits = [a.low, a.high, b.low, b.high];
  if (limits.some((limit) => Math.abs(limit) > exact))
    return isSigned(type) || '/%'.includes(operator) ? null : result(text, type, 0, rangeOf(type).high);
  switch (operator) {
    case '+':
      return result(text, type, a.low + b.low, a.high + b.high);
    case '-':
      return result(text, type, a.low - b.high, a.high - b.low);
    case '*': {
      const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
      return result(text, type, Math.min(...corners), Math.max(...corners));
    }
    case '/': {
      if (b.low <= 0) return null;
      const corners = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high].map(Math.trunc);
      return result(text, type, Math.min(...corners), Math.max(...corners));
    }
    case '%': {
      if (b.low <= 0) return null;
      const most = b.high - 1;
      return result(text, type, a.low < 0 ? Math.max(a.low, -most) : 0, a.high < 0 ? 0 : Math.min(a.high, most));
    }
    case '&':
      if (a.low < 0 || b.low < 0) return null;
      return result(text, type, 0, Math.min(a.high, b.high));
    case '|':
    case '^':
      if (a.low < 0 || b.low < 0) return null;
      return result(text, type, operator === '|' ? Math.max(a.low, b.low) : 0, filled(Math.max(a.high, b.high)));
  }
}

/** `-value`. */
export function negated(value: Value): Value | null {
  const type = promoted(value.type);
  const range = convertedRange(value, type);
  if (!isSigned(type)) return { text: `(-${value.text})`, type, ...rangeOf(type) };
  return result(`(-${value.text})`, type, -range.high, -range.low);
}

/** Smallest interval with those of both values after conversion to the type. */
export function joined(text: string, type: IntegerType, values: readonly Value[]): Value {
  const ranges = values.map((value) => convertedRange(value, type));
  const low = Math.min(...ranges.map((range) => range.low));
  return { text, type, low, high: Math.max(...ranges.map((range) => range.high)) };
}

/** Minimum or maximum of values that are converted to the type. */
export function extremum(text: string, type: IntegerType, kind: 'min' | 'max', values: readonly Value[]): Value {
  const ranges = values.map((value) => convertedRange(value, type));
  const choose = Math[kind];
  const low = choose(...ranges.map((range) => range.low));
  return { text, type, low, high: choose(...ranges.map((range) => range.high)) };
}

/** Whether each evaluation of the text gives the same value: only then may a rule repeat it and rely on that. */
export function isRepeatable({ text }: Value): boolean {
  return !text.includes('rand()');
}

/** Whether all values of the interval are in the other one. */
export function isWithin(value: Value, low: number, high: number): boolean {
  return value.low >= low && value.high <= high;
}

export type IntegerType =
  | 'bool'
  | 'char'
  | 'signed char'
  | 'unsigned char'
  | 'short'
  | 'unsigned short'
  | 'int'
  | 'unsigned'
  | 'long'
  | 'unsigned long'
  | 'long long'
  | 'unsigned long long';

interface Description {
  readonly bits: number;
  readonly isSigned: boolean;
  readonly rank: number;
  /** Other names of the type. */
  readonly aliases: readonly string[];
}

const types: Readonly<Record<IntegerType, Description>> = {
  bool: { bits: 1, isSigned: false, rank: 0, aliases: [] },
  char: { bits: 8, isSigned: true, rank: 1, aliases: [] },
  'signed char': { bits: 8, isSigned: true, rank: 1, aliases: ['int8_t'] },
  'unsigned char': { bits: 8, isSigned: false, rank: 1, aliases: ['uint8_t'] },
  short: { bits: 16, isSigned: true, rank: 2, aliases: ['int16_t', 'short int'] },
  'unsigned short': { bits: 16, isSigned: false, rank: 2, aliases: ['uint16_t'] },
  int: { bits: 32, isSigned: true, rank: 3, aliases: ['int32_t', 'signed'] },
  unsigned: { bits: 32, isSigned: false, rank: 3, aliases: ['unsigned int', 'uint32_t'] },
  long: { bits: 64, isSigned: true, rank: 4, aliases: ['int64_t', 'ptrdiff_t'] },
  'unsigned long': { bits: 64, isSigned: false, rank: 4, aliases: ['size_t', 'std::size_t', 'uint64_t'] },
  'long long': { bits: 64, isSigned: true, rank: 5, aliases: [] },
  'unsigned long long': { bits: 64, isSigned: false, rank: 5, aliases: [] },
};

export const integerTypes = Object.keys(types) as readonly IntegerType[];

/** Types whose names are one word, as functional casts need. */
export const oneWordTypes: readonly IntegerType[] = ['bool', 'char', 'short', 'int', 'unsigned', 'long'];

/** All spellings of a type. */
export function spellings(type: IntegerType): readonly string[] {
  return [type, ...types[type].aliases];
}

/** Smallest and largest value; those of 64 bits are rounded outwards. */
export function rangeOf(type: IntegerType): { readonly low: number; readonly high: number } {
  const { bits, isSigned } = types[type];
  if (!isSigned) return { low: 0, high: 2 ** bits - 1 };
  return { low: -(2 ** (bits - 1)), high: 2 ** (bits - 1) - 1 };
}

export function isSigned(type: IntegerType): boolean {
  return types[type].isSigned;
}

export function bitsOf(type: IntegerType): number {
  return types[type].bits;
}

/** Type of a value of the type after integral promotion. */
export function promoted(type: IntegerType): IntegerType {
  return types[type].rank < 3 ? 'int' : type;
}

/** Type of the operands of an arithmetic operator after the usual conversions. */
export function commonType(left: IntegerType, right: IntegerType): IntegerType {
  const [a, b] = [promoted(left), promoted(right)];
  if (a === b) return a;
  const [low, high] = types[a].rank <= types[b].rank ? [a, b] : [b, a];
  if (types[low].isSigned === types[high].isSigned || !types[high].isSigned) return high;
  if (types[high].bits > types[low].bits) return high;
  return high === 'long long' ? 'unsigned long long' : high === 'long' ? 'unsigned long' : 'unsigned';
}
