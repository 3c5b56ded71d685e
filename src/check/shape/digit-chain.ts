/**
 * Flat numbers that an index divides into digits: `x % w`, `x / w % h`, and so on. If the last digit is a remainder, the
 * number is below the product of the divisors. If it is a quotient, it has no bound from there.
 */
import type { Term } from '../../term/term.ts';
import type { IndexForm } from './index-form.ts';
import { type Monomial, expand, isCommon, times, unextended } from './monomial.ts';
import { plusProducts } from '../../algebra/products.ts';

export interface DigitChain {
  readonly form: IndexForm;
  /** The divisors, that of the last remainder last; two at least. */
  readonly divisors: readonly Term[];
  readonly product: Monomial;
  /** The exclusive upper bound that a guard states for the number. */
  readonly bound: readonly Monomial[];
}

/** The chains of digits with a last remainder in an index, of which a guard bounds the number. */
export function digitChainsOf(form: IndexForm): readonly DigitChain[] {
  const digits = form.offset.flatMap(({ factors }) => factors.flatMap(({ term }) => (term ? digitsIn(term) : [])));
  const chains = [...new Set(digits)].map(takenApart);
  return chains.flatMap(({ number, divisors }): DigitChain[] => {
    // A longer chain bounds the number; a quotient is a last digit without a bound.
    const alike = chains.filter((other) => other.number === number);
    const isLast = alike.every((other) => other.isBounded && other.divisors.length <= divisors.length);
    if (!isLast || divisors.length < 2) return [];
    const whole = expand(number);
    const varying = whole?.filter((part) => !isCommon(part)) ?? [];
    const guard = form.guards.find(({ index }) => index.length > 0 && plusProducts(index, varying, -1n).length === 0);
    const factors = divisors.map(expand);
    let product: readonly Monomial[] | null = [{ coefficient: 1n, factors: [] }];
    for (const factor of factors) product = product && factor && times(product, factor);
    const [only, ...more] = product ?? [];
    if (!guard || !whole || !only || more.length > 0 || !isCommon(only)) return [];
    return [{ form, divisors, product: only, bound: plusProducts(guard.bound, whole.filter(isCommon), 1n) }];
  });
}

/** The remainders and quotients in a term that are not digits of others. */
function digitsIn(term: Term): readonly Term[] {
  if (/^[us](?:rem|div)$/.test(term.operator)) return [term];
  return term.arguments.flatMap(digitsIn);
}

/** A remainder or a quotient of a number that was divided before. */
interface Digit {
  readonly number: Term;
  /** That of the digit itself last. */
  readonly divisors: readonly Term[];
  /** Whether it is a remainder, which is below its divisor. */
  readonly isBounded: boolean;
}

function takenApart(term: Term): Digit {
  const [dividend, divisor] = term.arguments as [Term, Term];
  const divisors = [divisor];
  let number = unextended(dividend);
  for (; /^[us]div$/.test(number.operator); number = unextended(number.arguments[0]!)) divisors.unshift(number.arguments[1]!);
  return { number, divisors, isBounded: term.operator.endsWith('rem') };
}
