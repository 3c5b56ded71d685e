/** Polynomials over the named unknowns of an encoding, with integer coefficients. */

/**
 * The coefficient of each monomial. A monomial is the sorted names of its unknowns, separated by blanks; empty for the
 * constant.
 */
export type Polynomial = ReadonlyMap<string, bigint>;

/** Limit on the monomials of a polynomial; longer products are not expanded. */
export const maxMonomials = 16;

/** a + factor * b. */
export function plus(a: Polynomial, b: Polynomial, factor: bigint): Polynomial {
  const sum = new Map(a);
  for (const [monomial, coefficient] of b) {
    const total = (sum.get(monomial) ?? 0n) + factor * coefficient;
    if (total === 0n) sum.delete(monomial);
    else sum.set(monomial, total);
  }
  return sum;
}

/** a * b; null if that is too long. */
export function multiplyPolynomials(a: Polynomial, b: Polynomial): Polynomial | null {
  if (a.size * b.size > maxMonomials) return null;
  let product: Polynomial = new Map();
  for (const [x, factor] of a) {
    const part = [...b].map(([y, coefficient]) => [[x, y].flatMap(names).sort().join(' '), coefficient] as const);
    product = plus(product, new Map(part), factor);
  }
  return product;
}

function names(monomial: string): string[] {
  return monomial === '' ? [] : monomial.split(' ');
}

/** A monomial divided by one of its unknowns. */
export function without(monomial: string, factor: string): string {
  const factors = names(monomial);
  factors.splice(factors.indexOf(factor), 1);
  return factors.join(' ');
}
