/**
 * Addresses composed of digits in a radix that depends on the launch: `i / (n * d)`, `i % (n * d) / d` and `i % d`, or
 * rows and columns below a pitch, in any order, each times a size.
 */
import { absolute, gcd } from '../../base/integer.ts';
import type { Term } from '../../term/term.ts';
import { plusProducts, quotientOfProduct, scaled, timesProduct, timesProducts, withoutFactors } from '../../algebra/products.ts';
import type { TierContext } from '../obligations/instance.ts';
import type { Difference } from '../obligations/difference.ts';
import type { Obligation } from '../obligations/obligation.ts';
import { type Size, type SizeProduct, constantSize } from '../premises/size-order.ts';
import { statedDivisorOf } from '../premises/stated-sizes.ts';
import { isDivided, isOfSigned } from './digit-sums.ts';
import { sideConditions, weightedParts } from './distance-parts.ts';
import { EqualTerms } from './equal-terms.ts';
import { type BoundedIndex, KnownSizes } from './known-sizes.ts';
import { type WeightedDigit, equalDigits, equalParts } from './mixed-radix.ts';
import { type Summand, isSameProduct, plusSummands, timesSummands } from './summand.ts';

/** Limit on the digits of an address. */
const maxDigits = 8;

/** The common digits of two addresses, and the distance of the addresses if all digits are equal. */
interface Split {
  readonly digits: readonly WeightedDigit[];
  readonly distance: Size;
}

/**
 * Shows that accesses never overlap, or only in one thread (block).
 * @returns the terms that are assumed not to wrap around; null if it is not proved
 */
export function refutedByDigits(context: TierContext, obligation: Obligation, difference: Difference): readonly Term[] | null {
  const { first, second, sameThread, mayBeOne } = obligation;
  const parts = weightedParts(context.symbolic, [first, second], difference);
  const [behind, ahead] = [BigInt(first.access.bytes) - 1n, BigInt(second.access.bytes) - 1n];
  const found = equalParts(parts, -behind - difference.constant, ahead - difference.constant);
  if (!found) return difference.assumes;
  if (sameThread || mayBeOne) return null;
  const equal = new EqualTerms(context, obligation);
  for (const term of found) equal.add(term, difference.assumes);
  return equal.sameThread() ?? refutedBySizes(context, obligation, equal);
}

/**
 * Like {@link refutedByDigits}, for sizes that only the launch determines.
 * @param known terms that are equal if the accesses overlap; null: sizes are assumed to be positive without a proof
 */
export function refutedBySizes(context: TierContext, obligation: Obligation, known: EqualTerms | null): readonly Term[] | null {
  const { elements, starts } = obligation;
  if (elements !== null || starts !== null) return null;
  return new SizeDigits(context, obligation, known === null).refuted(known);
}

class SizeDigits extends KnownSizes {
  refuted(known: EqualTerms | null): readonly Term[] | null {
    const { first, second } = this.obligation;
    const [a, b] = [first, second].map(({ target }) => this.summandsOf(target.offset));
    const isOurs = ({ digit, factors }: Summand): boolean =>
      digit !== null && (isDivided(digit) || (factors.length > 0 && !this.haveSizes));
    const split = a && b && a.some(isOurs) ? this.splitOf(...this.withIndices(a, b)) : null;
    const digits = split ? this.equalIn(split, Math.max(first.access.bytes, second.access.bytes)) : [];
    if (!digits) return [...this.assumes];
    const equal = new EqualTerms(this.context, this.obligation, known);
    for (const { term } of digits) if (term) equal.add(term);
    for (let count = -1; count !== equal.terms.length;) {
      const same = equal.sameThread();
      if (same) return [...new Set([...this.assumes, ...same])];
      count = equal.terms.length;
      for (const term of equal.terms) {
        if (term.operator.endsWith('rem')) {
          const quotient = equal.terms.find((other) => this.isQuotient(other, term));
          if (quotient || this.isBelowDivisor(term)) equal.add(term.arguments[0]!, equal.assumed(quotient ? [term, quotient] : [term]));
          for (const other of equal.terms) {
            const rest = this.restWith(other, term);
            if (rest) equal.add(rest, equal.assumed([term, other]));
          }
        }
        for (const digit of this.digitsOf(term)) equal.add(digit, equal.assumed([term]));
      }
    }
    return null;
  }

  /** The digits that are equal if the addresses overlap; null if they never do. */
  private equalIn({ digits, distance }: Split, bytes: number): readonly WeightedDigit[] | null {
    return equalDigits(digits, distance, constantSize(BigInt(bytes)), (a, b) => this.isAtMost(a, b));
  }

