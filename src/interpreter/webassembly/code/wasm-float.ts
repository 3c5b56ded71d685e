/**
 * Floating-point operations as WebAssembly, bit-identical to the reference. f32 and f64 use the instructions of the
 * same name; narrower formats go through doubles, in which their products are exact and their sums rounded to odd;
 * operations without short code are imports.
 */
import type { FloatComparison, FloatFormat, FloatOperation, Width } from '../../../isa/model/domain.ts';
import type { FunctionBody, WasmOperator } from './wasm-module.ts';
import type { Item, WasmConstant, WasmLocal, WasmWord } from './wasm-value.ts';
import type { NarrowRounding, WasmSupport } from './wasm-support.ts';
import { compareFloats, computeFloat } from '../../../isa/arithmetic/float-operation.ts';
import { floatFormats } from '../../../isa/arithmetic/soft-float.ts';
import { patternWidth } from '../../javascript/staged-domain.ts';
import { isMathName, lostInSum, toOdd } from './wasm-support.ts';
import { append, bind, call, f32, f64, i32, i64, wasmConstant } from './wasm-value.ts';

interface FloatContext {
  readonly body: FunctionBody;
  readonly support: WasmSupport;
}

type Native = 'f32' | 'f64';

const roundings: Readonly<Record<string, NarrowRounding>> = {
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

const integralOperators = { rn: 'nearest', rz: 'trunc', rm: 'floor', rp: 'ceil' } as const;

const canonicalNaN: Readonly<Record<Native, bigint>> = { f32: floatFormats['f32']!.nan, f64: floatFormats['f64']!.nan };
const leastNormal: Readonly<Record<Native, number>> = { f32: 2 ** -126, f64: 2 ** -1022 };

function isNative(format: string): format is Native {
  return format === 'f32' || format === 'f64';
}

function numberItem(type: Native, value: number): Item {
  return type === 'f32' ? f32(value) : f64(value);
}

function isKnown(format: string): boolean {
  return format in floatFormats;
}

/** The result pattern of an operation whose sources are patterns. */
export function emitFloat(context: FloatContext, operation: FloatOperation, sources: readonly WasmWord[]): WasmWord {
  if (sources.every((source) => source.kind === 'constant')) {
    const patterns = sources.map((source) => source.value);
    return wasmConstant(patternWidth(operation.to), computeFloat(operation, patterns));
  }
  return emitInline(context, operation, sources) ?? emitForeign(context, operation, sources);
}

function emitForeign({ body, support }: FloatContext, operation: FloatOperation, sources: readonly WasmWord[]): WasmWord {
  const { name, from, to, rounding, ftz, saturate } = operation;
  const result = patternWidth(to);
  const target = support.foreign({
    name: `${name}.${to}.${from}.${rounding}${ftz ? '.ftz' : ''}${saturate ? '.sat' : ''}.${sources.length}`,
    sources: sources.map(() => patternWidth(from)),
    result,
    compute: (patterns) => computeFloat(operation, patterns),
  });
  return bind(body, result === 64 ? 'i64' : 'i32', ...sources, call(target));
}

function emitInline(context: FloatContext, operation: FloatOperation, sources: readonly WasmWord[]): WasmWord | null {
  const { name, from, to, ftz } = operation;
  if (name === 'cvt' || name === 'cvt.relu') return emitConversion(context, operation, sources[0]!);
  if (from !== to || !isKnown(to)) return null;
  const format = to as FloatFormat;
  if (name === 'neg' || name === 'abs') return emitSign(context, name, format, ftz, sources[0]!);
  if (/^(min|max)(\.nan)?(\.xorsign)?(\.abs)?$/.test(name)) return emitExtremum(context, operation, sources);
  if (isNative(format)) return emitNative(context, operation, format, sources);
  return emitNarrow(context, operation, format, sources);
}

// Patterns and numbers

/** Makes a subnormal pattern zero. */
function flushPattern({ body }: FloatContext, format: FloatFormat, source: WasmWord): WasmWord {
  if (source.kind === 'constant') {
    const operation = { name: 'add', from: format, to: format, rounding: 'rn', ftz: true, saturate: false };
    const sign = source.value & signMask(format);
    // Adding a zero of the same sign flushes a subnormal; a NaN remains a NaN.
    return wasmConstant(patternWidth(format), computeFloat(operation, [source.value, sign]));
  }
  const type = format === 'f64' ? 'i64' : 'i32';
  const { exponentBits, fractionBits, padding } = floatFormats[format]!;
  const exponent = ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits + padding);
  const constant = (value: bigint): Item => (type === 'i64' ? i64(value) : i32(Number(BigInt.asIntN(32, value))));
  return bind(
    body,
    type,
    source,
    constant(signMask(format)),
    `${type}.and`,
    source,
    source,
    constant(exponent),
    `${type}.and`,
    `${type}.eqz`,
    'select',
  );
}

