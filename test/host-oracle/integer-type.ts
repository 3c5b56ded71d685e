/** Integer types of C++ on 64-bit Linux: intervals, conversions, names. */

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