  /** The digits of an index that is equal in both threads. */
  private digitsOf(term: Term): readonly Term[] {
    if (term.atom) return [];
    const found = this.tried(() => {
      const sum = this.summandsOf(term);
      const split = sum && this.splitOf(sum, sum);
      const digits = (split && this.equalIn(split, 1)) ?? [];
      return digits.length > 0 ? digits.flatMap((digit) => digit.term ?? []) : null;
    });
    return found ?? [];
  }

  /**
   * Two addresses with the sums that conditions of both sides bound as digits: for `i < n * m`, the index `i`, and not
   * the thread and the iteration of which it consists.
   */
  private withIndices(a: readonly Summand[], b: readonly Summand[]): [readonly Summand[], readonly Summand[]] {
    let found: [readonly Summand[], readonly Summand[]] = [a, b];
    const [own, other] = this.bounded() as [readonly BoundedIndex[], readonly BoundedIndex[]];
    const pairs = own.flatMap((one) => other.filter(({ term }) => term === one.term).map((two) => [one, two] as const));
    for (const [one, two] of pairs.toSorted(([x], [y]) => y.sum.length - x.sum.length)) {
      const step = one.sum.reduce((common, { coefficient }) => gcd(common, coefficient), 0n);
      const count = one.sum.filter(({ digit }) => digit !== null).length;
      if (count === 0 || (count === 1 && step === 1n)) continue;
      const [first, second] = [composed(found[0], one), composed(found[1], two)];
      if (!first || !second || !this.isNaturalSum(one)) continue;
      const span = this.largerSize(one.bound, two.bound);
      if (!span) continue;
      for (const term of [...one.assumes, ...two.assumes]) this.assumes.add(term);
      this.spans.set(one.term, { extent: span, step });
      found = [first, second];
    }
    return found;
  }

  /** Whether a size is a multiple of a constant, by its coefficients and what is stated of its factors. */
  private isMultiple(size: Size, of: bigint): boolean {
    const isOne = ({ coefficient, factors }: SizeProduct): boolean =>
      factors.reduce((product, factor) => {
        const isSigned = factor === this.factorOf(factor.term, true);
        return product * statedDivisorOf(this.context.stated, factor.term, isSigned);
      }, coefficient) %
        of ===
      0n;
    return of > 1n && size.every(isOne);
  }

  /** The larger of two sizes; null if unknown. */
  private largerSize(a: Size | null, b: Size | null): Size | null {
    if (!a || !b) return null;
    return this.isAtMost(a, b) ? b : this.isAtMost(b, a) ? a : null;
  }

  /** Whether a sum is never negative: none of its parts is, or a condition of each side states so. */
  private isNaturalSum({ term, sum }: BoundedIndex): boolean {
    // A nonnegative digit has the same value in all readings.
    if (!sum.every(({ digit }) => digit === null || this.isNaturalDigit(digit))) return false;
    if (sum.every(({ coefficient, factors }) => coefficient > 0n && factors.every(({ least }) => least >= 0n))) return true;
    const { store } = this.context.symbolic;
    const notNegative = store.not(store.signedLess(term, store.constant(term.width, 0n)));
    const isPositive = store.signedLess(store.constant(term.width, -1n), term);
    return this.sides.every((side) => sideConditions(this.context.symbolic, side).some((one) => one === notNegative || one === isPositive));
  }

  /** The common digits of two sums with the same weights; null if their weights differ. */
  private splitOf(a: readonly Summand[], b: readonly Summand[]): Split | null {
    const own = (sum: readonly Summand[]): readonly Summand[] => sum.filter(({ digit }) => digit !== null);
    const shared = (sum: readonly Summand[]): Size => sum.filter(({ digit }) => digit === null);
    let distance = plusProducts(shared(a), shared(b), -1n);
    if (distance.length > 0 && !this.isAtMost([], distance)) {
      distance = plusProducts([], distance, -1n);
      if (!this.isAtMost([], distance)) return null;
    }
    const left = [...own(b)];
    const digits: WeightedDigit[] = [];
    for (const one of own(a)) {
      const alike = left.filter((other) => isSameProduct(one, other));
      const other = alike.find(({ digit }) => digit === one.digit) ?? (alike.length === 1 ? alike[0] : undefined);
      if (!other || !this.isNaturalDigit(one.digit!) || !this.isNaturalDigit(other.digit!)) return null;
      left.splice(left.indexOf(other), 1);
      const unit: Size = [{ coefficient: absolute(one.coefficient), factors: one.factors }];
      // An index that advances in steps of 2 below a multiple of 2 is at most that multiple less 2.
      const step = (one.digit === other.digit && this.spans.get(one.digit!)?.step) || 1n;
      const extent = this.largerSize(this.extentOf(one.digit!, this.sides[0]), this.extentOf(other.digit!, this.sides[1]));
      const less = extent && this.isMultiple(extent, step) ? step : 1n;
      digits.push({
        term: one.digit === other.digit ? one.digit : null,
        weight: scaled(unit, step),
        most: extent && timesProducts(unit, plusProducts(extent, constantSize(less), -1n)),
      });
    }
    const terms = digits.flatMap(({ term }) => term ?? []);
    return left.length > 0 || digits.length > maxDigits || new Set(terms).size < terms.length ? null : { digits, distance };
  }