function signMask(format: FloatFormat): bigint {
  const { exponentBits, fractionBits, padding } = floatFormats[format]!;
  return 1n << BigInt(exponentBits + fractionBits + padding);
}

function constantNumber(format: Native, { value }: WasmConstant): Item {
  const view = new DataView(new ArrayBuffer(8));
  if (format === 'f64') {
    view.setBigUint64(0, value);
    return f64(view.getFloat64(0));
  }
  view.setUint32(0, Number(value));
  return f32(view.getFloat32(0));
}

/** Pushes the number on the stack, or a zero of the same sign if it is subnormal; a NaN is unchanged. */
function flushNumber(value: WasmLocal): Item[] {
  const format = value.type as Native;
  return [
    numberItem(format, 0),
    value,
    `${format}.copysign`,
    value,
    value,
    `${format}.abs`,
    numberItem(format, leastNormal[format]),
    `${format}.lt`,
    'select',
  ];
}

/** Pushes the number of an f32 or f64 pattern. */
function nativeNumber(context: FloatContext, format: Native, source: WasmWord, flush: boolean): Item[] {
  if (source.kind === 'local' && source.number?.type === format) {
    return flush ? flushNumber(source.number) : [source.number];
  }
  const value = flush ? flushPattern(context, format, source) : source;
  if (value.kind === 'constant') return [constantNumber(format, value)];
  return [value, format === 'f32' ? 'f32.reinterpret_i32' : 'f64.reinterpret_i64'];
}

/** Pushes the number of a pattern: an f64 as f64, all other formats as f32, which represents their numbers exactly. */
function widened(context: FloatContext, format: FloatFormat, source: WasmWord, flush: boolean): Item[] {
  if (isNative(format)) return nativeNumber(context, format, source, flush);
  const value = flush ? flushPattern(context, format, source) : source;
  switch (format) {
    case 'f16':
      return [value, call(context.support.widenHalf())];
    case 'bf16':
      return [value, i32(16), 'i32.shl', 'f32.reinterpret_i32'];
    default:
      return [value, i32(-(1 << 13)), 'i32.and', 'f32.reinterpret_i32'];
  }
}

/** The number of a pattern as a double. */
function double(context: FloatContext, format: FloatFormat, source: WasmWord, flush: boolean): WasmLocal {
  const items = widened(context, format, source, flush);
  if (format !== 'f64') items.push('f64.promote_f32');
  return bind(context.body, 'f64', ...items);
}

/** The bit pattern of a number on the stack that is already rounded to its format. */
function finishNative(
  { body }: FloatContext,
  format: Native,
  items: readonly Item[],
  { flush, saturate, relu }: { readonly flush: boolean; readonly saturate: boolean; readonly relu: boolean },
): WasmLocal {
  const type = format === 'f32' ? 'i32' : 'i64';
  const pattern: WasmOperator = format === 'f32' ? 'i32.reinterpret_f32' : 'i64.reinterpret_f64';
  const zero = numberItem(format, 0);
  const one = numberItem(format, 1);
  let value = bind(body, format, ...items);
  if (flush) value = bind(body, format, ...flushNumber(value));
  if (saturate) {
    // A NaN compares as not greater than zero, and becomes zero.
    const limited = bind(body, format, value, one, value, one, `${format}.lt`, 'select');
    value = bind(body, format, limited, zero, value, zero, `${format}.gt`, 'select');
    return { ...bind(body, type, value, pattern), number: value };
  }
  if (relu) value = bind(body, format, zero, value, value, zero, `${format}.le`, 'select');
  const nan = type === 'i32' ? i32(Number(canonicalNaN.f32)) : i64(canonicalNaN.f64);
  return { ...bind(body, type, value, pattern, nan, value, value, `${format}.eq`, 'select'), number: value };
}

