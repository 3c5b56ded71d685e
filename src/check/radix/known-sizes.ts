/** What statements and the conditions of two accesses imply for sizes, and for the digits of indices below them. */
import { plusProducts, quotientOfProducts, timesProducts } from '../../algebra/products.ts';
import type { Linear } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import type { AccessSide } from '../obligations/obligation.ts';
import { type Size, type SizeFact, type SizeFactor, SizeOrder, type SizeProduct, constantSize } from '../premises/size-order.ts';
import { factsOfSizes, statedDivisorOf } from '../premises/stated-sizes.ts';
import { DigitSums, isDivided, isOfSigned } from './digit-sums.ts';
import { indexBounds } from './distance-parts.ts';
import { type Summand, isOneDigit } from './summand.ts';

/** An index that a condition of an access bounds. */
export interface BoundedIndex {
  readonly term: Term;
  readonly sum: readonly Summand[];
  /** Exclusive upper bound. */
  readonly bound: Size;
  readonly assumes: readonly Term[];
  /** Whether the condition compares signed numbers. */
  readonly isSigned: boolean;
}

const one = constantSize(1n);

export class KnownSizes extends DigitSums {
  /** Indices that are not negative and multiples of a step, with an exclusive upper bound on both sides. */
  protected readonly spans = new Map<Term, { readonly extent: Size; readonly step: bigint }>();
  private facts: readonly SizeFact[] | null = null;
  private order: SizeOrder | null = null;
  private readonly quotients = new Map<SizeFactor, readonly SizeFact[]>();
  private indices: readonly (readonly BoundedIndex[])[] | null = null;

  protected get sides(): readonly [AccessSide, AccessSide] {
    return [this.obligation.first, this.obligation.second];
  }

  /** A term as a product of sizes that is at least 1; null for other terms. */
  positiveSize(term: Term, isSigned: boolean): SizeProduct | null {
    const [only, ...others] = this.sizeOf(term, isSigned) ?? [];
    return only && others.length === 0 && this.isAtMost(one, [only]) ? only : null;
  }

  /** Whether a size is at most another one in all executions of the accesses. */
  isAtMost(a: Size, b: Size): boolean {
    this.facts ??= this.factsOnSizes();
    const count = this.quotients.size;
    for (const factor of this.factors.values()) if (!this.quotients.has(factor)) this.quotients.set(factor, this.quotientFacts(factor));
    if (!this.order || this.quotients.size > count)
      this.order = SizeOrder.under([...this.facts, ...[...this.quotients.values()].flat()], this.context.symbolic.store);
    const assumes = this.order.atMost(a, b);
    for (const term of assumes ?? []) this.assumes.add(term);
    return assumes !== null;
  }

  /** `q = n / c` for a nonnegative `n` and a positive `c`: `c * q <= n` and `n < c * q + c`. */
  private quotientFacts(factor: SizeFactor): readonly SizeFact[] {
    const { operator, arguments: parts } = factor.term;
    const [number, divisor] = parts as [Term, Term];
    const isShift = operator === 'lshr' && divisor.operator === 'constant' && divisor.value < 63n;
    if (!/^[us]div$/.test(operator) && !isShift) return [];
    const isSigned = operator === 'sdiv';
    const [[n, c], assumes] = this.assuming(() => [
      this.sizeOf(number, isSigned),
      isShift ? constantSize(1n << divisor.value) : this.sizeOf(divisor, isSigned),
    ]);
    const isAbove = (size: Size, least: bigint): boolean =>
      size.every(({ coefficient, factors }) => coefficient > 0n && factors.every((part) => part.least >= least));
    if (!n || !c || n.length === 0 || c.length !== 1 || !isAbove(c, 1n)) return [];
    const isNatural = isAbove(n, 0n);
    // A nonnegative number is the same in both readings, so a statement on either counts.
    const readings = isNatural ? [true, false] : [isSigned];
    const isMultiple =
      c[0]!.factors.length === 0 &&
      readings.some((reading) => statedDivisorOf(this.context.stated, number, reading) % c[0]!.coefficient === 0n);
    if (!isMultiple && !isNatural) return [];
    const rest = plusProducts(n, timesProducts(c, [{ coefficient: 1n, factors: [factor] }]), -1n);
    const most = isMultiple ? [] : plusProducts(c, one, -1n);
    return [rest, plusProducts(most, rest, -1n)].map((sum) => ({ sum, assumes }));
  }

