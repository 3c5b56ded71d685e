/** Functions composed of `Domain` operations that several chapters of the instruction table share. */
import type { Domain, Width } from '../model/domain.ts';

/** A constant, possibly negative, as a pattern of `width` bits. */
export function constantPattern<V, B>(d: Domain<V, B>, width: Width, value: bigint | number): V {
  return d.constant(width, BigInt.asUintN(width, BigInt(value)));
}

/** Zero- or sign-extends or truncates a value; returns it unchanged if the widths are equal. */
export function extendOrTruncate<V, B>(d: Domain<V, B>, from: Width, to: Width, signed: boolean, a: V): V {
  if (from === to) return a;
  if (from > to) return d.truncate(from, to, a);
  return signed ? d.signExtend(from, to, a) : d.zeroExtend(from, to, a);
}

/** `a < b` of `width` bits, as signed or unsigned numbers. */
export function less<V, B>(d: Domain<V, B>, width: Width, signed: boolean, a: V, b: V): B {
  return signed ? d.signedLess(width, a, b) : d.unsignedLess(width, a, b);
}

/** The lesser of two values of `width` bits, as signed or unsigned numbers. */
export function lesser<V, B>(d: Domain<V, B>, width: Width, signed: boolean, a: V, b: V): V {
  return d.select(width, less(d, width, signed, b, a), b, a);
}

/** The greater of two values of `width` bits, as signed or unsigned numbers. */
export function greater<V, B>(d: Domain<V, B>, width: Width, signed: boolean, a: V, b: V): V {
  return d.select(width, less(d, width, signed, a, b), b, a);
}

/** `a` of `from` bits, clamped to the signed or unsigned range of `to` bits; the result has `from` bits. */
export function clamp<V, B>(d: Domain<V, B>, from: Width, fromSigned: boolean, to: Width, toSigned: boolean, a: V): V {
  const high = toSigned ? (1n << BigInt(to - 1)) - 1n : (1n << BigInt(to)) - 1n;
  const low = toSigned ? -(1n << BigInt(to - 1)) : 0n;
  let value = a;
  const fromHigh = fromSigned ? (1n << BigInt(from - 1)) - 1n : (1n << BigInt(from)) - 1n;
  const fromLow = fromSigned ? -(1n << BigInt(from - 1)) : 0n;
  if (fromHigh > high) value = lesser(d, from, fromSigned, value, constantPattern(d, from, high));
  if (fromLow < low) value = greater(d, from, fromSigned, value, constantPattern(d, from, low));
  return value;
}

/** The low and high half of a packed 32-bit value, or 64-bit one. */
export function halves<V, B>(d: Domain<V, B>, width: 32 | 64, a: V): readonly [V, V] {
  const half = (width / 2) as Width;
  return [d.truncate(width, half, a), d.truncate(width, half, d.lshr(width, a, constantPattern(d, width, half)))];
}

/** Joins `low` and `high` to a value of `width` bits. */
export function joinHalves<V, B>(d: Domain<V, B>, width: 32 | 64, low: V, high: V): V {
  return concatenate(d, width, [low, high], (width / 2) as Width);
}

/** Joins parts of equal width, the lowest first. */
export function concatenate<V, B>(d: Domain<V, B>, width: Width, parts: readonly V[], part: Width): V {
  return parts
    .map((value, index) =>
      index === 0
        ? d.zeroExtend(part, width, value)
        : d.shl(width, d.zeroExtend(part, width, value), constantPattern(d, width, index * part)),
    )
    .reduce((whole, value) => d.or(width, whole, value));
}

/** Applies `rule` to each half of packed values. */
export function packed<V, B>(d: Domain<V, B>, width: 32 | 64, sources: readonly V[], rule: (...lane: V[]) => V): V {
  const split = sources.map((source) => halves(d, width, source));
  return joinHalves(d, width, rule(...split.map(([low]) => low)), rule(...split.map(([, high]) => high)));
}

/** Shifts by a 32-bit amount that clamps at the width of the value (PTX ISA 9.7.8, shl and shr). */
export function shift<V, B>(d: Domain<V, B>, kind: 'shl' | 'lshr' | 'ashr', width: 16 | 32 | 64, a: V, amount: V): V {
  if (width === 16) {
    const wide = kind === 'ashr' ? d.signExtend(16, 32, a) : d.zeroExtend(16, 32, a);
    return d.truncate(32, 16, d[kind](32, wide, amount));
  }
  return d[kind](width, a, width === 32 ? amount : d.zeroExtend(32, 64, amount));
}
