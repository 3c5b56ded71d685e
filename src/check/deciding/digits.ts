/**
 * Addresses composed of the digits of indices in a radix that depends on the launch: `i / (n * d)`, `i % (n * d) / d`
 * and `i % d`, or rows and columns below a pitch, in any order, each times a size. If each digit times its weight is at
 * most the next larger weight, two addresses are equal only if all digits are. All digits of an index together
 * determine the index.
 */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { gcd } from '../../base/integer.ts';
import type { Linear } from '../../term/linear.ts';
import { dividedBySteps, commonStep } from '../../term/steps.ts';
import type { Term } from '../../term/term.ts';
import { addressDifference } from '../obligations/difference.ts';
import type { TierContext } from '../obligations/instance.ts';
import type { AccessSide, Obligation } from '../obligations/obligation.ts';
import { type StatedSize, factsOfSizes, statedDivisorOf } from '../premises/stated-sizes.ts';
import { refutedByDifference } from './affine.ts';
import { dividedMask } from './masked-parts.ts';
import { type Summand, plusSummands, isOneDigit, isSameProduct, maxSummands, timesSummands } from './summand.ts';
import { type SizeFactor, type SizeProduct, type Size, type SizeFact, SizeOrder, constantSize } from '../premises/size-order.ts';
import { plusProducts, quotientOfProducts, timesProduct, timesProducts, withoutFactors } from '../../algebra/products.ts';

interface Digit {
  /** Null if the digits of the two addresses at this weight are different terms, for example counters of two loops. */
  readonly term: Term | null;
  readonly weight: Size;
  /** Exclusive upper bound of the digit; null: unknown. */
  readonly extent: Size | null;
}

/** The common digits of two addresses, and the distance of the addresses if all digits are equal. */
interface Split {
  readonly digits: readonly Digit[];
  readonly distance: Size;
}

/** An index that a condition of an access bounds. */
interface BoundedIndex {
  readonly term: Term;
  readonly sum: readonly Summand[];
  /** Exclusive upper bound. */
  readonly bound: Size;
  readonly assumes: readonly Term[];
  /** Whether the condition compares signed numbers. */
  readonly isSigned: boolean;
}

/** Limit on the number of subterms of an offset; larger offsets are not analyzed. */
const largestOffset = 2000;

/** Limit on the digits of an address, as their order is searched. */
const maxDigits = 8;

/**
 * Shows that an overlap forces the two threads (blocks) to be the same one.
 * @param haveSizes if an index is divided, every size is assumed to be positive without a proof
 * @returns the terms that are assumed not to wrap around; null if it is not proved
 */
export function refutedByDigits(context: TierContext, obligation: Obligation, haveSizes = false): readonly Term[] | null {
  const { first, second, elements, starts } = obligation;
  if (elements !== null || starts !== null) return null;
  const isWide = first.target.offset.width === 64 && second.target.offset.width === 64;
  return refutedAs(context, obligation, haveSizes, true) ?? (isWide ? refutedAs(context, obligation, haveSizes, false) : null);
}

/** @param isSigned whether the sizes in an offset of 64 bits are signed numbers */
function refutedAs(context: TierContext, obligation: Obligation, haveSizes: boolean, isSigned: boolean): readonly Term[] | null {
  const { symbolic, instances, dimensions } = context;
  const { first, second, scope } = obligation;
  const work = new Digits(context, obligation, haveSizes);
  const [a, b] = [first, second].map((side) => work.summandsOf(side.target.offset, isSigned));
  const isOurs = ({ digit, factors }: Summand): boolean => digit !== null && (isDivided(digit) || (factors.length > 0 && !haveSizes));
  if (!a || !b || !a.some(isOurs)) return null;
  const split = work.splitOf(...work.withIndices(a, b));
  const bytes = constantSize(BigInt(Math.max(first.access.bytes, second.access.bytes)));
  if (!split || !work.areDisjointSums(split, bytes)) return null;
  if (split.distance.length > 0) return work.assumed();
  const [kind, extents] = scope === 'block' ? (['thread', dimensions.block] as const) : (['block', dimensions.grid] as const);
  const told = new Set(termsOf(split));
  for (let count = -1; count !== told.size;) {
    count = told.size;
    work.addTold(told);
    const isTold = extents.every((extent, axis) => extent === 1 || [...told].some(({ atom }) => atom?.kind === kind && atom.axis === axis));
    if (isTold) return work.assumed();
    for (const term of told) {
      const equal = (side: AccessSide): AccessSide => ({
        ...side,
        access: { ...side.access, bytes: 1 },
        target: { ...side.target, offset: term },
      });
      const asked = { ...obligation, first: equal(first), second: equal(second) };
      const difference = addressDifference(symbolic, instances, asked);
      if (refutedByDifference(dimensions, asked, difference)) return work.assumed(difference.assumes);
      // A linear index with a grid-stride loop over a grid of unknown size: `thread + 256 * (block + blocks *
      // iteration)`.
      for (const inner of work.digitsOf(term)) told.add(inner);
    }
  }
  return null;
}

