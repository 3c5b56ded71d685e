/**
 * Partially known values: fields of a structure in a register whose other bits were never written. Cooperative groups
 * store their kind, size and mask in this form.
 */
import type { Domain, Width } from '../isa/model/domain.ts';
import type { DraftInstruction } from './form/draft.ts';
import type { Operand } from './form/kernel.ts';

/** For the bits set in `known`, their values; the other bits of `value` are 0. */
export interface KnownBits {
  readonly known: bigint;
  readonly value: bigint;
}

/** All bits unknown. */
export const noBits: KnownBits = { known: 0n, value: 0n };

function ones(width: number): bigint {
  return (1n << BigInt(width)) - 1n;
}

/** A value of which all bits are known. */
export function wholeValue(width: number, value: bigint): KnownBits {
  return { known: ones(width), value: BigInt.asUintN(width, value) };
}

/** The value if all its bits are known, otherwise null. */
export function knownValue(bits: KnownBits, width: number): bigint | null {
  return bits.known === ones(width) ? bits.value : null;
}

/** A mask of the bits below the lowest unknown bit. */
function lowest({ known }: KnownBits, width: number): bigint {
  const open = ones(width) & ~known;
  return open === 0n ? ones(width) : (open & -open) - 1n;
}

/** Sums and products: their low bits are known if the low bits of the operands are. */
function upwards(compute: (a: bigint, b: bigint) => bigint) {
  return (width: Width, a: KnownBits, b: KnownBits): KnownBits => {
    const known = lowest(a, width) & lowest(b, width);
    return { known, value: BigInt.asUintN(width, compute(a.value, b.value)) & known };
  };
}

/** Computes if all bits are known; otherwise all bits are unknown. */
function exactly(compute: (width: Width, a: bigint, b: bigint) => bigint) {
  return (width: Width, a: KnownBits, b: KnownBits): KnownBits => {
    const [x, y] = [knownValue(a, width), knownValue(b, width)];
    return x === null || y === null ? noBits : wholeValue(width, compute(width, x, y));
  };
}

const signed = (width: Width, value: bigint): bigint => BigInt.asIntN(width, value);

/** A shift by a known amount; `fill` is shifted in. */
function shift(move: (width: Width, bits: bigint, by: bigint) => bigint, fill: (width: Width, by: bigint, a: KnownBits) => KnownBits) {
  return (width: Width, a: KnownBits, amount: KnownBits): KnownBits => {
    const by = knownValue(amount, width);
    if (by === null) return noBits;
    const most = by > BigInt(width) ? BigInt(width) : by;
    const filled = fill(width, most, a);
    return { known: move(width, a.known, most) | filled.known, value: move(width, a.value, most) | filled.value };
  };
}

const upper = (width: Width, by: bigint): bigint => ones(width) & ~(ones(width) >> by);

function widen(from: Width, to: Width, { known, value }: KnownBits, isSigned: boolean): KnownBits {
  if (to <= from) return { known: known & ones(to), value: value & ones(to) };
  const above = ones(to) & ~ones(from);
  const sign = 1n << BigInt(from - 1);
  if (!isSigned) return { known: known | above, value };
  if ((known & sign) === 0n) return { known, value };
  return { known: known | above, value: (value & sign) === 0n ? value : value | above };
}

function choose(condition: boolean | null, a: KnownBits, b: KnownBits): KnownBits {
  if (condition !== null) return condition ? a : b;
  const known = a.known & b.known & ~(a.value ^ b.value);
  return { known, value: a.value & known };
}

/** The smallest and the largest value that the bits allow, read as unsigned or signed. */
function range(width: Width, { known, value }: KnownBits, isSigned: boolean): readonly [bigint, bigint] {
  const open = ones(width) & ~known;
  if (!isSigned) return [value, value | open];
  const sign = 1n << BigInt(width - 1);
  return [signed(width, value | (open & sign)), signed(width, value | (open & ~sign))];
}

const less =
  (isSigned: boolean) =>
  (width: Width, a: KnownBits, b: KnownBits): boolean | null => {
    const [[low, high], [least, most]] = [range(width, a, isSigned), range(width, b, isSigned)];
    return high < least ? true : low >= most ? false : null;
  };

