/**
 * Floating-point operations on the staged code's values (an `f32` is the signed integer of its pattern, an `f64` the
 * bigint of its), with native arithmetic if that is exact, otherwise with the reference.
 */
import type { FloatComparison, FloatFormat, FloatOperation } from '../../isa/model/domain.ts';
import { compareFloats, computeFloat } from '../../isa/arithmetic/float-operation.ts';
import { referenceDomain } from '../../isa/arithmetic/reference-domain.ts';

const float64 = new Float64Array(1);
const patterns64 = new BigUint64Array(float64.buffer);
const words = new Int32Array(float64.buffer);
const float32 = new Float32Array(1);
const patterns32 = new Int32Array(float32.buffer);

const nan32 = 0x7fffffff;
const nan64 = 0xfff8000000000000n;

function f32(pattern: number): number {
  patterns32[0] = pattern;
  return float32[0]!;
}

function f64(pattern: bigint): number {
  patterns64[0] = pattern;
  return float64[0]!;
}

/** The pattern of the nearest `f32`. */
function from32(value: number): number {
  if (Number.isNaN(value)) return nan32;
  float32[0] = value;
  return patterns32[0]!;
}

function from64(value: number): bigint {
  if (Number.isNaN(value)) return nan64;
  float64[0] = value;
  return patterns64[0]!;
}

/**
 * `a * b + c` of three `f32` with one rounding. The product is exact as a double; the sum is rounded to odd, so that
 * rounding it again to `f32` equals a single rounding of the exact value (53 bits are at least 24 + 2).
 */
function fma32(a: number, b: number, c: number): number {
  const x = f32(a) * f32(b);
  const y = f32(c);
  const sum = x + y;
  // Knuth's two-sum: the rounding error of `sum`.
  const part = sum - x;
  const lost = x - (sum - part) + (y - part);
  if (lost === 0 || !Number.isFinite(lost)) return from32(sum);
  float64[0] = sum;
  if ((words[0]! & 1) === 0) {
    // Toward the lost part: away from zero if it has the sign of the sum, otherwise toward zero.
    patterns64[0] = lost > 0 === sum > 0 ? patterns64[0]! + 1n : patterns64[0]! - 1n;
  }
  return from32(float64[0]);
}

/**
 * The minimum, or the number if the other operand is NaN; a third value is compared with the result of the first two.
 */
function minimum32(a: number, b: number, c?: number): number {
  const x = f32(a);
  const y = f32(b);
  const least = Number.isNaN(y) ? (Number.isNaN(x) ? nan32 : a) : Number.isNaN(x) ? b : from32(Math.min(x, y));
  return c === undefined ? least : minimum32(least, c);
}

function maximum32(a: number, b: number, c?: number): number {
  const x = f32(a);
  const y = f32(b);
  const most = Number.isNaN(y) ? (Number.isNaN(x) ? nan32 : a) : Number.isNaN(x) ? b : from32(Math.max(x, y));
  return c === undefined ? most : maximum32(most, c);
}

/** A subnormal flushed to a zero of the same sign. */
function flush32(a: number): number {
  return (a & 0x7f800000) === 0 ? a & -0x80000000 : a;
}

/** The same operation with `.ftz`. */
function flushing(operation: (...sources: number[]) => number): (...sources: number[]) => number {
  return (...sources) => flush32(operation(...sources.map(flush32)));
}

/** Toward zero, limited to the range; NaN gives 0. */
function toSigned32(a: number): number {
  const value = Math.trunc(f32(a));
  return value >= 2147483647 ? 2147483647 : value <= -2147483648 ? -2147483648 : value | 0;
}

/** Operations on `f32`, each followed by its variant with `.ftz`. */
const single = {
  add32: (a: number, b: number): number => from32(f32(a) + f32(b)),
  sub32: (a: number, b: number): number => from32(f32(a) - f32(b)),
  mul32: (a: number, b: number): number => from32(f32(a) * f32(b)),
  div32: (a: number, b: number): number => from32(f32(a) / f32(b)),
  sqrt32: (a: number): number => from32(Math.sqrt(f32(a))),
  fma32,
  minimum32,
  maximum32,
  neg32: (a: number): number => a ^ -0x80000000,
  abs32: (a: number): number => a & 0x7fffffff,
  rcp32: (a: number): number => from32(1 / f32(a)),
  rsqrt32: (a: number): number => from32(1 / Math.sqrt(f32(a))),
  sin32: (a: number): number => from32(Math.sin(f32(a))),
  cos32: (a: number): number => from32(Math.cos(f32(a))),
  lg232: (a: number): number => from32(Math.log2(f32(a))),
  ex232: (a: number): number => from32(2 ** f32(a)),
  tanh32: (a: number): number => from32(Math.tanh(f32(a))),
  trunc32: (a: number): number => from32(Math.trunc(f32(a))),
  floor32: (a: number): number => from32(Math.floor(f32(a))),
  ceil32: (a: number): number => from32(Math.ceil(f32(a))),
};