function termsOf({ digits }: Split): readonly Term[] {
  return digits.flatMap(({ term }) => term ?? []);
}

function isDivided({ operator }: Term): boolean {
  return /^[us](?:div|rem)$/.test(operator);
}

function isOfSigned({ operator }: Term): boolean {
  return operator.startsWith('s');
}

class Digits {
  private readonly symbolic: SymbolicKernel;
  private readonly dimensions: Dimensions;
  private readonly haveSizes: boolean;
  private readonly isOfBlock: boolean;
  private assumes = new Set<Term>();
  private readonly stated: readonly StatedSize[];
  private readonly sides: readonly [AccessSide, AccessSide];
  private readonly factors = new Map<string, SizeFactor>();
  private facts: readonly SizeFact[] | null = null;
  private known: SizeOrder | null = null;
  private readonly quotients = new Map<SizeFactor, readonly SizeFact[]>();
  private indices: readonly (readonly BoundedIndex[])[] | null = null;
  private readonly natural = new Set<Term>();
  /** Bounds of indices that are sums, for both sides. */
  private readonly spans = new Map<Term, Size>();

  constructor({ symbolic, dimensions, stated }: TierContext, { first, second, scope }: Obligation, haveSizes: boolean) {
    this.symbolic = symbolic;
    this.dimensions = dimensions;
    this.stated = stated;
    this.sides = [first, second];
    this.haveSizes = haveSizes;
    this.isOfBlock = scope === 'block';
  }

  /** All terms assumed not to wrap around. */
  assumed(more: readonly Term[] = []): readonly Term[] {
    return [...new Set([...this.assumes, ...more])];
  }

  /** The result of an attempt; what it assumes counts only if it has one. */
  private tried<T>(attempt: () => T | null): T | null {
    const before = new Set(this.assumes);
    const result = attempt();
    if (result === null) this.assumes = before;
    return result;
  }

  /** The result of a computation, and what it assumes. */
  private assuming<T>(compute: () => T): [T, readonly Term[]] {
    const before = this.assumes;
    this.assumes = new Set();
    const result = compute();
    const assumes = [...this.assumes];
    this.assumes = before;
    return [result, assumes];
  }

  /** An offset in bytes as a sum of digits; null if it has no such form. */
  summandsOf(offset: Term, isSigned: boolean): readonly Summand[] | null {
    if (offset.size > largestOffset || !this.meant(offset, this.symbolic.view.offset(offset))) return null;
    const sum = this.expand(offset, true, isSigned);
    return sum && this.withQuotients(sum);
  }

  /** A sum in which `x - x % n`, as compilers write a product with a quotient of which they need the rest, is `x / n * n`. */
  private withQuotients(sum: readonly Summand[]): readonly Summand[] {
    for (const rest of sum) {
      const { digit, coefficient } = rest;
      if (!digit || !/^[us]rem$/.test(digit.operator)) continue;
      const [number, divisor] = digit.arguments as [Term, Term];
      const whole = sum.find(
        (one) =>
          one.digit === number &&
          one.coefficient === -coefficient &&
          isSameProduct({ ...one, coefficient: 0n }, { ...rest, coefficient: 0n }),
      );
      const [only, ...others] = whole ? (this.sizeOf(divisor, isOfSigned(digit)) ?? []) : [];
      if (!whole || !only || others.length > 0) continue;
      const quotient = this.symbolic.store.divide(isOfSigned(digit) ? 'sdiv' : 'udiv', digit.width, number, divisor);
      const left = sum.filter((one) => one !== whole && one !== rest);
      return this.withQuotients(plusSummands(left, [{ ...timesProduct(whole, only), digit: quotient }]));
    }
    return sum;
  }

