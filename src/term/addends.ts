/** Addends and factors of terms, and remainders that are written as differences. */

/** The properties of a term that are needed here. */
interface Value<T> {
  readonly id: number;
  readonly operator: string;
  /** Bits. */
  readonly width: number;
  readonly arguments: readonly T[];
  readonly value: bigint;
  readonly coefficients: readonly bigint[];
}

/** The addends of a term as pairs; the constant part has no term. */
export function addends<T extends Value<T>>(term: T): [T | null, bigint][] {
  if (term.operator !== 'sum') return [[term, 1n]];
  const list: [T | null, bigint][] = term.arguments.map((part, i) => [part, term.coefficients[i]!]);
  if (term.value !== 0n) list.push([null, BigInt.asIntN(term.width, term.value)]);
  return list;
}

/** Whether an addend is multiplied. */
export function hasFactor(parts: readonly (readonly [unknown, bigint])[]): boolean {
  return parts.some(([, coefficient]) => coefficient !== 1n);
}

/** The factors of a product, in the order of their identifiers; other terms are their only factor. */
function factorsOf<T extends Value<T>>(term: T): readonly T[] {
  return term.operator === 'mul' ? term.arguments.flatMap(factorsOf).sort((a, b) => a.id - b.id) : [term];
}

/**
 * The remainder `x % n` if a product is `x / n * n` and the sum contains `x` with the opposite coefficient: together
 * they are `x % n`, for any `n`; null for other products.
 * @param times coefficients of the terms in the sum
 */
export function remainderBy<T extends Value<T>>(
  product: T,
  times: ReadonlyMap<T, bigint>,
): { readonly operator: 'urem' | 'srem'; readonly whole: T; readonly by: T } | null {
  if (product.operator !== 'mul') return null;
  const factors = factorsOf(product);
  for (const quotient of factors) {
    if (quotient.operator !== 'udiv' && quotient.operator !== 'sdiv') continue;
    const [whole, by] = quotient.arguments as readonly [T, T];
    const [others, own] = [factors.toSpliced(factors.indexOf(quotient), 1), factorsOf(by)];
    if (others.length !== own.length || others.some((factor, at) => factor !== own[at])) continue;
    const coefficient = -times.get(product)!;
    const isInSum = addends(whole).every(([term, one]) => !term || times.get(term) === BigInt.asIntN(product.width, one * coefficient));
    if (isInSum) return { operator: quotient.operator === 'udiv' ? 'urem' : 'srem', whole, by };
  }
  return null;
}
