/**
 * Addresses composed of the digits of an index in a radix that depends on the launch: `i / (n * d)`, `i % (n * d) / d`
 * and `i % d`, in any order, each times a product of sizes. If each digit is less than the ratio of the next larger
 * weight to its own weight, two addresses are equal only if all digits are. All digits of an index together determine
 * the index.
 */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Linear } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { addressDifference } from '../obligations/difference.ts';
import type { Instances } from '../obligations/instance.ts';
import type { AccessSide, Obligation } from '../obligations/obligation.ts';
import { refutedByDifference } from './affine.ts';

/** A constant times terms that are uniform among all threads, ordered by term id. */
interface Product {
  readonly by: bigint;
  readonly factors: readonly Term[];
}

/** A digit times its weight; without a digit, a value that all threads share. */
interface Summand extends Product {
  readonly digit: Term | null;
}

interface Digit {
  /** Null if the digits of the two addresses at this weight are different terms, for example counters of two loops. */
  readonly term: Term | null;
  readonly weight: Product;
  /** Exclusive upper bound of the digit; null: unknown. */
  readonly extent: Product | null;
}

/** The common digits of two addresses, and the distance of the addresses if all digits are equal; null means zero. */
interface Split {
  readonly digits: readonly Digit[];
  readonly distance: Product | null;
}

/** Maximum number of expanded summands. */
const maxSummands = 24;

/** Limit on the number of subterms of an offset; larger offsets are not analyzed. */
const largestOffset = 2000;

/**
 * Shows that an overlap forces the two threads (blocks) to be the same one.
 * @param haveSizes if an index is divided, every size is assumed to be positive without a proof
 * @returns the terms that are assumed not to wrap around; null if it is not proved
 */
