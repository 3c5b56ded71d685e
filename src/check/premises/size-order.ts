/**
 * Sizes as sums of products of values that all threads share, and proofs that one size is at most another: from facts
 * such as `ld >= w`, and from lower bounds of the values. The order is that of polynomials over the integers, so that a
 * proof is one for all values.
 */
import type { Term } from '../../term/term.ts';

/** A value that all threads share, read as a signed or an unsigned number: both are the same factor if it is nonnegative. */
export interface SizeFactor {
  readonly key: number;
  readonly term: Term;
  /** A lower bound of the value. */
  readonly least: bigint;
}

/** A constant times factors, ordered by key. */
export interface SizeProduct {
  readonly by: bigint;
  readonly factors: readonly SizeFactor[];
}

/** A sum of products; no two have the same factors. */
export type Size = readonly SizeProduct[];

/** A sum that is not negative if the terms in `assumes` do not wrap around. */
export interface SizeFact {
  readonly sum: Size;
  readonly assumes: readonly Term[];
}

/** A constant as a size. */
export function constantSize(by: bigint): Size {
  return by === 0n ? [] : [{ by, factors: [] }];
}

/** a + by * b. */
export function plusSize(a: Size, b: Size, by = 1n): Size {
  const sums = new Map(a.map((product) => [keyOf(product), product]));
  for (const product of b) {
    const key = keyOf(product);
    const total = (sums.get(key)?.by ?? 0n) + by * product.by;
    if (total === 0n) sums.delete(key);
    else sums.set(key, { ...product, by: total });
  }
  return [...sums.values()];
}

/** a * b. */
export function timesSize(a: Size, b: Size): Size {
  let sum: Size = [];
  for (const x of a) for (const y of b) sum = plusSize(sum, [timesProduct(x, y)]);
  return sum;
}

/** The product of two products, with its factors in order. */
export function timesProduct(a: SizeProduct, b: SizeProduct): SizeProduct {
  return { by: a.by * b.by, factors: [...a.factors, ...b.factors].sort((one, other) => one.key - other.key) };
}

/** A size divided by a product; null if there is a remainder. */
export function quotientOfSize(size: Size, { by, factors }: SizeProduct): Size | null {
  const parts = size.map((product) => {
    const rest = factorsLeft(product.factors, factors);
    return rest && product.by % by === 0n ? { by: product.by / by, factors: rest } : null;
  });
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
}

/** The factors of one product without those of another; null if it lacks one of them. */
export function factorsLeft(all: readonly SizeFactor[], some: readonly SizeFactor[]): readonly SizeFactor[] | null {
  const rest = [...all];
  for (const { key } of some) {
    const at = rest.findIndex((factor) => factor.key === key);
    if (at < 0) return null;
    rest.splice(at, 1);
  }
  return rest;
}

function keyOf({ factors }: SizeProduct): string {
  return factors.map(({ key }) => key).join();
}

/** Limit on the facts used in one proof. */
const maxFacts = 4;

/** Limit on the sums considered in one proof. */
const maxSums = 600;

/** The order of sizes under facts. */
export class SizeOrder {
  private readonly facts: readonly SizeFact[];
  private readonly known = new Map<string, readonly Term[] | null>();
  private left = 0;

  constructor(facts: readonly SizeFact[]) {
    this.facts = facts;
  }

  /**
   * Proves that a size is at most another one.
   * @returns the terms that are assumed not to wrap around; null if it is not proved
   */
  atMost(a: Size, b: Size): readonly Term[] | null {
    const difference = plusSize(b, a, -1n);
    const key = difference
      .map((product) => `${product.by}*${keyOf(product)}`)
      .sort()
      .join('+');
    let proof = this.known.get(key);
    if (proof === undefined) {
      this.left = maxSums;
      this.known.set(key, (proof = this.natural(difference, maxFacts)));
    }
    return proof;
  }

  /** Proves that a sum is not negative, with at most `depth` facts. */
  private natural(sum: Size, depth: number): readonly Term[] | null {
    const open = sum.find(({ by, factors }) => by < 0n || !factors.every(isNatural));
    if (!open) return [];
    if (this.left-- <= 0) return null;
    const size = open.by < 0n ? -open.by : open.by;
    if (open.by < 0n && open.factors.every(isNatural))
      for (const other of sum) {
        // `x * y` is at least `y` for positive `x`.
        const rest = other.by > 0n ? factorsLeft(other.factors, open.factors) : null;
        if (!rest?.every(isPositive)) continue;
        const by = other.by < size ? other.by : size;
        const found = this.natural(
          plusSize(sum, [
            { ...open, by },
            { ...other, by: -by },
          ]),
          depth,
        );
        if (found) return found;
      }
    if (depth === 0) return null;
    for (const fact of this.facts)
      for (const part of fact.sum) {
        if (part.by < 0n !== open.by < 0n) continue;
        const rest = factorsLeft(open.factors, part.factors);
        if (!rest?.every(isNatural)) continue;
        const scale = part.by < 0n ? -part.by : part.by;
        const left = plusSize(timesSize(sum, constantSize(scale)), timesSize(fact.sum, [{ by: size, factors: rest }]), -1n);
        const found = this.natural(left, depth - 1);
        if (found) return [...fact.assumes, ...found];
      }
    return null;
  }
}

function isNatural({ least }: SizeFactor): boolean {
  return least >= 0n;
}

function isPositive({ least }: SizeFactor): boolean {
  return least > 0n;
}
