/** Semantics of `Domain.float` and `Domain.compareFloat` on patterns (PTX ISA 9.7.3, 9.7.4, 9.7.6, 9.7.9 cvt). */
import type { FloatComparison, FloatFormat, FloatOperation } from '../model/domain.ts';
import type { Finite, FloatLayout, Real, Rounding } from './soft-float.ts';
import {
  compareReals,
  floatFormats,
  fromInteger,
  fromNumber,
  integral,
  nan,
  negated,
  pack,
  product,
  quotient,
  squareRoot,
  sum,
  toInteger,
  toNumber,
  unpack,
  signedZero,
} from './soft-float.ts';

const roundingOf: Readonly<Record<string, Rounding>> = {
  rn: 'rn',
  rz: 'rz',
  rm: 'rm',
  rp: 'rp',
  rna: 'rna',
  rni: 'rn',
  rzi: 'rz',
  rmi: 'rm',
  rpi: 'rp',
};

/** Functions that the hardware approximates, through doubles. */
const approximations: Readonly<Record<string, (x: number) => number>> = {
  rsqrt: (x) => 1 / Math.sqrt(x),
  sin: Math.sin,
  cos: Math.cos,
  lg2: Math.log2,
  ex2: (x) => 2 ** x,
  tanh: Math.tanh,
};

/**
 * The result pattern of a floating-point operation. Correctly rounded where the ISA requires it; `approx` and `full`
 * forms return the rounded value of the exact function, from which the hardware may differ by a few units in the last
 * place. An unknown name or format gives 0.
 */
export function computeFloat(operation: FloatOperation, sources: readonly bigint[]): bigint {
  const { name, from, to, ftz } = operation;
  const rounding = roundingOf[operation.rounding] ?? 'rn';
  if (name.startsWith('cvt')) return convertFloat(operation, rounding, sources[0] ?? 0n);
  const format = floatFormats[to];
  const sourceFormat = floatFormats[from];
  if (!format || !sourceFormat) return 0n;
  if (name === 'neg' || name === 'abs') return changeSign(name, format, sources[0] ?? 0n, ftz);
  const values = sources.map((source) => unpack(sourceFormat, source, ftz));
  const exact = arithmetic(name, rounding, values);
  return exact ? finish(operation, format, exact, rounding, ftz) : 0n;
}

/** Applies rounding, `.sat` and `.relu` to an exact result. */
function finish(operation: FloatOperation, format: FloatLayout, value: Real, rounding: Rounding, flush: boolean): bigint {
  if (operation.saturate) {
    if (value.kind === 'nan' || value.negative) return pack(format, signedZero(false), 'rn', false);
    const one = fromInteger(1n);
    return pack(format, compareReals(value, one) === 1 ? one : value, rounding, flush);
  }
  const relu = operation.name.includes('.relu') && value.kind !== 'nan' && value.negative;
  const result = pack(format, relu ? signedZero(false) : value, rounding, flush);
  return operation.name.endsWith('.satfinite') ? withoutInfinity(format, result) : result;
}

/** Replaces infinity by the largest number of the same sign. */
function withoutInfinity(format: FloatLayout, pattern: bigint): bigint {
  if (unpack(format, pattern, false).kind !== 'infinite') return pattern;
  return pattern - (1n << BigInt(format.padding));
}

function arithmetic(name: string, rounding: Rounding, values: readonly Real[]): Real | null {
  const [a = nan, b = nan, c = nan] = values;
  switch (name) {
    case 'add':
      return sum(a, b, rounding);
    case 'sub':
      return sum(a, negated(b), rounding);
    case 'mul':
      return product(a, b);
    case 'fma':
    case 'fma.relu':
      return sum(product(a, b), c, rounding);
    case 'div':
      return quotient(a, b);
    case 'rcp':
      return quotient(fromInteger(1n), a);
    case 'sqrt':
      return squareRoot(a);
  }
  const approximate = approximations[name];
  if (approximate) return a.kind === 'nan' ? nan : fromNumber(approximate(toNumber(a)));
  return /^(min|max)(\.nan)?(\.xorsign)?(\.abs)?$/.test(name) ? extremum(name, values) : null;
}