  /** @param isExact the term is known not to wrap around */
  private expand(term: Term, isExact: boolean, isSigned: boolean): readonly Summand[] | null {
    const [a, b] = term.arguments;
    switch (term.operator) {
      case 'constant': {
        const by = isSigned ? BigInt.asIntN(term.width, term.value) : term.value;
        return by === 0n ? [] : [{ coefficient: by, factors: [], digit: null }];
      }
      case 'sext':
        // A negative number whose sign is extended is a large unsigned one.
        if (!isSigned && (this.read(a!, true)?.low ?? -1n) < 0n && !this.haveSizes) return null;
        return this.read(a!, true) && this.expand(a!, true, true);
      case 'zext':
        return this.read(a!, false) && this.expand(a!, true, false);
      case 'sum':
      case 'mul': {
        if (term.arguments.length > maxSummands || (!isExact && !this.read(term, isSigned))) return null;
        if (term.operator === 'mul') return timesSummands(this.expand(a!, false, isSigned), this.expand(b!, false, isSigned));
        let sum: readonly Summand[] | null = this.expand(this.symbolic.store.constant(term.width, term.value), true, true);
        for (const [at, part] of term.arguments.entries()) {
          const scale = [{ coefficient: term.coefficients[at]!, factors: [], digit: null }];
          const scaled = timesSummands(this.expand(part, false, isSigned), scale);
          sum = sum && scaled && plusSummands(sum, scaled);
        }
        return sum;
      }
      case 'and': {
        const masked = dividedMask(this.symbolic.store, term);
        return masked ? this.expand(masked, false, isSigned) : this.summandOf(term, isSigned);
      }
      case 'ashr':
      case 'lshr':
      case 'sdiv':
      case 'udiv':
      case 'srem':
      case 'urem':
        return this.quotient(term, isSigned) ?? this.stepped(term, isSigned) ?? this.summandOf(term, isSigned);
      case 'select':
        // The trip count of a loop: zero if the limit of the loop is not positive.
        if (this.haveSizes && this.isShared(term) && term.arguments[2]!.operator === 'constant' && term.arguments[2]!.value === 0n)
          return this.expand(b!, isExact, isSigned);
        return this.summandOf(term, isSigned);
      default:
        return this.summandOf(term, isSigned);
    }
  }

  /** A shift to the right, or a quotient by a constant, as a sum without a remainder; null otherwise. */
  private quotient({ arguments: [a, by], operator }: Term, isSigned: boolean): readonly Summand[] | null {
    const isOfNegative = operator === 'ashr' || operator === 'sdiv';
    if (by!.operator !== 'constant' || by!.value >= 1n << 31n || operator.endsWith('rem') || (isOfNegative && !isSigned)) return null;
    const unit = operator.endsWith('div') ? by!.value : 1n << by!.value;
    if (unit < 2n || unit >= 1n << 32n) return null;
    return this.tried(() => {
      const sum = this.expand(a!, false, isOfNegative);
      // A number that is shifted to the left and back drops bits intentionally.
      if (!sum || (sum.length < 2 && (sum.length === 0 || sum[0]!.coefficient % unit === 0n))) return null;
      const parts = sum.map((part) => this.divided(part, unit, isOfNegative));
      return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
    });
  }

  /** A summand divided by a constant without a rest: `i * (ld / 32)` if `ld` is stated to be a multiple of 32. */
  private divided(part: Summand, unit: bigint, isSigned: boolean): Summand | null {
    const left = unit / gcd(part.coefficient, unit);
    if (left === 1n) return { ...part, coefficient: part.coefficient / unit };
    const isMultiple = ({ term }: SizeFactor): boolean => statedDivisorOf(this.stated, term, isSigned) % left === 0n;
    const factor = part.factors.find((one) => isMultiple(one) && one === this.factorOf(one.term, isSigned));
    const rest = factor && withoutFactors(part.factors, [factor]);
    if (!rest) return null;
    const { store } = this.symbolic;
    const { term } = factor;
    const quotient = store.divide(isSigned ? 'sdiv' : 'udiv', term.width, term, store.constant(term.width, left));
    const product = { coefficient: part.coefficient / (unit / left), factors: rest };
    return { ...timesProduct(product, { coefficient: 1n, factors: [this.factorOf(quotient, isSigned)] }), digit: part.digit };
  }

