/**
 * Sizes as sums of products of values that all threads share, and proofs that one size is at most another: from facts
 * such as `ld >= w`, and from lower bounds of the values. The order is that of polynomials over the integers, so that a
 * proof is one for all values.
 */
import { type KeyedProduct, keyOfProduct, plusProducts, scaled, timesProducts, withoutFactors } from '../../algebra/products.ts';
import type { Term } from '../../term/term.ts';

/** A value that all threads share, read as a signed or an unsigned number: both are the same factor if it is nonnegative. */
export interface SizeFactor {
  readonly key: string;
  readonly term: Term;
  /** A lower bound of the value. */
  readonly least: bigint;
}

/** A constant times sizes. */
export type SizeProduct = KeyedProduct<SizeFactor>;

/** A sum of products; no two have the same factors. */
export type Size = readonly SizeProduct[];

/** A sum that is not negative if the terms in `assumes` do not wrap around. */
export interface SizeFact {
  readonly sum: Size;
  readonly assumes: readonly Term[];
}

/** A constant as a size. */
export function constantSize(by: bigint): Size {
  return by === 0n ? [] : [{ coefficient: by, factors: [] }];
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
    const difference = plusProducts(b, a, -1n);
    const key = difference
      .map((product) => `${product.coefficient}*${keyOfProduct(product)}`)
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
    const open = sum.find(({ coefficient, factors }) => coefficient < 0n || !factors.every(isNatural));
    if (!open) return [];
    if (this.left-- <= 0) return null;
    const size = open.coefficient < 0n ? -open.coefficient : open.coefficient;
    if (open.coefficient < 0n && open.factors.every(isNatural))
      for (const other of sum) {
        // `x * y` is at least `y` for positive `x`.
        const rest = other.coefficient > 0n ? withoutFactors(other.factors, open.factors) : null;
        if (!rest?.every(isPositive)) continue;
        const by = other.coefficient < size ? other.coefficient : size;
        const found = this.natural(
          plusProducts(sum, [
            { ...open, coefficient: by },
            { ...other, coefficient: -by },
          ]),
          depth,
        );
        if (found) return found;
      }
    if (depth === 0) return null;
    for (const fact of this.facts)
      for (const part of fact.sum) {
        if (part.coefficient < 0n !== open.coefficient < 0n) continue;
        const rest = withoutFactors(open.factors, part.factors);
        if (!rest?.every(isNatural)) continue;
        const scale = part.coefficient < 0n ? -part.coefficient : part.coefficient;
        const left = plusProducts(scaled(sum, scale), timesProducts(fact.sum, [{ coefficient: size, factors: rest }]), -1n);
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