  /** Whether a number of which a remainder is taken is below the divisor on both sides: `i / w / h % b`. */
  private isBelowDivisor(rest: Term): boolean {
    const [whole, by] = rest.arguments as [Term, Term];
    const isSigned = isOfSigned(rest);
    const [total, parts] = [this.positiveSize(by, isSigned), this.undivided(whole, isSigned)];
    if (!total || !parts || !this.isNatural(whole)) return false;
    const product = timesProduct(parts.by, total);
    return this.sides.every((side) => {
      const limit = this.limitOf(parts.number, side);
      return limit !== null && this.isAtMost(limit, [product]);
    });
  }

  /** Whether a term is the quotient for a remainder of a quotient: `i / (w * h)` or `i / w / h`, for `i / w % h`. */
  private isQuotient(term: Term, rest: Term): boolean {
    const isSigned = isOfSigned(term);
    if (!/^[us]div$/.test(term.operator) || isSigned !== isOfSigned(rest)) return false;
    const [whole, by] = rest.arguments as [Term, Term];
    const [all, inner, outer] = [this.undivided(term, isSigned), this.undivided(whole, isSigned), this.positiveSize(by, isSigned)];
    if (!all || !inner || !outer || all.number !== inner.number || !this.isNatural(all.number)) return false;
    return isSameProduct(all.by, timesProduct(inner.by, outer));
  }

  /**
   * The remainder that a quotient and a remainder determine: `i % (w * h)` for `i % (w * h) / w` and `i % w`, which is the
   * remainder of the former by `w`, too.
   */
  private restWith(quotient: Term, rest: Term): Term | null {
    const isSigned = isOfSigned(rest);
    const [inner, by] = quotient.arguments;
    if (!/^[us]div$/.test(quotient.operator) || !inner!.operator.endsWith('rem')) return null;
    const [number, whole] = inner!.arguments as [Term, Term];
    if (number !== rest.arguments[0] || [quotient, inner!].some((one) => isOfSigned(one) !== isSigned) || !this.isNatural(number))
      return null;
    const [divisor, own, total] = [rest.arguments[1]!, by!, whole].map((term) => this.positiveSize(term, isSigned));
    if (!divisor || !own || !total || !isSameProduct(divisor, own)) return null;
    return quotientOfProduct(total, divisor) ? inner! : null;
  }

  /** A number that is divided several times, and the product of its divisors; null if these are not positive. */
  private undivided(term: Term, isSigned: boolean): { readonly number: Term; readonly by: SizeProduct } | null {
    let number = term;
    let by: SizeProduct = { coefficient: 1n, factors: [] };
    for (; number.operator === (isSigned ? 'sdiv' : 'udiv'); number = number.arguments[0]!) {
      number = this.inSteps(number);
      const divisor = this.positiveSize(number.arguments[1]!, isSigned);
      if (!divisor) return null;
      by = timesProduct(by, divisor);
    }
    return { number, by };
  }
}

/** A sum in which a bounded index times one weight is a digit; null if it does not contain all of the index. */
function composed(sum: readonly Summand[], { term, sum: index }: BoundedIndex): readonly Summand[] | null {
  const lead = index.find(({ digit }) => digit !== null)!;
  for (const one of sum) {
    const factors =
      one.digit === lead.digit && one.coefficient % lead.coefficient === 0n ? withoutFactors(one.factors, lead.factors) : null;
    if (!factors) continue;
    const weight = { coefficient: one.coefficient / lead.coefficient, factors, digit: null };
    const part = timesSummands(index, [weight]);
    const rest = part && plusSummands(sum, part, -1n);
    if (rest?.length === sum.length - index.length) return [...rest, { ...weight, digit: term }];
  }
  return null;
}
