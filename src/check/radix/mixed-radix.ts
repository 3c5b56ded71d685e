/**
 * Sums in mixed radix: the difference of two addresses is a sum of parts, each the difference of a digit between two
 * threads times its weight, and `low … high` are the differences at which the accesses overlap. Lemma: let u + v be within
 * low … high, let M divide each weight of u, and let v be within a … b. Then u is a multiple of M within low - b … high - a.
 * If no such multiple is in the range of u, the accesses never overlap. If only one is, u has that value; if u is one part
 * and the value is 0, its digit is equal in both threads.
 */
import { plusProducts } from '../../algebra/products.ts';
import { floorDivide, gcd, greatestOf, leastOf } from '../../base/integer.ts';
import type { Term } from '../../term/term.ts';
import type { Size } from '../premises/size-order.ts';

/** An integer within `least … most`, times a positive weight. */
export interface WeightedPart {
  /** Equal in both threads if the integer is 0. */
  readonly terms: readonly Term[];
  readonly weight: bigint;
  readonly least: bigint;
  readonly most: bigint;
}

/**
 * The terms that are equal in both threads if a sum is within `low … high`.
 * @returns null if the sum is never within them
 */
export function equalParts(parts: readonly WeightedPart[], low: bigint, high: bigint): readonly Term[] | null {
  if (parts.length === 0) return low > 0n || high < 0n ? null : [];
  const equal: Term[] = [];
  let [least, most] = [0n, 0n];
  for (const part of parts) [least, most] = [least + part.weight * part.least, most + part.weight * part.most];
  let upper = { weight: 0n, least: 0n, most: 0n, isSingle: true };
  for (const part of parts.toSorted((a, b) => (a.weight < b.weight ? 1 : a.weight > b.weight ? -1 : 0))) {
    const [own, other] = [part.weight * part.least, part.weight * part.most];
    [least, most] = [least - own, most - other];
    upper = {
      weight: gcd(upper.weight, part.weight),
      least: upper.least + own,
      most: upper.most + other,
      isSingle: upper.weight === 0n,
    };
    const [from, to] = [greatestOf([low - most, upper.least]), leastOf([high - least, upper.most])];
    const [first, last] = [-floorDivide(-from, upper.weight), floorDivide(to, upper.weight)];
    if (first > last) return null;
    if (first < last) continue;
    if (upper.isSingle && first === 0n) equal.push(...part.terms);
    [low, high] = [low - first * upper.weight, high - first * upper.weight];
    upper = { weight: 0n, least: 0n, most: 0n, isSingle: true };
  }
  return equal;
}

/** A nonnegative digit of two addresses, times a weight. */
export interface WeightedDigit {
  /** Null if the digits of the two addresses at this weight are different terms, for example counters of two loops. */
  readonly term: Term | null;
  readonly weight: Size;
  /** Upper bound of the digit times its weight; null: unknown. */
  readonly most: Size | null;
}

/**
 * Like {@link equalParts}, for two addresses that overlap and whose other parts differ by a nonnegative distance. A digit
 * of a larger weight than all others reach is equal, and then so are the others, one after another.
 * @returns the digits that are equal, possibly none; null if the accesses never overlap
 */
export function equalDigits(
  digits: readonly WeightedDigit[],
  distance: Size,
  bytes: Size,
  isAtMost: (a: Size, b: Size) => boolean,
): readonly WeightedDigit[] | null {
  const reachOf = (some: readonly WeightedDigit[]): Size | null =>
    some.reduce<Size | null>((sum, { most }) => sum && most && plusProducts(sum, most), bytes);
  const equal: WeightedDigit[] = [];
  // If each digit is found equal, the weight of each exceeds the bytes.
  const areNatural = (some: readonly WeightedDigit[]): boolean => some.every(({ weight }) => isAtMost([], weight));
  for (let left = digits; ;) {
    const reach = distance.length > 0 ? reachOf(left) : null;
    if (reach && isAtMost(reach, distance) && areNatural(left)) return null;
    const top = left.find((digit) => {
      const below = reachOf(left.filter((other) => other !== digit));
      return below && isAtMost(plusProducts(below, distance), digit.weight);
    });
    if (!top) return areNatural(left) ? equal : [];
    equal.push(top);
    left = left.filter((other) => other !== top);
  }
}