type Single = keyof typeof single;

const singleFlushing = Object.fromEntries(
  Object.entries(single).map(([name, operation]) => [`${name}Flushing`, flushing(operation)]),
) as Readonly<Record<`${Single}Flushing`, (...sources: number[]) => number>>;

/** Functions that staged code calls as `F.name`. */
const floatRuntime = {
  f32,
  f64,
  flush32,
  ...single,
  ...singleFlushing,
  add64: (a: bigint, b: bigint): bigint => from64(f64(a) + f64(b)),
  sub64: (a: bigint, b: bigint): bigint => from64(f64(a) - f64(b)),
  mul64: (a: bigint, b: bigint): bigint => from64(f64(a) * f64(b)),
  div64: (a: bigint, b: bigint): bigint => from64(f64(a) / f64(b)),
  sqrt64: (a: bigint): bigint => from64(Math.sqrt(f64(a))),
  signedTo32: (a: number): number => from32(a),
  unsignedTo32: (a: number): number => from32(a >>> 0),
  signedTo64: (a: number): bigint => from64(a),
  unsignedTo64: (a: number): bigint => from64(a >>> 0),
  widen: (a: number): bigint => from64(f32(a)),
  narrow: (a: bigint): number => from32(f64(a)),
  toSigned32,
  ordered: (a: number, b: number): boolean => !Number.isNaN(a) && !Number.isNaN(b),
  compare: (comparison: FloatComparison, format: FloatFormat, ftz: boolean, a: bigint, b: bigint): boolean =>
    compareFloats(comparison, format, ftz, a, b),
  pure: (...call: Parameters<typeof referenceDomain.pure>): bigint => referenceDomain.pure(...call),
};

export type FloatRuntime = typeof floatRuntime & {
  /** Computes the operation with a given number by the reference. */
  readonly slow: (operation: number, sources: readonly bigint[]) => bigint;
};

/** The runtime with the operations that a kernel uses by number. */
export function createFloatRuntime(operations: readonly FloatOperation[]): FloatRuntime {
  return { ...floatRuntime, slow: (operation, sources) => computeFloat(operations[operation]!, sources) };
}

type Fast = keyof typeof floatRuntime;

const arithmetic64: Readonly<Record<string, Fast>> = {
  add: 'add64',
  sub: 'sub64',
  mul: 'mul64',
  div: 'div64',
  sqrt: 'sqrt64',
};

/** By name and rounding; `rn` also denotes correctly rounded results and approximations. */
const arithmetic32: Readonly<Record<string, Single>> = {
  'add.rn': 'add32',
  'sub.rn': 'sub32',
  'mul.rn': 'mul32',
  'div.rn': 'div32',
  'sqrt.rn': 'sqrt32',
  'fma.rn': 'fma32',
  'rcp.rn': 'rcp32',
  'rsqrt.rn': 'rsqrt32',
  'sin.rn': 'sin32',
  'cos.rn': 'cos32',
  'lg2.rn': 'lg232',
  'ex2.rn': 'ex232',
  'tanh.rn': 'tanh32',
  'min.none': 'minimum32',
  'max.none': 'maximum32',
  'neg.none': 'neg32',
  'abs.none': 'abs32',
};

const integral32: Readonly<Record<string, Single>> = { rzi: 'trunc32', rmi: 'floor32', rpi: 'ceil32' };

const conversions: Readonly<Record<string, Fast>> = {
  'rn.f32.s32': 'signedTo32',
  'rn.f32.u32': 'unsignedTo32',
  'none.f64.f32': 'widen',
  'rn.f32.f64': 'narrow',
  'none.f64.s32': 'signedTo64',
  'rn.f64.s32': 'signedTo64',
  'none.f64.u32': 'unsignedTo64',
  'rn.f64.u32': 'unsignedTo64',
  'rzi.s32.f32': 'toSigned32',
};

/** The function that computes an operation exactly without the reference; undefined without one. */
export function fastFloat(operation: FloatOperation): string | undefined {
  const { name, from, to, rounding, ftz, saturate } = operation;
  if (saturate) return undefined;
  const nearest = rounding === 'approx' || rounding === 'full' ? 'rn' : rounding;
  const isSingle = from === 'f32' && to === 'f32';
  const found = isSingle ? (name === 'cvt' ? integral32[rounding] : arithmetic32[`${name}.${nearest}`]) : undefined;
  if (found) return ftz ? `${found}Flushing` : found;
  if (ftz) return undefined;
  if (name === 'cvt') return conversions[`${rounding}.${to}.${from}`];
  return to === 'f64' && from === 'f64' && nearest === 'rn' ? arithmetic64[name] : undefined;
}