  /** What is stated of sizes, the bounds of nonnegative indices, and the conditions on sizes only. */
  private factsOnSizes(): readonly SizeFact[] {
    const { stated, symbolic } = this.context;
    const sums = factsOfSizes(stated, (term, isSigned) => this.factorOf(term, isSigned), symbolic.store);
    // Whether an index is negative may depend on sizes that are stated to be positive.
    this.facts = sums.map((sum) => ({ sum, assumes: [] }));
    const more = this.bounded()
      .flat()
      .flatMap(({ term, bound, assumes, sum, isSigned }): SizeFact[] => {
        const positive = (size: Size, others: readonly Term[]): SizeFact => ({
          sum: plusProducts(size, one, -1n),
          assumes: [...assumes, ...others],
        });
        if (sum.every(({ digit }) => digit === null)) return [positive(plusProducts(bound, sum, -1n), [])];
        const [isNatural, others] = isSigned ? this.assuming(() => this.isNatural(term)) : [true, []];
        if (!isNatural) return [];
        // An upper bound of a nonnegative index is positive, and so are its factors if none is negative.
        const [only, ...parts] = bound;
        const areNatural = parts.length === 0 && only?.factors.every(({ least }) => least >= 0n);
        const sizes = areNatural ? only!.factors.map((factor): Size => [{ coefficient: 1n, factors: [factor] }]) : [];
        return [bound, ...sizes].map((size) => positive(size, others));
      });
    this.order = null;
    return [...this.facts, ...more];
  }

  /** The indices that conditions of each side bound. */
  bounded(): readonly (readonly BoundedIndex[])[] {
    return (this.indices ??= this.sides.map((side) =>
      indexBounds(this.context.symbolic, side).flatMap(({ index: term, limit, isClosed, isSigned }): readonly BoundedIndex[] => {
        const [[sum, bound], assumes] = this.assuming(() => [this.expand(term, isSigned), this.sizeOf(limit, isSigned)]);
        return sum && bound ? [{ term, sum, bound: isClosed ? plusProducts(bound, one) : bound, assumes, isSigned }] : [];
      }),
    ));
  }

  /** Whether a digit is never negative in executions of the accesses. */
  isNatural(term: Term): boolean {
    const [a, b] = term.arguments;
    if (this.spans.has(term)) return true;
    if (isDivided(term)) return this.isNatural(a!) && this.positiveSize(b!, isOfSigned(term)) !== null;
    return (this.read(term, true)?.low ?? -1n) >= 0n;
  }

  /** Like {@link isNatural}, for a digit: as such, a counter of iterations is their number. */
  isNaturalDigit(term: Term): boolean {
    return term.atom?.kind === 'iteration' || this.isNatural(term);
  }

  /** Exclusive upper bound of a nonnegative digit on one side; null if unknown. */
  extentOf(digit: Term, side: AccessSide): Size | null {
    const { atom, operator } = digit;
    const span = this.spans.get(digit);
    if (span) return span.extent;
    if (/^[us]div$/.test(operator)) {
      const [number, by] = digit.arguments as [Term, Term];
      const [whole, divisor] = [this.limitOf(number, side), this.positiveSize(by, isOfSigned(digit))];
      return (whole && divisor && quotientOfProducts(whole, divisor)) ?? this.limitOf(digit, side);
    }
    const range = (): Linear | null => (atom?.kind === 'iteration' ? this.context.symbolic.view.natural(digit) : this.read(digit, true));
    const high = operator.endsWith('rem') ? undefined : range()?.high;
    const most = high !== undefined && high < 1n << 31n ? constantSize(high + 1n) : null;
    const limit = this.limitOf(digit, side);
    if (limit && (!most || limit.some(({ factors }) => factors.length > 0) || this.isAtMost(limit, most))) return limit;
    if (atom?.kind !== 'thread' && atom?.kind !== 'block') return most;
    const of = atom.kind === 'thread' ? 'block' : 'grid';
    if (this.context.dimensions[of][atom.axis] !== null) return most;
    const size = this.context.symbolic.store.atom(32, { kind: `${of}-size`, axis: atom.axis });
    return [{ coefficient: 1n, factors: [this.factorOf(size, true)] }];
  }

  /** Exclusive upper bound of an index: the divisor of a remainder, or the bound in a condition of the access. */
  limitOf(term: Term, side: AccessSide): Size | null {
    if (term.operator.endsWith('rem')) {
      const divisor = this.positiveSize(term.arguments[1]!, isOfSigned(term));
      return divisor && [divisor];
    }
    const found = this.bounded()[this.sides.indexOf(side)]!.find(
      ({ term: index, sum }) => index === term || isOneDigit(sum, term) || this.areOneCounter(index, term),
    );
    for (const term of found?.assumes ?? []) this.assumes.add(term);
    return found?.bound ?? null;
  }

  /** Whether two terms are the iteration counter of the same loop, in widths that can represent the trip count. */
  private areOneCounter({ atom, width }: Term, term: Term): boolean {
    if (atom?.kind !== 'iteration' || term.atom?.kind !== 'iteration' || atom.loop !== term.atom.loop) return false;
    const high = this.read(term, true)?.high;
    return high !== undefined && high < 1n << BigInt(Math.min(width, term.width) - 1);
  }
}
