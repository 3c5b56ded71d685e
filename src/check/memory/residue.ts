/**
 * Residues of addresses modulo a power of two: sums of products whose numbers are below the modulus. Wrap-around keeps
 * residues, so that they are exact and need no assumption on overflow.
 */
import { collected, type KeyedProduct, timesProducts } from '../../algebra/products.ts';
import { possibleBits } from '../../term/possible-bits.ts';
import type { Term } from '../../term/term.ts';

interface ResidueFactor {
  readonly key: string;
  readonly term: Term;
}

/** A product of a residue. */
export type ResidueProduct = KeyedProduct<ResidueFactor>;

/** Limit on the products of a residue; a longer one is unknown. */
const mostProducts = 32;

/**
 * The residue of a term; empty if the term is a multiple of the modulus for all values of its atoms, null if the residue is too long.
 * @param modulus a power of two, at most 2 to the width of each part of an address
 */
export function residueOf(term: Term, modulus: bigint): readonly ResidueProduct[] | null {
  const [a, b] = term.arguments;
  const single = (): readonly ResidueProduct[] =>
    (possibleBits(term) & (modulus - 1n)) === 0n ? [] : [{ coefficient: 1n, factors: [{ key: String(term.id), term }] }];
  switch (term.operator) {
    case 'constant':
      return reduced([{ coefficient: term.value, factors: [] }], modulus);
    case 'sum': {
      const sum: ResidueProduct[] = [{ coefficient: term.value, factors: [] }];
      for (const [at, part] of term.arguments.entries()) {
        const by = term.coefficients[at]!;
        // Of a multiple, fewer bits matter.
        const left = modulus / greatestPower(by, modulus);
        const inner = left === 1n ? [] : residueOf(part, left);
        if (!inner) return null;
        sum.push(...inner.map((product) => ({ ...product, coefficient: product.coefficient * by })));
      }
      return reduced(sum, modulus);
    }
    case 'mul': {
      const [x, y] = [residueOf(a!, modulus), residueOf(b!, modulus)];
      return x && y && reduced(timesProducts(x, y), modulus);
    }
    case 'zext':
    case 'sext':
      return modulus <= 1n << BigInt(a!.width) ? residueOf(a!, modulus) : single();
    case 'trunc':
      return residueOf(a!, modulus);
    case 'and': {
      const kept = [a!, b!].find(({ operator, value }) => operator === 'constant' && (value & (modulus - 1n)) === modulus - 1n);
      return kept ? residueOf(kept === a ? b! : a!, modulus) : single();
    }
    case 'or':
    case 'xor': {
      const cleared = [a!, b!].find((part) => (possibleBits(part) & (modulus - 1n)) === 0n);
      return cleared ? residueOf(cleared === a ? b! : a!, modulus) : single();
    }
    case 'select': {
      const [, ...arms] = term.arguments;
      return arms.every((arm) => residueOf(arm, modulus)?.length === 0) ? [] : single();
    }
    default:
      return single();
  }
}

/** The greatest power of two that divides a number, at most `most`, itself a power of two. */
export function greatestPower(value: bigint, most: bigint): bigint {
  const factors = value | most;
  return factors & -factors;
}

function reduced(products: readonly ResidueProduct[], modulus: bigint): readonly ResidueProduct[] | null {
  const below = collected(products).map((product) => ({ ...product, coefficient: BigInt.asUintN(64, product.coefficient) % modulus }));
  const left = below.filter(({ coefficient }) => coefficient !== 0n);
  return left.length > mostProducts ? null : left;
}