/** The pattern in a format other than f64 of a double that is exact or rounded to odd. */
function finishDouble(context: FloatContext, operation: FloatOperation, value: WasmLocal, flush: boolean): WasmWord {
  const { body, support } = context;
  const { to, saturate, name } = operation;
  const relu = name.endsWith('.relu');
  const rounding = roundings[operation.rounding] ?? 'rn';
  if (to === 'f32' && rounding === 'rn') {
    return finishNative(context, 'f32', [value, 'f32.demote_f64'], { flush, saturate, relu });
  }
  let limited = value;
  if (saturate) {
    const low = bind(body, 'f64', limited, f64(1), limited, f64(1), 'f64.lt', 'select');
    limited = bind(body, 'f64', low, f64(0), limited, f64(0), 'f64.gt', 'select');
  } else if (relu) {
    limited = bind(body, 'f64', f64(0), limited, limited, f64(0), 'f64.le', 'select');
  }
  const pattern = bind(body, 'i32', limited, call(support.narrow(to, rounding)));
  return flush ? flushPattern(context, to as FloatFormat, pattern) : pattern;
}

// Operations

function emitSign(context: FloatContext, name: 'neg' | 'abs', format: FloatFormat, ftz: boolean, source: WasmWord): WasmWord {
  const value = ftz ? flushPattern(context, format, source) : source;
  const type = format === 'f64' ? 'i64' : 'i32';
  const mask = signMask(format);
  const operand = name === 'neg' ? mask : mask - 1n;
  const constant = type === 'i64' ? i64(operand) : i32(Number(BigInt.asIntN(32, operand)));
  return bind(context.body, type, value, constant, name === 'neg' ? `${type}.xor` : `${type}.and`);
}

function emitNative(context: FloatContext, operation: FloatOperation, format: Native, sources: readonly WasmWord[]): WasmWord | null {
  const { support } = context;
  const { ftz, saturate } = operation;
  const name = operation.name.replace(/\.relu$/, '');
  const rounding = roundings[operation.rounding] ?? 'rn';
  const finish = { flush: ftz, saturate, relu: name !== operation.name };
  const number = (source: WasmWord): Item[] => nativeNumber(context, format, source, ftz);
  const [a, b] = sources as readonly [WasmWord, WasmWord];
  const approximate = emitApproximation(context, format, name, sources, ftz);
  if (approximate) {
    if (format === 'f32') return finishDouble(context, operation, approximate, ftz);
    return finishNative(context, format, [approximate], finish);
  }
  if (rounding !== 'rn') return format === 'f32' ? emitDirected(context, operation, name, rounding, sources) : null;
  switch (name) {
    case 'add':
    case 'sub':
    case 'mul':
    case 'div':
      return finishNative(context, format, [...number(a), ...number(b), `${format}.${name}`], finish);
    case 'sqrt':
      return finishNative(context, format, [...number(a), `${format}.sqrt`], finish);
    case 'rcp':
      return finishNative(context, format, [numberItem(format, 1), ...number(a), `${format}.div`], finish);
    case 'fma': {
      if (format === 'f64') {
        const items = sources.flatMap(number);
        return finishNative(context, format, [...items, call(support.fusedDouble())], finish);
      }
      return finishNative(context, format, fusedSingle(context, sources, ftz), finish);
    }
    default:
      return null;
  }
}

/**
 * Pushes `a * b + c` of f32. The product is exact as a double. Double rounding is incorrect only if the double is
 * inexact and at the midpoint of two f32: then it is moved toward the lost part. At a midpoint only the first of the 29
 * bits beyond an f32 is set; for subnormals it may be another one, so all of them are tested.
 */
