/** Addresses and sizes as sums of products: a constant times values that all threads share, and at most one digit. */
import { gcd } from '../../base/integer.ts';
import { type Linear, inside, signedBounds, unsignedBounds } from '../../term/linear.ts';
import { commonStep, dividedBySteps } from '../../term/steps.ts';
import type { Term } from '../../term/term.ts';
import type { TierContext } from '../obligations/instance.ts';
import type { Obligation } from '../obligations/obligation.ts';
import { statedDivisorOf } from '../premises/stated-sizes.ts';
import type { Size, SizeFactor } from '../premises/size-order.ts';
import { timesProduct, withoutFactors } from '../../algebra/products.ts';
import { dividedMask } from './masked-parts.ts';
import { type Summand, isSameProduct, maxSummands, plusSummands, timesSummands } from './summand.ts';

/** Limit on the number of subterms of an offset; larger offsets are not analyzed. */
const largestOffset = 2000;

/** Whether a term is a quotient or a remainder. */
export function isDivided({ operator }: Term): boolean {
  return /^[us](?:div|rem)$/.test(operator);
}

/** Whether an operator has signed operands, among those with a signed and an unsigned form. */
export function isOfSigned({ operator }: Term): boolean {
  return operator.startsWith('s');
}

/** The sums of terms, and the terms that they assume not to wrap around. */
export class DigitSums {
  assumes = new Set<Term>();
  /** The factors of all sums so far. */
  protected readonly factors = new Map<string, SizeFactor>();
  protected readonly context: TierContext;
  protected readonly obligation: Obligation;
  protected readonly haveSizes: boolean;

  /** @param haveSizes if an index is divided, every size is assumed to be positive without a proof */
  constructor(context: TierContext, obligation: Obligation, haveSizes: boolean) {
    this.context = context;
    this.obligation = obligation;
    this.haveSizes = haveSizes;
  }

  /** The result of an attempt; what it assumes counts only if it has one. */
  tried<T>(attempt: () => T | null): T | null {
    const [result, assumes] = this.assuming(attempt);
    if (result !== null) for (const term of assumes) this.assumes.add(term);
    return result;
  }

  /** The result of a computation, and what it assumes. */
  assuming<T>(compute: () => T): [T, readonly Term[]] {
    const before = this.assumes;
    this.assumes = new Set();
    const result = compute();
    const assumes = [...this.assumes];
    this.assumes = before;
    return [result, assumes];
  }

  /** An offset in bytes as a sum of digits; null if it has no such form. */
  summandsOf(offset: Term): readonly Summand[] | null {
    if (offset.size > largestOffset || !this.meant(offset, this.context.symbolic.view.offset(offset))) return null;
    const sum = this.unwrapped(offset);
    return sum && this.withQuotients(sum);
  }

  /** A term as a sum of sizes; null for other terms. */
  sizeOf(term: Term, isSigned: boolean): Size | null {
    const sum = this.expand(term, isSigned);
    return sum?.every(({ digit }) => digit === null) ? sum : null;
  }

  /**
   * The linear form of a term if its arithmetic does not wrap around; null otherwise.
   * @param isSigned whether the term is interpreted as signed
   */
  read(term: Term, isSigned: boolean): Linear | null {
    const { view } = this.context.symbolic;
    return this.meant(term, isSigned ? view.signed(term) : view.unsigned(term));
  }

  private meant(term: Term, view: Linear): Linear | null {
    for (const part of view.terms.keys()) if (part.operator === 'pure' && part.arguments[0] === term) return null;
    for (const part of view.assumes) this.assumes.add(part);
    return view;
  }