/** Operations over known bits; null: a truth value that is not known. */
export const knownBitsDomain: Domain<KnownBits, boolean | null> = {
  constant: wholeValue,
  add: upwards((a, b) => a + b),
  sub: upwards((a, b) => a - b),
  mul: upwards((a, b) => a * b),
  udiv: exactly((width, a, b) => (b === 0n ? ones(width) : a / b)),
  sdiv: exactly((width, a, b) => (b === 0n ? ones(width) : signed(width, a) / signed(width, b))),
  urem: exactly((_width, a, b) => (b === 0n ? a : a % b)),
  srem: exactly((width, a, b) => (b === 0n ? a : signed(width, a) % signed(width, b))),
  and: (_width, a, b) => {
    const zeros = (a.known & ~a.value) | (b.known & ~b.value);
    return { known: (a.known & b.known) | zeros, value: a.value & b.value };
  },
  or: (_width, a, b) => ({ known: (a.known & b.known) | a.value | b.value, value: a.value | b.value }),
  xor: (_width, a, b) => {
    const known = a.known & b.known;
    return { known, value: (a.value ^ b.value) & known };
  },
  not: (width, a) => ({ known: a.known, value: ~a.value & a.known & ones(width) }),
  shl: shift(
    (width, bits, by) => (bits << by) & ones(width),
    (_width, by) => ({ known: (1n << by) - 1n, value: 0n }),
  ),
  lshr: shift(
    (_width, bits, by) => bits >> by,
    (width, by) => ({ known: upper(width, by), value: 0n }),
  ),
  ashr: shift(
    (_width, bits, by) => bits >> by,
    (width, by, a) => {
      const sign = 1n << BigInt(width - 1);
      if ((a.known & sign) === 0n) return noBits;
      return { known: upper(width, by), value: (a.value & sign) === 0n ? 0n : upper(width, by) };
    },
  ),
  zeroExtend: (from, to, a) => widen(from, to, a, false),
  signExtend: (from, to, a) => widen(from, to, a, true),
  truncate: (from, to, a) => widen(from, to, a, false),
  factor24: (isSigned, a) => {
    const cut = { known: a.known & ones(24), value: a.value & ones(24) };
    return widen(24 as Width, 32, cut, isSigned);
  },
  equal: (width, a, b) => {
    if ((a.known & b.known & (a.value ^ b.value)) !== 0n) return false;
    return knownValue(a, width) !== null && knownValue(b, width) !== null ? true : null;
  },
  unsignedLess: less(false),
  signedLess: less(true),
  select: (_width, condition, a, b) => choose(condition, a, b),
  truth: (value) => value,
  negate: (a) => (a === null ? null : !a),
  both: (a, b) => (a === false || b === false ? false : a === null || b === null ? null : true),
  either: (a, b) => (a === true || b === true ? true : a === null || b === null ? null : false),
  differ: (a, b) => (a === null || b === null ? null : a !== b),
  selectTruth: (condition, a, b) => (condition === null ? (a === b ? a : null) : condition ? a : b),
  float: () => noBits,
  compareFloat: () => null,
  pure: () => noBits,
};

/** Instructions whose result contains bits of their operands; others have no known bits. */
const propagating = new Set([
  'and',
  'or',
  'xor',
  'not',
  'shl',
  'shr',
  'cvt',
  'extract',
  'insert',
  'setp',
  'selp',
  'bfe',
  'bfi',
  'lop3',
  'mov',
]);

/**
 * The known bits of the results of an instruction.
 * @param bitsOf the known bits of an operand that is not a predicate
 * @returns a truth value for a predicate, null for an unknown one; null if no bit of any result is known
 */
export function knownResults(
  { operation, arguments: operands, marker }: DraftInstruction,
  bitsOf: (operand: Operand) => KnownBits,
): readonly (KnownBits | boolean | null)[] | null {
  const { evaluate, effect, opcode, sources } = operation;
  if (!evaluate || effect.kind !== 'pure' || marker || !propagating.has(opcode)) return null;
  const given = operands.map((operand, index) => {
    if (sources[index] !== 'predicate') return bitsOf(operand);
    return operand.kind === 'constant' ? operand.value !== 0n : null;
  });
  if (!given.some((bits) => typeof bits === 'object' && bits !== null && bits.known !== 0n)) return null;
  return evaluate<KnownBits, boolean | null>(knownBitsDomain, given);
}
