/** Linear facts about products: P(e, u) = e*u grows with e, by at least u per step, if u is not negative. */
import type { PremiseList } from '../../solver/premise.ts';

export class ProductLemma {
  /** Known divisors of unknowns, by name. */
  readonly multiples = new Map<string, bigint>();
  private readonly products: { readonly name: string; readonly e: string; readonly u: string }[] = [];
  private readonly premises: PremiseList;

  constructor(premises: PremiseList) {
    this.premises = premises;
  }

  /**
   * Defines an unknown as a product. Asserts facts about this product, and facts that relate it to earlier products.
   */
  define(name: string, e: string, u: string): void {
    // The product is a multiple of the divisor of a factor.
    for (const factor of new Set([e, u])) {
      const divisor = this.multiples.get(factor);
      if (divisor !== undefined) this.premises.assert(`(= (mod ${name} ${divisor}) 0)`);
    }
    for (const [x, y] of [
      [e, u],
      [u, e],
    ] as const) {
      const unlessNegative = (formula: string): string => `(=> (>= ${y} 0) ${formula})`;
      const signs = `(and (=> (= ${x} 0) (= ${name} 0)) (=> (>= ${x} 1) (>= ${name} ${y})) (=> (<= ${x} (- 1)) (<= ${name} (- ${y}))))`;
      this.premises.assert(unlessNegative(signs), { name, value: `(* ${e} ${u})` });
      this.premises.assert(unlessNegative(`(=> (= ${x} 1) (= ${name} ${y}))`));
      for (const other of this.products) {
        if (other.u !== y) continue;
        const grows = `(and (=> (= ${x} ${other.e}) (= ${name} ${other.name})) (=> (< ${x} ${other.e}) (<= (+ ${name} ${y}) ${other.name})) (=> (> ${x} ${other.e}) (<= (+ ${other.name} ${y}) ${name})))`;
        this.premises.compare(name, other.name, unlessNegative(grows));
      }
      this.products.push({ name, e: x, u: y });
    }
  }
}