function fusedSingle(context: FloatContext, sources: readonly WasmWord[], ftz: boolean): Item[] {
  const { body } = context;
  const [a, b, c] = sources.map((source) => [...nativeNumber(context, 'f32', source, ftz), 'f64.promote_f32' as const]);
  const product = bind(body, 'f64', ...a!, ...b!, 'f64.mul');
  const addend = bind(body, 'f64', ...c!);
  const sum = bind(body, 'f64', product, addend, 'f64.add');
  append(body, sum, 'i64.reinterpret_f64', 'i32.wrap_i64', i32(0x1fffffff), 'i32.and', i32(0x10000000), 'i32.eq');
  append(body, sum, 'f64.abs', f64(2 ** -126), 'f64.lt', 'i32.or');
  body.if();
  append(body, toOdd(body, sum, lostInSum(body, product, addend, sum)));
  body.set(sum.index);
  body.end();
  return [sum, 'f32.demote_f64'];
}

/** An f32 with a directed rounding: the exact double, or the double rounded to odd, is narrowed. */
function emitDirected(
  context: FloatContext,
  operation: FloatOperation,
  name: string,
  rounding: NarrowRounding,
  sources: readonly WasmWord[],
): WasmWord | null {
  const result = exactDouble(context, 'f32', name, sources, operation.ftz, rounding === 'rm');
  return result && finishDouble(context, operation, result, operation.ftz);
}

/** A function that the hardware approximates: the double that the reference rounds. */
function emitApproximation(
  context: FloatContext,
  format: FloatFormat,
  name: string,
  sources: readonly WasmWord[],
  flush: boolean,
): WasmLocal | null {
  const { body, support } = context;
  if (name !== 'rsqrt' && !isMathName(name)) return null;
  const source = double(context, format, sources[0]!, flush);
  if (name === 'rsqrt') return bind(body, 'f64', f64(1), source, 'f64.sqrt', 'f64.div');
  return bind(body, 'f64', source, call(support.mathematics(name)));
}

/** f16 and bf16. */
function emitNarrow(context: FloatContext, operation: FloatOperation, format: FloatFormat, sources: readonly WasmWord[]): WasmWord | null {
  const { ftz } = operation;
  const name = operation.name.replace(/\.relu$/, '');
  const result =
    emitApproximation(context, format, name, sources, ftz) ?? exactDouble(context, format, name, sources, ftz, operation.rounding === 'rm');
  return result && finishDouble(context, operation, result, ftz);
}

/** A sum, product or fused multiply-add of numbers of at most 24 bits, as a double that is exact or rounded to odd. */
function exactDouble(
  context: FloatContext,
  format: FloatFormat,
  name: string,
  sources: readonly WasmWord[],
  flush: boolean,
  downward: boolean,
): WasmLocal | null {
  const { body, support } = context;
  if (!['add', 'sub', 'mul', 'fma'].includes(name)) return null;
  const [a, b, c] = sources.map((source) => double(context, format, source, flush));
  if (name === 'mul') return bind(body, 'f64', a!, b!, 'f64.mul');
  const x = name === 'fma' ? bind(body, 'f64', a!, b!, 'f64.mul') : a!;
  const y = name === 'fma' ? c! : name === 'sub' ? bind(body, 'f64', b!, 'f64.neg') : b!;
  const sum = bind(body, 'f64', x, y, call(support.sumToOdd()));
  if (!downward) return sum;
  // A zero sum is negative, unless both addends are +0.
  return bind(
    body,
    'f64',
    x,
    'i64.reinterpret_f64',
    y,
    'i64.reinterpret_f64',
    'i64.or',
    i64(-1n << 63n),
    'i64.and',
    'f64.reinterpret_i64',
    sum,
    sum,
    f64(0),
    'f64.eq',
    'select',
  );
}