  /**
   * A quotient or remainder by a stated multiple of a step of its number, divided by that step: `8 * i % n` is `8 * (i
   * % (n / 8))`; null for other terms.
   */
  private stepped(term: Term, isSigned: boolean): readonly Summand[] | null {
    return this.tried(() => {
      const divided = this.inSteps(term);
      return divided === term ? null : this.expand(divided, true, isSigned);
    });
  }

  /** A quotient or remainder divided by a step of its number, if its divisor is stated to be a multiple. */
  private inSteps(term: Term): Term {
    const [number, divisor] = term.arguments as [Term, Term];
    if (!isDivided(term) || divisor.operator === 'constant') return term;
    const step = gcd(commonStep(number), statedDivisorOf(this.stated, divisor, isOfSigned(term)));
    return step > 1n && this.read(number, isOfSigned(term)) ? dividedBySteps(this.symbolic.store, term, step) : term;
  }

  /** A summand without further structure: a digit, or a factor that all threads share. */
  private summandOf(term: Term, isSigned: boolean): readonly Summand[] {
    if (!this.isShared(term)) return [{ coefficient: 1n, factors: [], digit: term }];
    return [{ coefficient: 1n, factors: [this.factorOf(term, isSigned)], digit: null }];
  }

  private factorOf(term: Term, isSigned: boolean): SizeFactor {
    const { view } = this.symbolic;
    const signed = view.signed(term).low;
    const isEither = signed >= 0n && view.signed(term).assumes.length === 0;
    const key = `${term.id}${isEither || isSigned ? '' : 'u'}`;
    let factor = this.factors.get(key);
    if (!factor) {
      const range = isEither || isSigned ? view.signed(term) : view.unsigned(term);
      const least = range.assumes.length > 0 ? (isSigned ? -1n : 0n) : (this.leastPart(term) ?? range.low);
      const isSize = this.haveSizes && term.leaves.every(({ atom }) => atom!.kind !== 'block');
      const positive = isSize && least < 1n ? 1n : least;
      // The bound is part of the key, since it depends on what is assumed.
      this.factors.set(key, (factor = { key: `${key}#${positive}`, term, least: positive }));
    }
    return factor;
  }

  /** 1 for `n / 8` with a positive `n` that is stated to be a multiple of 8; null for other terms. */
  private leastPart(term: Term): bigint | null {
    const [number, by] = term.arguments;
    if (!/^[us]div$/.test(term.operator) || by!.operator !== 'constant' || by!.value === 0n) return null;
    const isPart = statedDivisorOf(this.stated, number!, isOfSigned(term)) % by!.value === 0n;
    return isPart && this.factorOf(number!, isOfSigned(term)).least >= 1n ? 1n : null;
  }

  /** Whether a term depends on the launch only, or is of the block of both threads. */
  private isShared({ leaves }: Term): boolean {
    const kinds = this.isOfBlock ? /^(?:parameter|block|block-size|grid-size)$/ : /^(?:parameter|block-size|grid-size)$/;
    return leaves.length > 0 && leaves.every(({ atom }) => kinds.test(atom!.kind));
  }

  /**
   * The linear form of a term if its arithmetic does not wrap around; null otherwise.
   * @param isSigned whether the term is interpreted as signed
   */
  private read(term: Term, isSigned: boolean): Linear | null {
    const { view } = this.symbolic;
    return this.meant(term, isSigned ? view.signed(term) : view.unsigned(term));
  }

  private meant(term: Term, view: Linear): Linear | null {
    for (const part of view.terms.keys()) if (part.operator === 'pure' && part.arguments[0] === term) return null;
    for (const part of view.assumes) this.assumes.add(part);
    return view;
  }

  /** A term as a sum of sizes; null for other terms. */
  private sizeOf(term: Term, isSigned: boolean): Size | null {
    const sum = this.expand(term, false, isSigned);
    return sum?.every(({ digit }) => digit === null) ? sum : null;
  }