export function refutedByDigits(
  symbolic: SymbolicKernel,
  instances: Instances,
  dimensions: Dimensions,
  obligation: Obligation,
  haveSizes = false,
): readonly Term[] | null {
  const { first, second, elements, starts } = obligation;
  if (elements !== null || starts !== null) return null;
  const work = new Digits(symbolic, dimensions, [first, second], haveSizes);
  const [a, b] = [first, second].map(({ target }) => work.summandsOf(target.offset));
  // A stride that is a single scalar is left to the tiers that do not decompose addresses.
  const isOurs = ({ digit, factors }: Summand): boolean =>
    digit !== null && (isDivided(digit) || (factors.length > 1 && !haveSizes));
  if (!a || !b || !a.some(isOurs)) return null;
  const split = work.splitOf(a, b, [first, second]);
  const bytes = BigInt(Math.max(first.access.bytes, second.access.bytes));
  if (!split || !areDisjointSums(split, bytes)) return null;
  if (split.distance) return work.assumed();
  const told = work.toldBy(termsOf(split));
  const [kind, extents] = obligation.scope === 'block' ? (['thread', dimensions.block] as const) : (['block', dimensions.grid] as const); // oxfmt-ignore
  const tellOne = (terms: readonly Term[]): boolean =>
    extents.every((extent, axis) => extent === 1 || terms.some(({ atom }) => atom?.kind === kind && atom.axis === axis)); // oxfmt-ignore
  if (tellOne(told)) return work.assumed();
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
    const inner = work.summandsOf(term);
    const again = inner && work.splitOf(inner, inner, [first, second]);
    if (again && areDisjointSums(again, 1n) && tellOne(termsOf(again))) return work.assumed();
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

/**
 * Whether two addresses overlap only if all their digits are equal, and, if a constant distance remains, not at all.
 */
function areDisjointSums({ digits, distance }: Split, bytes: bigint): boolean {
  // `reached` bounds the sum of the digits handled so far and the bytes of an access. Digits are handled by ascending
  // weight.
  const left = new Set(digits);
  let open = distance;
  let reached: Product | null = { by: bytes, factors: [] };
  while (left.size > 0 || open) {
    if (reached === null) return false;
    const below: Product = reached;
    if (open && isAtMost(below, open) && [...left].every(({ weight }) => isAtMost(sumOf(below, open!), weight))) {
      reached = sumOf(below, open);
      open = null;
      continue;
    }
    const isNext = ({ weight, extent }: Digit): boolean => {
      if (!isAtMost(below, weight)) return false;
      const others = [...left].filter((other) => other.weight !== weight);
      if (extent === null) return others.length === 0 && !open;
      const all = times(weight, extent);
      return others.every((other) => isAtMost(all, other.weight)) && (!open || isAtMost(all, open));
    };
    const next = [...left].find(isNext);
    if (!next) return false;
    left.delete(next);
    reached = next.extent && times(next.weight, next.extent);
  }
  return true;
}

class Digits {
  private readonly symbolic: SymbolicKernel;
  private readonly dimensions: Dimensions;
  private readonly haveSizes: boolean;
  private readonly assumes = new Set<Term>();

  private readonly sides: readonly AccessSide[];
  /** Factors of products that are positive if the accesses are executed, by signedness. */
  private readonly positive = new Map<boolean, readonly (readonly Term[])[]>();

  constructor(symbolic: SymbolicKernel, dimensions: Dimensions, sides: readonly AccessSide[], haveSizes: boolean) {
    this.symbolic = symbolic;
    this.dimensions = dimensions;
    this.sides = sides;
    this.haveSizes = haveSizes;
  }

  /** All terms assumed not to wrap around. */
  assumed(more: readonly Term[] = []): readonly Term[] {
    return [...new Set([...this.assumes, ...more])];
  }

  /** An offset in bytes as a sum of digits; null if it has no such form. */
  summandsOf(offset: Term): readonly Summand[] | null {
    if (offset.size > largestOffset || !this.meant(offset, this.symbolic.view.offset(offset))) return null;
    return this.expand(offset, true, true) ?? (offset.width === 64 ? this.expand(offset, true, false) : null);
  }

  /** @param isExact the term is known not to wrap around */
  private expand(term: Term, isExact: boolean, isSigned: boolean): readonly Summand[] | null {
    const [a, b] = term.arguments;
    switch (term.operator) {
      case 'constant': {
        const by = isSigned ? BigInt.asIntN(term.width, term.value) : term.value;
        return by === 0n ? [] : [{ by, factors: [], digit: null }];
      }
      case 'sext':
      case 'zext':
        return this.read(a!, term.operator === 'sext') && this.expand(a!, true, term.operator === 'sext');
      case 'sum':
      case 'mul': {
        if (term.arguments.length > maxSummands || (!isExact && !this.read(term, isSigned))) return null;
        if (term.operator === 'mul') return product(this.expand(a!, false, isSigned), this.expand(b!, false, isSigned));
        let sum: readonly Summand[] | null = this.expand(this.symbolic.store.constant(term.width, term.value), true, true); // oxfmt-ignore
        for (const [at, part] of term.arguments.entries()) {
          const scale = [{ by: term.coefficients[at]!, factors: [], digit: null }];
          const scaled = product(this.expand(part, false, isSigned), scale);
          sum = sum && scaled && added(sum, scaled);
        }
        return sum;
      }
      case 'select':
        // The trip count of a loop: zero if the limit of the loop is not positive.
        if (
          this.haveSizes &&
          isOfLaunch(term) &&
          term.arguments[2]!.operator === 'constant' &&
          term.arguments[2]!.value === 0n
        )
          return this.expand(b!, isExact, isSigned);
        return summandOf(term);
      default:
        return summandOf(term);
    }
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

  /** A term as a product of sizes of at least 1; null for other terms. */
  private sizeOf(term: Term, isSigned: boolean): Product | null {
    const [only, ...others] = this.expand(term, false, isSigned) ?? [];
    if (!only || others.length > 0 || only.digit !== null) return null;
    return this.isPositive(only, isSigned) ? only : null;
  }

  private isPositive({ by, factors }: Product, isSigned: boolean): boolean {
    if (by <= 0n) return false;
    let open = factors.filter((factor) => !this.haveSizes && (this.read(factor, isSigned)?.low ?? 0n) < 1n);
    if (open.length === 0) return true;
    // An upper bound of a nonnegative index is positive. It is removed as a whole product, regardless of its factors.
    for (const guard of this.guards(isSigned)) open = [...(without(open, guard) ?? open)];
    return open.length === 0;
  }

  /** The bounds of nonnegative indices under the conditions of the accesses. */
  private guards(isSigned: boolean): readonly (readonly Term[])[] {
    let found = this.positive.get(isSigned);
    if (found) return found;
    this.positive.set(isSigned, []);
    found = this.sides.flatMap((side) =>
      this.conditionsOf(side).flatMap(({ operator, arguments: [index, bound] }) => {
        if (operator !== (isSigned ? 'slt' : 'ult') || (this.read(index!, true)?.low ?? -1n) < 0n) return [];
        const [only, ...others] = this.expand(bound!, false, isSigned) ?? [];
        return only && others.length === 0 && only.digit === null && only.by > 0n ? [only.factors] : [];
      }),
    );
    this.positive.set(isSigned, found);
    return found;
  }

  /** The conditions of an access. */
  private conditionsOf({ access, target }: AccessSide): readonly Term[] {
    return [this.symbolic.reach(access.block), target.condition].flatMap((condition) =>
      condition.operator === 'all' ? condition.arguments : [condition],
    );
  }

  private isNonNegative(term: Term): boolean {
    const [a, b] = term.arguments;
    if (isDivided(term)) return this.isNonNegative(a!) && this.sizeOf(b!, isOfSigned(term)) !== null;
    return (this.read(term, true)?.low ?? -1n) >= 0n;
  }

  /** The common digits of two sums with the same weights; null if their weights differ. */
  splitOf(a: readonly Summand[], b: readonly Summand[], sides: readonly [AccessSide, AccessSide]): Split | null {
    const own = (sum: readonly Summand[]): readonly Summand[] => sum.filter(({ digit }) => digit !== null);
    const shared = (sum: readonly Summand[]): readonly Summand[] => sum.filter(({ digit }) => digit === null);
    const [difference, ...more] = added(shared(a), shared(b), -1n);
    if (more.length > 0) return null;
    const distance = difference
      ? { by: difference.by < 0n ? -difference.by : difference.by, factors: difference.factors }
      : null;
    if (distance && !this.isSize(distance)) return null;
    const left = [...own(b)];
    const digits: Digit[] = [];
    for (const one of own(a)) {
      const alike = left.filter((other) => isSame(one, other));
      const other = alike.find(({ digit }) => digit === one.digit) ?? (alike.length === 1 ? alike[0] : undefined);
      if (!other || !this.isSize(one) || !this.isNonNegative(one.digit!) || !this.isNonNegative(other.digit!))
        return null;
      left.splice(left.indexOf(other), 1);
      const [first, second] = [this.extentOf(one.digit!, sides[0]), this.extentOf(other.digit!, sides[1])];
      const extent = first && second && (isAtMost(first, second) ? second : isAtMost(second, first) ? first : null);
      digits.push({ term: one.digit === other.digit ? one.digit : null, weight: { by: one.by, factors: one.factors }, extent }); // oxfmt-ignore
    }
    const terms = digits.flatMap(({ term }) => term ?? []);
    return left.length > 0 || new Set(terms).size < terms.length ? null : { digits, distance };
  }

  /** Whether a product is at least 1, for any signedness of its factors. */
  private isSize(weight: Product): boolean {
    return this.isPositive(weight, true) || this.isPositive(weight, false);
  }

  /** Exclusive upper bound of a nonnegative digit; null if unknown. */
  private extentOf(digit: Term, side: AccessSide): Product | null {
    const [a, b] = digit.arguments;
    const { atom } = digit;
    if (/^[us]rem$/.test(digit.operator)) return this.sizeOf(b!, isOfSigned(digit));
    if (/^[us]div$/.test(digit.operator)) {
      const [limit, by] = [this.limitOf(a!, side), this.sizeOf(b!, isOfSigned(digit))];
      return limit && by ? quotient(limit, by) : null;
    }
    const high = this.read(digit, true)?.high;
    const most = high !== undefined && high < 1n << 31n ? { by: high + 1n, factors: [] } : null;
    const limit = this.limitOf(digit, side);
    if (limit && (!most || limit.factors.length > 0 || limit.by < most.by)) return limit;
    if (atom?.kind !== 'thread' && atom?.kind !== 'block') return most;
    const of = atom.kind === 'thread' ? 'block' : 'grid';
    if (this.dimensions[of][atom.axis] !== null) return most;
    return { by: 1n, factors: [this.symbolic.store.atom(32, { kind: `${of}-size`, axis: atom.axis })] };
  }

  /** Exclusive upper bound of an index: the divisor of a remainder, or the bound in a condition of the access. */
  private limitOf(term: Term, side: AccessSide): Product | null {
    if (/^[us]rem$/.test(term.operator)) return this.sizeOf(term.arguments[1]!, isOfSigned(term));
    for (const condition of this.conditionsOf(side)) {
      const [index, bound] = condition.arguments;
      const isBound = /^[us]lt$/.test(condition.operator) && (index === term || this.areOneRound(index!, term));
      const limit = isBound ? this.sizeOf(bound!, isOfSigned(condition)) : null;
      if (limit) return limit;
    }
    return null;
  }

  /** Whether two terms are the iteration counter of the same loop, in widths that can represent the trip count. */
  private areOneRound({ atom, width }: Term, term: Term): boolean {
    if (atom?.kind !== 'iteration' || term.atom?.kind !== 'iteration' || atom.loop !== term.atom.loop) return false;
    const high = this.read(term, true)?.high;
    return high !== undefined && high < 1n << BigInt(Math.min(width, term.width) - 1);
  }

  /** Terms that the given digits determine: an index by its quotient and its remainder. */
  toldBy(digits: readonly Term[]): readonly Term[] {
    const known = new Set(digits);
    for (let count = -1; count !== known.size;) {
      count = known.size;
      for (const term of known) {
        const [whole] = term.arguments;
        if (/^[us]rem$/.test(term.operator) && [...known].some((one) => this.isQuotient(one, term))) known.add(whole!);
      }
    }
    return [...known];
  }

  /**
   * Whether a term is the quotient that belongs to a remainder: `i / (w * h)` is `i / w / h`, the quotient for `i / w %
   * h`.
   */
  private isQuotient(term: Term, rest: Term): boolean {
    const [whole, by] = rest.arguments;
    if (!/^[us]div$/.test(term.operator) || isOfSigned(term) !== isOfSigned(rest)) return false;
    const [divided, divisor] = term.arguments;
    if (divided === whole) return divisor === by;
    if (whole!.operator !== term.operator || whole!.arguments[0] !== divided || !this.isNonNegative(divided!))
      return false;
    const [all, inner, outer] = [divisor!, whole!.arguments[1]!, by!].map((size) => this.sizeOf(size, isOfSigned(term))); // oxfmt-ignore
    return !!all && !!inner && !!outer && isSame(all, times(inner, outer));
  }
}

/** A summand without further structure: a digit, or a factor that all threads share. */
function summandOf(term: Term): readonly Summand[] {
  return [isOfLaunch(term) ? { by: 1n, factors: [term], digit: null } : { by: 1n, factors: [], digit: term }];
}

/** Whether a term depends on the launch only, and so is uniform among all threads. */
function isOfLaunch({ leaves }: Term): boolean {
  return leaves.length > 0 && leaves.every(({ atom }) => /^(?:parameter|block-size|grid-size)$/.test(atom!.kind));
}

function isSame(a: Product, b: Product): boolean {
  return a.by === b.by && a.factors.length === b.factors.length && without(a.factors, b.factors) !== null;
}

/** An upper bound of the sum of two products. */
function sumOf(a: Product, b: Product): Product {
  const isAlike = a.factors.length === b.factors.length && without(a.factors, b.factors) !== null;
  return isAlike ? { ...b, by: a.by + b.by } : { ...b, by: 2n * b.by };
}

function merged(a: readonly Term[], b: readonly Term[]): readonly Term[] {
  return [...a, ...b].sort((one, other) => one.id - other.id);
}

function times(a: Product, b: Product): Product {
  return { by: a.by * b.by, factors: merged(a.factors, b.factors) };
}

/** The factors of one product without those of another; null if it lacks one of them. */
function without(a: readonly Term[], b: readonly Term[]): readonly Term[] | null {
  const rest = [...a];
  for (const factor of b) {
    const at = rest.indexOf(factor);
    if (at < 0) return null;
    rest.splice(at, 1);
  }
  return rest;
}

/** One product divided by another; null if there is a remainder. */
function quotient(a: Product, b: Product): Product | null {
  const factors = without(a.factors, b.factors);
  return factors && a.by % b.by === 0n ? { by: a.by / b.by, factors } : null;
}

/** Whether a product is at most another one whenever all sizes are at least 1. */
function isAtMost(a: Product, b: Product): boolean {
  return a.by <= b.by && without(b.factors, a.factors) !== null;
}

function added(a: readonly Summand[], b: readonly Summand[], by = 1n): readonly Summand[] {
  const sums = new Map<string, Summand>();
  const add = (one: Summand, factor: bigint): void => {
    const key = `${one.digit?.id ?? ''}|${one.factors.map(({ id }) => id).join()}`;
    const total = (sums.get(key)?.by ?? 0n) + factor * one.by;
    if (total === 0n) sums.delete(key);
    else sums.set(key, { ...one, by: total });
  };
  for (const one of a) add(one, 1n);
  for (const one of b) add(one, by);
  return [...sums.values()];
}

function product(a: readonly Summand[] | null, b: readonly Summand[] | null): readonly Summand[] | null {
  if (!a || !b || a.length * b.length > maxSummands) return null;
  let sum: readonly Summand[] = [];
  for (const x of a)
    for (const y of b) {
      if (x.digit && y.digit) return null;
      sum = added(sum, [{ ...times(x, y), digit: x.digit ?? y.digit }]);
    }
  return sum;
}
