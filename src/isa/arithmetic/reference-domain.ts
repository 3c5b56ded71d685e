import type { Domain } from '../model/domain.ts';
import { localWindow, sharedWindow, windowBytes } from '../model/address-window.ts';
import { compareFloats, computeFloat } from './float-operation.ts';
import { smallConversions } from './small-conversion.ts';

/** Named pure functions of the instruction table. */
const named: Readonly<Record<string, (sources: readonly { width: number; value: bigint }[]) => bigint>> = {
  popc: ([a]) => BigInt(countOnes(a!.value)),
  clz: ([a]) => BigInt(a!.value === 0n ? a!.width : a!.width - a!.value.toString(2).length),
  brev: ([a]) => BigInt(`0b${[...a!.value.toString(2).padStart(a!.width, '0')].toReversed().join('')}`),
  fns: ([mask, base, offset]) => findNthSet(mask!.value, base!.value, BigInt.asIntN(32, offset!.value)),
  'cvta.shared': ([a]) => a!.value + sharedWindow,
  'cvta.to.shared': ([a]) => a!.value - sharedWindow,
  'cvta.local': ([a]) => a!.value + localWindow,
  'cvta.to.local': ([a]) => a!.value - localWindow,
  'isspacep.shared': ([a]) => BigInt(isShared(a!.value)),
  'isspacep.local': ([a]) => BigInt(isLocal(a!.value)),
  'isspacep.global': ([a]) => BigInt(!isShared(a!.value) && !isLocal(a!.value)),
  ...smallConversions,
};

function isShared(address: bigint): boolean {
  return address >= sharedWindow && address < sharedWindow + windowBytes;
}

function isLocal(address: bigint): boolean {
  return address >= localWindow && address < localWindow + windowBytes;
}

function countOnes(value: bigint): number {
  return value.toString(2).replaceAll('0', '').length;
}

/** The position of the `offset`-th set bit, upwards or downwards from `base`; all ones if it does not exist. */
function findNthSet(mask: bigint, base: bigint, offset: bigint): bigint {
  const none = 0xffffffffn;
  const isSet = (position: bigint): boolean => ((mask >> position) & 1n) === 1n;
  if (offset === 0n) return base < 32n && isSet(base) ? base : none;
  const step = offset > 0n ? 1n : -1n;
  let left = offset > 0n ? offset : -offset;
  for (let position = base; position >= 0n && position < 32n; position += step) {
    if (isSet(position) && --left === 0n) return position;
  }
  return none;
}

function limitShift(width: number, amount: bigint): bigint {
  return amount >= BigInt(width) ? BigInt(width) : amount;
}

/**
 * Concrete values: the reference that other domains are tested against. Bit-vectors are unsigned patterns; floats are
 * exact (see `float-operation.ts`); a `pure` function of an unknown name gives 0.
 */
export const referenceDomain: Domain<bigint, boolean> = {
  constant: (width, value) => BigInt.asUintN(width, value),
  add: (width, a, b) => BigInt.asUintN(width, a + b),
  sub: (width, a, b) => BigInt.asUintN(width, a - b),
  mul: (width, a, b) => BigInt.asUintN(width, a * b),
  udiv: (width, a, b) => (b === 0n ? BigInt.asUintN(width, -1n) : a / b),
  sdiv: (width, a, b) => BigInt.asUintN(width, b === 0n ? -1n : BigInt.asIntN(width, a) / BigInt.asIntN(width, b)),
  urem: (_width, a, b) => (b === 0n ? a : a % b),
  srem: (width, a, b) => (b === 0n ? a : BigInt.asUintN(width, BigInt.asIntN(width, a) % BigInt.asIntN(width, b))),
  and: (_width, a, b) => a & b,
  or: (_width, a, b) => a | b,
  xor: (_width, a, b) => a ^ b,
  not: (width, a) => BigInt.asUintN(width, ~a),
  shl: (width, a, amount) => BigInt.asUintN(width, a << limitShift(width, amount)),
  lshr: (width, a, amount) => a >> limitShift(width, amount),
  ashr: (width, a, amount) => BigInt.asUintN(width, BigInt.asIntN(width, a) >> limitShift(width, amount)),
  zeroExtend: (_from, _to, a) => a,
  signExtend: (from, to, a) => BigInt.asUintN(to, BigInt.asIntN(from, a)),
  truncate: (_from, to, a) => BigInt.asUintN(to, a),
  factor24: (signed, a) => BigInt.asUintN(32, signed ? BigInt.asIntN(24, a) : BigInt.asUintN(24, a)),
  equal: (_width, a, b) => a === b,
  unsignedLess: (_width, a, b) => a < b,
  signedLess: (width, a, b) => BigInt.asIntN(width, a) < BigInt.asIntN(width, b),
  select: (_width, condition, a, b) => (condition ? a : b),
  truth: (value) => value,
  negate: (a) => !a,
  both: (a, b) => a && b,
  either: (a, b) => a || b,
  differ: (a, b) => a !== b,
  selectTruth: (condition, a, b) => (condition ? a : b),
  float: computeFloat,
  compareFloat: compareFloats,
  pure: (name, width, sources) => BigInt.asUintN(width, named[name]?.(sources) ?? 0n),
};