  /** A term as a product of sizes that is at least 1; null for other terms. */
  private positiveSize(term: Term, isSigned: boolean): SizeProduct | null {
    const [only, ...others] = this.sizeOf(term, isSigned) ?? [];
    return only && others.length === 0 && this.isAtMost(constantSize(1n), [only]) ? only : null;
  }

  /** Whether a size is at most another one in all executions of the accesses. */
  isAtMost(a: Size, b: Size): boolean {
    this.facts ??= this.factsOnSizes();
    const count = this.quotients.size;
    for (const factor of this.factors.values()) if (!this.quotients.has(factor)) this.quotients.set(factor, this.quotientFacts(factor));
    if (!this.known || this.quotients.size > count)
      this.known = SizeOrder.under([...this.facts, ...[...this.quotients.values()].flat()], this.symbolic.store);
    const assumes = this.known.atMost(a, b);
    for (const term of assumes ?? []) this.assumes.add(term);
    return assumes !== null;
  }

  /** `q = n / c` for a nonnegative `n` and a positive `c`: `c * q <= n` and `n < c * q + c`. */
  private quotientFacts(factor: SizeFactor): readonly SizeFact[] {
    const [number, divisor] = factor.term.arguments;
    const isShift = factor.term.operator === 'lshr' && divisor!.operator === 'constant' && divisor!.value < 63n;
    if (!isDivided(factor.term) && !isShift) return [];
    if (factor.term.operator.endsWith('rem')) return [];
    const isSigned = factor.term.operator === 'sdiv';
    const [[n, c], assumes] = this.assuming(() => [
      this.sizeOf(number!, isSigned),
      isShift ? constantSize(1n << divisor!.value) : this.sizeOf(divisor!, isSigned),
    ]);
    const isOfNatural = (size: Size, least: bigint): boolean =>
      size.every(({ coefficient, factors }) => coefficient > 0n && factors.every((one) => one.least >= least));
    if (!n || !c || n.length === 0 || c.length !== 1 || !isOfNatural(c, 1n)) return [];
    const isNatural = isOfNatural(n, 0n);
    // A nonnegative number is the same in both readings, so a statement on either counts.
    const readings = isNatural ? [true, false] : [isSigned];
    const isMultiple =
      c[0]!.factors.length === 0 && readings.some((reading) => statedDivisorOf(this.stated, number!, reading) % c[0]!.coefficient === 0n);
    if (!isMultiple && !isNatural) return [];
    const rest = plusProducts(n, timesProducts(c, [{ coefficient: 1n, factors: [factor] }]), -1n);
    const most = isMultiple ? [] : plusProducts(c, constantSize(1n), -1n);
    return [rest, plusProducts(most, rest, -1n)].map((sum) => ({ sum, assumes }));
  }

  /** What is stated of sizes, the bounds of nonnegative indices, and the conditions on sizes only. */
  private factsOnSizes(): readonly SizeFact[] {
    const facts: SizeFact[] = factsOfSizes(this.stated, (term, isSigned) => this.factorOf(term, isSigned), this.symbolic.store).map(
      (sum) => ({ sum, assumes: [] }),
    );
    // Whether an index is negative may depend on sizes that are stated to be positive.
    this.facts = facts;
    const more = this.bounded()
      .flat()
      .flatMap(({ term, bound, assumes, sum, isSigned }): SizeFact[] => {
        if (sum.every(({ digit }) => digit === null))
          return [{ sum: plusProducts(plusProducts(bound, sum, -1n), constantSize(1n), -1n), assumes }];
        const [isNatural, others] = isSigned ? this.assuming(() => this.isNatural(term)) : [true, []];
        if (!isNatural) return [];
        // An upper bound of a nonnegative index is positive, and so are its factors if none is negative.
        const [only, ...parts] = bound;
        const areNatural = parts.length === 0 && only?.factors.every(({ least }) => least >= 0n);
        const sizes = areNatural ? only!.factors.map((factor): Size => [{ coefficient: 1n, factors: [factor] }]) : [];
        return [bound, ...sizes].map((size) => ({ sum: plusProducts(size, constantSize(1n), -1n), assumes: [...assumes, ...others] }));
      });
    this.known = null;
    return [...facts, ...more];
  }