/** Minimum or maximum of two or three values. A NaN is ignored unless the name has `.nan`; -0 is below +0. */
function extremum(name: string, values: readonly Real[]): Real {
  if (name.includes('.nan') && values.some((value) => value.kind === 'nan')) return nan;
  const absolute = name.endsWith('.abs');
  const numbers = values.filter((value) => value.kind !== 'nan');
  if (numbers.length === 0) return nan;
  const candidates = absolute ? numbers.map((value) => ({ ...value, negative: false })) : numbers;
  const wanted = name.startsWith('min') ? -1 : 1;
  let best = candidates[0]!;
  for (const candidate of candidates) {
    const order = compareReals(candidate, best);
    const zeros = order === 0 && candidate.negative !== best.negative && candidate.negative === (wanted === -1);
    if (order === wanted || zeros) best = candidate;
  }
  if (!name.includes('.xorsign')) return best;
  const negative = values.reduce((sign, value) => sign !== (value.kind !== 'nan' && value.negative), false);
  return { ...best, negative };
}

/** `neg` and `abs` change only the sign bit, of a NaN too. */
function changeSign(name: 'neg' | 'abs', format: FloatLayout, pattern: bigint, flush: boolean): bigint {
  const sign = 1n << BigInt(format.exponentBits + format.fractionBits + format.padding);
  const value = unpack(format, pattern, flush);
  const flushed = value.kind === 'finite' && value.mantissa === 0n ? pattern & sign : pattern;
  return name === 'neg' ? flushed ^ sign : flushed & ~sign;
}

interface IntegerType {
  readonly signed: boolean;
  readonly bits: number;
}

function integerType(name: string): IntegerType | null {
  const match = /^([us])(8|16|32|64)$/.exec(name);
  return match ? { signed: match[1] === 's', bits: Number(match[2]) } : null;
}

/** `cvt` with a floating-point source or result. `.ftz` affects only `f32`. */
function convertFloat(operation: FloatOperation, rounding: Rounding, pattern: bigint): bigint {
  const fromInt = integerType(operation.from);
  const toInt = integerType(operation.to);
  const fromFormat = floatFormats[operation.from];
  const toFormat = floatFormats[operation.to];
  if (fromInt && toFormat) {
    const value = fromInt.signed ? BigInt.asIntN(fromInt.bits, pattern) : BigInt.asUintN(fromInt.bits, pattern);
    return finish(operation, toFormat, fromInteger(value), rounding, false);
  }
  if (!fromFormat) return 0n;
  const value = unpack(fromFormat, pattern, operation.ftz && operation.from === 'f32');
  if (toInt) return toIntegerPattern(value, rounding, toInt, operation.from === 'f64');
  if (!toFormat) return 0n;
  const isIntegral = operation.rounding.endsWith('i');
  const flush = operation.ftz && operation.to === 'f32';
  return finish(operation, toFormat, isIntegral ? integral(value, rounding) : value, rounding, flush);
}

/**
 * The pattern of a number converted to an integer and limited to the range of the type. NaN gives 0, or the top bit if
 * 64 bits are involved (PTX ISA, cvt).
 */
function toIntegerPattern(value: Real, rounding: Rounding, type: IntegerType, fromDouble: boolean): bigint {
  const high = (1n << BigInt(type.signed ? type.bits - 1 : type.bits)) - 1n;
  const low = type.signed ? -high - 1n : 0n;
  if (value.kind === 'nan') return fromDouble || type.bits === 64 ? 1n << BigInt(type.bits - 1) : 0n;
  if (value.kind === 'infinite') return BigInt.asUintN(type.bits, value.negative ? low : high);
  const whole = toInteger(integral(value, rounding) as Finite);
  return BigInt.asUintN(type.bits, whole > high ? high : whole < low ? low : whole);
}

/** Comparisons; those ending in `u` are also true if a source is NaN (PTX ISA 9.3.1). */
export function compareFloats(comparison: FloatComparison, name: FloatFormat, ftz: boolean, a: bigint, b: bigint): boolean {
  const format = floatFormats[name]!;
  const order = compareReals(unpack(format, a, ftz), unpack(format, b, ftz));
  if (comparison === 'num') return order !== null;
  if (comparison === 'nan') return order === null;
  const unordered = comparison.length === 3;
  if (order === null) return unordered;
  switch (comparison.slice(0, 2)) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
    case 'gt':
      return order > 0;
    default:
      return order >= 0;
  }
}
