/**
 * Sizes as sums of products of values that all threads share, and proofs that one size is at most another: from facts
 * such as `ld >= w`, and from lower bounds of the values. The order is that of polynomials over the integers, so that a
 * proof is one for all values.
 */
import { type KeyedProduct, keyOfProduct, plusProducts, scaled, timesProducts, withoutFactors } from '../../algebra/products.ts';
import { absolute, gcd } from '../../base/integer.ts';
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
const maxSums = 150;

/** Limit on the sums of which the outcome is cached. */
const maxKnown = 5_000;

/** What is known of a sum: a proof that it is not negative, or the number of facts with which it was not proved. */
type Known = { readonly proof: readonly Term[] } | { readonly depth: number };

/** Orders by their facts, for each set of terms: the pairs of a kernel, and the trials of preconditions, ask the same. */
const orders = new WeakMap<object, Map<string, SizeOrder>>();

/** The order of sizes under facts. */
export class SizeOrder {
  private readonly facts: readonly SizeFact[];
  private readonly known = new Map<string, Known>();
  private left = 0;

  constructor(facts: readonly SizeFact[]) {
    this.facts = facts;
  }

  /**
   * The order under facts, with what was found under equal ones before.
   * @param terms the owner of the terms of all facts; equal factors have equal bounds in all of its sums
   */
  static under(facts: readonly SizeFact[], terms: object): SizeOrder {
    let known = orders.get(terms);
    if (!known) orders.set(terms, (known = new Map<string, SizeOrder>()));
    const key = facts.map(({ sum, assumes }) => `${textOf(sum)};${assumes.map(({ id }) => id).join()}`).join('\n');
    let order = known.get(key);
    if (!order) known.set(key, (order = new SizeOrder(facts)));
    return order;
  }

  /**
   * Proves that a size is at most another one.
   * @returns the terms that are assumed not to wrap around; null if it is not proved
   */
  atMost(a: Size, b: Size): readonly Term[] | null {
    this.left = maxSums;
    const difference = plusProducts(b, a, -1n);
    const proof = this.natural(difference, maxFacts);
    // Also if the limit ended the search, it is not repeated.
    if (!proof) this.known.set(textOf(difference), { depth: maxFacts });
    return proof;
  }

  /** Proves that a sum is not negative, with at most `depth` facts. */
  private natural(sum: Size, depth: number): readonly Term[] | null {
    const open = sum.find(({ coefficient, factors }) => coefficient < 0n || !factors.every(isNatural));
    if (!open) return [];
    const key = textOf(sum);
    const known = this.known.get(key);
    if (known && 'proof' in known) return known.proof;
    if (known && known.depth >= depth) return null;
    if (this.left-- <= 0) return null;
    const proof = this.searched(sum, open, depth);
    if ((proof !== null || this.left > 0) && this.known.size < maxKnown) this.known.set(key, proof ? { proof } : { depth });
    return proof;
  }

  /** @param open a product of the sum that may be negative */
  private searched(sum: Size, open: SizeProduct, depth: number): readonly Term[] | null {
    const size = absolute(open.coefficient);
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
        const scale = absolute(part.coefficient);
        const left = plusProducts(scaled(sum, scale), timesProducts(fact.sum, [{ coefficient: size, factors: rest }]), -1n);
        const found = this.natural(left, depth - 1);
        if (found) return [...fact.assumes, ...found];
      }
    return null;
  }
}

/** Equal for equal sums, in any order of their products. */
function textOf(sum: Size): string {
  const divisor = sum.reduce((common, { coefficient }) => gcd(common, coefficient), 0n);
  return sum
    .map((product) => `${product.coefficient / divisor}*${keyOfProduct(product)}`)
    .sort()
    .join('+');
}

function isNatural({ least }: SizeFactor): boolean {
  return least >= 0n;
}

function isPositive({ least }: SizeFactor): boolean {
  return least > 0n;
}