  /** The indices that conditions of each side bound. */
  private bounded(): readonly (readonly BoundedIndex[])[] {
    return (this.indices ??= this.sides.map((side) =>
      conditionsOf(this.symbolic, side).flatMap((condition): readonly BoundedIndex[] => {
        const isNegated = condition.operator === 'not';
        const comparison = isNegated ? condition.arguments[0]! : condition;
        if (!/^[us]lt$/.test(comparison.operator)) return [];
        const [term, limit] = (isNegated ? comparison.arguments.toReversed() : comparison.arguments) as [Term, Term];
        const isSigned = isOfSigned(comparison);
        const [[sum, bound], assumes] = this.assuming(() => [this.expand(term, false, isSigned), this.sizeOf(limit, isSigned)]);
        // `!(n < i)` is `i < n + 1`.
        return sum && bound ? [{ term, sum, bound: isNegated ? plusProducts(bound, constantSize(1n)) : bound, assumes, isSigned }] : [];
      }),
    ));
  }

  /** Whether a digit is never negative in executions of the accesses. */
  private isNatural(term: Term): boolean {
    const [a, b] = term.arguments;
    if (this.natural.has(term)) return true;
    if (isDivided(term)) return this.isNatural(a!) && this.positiveSize(b!, isOfSigned(term)) !== null;
    return (this.read(term, true)?.low ?? -1n) >= 0n;
  }

  /**
   * Two addresses with the sums that conditions of both sides bound as digits: for `i < n * m`, the index `i`, and not
   * the thread and the iteration of which it consists.
   */
  withIndices(a: readonly Summand[], b: readonly Summand[]): [readonly Summand[], readonly Summand[]] {
    let sums: [readonly Summand[], readonly Summand[]] = [a, b];
    const [own, other] = this.bounded() as [readonly BoundedIndex[], readonly BoundedIndex[]];
    const pairs = own.flatMap((one) => other.filter(({ term }) => term === one.term).map((two) => [one, two] as const));
    for (const [one, two] of pairs.toSorted(([x], [y]) => y.sum.length - x.sum.length)) {
      if (one.sum.filter(({ digit }) => digit !== null).length < 2) continue;
      const [first, second] = [this.composed(sums[0], one), this.composed(sums[1], two)];
      if (!first || !second || !this.isNaturalSum(one)) continue;
      const [few, many] = [one.bound, two.bound];
      const span = this.isAtMost(few, many) ? many : this.isAtMost(many, few) ? few : null;
      if (!span) continue;
      for (const term of [...one.assumes, ...two.assumes]) this.assumes.add(term);
      this.natural.add(one.term);
      this.spans.set(one.term, span);
      sums = [first, second];
    }
    return sums;
  }

