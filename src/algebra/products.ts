/**
 * Sums of products in one normal form: each product is a number, which is not 0, times factors that are ordered by their
 * keys, and no two products of a sum have the same factors; their order has no meaning. What a factor is, and what is known
 * of it, is up to the user of this file. Products with further parts are collected by a key that contains these.
 */

/** Equal factors have equal keys. */
interface Keyed {
  readonly key: string;
}

/** A number times factors, in the order of their keys. */
export interface KeyedProduct<Factor extends Keyed> {
  readonly coefficient: bigint;
  readonly factors: readonly Factor[];
}

/** The key of the factors of a product. */
export function keyOfProduct({ factors }: KeyedProduct<Keyed>): string {
  return factors.map(({ key }) => key).join(' ');
}

/**
 * A sum in normal form: products with the same factors are one, and those that cancel are left out.
 * @param keyOf another key of products, if they have more than factors
 */
export function collected<One extends KeyedProduct<Keyed>>(products: Iterable<One>, keyOf: (product: One) => string = keyOfProduct): One[] {
  const sum = new Map<string, One>();
  for (const product of products) {
    const key = keyOf(product);
    const known = sum.get(key);
    sum.set(key, known ? { ...product, coefficient: known.coefficient + product.coefficient } : product);
  }
  return [...sum.values()].filter(({ coefficient }) => coefficient !== 0n);
}

/** `by * sum`, for `by` other than 0. */
export function scaled<One extends KeyedProduct<Keyed>>(sum: readonly One[], by: bigint): readonly One[] {
  return by === 1n ? sum : sum.map((product) => ({ ...product, coefficient: by * product.coefficient }));
}

/** `a + by * b`. */
export function plusProducts<One extends KeyedProduct<Keyed>>(a: readonly One[], b: readonly One[], by = 1n): readonly One[] {
  return collected([...a, ...scaled(b, by)]);
}

/** `a * b` of two products. */
export function timesProduct<Factor extends Keyed>(a: KeyedProduct<Factor>, b: KeyedProduct<Factor>): KeyedProduct<Factor> {
  const factors = [...a.factors, ...b.factors].sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  return { coefficient: a.coefficient * b.coefficient, factors };
}

/** `a * b`, multiplied out. */
export function timesProducts<Factor extends Keyed>(
  a: readonly KeyedProduct<Factor>[],
  b: readonly KeyedProduct<Factor>[],
): readonly KeyedProduct<Factor>[] {
  return collected(a.flatMap((x) => b.map((y) => timesProduct(x, y))));
}

/** The factors of one product without those of another; null if it lacks one of them. */
export function withoutFactors<Factor extends Keyed>(all: readonly Factor[], some: readonly Keyed[]): readonly Factor[] | null {
  const left = [...all];
  for (const { key } of some) {
    const at = left.findIndex((factor) => factor.key === key);
    if (at === -1) return null;
    left.splice(at, 1);
  }
  return left;
}

/** A product divided by another one; null if there is a remainder. */
export function quotientOfProduct<Factor extends Keyed>(
  product: KeyedProduct<Factor>,
  by: KeyedProduct<Keyed>,
): KeyedProduct<Factor> | null {
  const factors = product.coefficient % by.coefficient === 0n ? withoutFactors(product.factors, by.factors) : null;
  return factors && { coefficient: product.coefficient / by.coefficient, factors };
}

/** A sum divided by a product; null if there is a remainder. */
export function quotientOfProducts<Factor extends Keyed>(
  sum: readonly KeyedProduct<Factor>[],
  by: KeyedProduct<Keyed>,
): readonly KeyedProduct<Factor>[] | null {
  const parts = sum.map((product) => quotientOfProduct(product, by));
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
}
