/** Masks with constants as quotients and remainders by powers of two: `x & 31`, and `x & ~31` as `(x >> 5) * 32`. */
import { addends } from '../../term/addends.ts';
import type { Term, TermStore } from '../../term/term.ts';

/**
 * A masked term as a sum of parts that are masked or shifted themselves: without multiples of the power of two, and
 * without a common power of two. Equal to the term, modulo 2^width.
 * @returns null if the mask keeps neither all lower nor all upper bits, or if the term has no simpler form
 */
export function dividedMask(store: TermStore, { operator, width, arguments: [a, mask] }: Term): Term | null {
  if (operator !== 'and' || mask!.operator !== 'constant') return null;
  const sum = addends(a!);
  const unit = sum.reduce((bits, [, by]) => bits | by, 0n);
  const common = unit === 0n ? 1n : unit & -unit;
  const ones = (1n << BigInt(width)) - 1n;
  // Bits below the common power of two are 0 in the term.
  const bits = mask!.value & ones & ~(common - 1n);
  const isLow = bits !== 0n && ((bits + common) & bits) === 0n && bits + common <= ones;
  const lowest = bits & -bits;
  const isHigh = !isLow && bits !== 0n && bits + lowest === ones + 1n;
  if (!isLow && !isHigh) return null;
  const power = isLow ? bits + common : lowest;
  const multiples = sum.filter(([, by]) => by % power === 0n);
  const rest = sum.filter(([, by]) => by % power !== 0n);
  const scale = rest.reduce((all, [, by]) => all | by, 0n);
  const step = scale === 0n ? 1n : scale & -scale;
  if (isLow && multiples.length === 0 && step === 1n) return null;
  const total = (parts: typeof sum, divisor: bigint): Term =>
    store.sum(
      width,
      parts.reduce((all, [term, by]) => (term ? all : all + by / divisor), 0n),
      parts.flatMap(([term, by]) => (term ? [[term, by / divisor] as const] : [])),
    );
  const part = total(rest, step);
  if (isLow) return store.sum(width, 0n, [[store.and(width, part, store.constant(width, power / step - 1n)), step]]);
  const shift = BigInt((power / step).toString(2).length - 1);
  const above = rest.length === 0 ? store.constant(width, 0n) : store.shift('lshr', width, part, store.constant(width, shift));
  return store.add(width, total(multiples, 1n), store.sum(width, 0n, [[above, power]]));
}