/** `min` and `max` with their variants, of two or three values. */
function emitExtremum(context: FloatContext, operation: FloatOperation, sources: readonly WasmWord[]): WasmWord {
  const { body } = context;
  const { name, ftz, saturate } = operation;
  const format = operation.to as FloatFormat;
  const type: Native = format === 'f64' ? 'f64' : 'f32';
  const absolute = name.endsWith('.abs');
  const operator: WasmOperator = `${type}.${name.startsWith('min') ? 'min' : 'max'}`;
  const numbers = sources.map((source) => bind(body, type, ...widened(context, format, source, ftz)));
  const candidates = absolute ? numbers.map((value) => bind(body, type, value, `${type}.abs`)) : numbers;
  let best = candidates.reduce((a, b) => {
    const both: Item[] = [a, b, operator];
    if (name.includes('.nan')) return bind(body, type, ...both);
    // If one operand is NaN, the other operand.
    const left = bind(body, type, ...both, a, b, b, `${type}.eq`, 'select');
    return bind(body, type, left, b, a, a, `${type}.eq`, 'select');
  });
  if (name.includes('.xorsign')) {
    // The product of the signs of the operands that are not NaN.
    const zero = numberItem(type, 0);
    const signs = numbers.flatMap((value, index): Item[] => {
      const pattern: WasmOperator = type === 'f32' ? 'i32.reinterpret_f32' : 'i64.reinterpret_f64';
      const own: Item[] = [value, zero, value, value, `${type}.eq`, 'select', pattern];
      return index === 0 ? own : [...own, type === 'f32' ? 'i32.xor' : 'i64.xor'];
    });
    best = bind(body, type, best, ...signs, type === 'f32' ? 'f32.reinterpret_i32' : 'f64.reinterpret_i64', `${type}.copysign`);
  }
  if (isNative(format)) return finishNative(context, format, [best], { flush: ftz, saturate, relu: false });
  return finishDouble(context, operation, bind(body, 'f64', best, 'f64.promote_f32'), ftz);
}

// Conversions

interface IntegerType {
  readonly signed: boolean;
  readonly bits: Width;
}

function integerType(name: string): IntegerType | null {
  const match = /^([us])(8|16|32|64)$/.exec(name);
  return match ? { signed: match[1] === 's', bits: Number(match[2]) as Width } : null;
}

function emitConversion(context: FloatContext, operation: FloatOperation, source: WasmWord): WasmWord | null {
  const fromInteger = integerType(operation.from);
  const toInteger = integerType(operation.to);
  if (fromInteger) return isKnown(operation.to) ? fromIntegerValue(context, operation, fromInteger, source) : null;
  if (!isKnown(operation.from)) return null;
  const from = operation.from as FloatFormat;
  const flush = operation.ftz && from === 'f32';
  if (toInteger) return toIntegerValue(context, operation, from, toInteger, source, flush);
  if (!isKnown(operation.to)) return null;
  const type: Native = from === 'f64' ? 'f64' : 'f32';
  const items = widened(context, from, source, flush);
  const rounding = roundings[operation.rounding] ?? 'rn';
  if (operation.rounding.endsWith('i')) {
    if (rounding === 'rna') return null;
    items.push(`${type}.${integralOperators[rounding]}`);
  }
  const finish = {
    flush: operation.ftz && operation.to === 'f32',
    saturate: operation.saturate,
    relu: operation.name.endsWith('.relu'),
  };
  if (operation.to === 'f64') {
    if (type === 'f32') items.push('f64.promote_f32');
    return finishNative(context, 'f64', items, finish);
  }
  if (operation.to === 'f32' && type === 'f32') return finishNative(context, 'f32', items, finish);
  if (type === 'f32') items.push('f64.promote_f32');
  return finishDouble(context, operation, bind(context.body, 'f64', ...items), finish.flush);
}

function fromIntegerValue(
  context: FloatContext,
  operation: FloatOperation,
  { signed, bits }: IntegerType,
  source: WasmWord,
): WasmWord | null {
  const { body } = context;
  const { to, saturate } = operation;
  const sign = signed ? 's' : 'u';
  const finish = { flush: false, saturate, relu: operation.name.endsWith('.relu') };
  const rounding = roundings[operation.rounding] ?? 'rn';
  if (bits === 64) {
    if (rounding !== 'rn' || !isNative(to)) return null;
    return finishNative(context, to, [source, `${to}.convert_i64_${sign}`], finish);
  }
  const whole: Item[] = [source];
  if (signed && bits < 32) whole.push(bits === 8 ? 'i32.extend8_s' : 'i32.extend16_s');
  if (to === 'f64' || (to === 'f32' && rounding === 'rn')) {
    return finishNative(context, to, [...whole, `${to}.convert_i32_${sign}`], finish);
  }
  return finishDouble(context, operation, bind(body, 'f64', ...whole, `f64.convert_i32_${sign}`), false);
}