  /** A sum in which a bounded index times one weight is a digit; null if it does not contain all of the index. */
  private composed(sum: readonly Summand[], { term, sum: index }: BoundedIndex): readonly Summand[] | null {
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

  /** Whether a sum is never negative: none of its parts is, or a condition of each side states so. */
  private isNaturalSum({ term, sum }: BoundedIndex): boolean {
    // A nonnegative digit has the same value in all readings.
    if (!sum.every(({ digit }) => digit === null || this.isNatural(digit))) return false;
    if (sum.every(({ coefficient, factors }) => coefficient > 0n && factors.every(({ least }) => least >= 0n))) return true;
    const { store } = this.symbolic;
    const notNegative = store.not(store.signedLess(term, store.constant(term.width, 0n)));
    const isPositive = store.signedLess(store.constant(term.width, -1n), term);
    return this.sides.every((side) => conditionsOf(this.symbolic, side).some((one) => one === notNegative || one === isPositive));
  }

  /** The common digits of two sums with the same weights; null if their weights differ. */
  splitOf(a: readonly Summand[], b: readonly Summand[]): Split | null {
    const own = (sum: readonly Summand[]): readonly Summand[] => sum.filter(({ digit }) => digit !== null);
    const shared = (sum: readonly Summand[]): Size => sum.filter(({ digit }) => digit === null);
    let distance = plusProducts(shared(a), shared(b), -1n);
    if (distance.length > 0 && !this.isAtMost(constantSize(1n), distance)) {
      distance = plusProducts([], distance, -1n);
      if (!this.isAtMost(constantSize(1n), distance)) return null;
    }
    const left = [...own(b)];
    const digits: Digit[] = [];
    for (const one of own(a)) {
      const alike = left.filter((other) => isSameProduct(one, other));
      const other = alike.find(({ digit }) => digit === one.digit) ?? (alike.length === 1 ? alike[0] : undefined);
      if (!other || !this.isNatural(one.digit!) || !this.isNatural(other.digit!)) return null;
      left.splice(left.indexOf(other), 1);
      const [first, second] = [this.extentOf(one.digit!, this.sides[0]), this.extentOf(other.digit!, this.sides[1])];
      const extent = first && second && (this.isAtMost(first, second) ? second : this.isAtMost(second, first) ? first : null);
      digits.push({
        term: one.digit === other.digit ? one.digit : null,
        weight: [{ coefficient: one.coefficient, factors: one.factors }],
        extent,
      });
    }
    const terms = digits.flatMap(({ term }) => term ?? []);
    return left.length > 0 || digits.length > maxDigits || new Set(terms).size < terms.length ? null : { digits, distance };
  }

  /**
   * Whether two addresses overlap only if all their digits are equal, and, if a constant distance remains, not at all.
   */
  areDisjointSums({ digits, distance }: Split, bytes: Size): boolean {
    return this.tried(() => this.nests(bytes, digits, distance) || null) ?? false;
  }

  /**
   * Whether digits nest above `reached`, which bounds the sum of smaller digits and the bytes of an access.
   * @param open the distance, unless it is below `reached`
   */
  private nests(reached: Size, digits: readonly Digit[], open: Size): boolean {
    if (digits.length === 0) return open.length === 0 || this.isAtMost(reached, open);
    if (open.length > 0 && this.isAtMost(reached, open) && this.nests(plusProducts(reached, open), digits, [])) return true;
    return digits.some((digit) => {
      if (!this.isAtMost(reached, digit.weight)) return false;
      const others = digits.filter((other) => other !== digit);
      if (digit.extent === null) return others.length === 0 && open.length === 0;
      const { weight, extent } = digit;
      if (this.nests(timesProducts(weight, extent), others, open)) return true;
      // The last row need not be as long as the others.
      return this.nests(plusProducts(reached, timesProducts(weight, plusProducts(extent, constantSize(1n), -1n))), others, open);
    });
  }

  /** Exclusive upper bound of a nonnegative digit; null if unknown. */
  private extentOf(digit: Term, side: AccessSide): Size | null {
    const [a, b] = digit.arguments;
    const { atom } = digit;
    const span = this.spans.get(digit);
    if (span) return span;
    if (/^[us]rem$/.test(digit.operator)) {
      const divisor = this.positiveSize(b!, isOfSigned(digit));
      return divisor && [divisor];
    }
    if (/^[us]div$/.test(digit.operator)) {
      const [limit, by] = [this.limitOf(a!, side), this.positiveSize(b!, isOfSigned(digit))];
      return (limit && by && quotientOfProducts(limit, by)) ?? this.limitOf(digit, side);
    }
    const high = this.read(digit, true)?.high;
    const most = high !== undefined && high < 1n << 31n ? constantSize(high + 1n) : null;
    const limit = this.limitOf(digit, side);
    if (limit && (!most || limit.some(({ factors }) => factors.length > 0) || this.isAtMost(limit, most))) return limit;
    if (atom?.kind !== 'thread' && atom?.kind !== 'block') return most;
    const of = atom.kind === 'thread' ? 'block' : 'grid';
    if (this.dimensions[of][atom.axis] !== null) return most;
    return [{ coefficient: 1n, factors: [this.factorOf(this.symbolic.store.atom(32, { kind: `${of}-size`, axis: atom.axis }), true)] }];
  }

  /** Exclusive upper bound of an index: the divisor of a remainder, or the bound in a condition of the access. */
  private limitOf(term: Term, side: AccessSide): Size | null {
    if (/^[us]rem$/.test(term.operator)) {
      const divisor = this.positiveSize(term.arguments[1]!, isOfSigned(term));
      return divisor && [divisor];
    }
    const found = this.bounded()[this.sides.indexOf(side)]!.find(
      ({ term: index, sum }) => index === term || isOneDigit(sum, term) || this.areOneRound(index, term),
    );
    for (const one of found?.assumes ?? []) this.assumes.add(one);
    return found?.bound ?? null;
  }

  /** Whether two terms are the iteration counter of the same loop, in widths that can represent the trip count. */
  private areOneRound({ atom, width }: Term, term: Term): boolean {
    if (atom?.kind !== 'iteration' || term.atom?.kind !== 'iteration' || atom.loop !== term.atom.loop) return false;
    const high = this.read(term, true)?.high;
    return high !== undefined && high < 1n << BigInt(Math.min(width, term.width) - 1);
  }

  /** The digits of an index that is equal in both threads; none if they may differ. */
  digitsOf(term: Term): readonly Term[] {
    const found = this.tried(() => {
      const sum = this.summandsOf(term, true) ?? this.summandsOf(term, false);
      const split = sum && this.splitOf(sum, sum);
      return split && this.nests(constantSize(1n), split.digits, []) ? termsOf(split) : null;
    });
    return found ?? [];
  }

  /** Adds the terms that known digits determine: an index by its quotient and its remainder. */
  addTold(known: Set<Term>): void {
    for (let count = -1; count !== known.size;) {
      count = known.size;
      for (const term of known) {
        const [whole, by] = term.arguments;
        const isRest =
          /^[us]rem$/.test(term.operator) || (term.operator === 'and' && dividedMask(this.symbolic.store, term) === null && isLowMask(by!));
        if (isRest && ([...known].some((one) => this.isQuotient(one, term)) || this.isBelowDivisor(term))) known.add(whole!);
      }
    }
  }

  /** Whether a number of which a remainder is taken is below the divisor on both sides: `i / w / h % b`. */
  private isBelowDivisor({ operator, arguments: [whole, by] }: Term): boolean {
    if (operator === 'and') return false;
    const isSigned = operator.startsWith('s');
    const total = this.positiveSize(by!, isSigned);
    const parts = this.undivided(whole!, isSigned);
    if (!total || !parts || !this.isNatural(whole!)) return false;
    const product = timesProduct(parts.by, total);
    return this.sides.every((side) => {
      const limit = this.limitOf(parts.number, side);
      return limit !== null && this.isAtMost(limit, [product]);
    });
  }

  /**
   * Whether a term is the quotient that belongs to a remainder: `i / (w * h)` is `i / w / h`, the quotient for `i / w %
   * h`.
   */
  private isQuotient(term: Term, rest: Term): boolean {
    const [whole, by] = rest.arguments;
    const [divided, divisor] = term.arguments;
    if (rest.operator === 'and')
      return (
        /^[al]shr$/.test(term.operator) && divided === whole && divisor!.operator === 'constant' && 1n << divisor!.value === by!.value + 1n
      );
    if (!/^[us]div$/.test(term.operator) || isOfSigned(term) !== isOfSigned(rest)) return false;
    if (divided === whole && divisor === by) return true;
    const isSigned = isOfSigned(term);
    const [all, inner, outer] = [this.undivided(term, isSigned), this.undivided(whole!, isSigned), this.positiveSize(by!, isSigned)];
    if (!all || !inner || !outer || all.number !== inner.number || !this.isNatural(all.number)) return false;
    return isSameProduct(all.by, timesProduct(inner.by, outer));
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

/** The conditions of an access. */
function conditionsOf(symbolic: SymbolicKernel, { access, target }: AccessSide): readonly Term[] {
  return [symbolic.reach(access.block), target.condition].flatMap((condition) => conjunctsOf(symbolic, condition));
}

/** The parts of a conjunction; those of `!(a || b)` are `!a` and `!b`. */
function conjunctsOf(symbolic: SymbolicKernel, condition: Term): readonly Term[] {
  const [inner] = condition.arguments;
  if (condition.operator === 'all') return condition.arguments.flatMap((part) => conjunctsOf(symbolic, part));
  if (condition.operator === 'not' && inner!.operator === 'any')
    return inner!.arguments.flatMap((part) => conjunctsOf(symbolic, symbolic.store.not(part)));
  return [condition];
}

function isLowMask({ operator, value }: Term): boolean {
  return operator === 'constant' && (value & (value + 1n)) === 0n;
}
