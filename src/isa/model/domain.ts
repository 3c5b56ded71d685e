/** Bits of a value. Predicates have width 1 and are of type `B`, never `V`. */
export type Width = 8 | 16 | 32 | 64 | 128;

export type FloatFormat = 'f16' | 'bf16' | 'tf32' | 'f32' | 'f64';

/** A floating-point operation as pure data; a domain may compute it or leave it uninterpreted. */
export interface FloatOperation {
  /**
   * `add sub mul div fma neg abs min max sqrt rcp rsqrt sin cos ex2 lg2 tanh` and conversions `cvt`; with suffixes
   * `fma.relu`, `cvt.relu`, `cvt.satfinite`, `cvt.relu.satfinite` (the largest number instead of infinity), `min.nan`,
   * `min.abs`, `min.xorsign.abs`, `min.nan.xorsign.abs` and the like for `max`.
   */
  readonly name: string;
  /** Format of the sources; for `cvt` from an integer `s32`, `u64` …. */
  readonly from: string;
  /** Format of the result; for `cvt` to an integer `s32`, `u64` …. */
  readonly to: string;
  /** `rn rz rm rp rna rni rzi rmi rpi approx full none`. */
  readonly rounding: string;
  readonly ftz: boolean;
  readonly saturate: boolean;
}

export type FloatComparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'equ' | 'neu' | 'ltu' | 'leu' | 'gtu' | 'geu' | 'num' | 'nan';

/**
 * The values that one rule of the instruction table is interpreted over: `V` are bit-vectors of a given width, `B`
 * truth values. A rule is written once, and serves the reference interpreter (bigint) and the prover (terms).
 * Bit-vectors are unsigned patterns modulo 2^width; signed operations are named so. A domain never throws; it may
 * answer with an unknown value.
 */
export interface Domain<V, B> {
  constant(width: Width, value: bigint): V;
  add(width: Width, a: V, b: V): V;
  sub(width: Width, a: V, b: V): V;
  mul(width: Width, a: V, b: V): V;
  /** Division by zero gives all ones, as the hardware does (PTX ISA 9.7.1.8 leaves it unspecified). */
  udiv(width: Width, a: V, b: V): V;
  sdiv(width: Width, a: V, b: V): V;
  urem(width: Width, a: V, b: V): V;
  srem(width: Width, a: V, b: V): V;
  and(width: Width, a: V, b: V): V;
  or(width: Width, a: V, b: V): V;
  xor(width: Width, a: V, b: V): V;
  not(width: Width, a: V): V;
  /** Shift amounts are unsigned, of the same width, and clamp: an amount of `width` or more shifts everything out. */
  shl(width: Width, a: V, amount: V): V;
  lshr(width: Width, a: V, amount: V): V;
  ashr(width: Width, a: V, amount: V): V;
  zeroExtend(from: Width, to: Width, a: V): V;
  signExtend(from: Width, to: Width, a: V): V;
  truncate(from: Width, to: Width, a: V): V;
  /** The lowest 24 of 32 bits, sign or zero extended: a factor of `mul24`, whose operand is meant to fit in 24 bits. */
  factor24(signed: boolean, a: V): V;
  equal(width: Width, a: V, b: V): B;
  unsignedLess(width: Width, a: V, b: V): B;
  signedLess(width: Width, a: V, b: V): B;
  select(width: Width, condition: B, a: V, b: V): V;
  truth(value: boolean): B;
  negate(a: B): B;
  both(a: B, b: B): B;
  either(a: B, b: B): B;
  differ(a: B, b: B): B;
  selectTruth(condition: B, a: B, b: B): B;
  float(operation: FloatOperation, sources: readonly V[]): V;
  compareFloat(comparison: FloatComparison, format: FloatFormat, ftz: boolean, a: V, b: V): B;
  /**
   * A pure function that is not defined bit by bit, named for the domain: `popc`, `clz`, `brev`, `fns`, and
   * `cvta.shared`, `cvta.to.shared`, `cvta.local`, `cvta.to.local`, which add or subtract the base of a window;
   * `isspacep.shared`, `isspacep.local`, `isspacep.global`, which give 1 or 0 in 32 bits; and conversions to and from
   * formats of 8 bits and fewer, `cvt.e4m3.f32` and so on, with suffixes `.relu` and `.satfinite`. The reference domain
   * computes every one of them.
   */
  pure(name: string, width: Width, sources: readonly { readonly width: Width; readonly value: V }[]): V;
}
