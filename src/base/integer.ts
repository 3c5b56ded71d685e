/** Exact arithmetic over integers of any size. */

/** Quotient rounded towards minus infinity. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

/** The greatest common divisor, at least 0. */
export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** The value without its sign. */
export function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** The least of some integers, of which there is at least one. */
export function leastOf(values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (b < a ? b : a));
}

/** The greatest of some integers, of which there is at least one. */
export function greatestOf(values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (b > a ? b : a));
}

/** Number of bits of a nonnegative integer; 0 for 0. */
export function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

/** The smallest multiple of `alignment` that is at least `offset`. */
export function alignedUp(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment;
}