function toIntegerValue(
  context: FloatContext,
  operation: FloatOperation,
  from: FloatFormat,
  { signed, bits }: IntegerType,
  source: WasmWord,
  flush: boolean,
): WasmWord | null {
  const { body } = context;
  const type: Native = from === 'f64' ? 'f64' : 'f32';
  const rounding = roundings[operation.rounding] ?? 'rn';
  if (rounding === 'rna') return null;
  const value = bind(body, type, ...widened(context, from, source, flush));
  const whole: Item[] = rounding === 'rz' ? [value] : [value, `${type}.${integralOperators[rounding]}`];
  const sign = signed ? 's' : 'u';
  const isNumber: Item[] = [value, value, `${type}.eq`];
  if (bits === 64) {
    return bind(body, 'i64', ...whole, `i64.trunc_sat_${type}_${sign}`, i64(1n << 63n), ...isNumber, 'select');
  }
  let result = bind(body, 'i32', ...whole, `i32.trunc_sat_${type}_${sign}`);
  if (bits < 32) {
    const high = i32(2 ** (signed ? bits - 1 : bits) - 1);
    result = bind(body, 'i32', result, high, result, high, `i32.lt_${sign}`, 'select');
    if (signed) {
      const low = i32(-(2 ** (bits - 1)));
      result = bind(body, 'i32', result, low, result, low, 'i32.gt_s', 'select', i32(2 ** bits - 1), 'i32.and');
    }
  }
  if (from !== 'f64') return result;
  return bind(body, 'i32', result, i32((-(2 ** 31) >> (32 - bits)) & (bits === 32 ? -1 : 2 ** bits - 1)), ...isNumber, 'select');
}

// Comparisons

const mirrored = { lt: 'ge', le: 'gt', gt: 'le', ge: 'lt' } as const;

/** The result of a comparison of bit patterns. */
export function emitComparison(
  context: FloatContext,
  comparison: FloatComparison,
  format: FloatFormat,
  flush: boolean,
  a: WasmWord,
  b: WasmWord,
): WasmWord {
  const { body } = context;
  if (a.kind === 'constant' && b.kind === 'constant') {
    return wasmConstant(1, compareFloats(comparison, format, flush, a.value, b.value) ? 1n : 0n);
  }
  const type: Native = format === 'f64' ? 'f64' : 'f32';
  const x = bind(body, type, ...widened(context, format, a, flush));
  const y = bind(body, type, ...widened(context, format, b, flush));
  const less: Item[] = [x, y, `${type}.lt`, x, y, `${type}.gt`, 'i32.or'];
  const numbers: Item[] = [x, x, `${type}.eq`, y, y, `${type}.eq`, 'i32.and'];
  switch (comparison) {
    case 'eq':
      return bind(body, 'i32', x, y, `${type}.eq`);
    case 'neu':
      return bind(body, 'i32', x, y, `${type}.ne`);
    case 'ne':
      return bind(body, 'i32', ...less);
    case 'equ':
      return bind(body, 'i32', ...less, 'i32.eqz');
    case 'num':
      return bind(body, 'i32', ...numbers);
    case 'nan':
      return bind(body, 'i32', ...numbers, 'i32.eqz');
    case 'lt':
    case 'le':
    case 'gt':
    case 'ge':
      return bind(body, 'i32', x, y, `${type}.${comparison}`);
    case 'ltu':
    case 'leu':
    case 'gtu':
    case 'geu':
      return bind(body, 'i32', x, y, `${type}.${mirrored[comparison.slice(0, 2) as 'lt']}`, 'i32.eqz');
  }
}
