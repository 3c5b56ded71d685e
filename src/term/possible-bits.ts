/** Bits of a term that may be set: fields of a structure in a register occupy those of their position. */

/** The properties of a term that are needed here. */
interface Value {
  readonly operator: string;
  /** Bits. */
  readonly width: number;
  readonly arguments: readonly Value[];
  readonly value: bigint;
  readonly coefficients: readonly bigint[];
}

const possible = new WeakMap<Value, bigint>();

/** The bits of a term that may be nonzero for some values of its atoms. */
export function possibleBits(term: Value): bigint {
  let bits = possible.get(term);
  if (bits === undefined) {
    bits = bitsOf(term);
    possible.set(term, bits);
  }
  return bits;
}

function bitsOf(term: Value): bigint {
  const ones = (1n << BigInt(term.width)) - 1n;
  const [a, b] = term.arguments;
  switch (term.operator) {
    case 'constant':
      return term.value;
    case 'and':
      return possibleBits(a!) & possibleBits(b!);
    case 'or':
    case 'xor':
      return possibleBits(a!) | possibleBits(b!);
    case 'zext':
    case 'trunc':
      return possibleBits(a!) & ones;
    case 'lshr':
      return b!.operator === 'constant' ? possibleBits(a!) >> b!.value : ones;
    case 'select':
      return possibleBits(term.arguments[1]!) | possibleBits(term.arguments[2]!);
    case 'sum': {
      // A sum of multiples of a power of two is a multiple of it, and a shifted value has the possible bits of the
      // value, shifted.
      const factors = term.coefficients.reduce((all, factor) => all | BigInt.asUintN(term.width, factor), term.value);
      const least = factors & -factors;
      const isShifted = term.value === 0n && term.coefficients.length === 1 && term.coefficients[0] === least;
      if (isShifted) return (possibleBits(a!) * least) & ones;
      return ones & ~(least - 1n);
    }
    default:
      return ones;
  }
}