  /** A sum in which `x - x % n`, as compilers write a product with a quotient of which they need the rest, is `x / n * n`. */
  private withQuotients(sum: readonly Summand[]): readonly Summand[] {
    for (const rest of sum) {
      const { digit, coefficient } = rest;
      if (!digit || !/^[us]rem$/.test(digit.operator)) continue;
      const [number, divisor] = digit.arguments as [Term, Term];
      const whole = sum.find((one) => one.digit === number && isSameProduct(one, { ...rest, coefficient: -coefficient }));
      const [only, ...others] = whole ? (this.sizeOf(divisor, isOfSigned(digit)) ?? []) : [];
      if (!whole || !only || others.length > 0) continue;
      const quotient = this.context.symbolic.store.divide(isOfSigned(digit) ? 'sdiv' : 'udiv', digit.width, number, divisor);
      const left = sum.filter((one) => one !== whole && one !== rest);
      return this.withQuotients(plusSummands(left, [{ ...timesProduct(whole, only), digit: quotient }]));
    }
    return sum;
  }

  /**
   * The value of a term as a sum of digits; null if it has no such form. An iteration as a digit is the number of
   * iterations before it, which is never negative.
   */
  expand(term: Term, isSigned: boolean): readonly Summand[] | null {
    switch (term.operator) {
      case 'constant': {
        const by = isSigned ? BigInt.asIntN(term.width, term.value) : term.value;
        return by === 0n ? [] : [{ coefficient: by, factors: [], digit: null }];
      }
      case 'sext':
        // A negative number whose sign is extended is a large unsigned one.
        if (!isSigned && (this.read(term.arguments[0]!, true)?.low ?? -1n) < 0n && !this.haveSizes) return null;
        return this.unwrapped(term);
      case 'zext':
        return this.unwrapped(term);
      case 'sum':
      case 'mul':
        return this.read(term, isSigned) && this.unwrapped(term);
      case 'select':
        return this.isTripCount(term) ? this.expand(term.arguments[1]!, isSigned) : this.summandOf(term, isSigned);
      case 'atom':
        // A loop may have more iterations than its counter can count.
        return term.atom?.kind === 'iteration' && !this.read(term, isSigned) ? null : this.summandOf(term, isSigned);
      default:
        return this.part(term, isSigned);
    }
  }

  /**
   * The integer that the linear form of a term represents: its value if the term does not wrap around, even if its
   * parts do. A sum therefore needs no assumptions on its products.
   */
  private unwrapped(term: Term): readonly Summand[] | null {
    const { store, view } = this.context.symbolic;
    const [a, b] = term.arguments;
    switch (term.operator) {
      case 'constant':
        return this.expand(term, true);
      case 'sext':
        return this.read(a!, true) && this.unwrapped(a!);
      case 'zext':
        return this.read(a!, false) && this.unwrapped(a!);
      case 'mul':
        return timesSummands(this.unwrapped(a!), this.unwrapped(b!));
      case 'sum': {
        if (term.arguments.length > maxSummands) return null;
        let sum: readonly Summand[] | null = this.expand(store.constant(term.width, term.value), true);
        for (const [at, part] of term.arguments.entries()) {
          const scale = [{ coefficient: term.coefficients[at]!, factors: [], digit: null }];
          const scaled = timesSummands(this.unwrapped(part), scale);
          sum = sum && scaled && plusSummands(sum, scaled);
        }
        return sum;
      }
      case 'select':
        if (this.isTripCount(term)) return this.unwrapped(b!);
        break;
      default:
    }
    const range = this.meant(term, view.natural(term));
    if (!range) return null;
    const isSigned = inside(range, signedBounds(term.width));
    if (isSigned || inside(range, unsignedBounds(term.width)) || term.atom?.kind === 'iteration') return this.part(term, isSigned);
    return this.read(term, true) && this.part(term, true);
  }

  /** Whether a term is the trip count of a loop, which is zero if the limit of the loop is not positive. */
  private isTripCount(term: Term): boolean {
    const otherwise = term.arguments[2];
    return (
      term.operator === 'select' && this.haveSizes && this.isShared(term) && otherwise!.operator === 'constant' && otherwise!.value === 0n
    );
  }

  /** A term other than a sum or product. */
  private part(term: Term, isSigned: boolean): readonly Summand[] | null {
    const { store } = this.context.symbolic;
    switch (term.operator) {
      case 'and': {
        const masked = dividedMask(store, term);
        return masked ? this.expand(masked, isSigned) : this.summandOf(term, isSigned);
      }
      case 'ashr':
      case 'lshr':
      case 'sdiv':
      case 'udiv':
      case 'srem':
      case 'urem':
        return this.quotient(term, isSigned) ?? this.stepped(term) ?? this.summandOf(term, isSigned);
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
      const sum = this.expand(a!, isOfNegative);
      // A number that is shifted to the left and back drops bits intentionally.
      const isBack = operator === 'ashr' && a!.operator === 'sum' && a!.coefficients.every((by) => by % unit === 0n);
      if (!sum || isBack || (sum.length < 2 && (sum.length === 0 || sum[0]!.coefficient % unit === 0n))) return null;
      const parts = sum.map((part) => this.divided(part, unit, isOfNegative));
      return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
    });
  }

  /** A summand divided by a constant without a rest: `i * (ld / 32)` if `ld` is stated to be a multiple of 32. */
  private divided(part: Summand, unit: bigint, isSigned: boolean): Summand | null {
    const left = unit / gcd(part.coefficient, unit);
    if (left === 1n) return { ...part, coefficient: part.coefficient / unit };
    const isMultiple = ({ term }: SizeFactor): boolean => statedDivisorOf(this.context.stated, term, isSigned) % left === 0n;
    const factor = part.factors.find((one) => isMultiple(one) && one === this.factorOf(one.term, isSigned));
    const rest = factor && withoutFactors(part.factors, [factor]);
    if (!rest) return null;
    const { store } = this.context.symbolic;
    const { term } = factor;
    const quotient = store.divide(isSigned ? 'sdiv' : 'udiv', term.width, term, store.constant(term.width, left));
    const product = { coefficient: part.coefficient / (unit / left), factors: rest };
    return { ...timesProduct(product, { coefficient: 1n, factors: [this.factorOf(quotient, isSigned)] }), digit: part.digit };
  }

  /**
   * A quotient or remainder by a stated multiple of a step of its number, divided by that step: `8 * i % n` is `8 * (i
   * % (n / 8))`; null for other terms.
   */
  private stepped(term: Term): readonly Summand[] | null {
    return this.tried(() => {
      const divided = this.inSteps(term);
      return divided === term ? null : this.unwrapped(divided);
    });
  }

  /** A quotient or remainder divided by a step of its number, if its divisor is stated to be a multiple. */
  inSteps(term: Term): Term {
    const [number, divisor] = term.arguments as [Term, Term];
    if (!isDivided(term) || divisor.operator === 'constant') return term;
    const step = gcd(commonStep(number), statedDivisorOf(this.context.stated, divisor, isOfSigned(term)));
    return step > 1n && this.read(number, isOfSigned(term)) ? dividedBySteps(this.context.symbolic.store, term, step) : term;
  }

  /** A summand without further structure: a digit, or a factor that all threads share. */
  private summandOf(term: Term, isSigned: boolean): readonly Summand[] {
    if (!this.isShared(term)) return [{ coefficient: 1n, factors: [], digit: term }];
    return [{ coefficient: 1n, factors: [this.factorOf(term, isSigned)], digit: null }];
  }

  factorOf(term: Term, isSigned: boolean): SizeFactor {
    const { view } = this.context.symbolic;
    const signed = view.signed(term);
    const isEither = isSigned || (signed.low >= 0n && signed.assumes.length === 0);
    const key = `${term.id}${isEither ? '' : 'u'}`;
    let factor = this.factors.get(key);
    if (!factor) {
      const range = isEither ? signed : view.unsigned(term);
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
    const isPart = statedDivisorOf(this.context.stated, number!, isOfSigned(term)) % by!.value === 0n;
    return isPart && this.factorOf(number!, isOfSigned(term)).least >= 1n ? 1n : null;
  }

  /** Whether a term depends on the launch only, or is of the block of both threads. */
  private isShared({ leaves }: Term): boolean {
    const kinds = this.obligation.scope === 'block' ? /^(?:parameter|block|block-size|grid-size)$/ : /^(?:parameter|block-size|grid-size)$/;
    return leaves.length > 0 && leaves.every(({ atom }) => kinds.test(atom!.kind));
  }
}
