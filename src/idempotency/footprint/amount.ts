/**
 * Quantities of a launch as polynomials over arguments, dimensions, minima, quotients and the like: equal quantities
 * have equal keys, and their known ranges decide comparisons before the launch does.
 */
import { type KeyedProduct, collected, quotientOfProduct, timesProducts } from '../../algebra/products.ts';
import { floorDivide, greatestOf, leastOf } from '../../base/integer.ts';
import type { Quantity, ValidatorCondition } from '../model/quantity.ts';

/** An indeterminate of polynomials, between `low` and `high` if those are known. */
interface Factor {
  readonly key: string;
  readonly quantity: Quantity;
  readonly low: bigint | null;
  readonly high: bigint | null;
  /** Operands of a minimum or a maximum. */
  readonly choices?: { readonly kind: 'min' | 'max'; readonly of: readonly Amount[] };
  /** Dividend and divisor of a quotient or a remainder. */
  readonly division?: { readonly kind: 'quotient' | 'remainder'; readonly of: Amount; readonly by: Amount };
}

type Monomial = KeyedProduct<Factor>;

/** Sum of coefficient times factors; monomials by the keys of their factors, the constant under ''. */
export interface Amount {
  readonly key: string;
  readonly monomials: ReadonlyMap<string, Monomial>;
}

interface Range {
  readonly low: bigint | null;
  readonly high: bigint | null;
}

/** Sums of more products than this are not multiplied out. */
const maxMonomials = 48;
/** Minima within minima that are looked into to compare two quantities. */
const deepestChoice = 2;
/** Sums of more addends than this are compared addend by addend. */
const maxCompared = 10;

function make(list: Iterable<Monomial>): Amount {
  const monomials = new Map(collected(list).map((part) => [part.factors.map(({ key }) => key).join('*'), part]));
  const keys = [...monomials.keys()].sort();
  const sorted = new Map(keys.map((key) => [key, monomials.get(key)!]));
  return {
    key: keys.map((key) => `${sorted.get(key)!.coefficient}${key && `*${key}`}`).join('+') || '0',
    monomials: sorted,
  };
}

/** A number. */
export function fixedAmount(value: bigint): Amount {
  return make(value === 0n ? [] : [{ factors: [], coefficient: value }]);
}

export const zeroAmount = fixedAmount(0n);
export const oneAmount = fixedAmount(1n);

function ofFactor(factor: Factor): Amount {
  return make([{ factors: [factor], coefficient: 1n }]);
}

/** A quantity that is not a sum or product, with the range of its kind. */
export function atom(key: string, quantity: Quantity, low: bigint | null, high: bigint | null): Amount {
  return ofFactor({ key, quantity, low, high });
}

/** The sum. */
export function addAmounts(...parts: readonly Amount[]): Amount {
  return settle(make(parts.flatMap(({ monomials }) => [...monomials.values()])));
}

/** The product with a number. */
export function scaleAmount(a: Amount, by: bigint): Amount {
  if (by === 1n) return a;
  return settle(make([...a.monomials.values()].map((part) => ({ ...part, coefficient: part.coefficient * by }))));
}

/** The difference. */
export function subtractAmounts(a: Amount, b: Amount): Amount {
  return addAmounts(a, scaleAmount(b, -1n));
}

/** The product; null if it has too many addends. */
export function multiplyAmounts(a: Amount, b: Amount): Amount {
  if (a.monomials.size * b.monomials.size > maxMonomials) return ofFactor(opaqueProduct(a, b));
  return settle(make(timesProducts([...a.monomials.values()], [...b.monomials.values()])));
}

function opaqueProduct(a: Amount, b: Amount): Factor {
  const [x, y] = [rangeOf(a), rangeOf(b)];
  const { low, high } = timesRange(x, y);
  const quantity: Quantity = { kind: 'product', operands: [quantityOf(a), quantityOf(b)] };
  return { key: `(${a.key})(${b.key})`, quantity, low, high };
}

/** Writes c * floor(e / c) as e - e mod c, of which the range is known better. */
function settle(a: Amount): Amount {
  for (const [, { factors, coefficient }] of a.monomials) {
    if (factors.length !== 1) continue;
    const { division } = factors[0]!;
    const by = division?.kind === 'quotient' ? fixedValueOf(division.by) : null;
    if (!division || by === null || coefficient % by !== 0n) continue;
    const whole = subtractAmounts(division.of, remainderAmount(division.of, division.by));
    const rest = make([...a.monomials.values()].filter((part) => part.factors !== factors));
    return addAmounts(rest, scaleAmount(whole, coefficient / by));
  }
  return a;
}

/** Addends with positive factors, and those with negative ones, negated: the first less the second is the whole. */
export function bySign({ monomials }: Amount): { readonly positive: Amount; readonly negative: Amount } {
  const all = [...monomials.values()];
  return {
    positive: make(all.filter(({ coefficient }) => coefficient > 0n)),
    negative: make(all.filter(({ coefficient }) => coefficient < 0n).map((part) => ({ ...part, coefficient: -part.coefficient }))),
  };
}

/** The value of a polynomial that is a constant, else null. */
export function fixedValueOf({ monomials }: Amount): bigint | null {
  if (monomials.size === 0) return 0n;
  return monomials.size === 1 ? (monomials.get('')?.coefficient ?? null) : null;
}

const unlimited: Range = { low: null, high: null };

function timesRange(a: Range, b: Range): Range {
  if (a.low !== null && a.high !== null && b.low !== null && b.high !== null) {
    const products = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
    return {
      low: leastOf(products),
      high: greatestOf(products),
    };
  }
  if (a.low !== null && b.low !== null && a.low >= 0n && b.low >= 0n) return { low: a.low * b.low, high: null };
  return unlimited;
}

function plusRange(a: Range, b: Range): Range {
  return {
    low: a.low === null || b.low === null ? null : a.low + b.low,
    high: a.high === null || b.high === null ? null : a.high + b.high,
  };
}

const ranges = new WeakMap<Amount, Range>();

/** The range of a quantity that is known before the launch. */
export function rangeOf(a: Amount): Range {
  let known = ranges.get(a);
  if (!known) {
    known = refined(a, a.monomials.size > maxCompared ? 0 : deepestChoice);
    ranges.set(a, known);
  }
  return known;
}

function byMonomials({ monomials }: Amount): Range {
  let sum: Range = { low: 0n, high: 0n };
  for (const { factors, coefficient } of monomials.values()) {
    let product: Range = { low: coefficient, high: coefficient };
    const seen = new Map<Factor, number>();
    for (const factor of factors) {
      seen.set(factor, (seen.get(factor) ?? 0) + 1);
      product = timesRange(product, factor);
    }
    if ([...seen.values()].every((times) => times % 2 === 0)) {
      if (coefficient > 0n && (product.low === null || product.low < 0n)) product = { ...product, low: 0n };
      if (coefficient < 0n && (product.high === null || product.high > 0n)) product = { ...product, high: 0n };
    }
    sum = plusRange(sum, product);
  }
  return sum;
}

/**
 * The range of a quantity in which a minimum is replaced by one of its operands: a minimum is at most each operand, a
 * maximum at least.
 */
function refined(a: Amount, depth: number): Range {
  let { low, high } = byMonomials(a);
  if (depth === 0) return { low, high };
  for (const { factors, coefficient } of a.monomials.values()) {
    if (factors.length !== 1 || !factors[0]!.choices) continue;
    const { kind, of } = factors[0]!.choices;
    const rest = make([...a.monomials.values()].filter((part) => part.factors !== factors));
    const options = of.map((choice) => refined(addAmounts(rest, scaleAmount(choice, coefficient)), depth - 1));
    // With a positive coefficient a minimum is bounded from above by each operand, and from below by the smallest lower
    // bound.
    const isUpper = (kind === 'min') === coefficient > 0n;
    const lows = options.map((range) => range.low);
    const highs = options.map((range) => range.high);
    if (isUpper) {
      for (const next of highs) if (next !== null && (high === null || next < high)) high = next;
      if (!lows.includes(null))
        low = larger(
          low,
          lows.reduce((least, next) => (next! < least! ? next : least))!,
        );
    } else {
      for (const next of lows) if (next !== null && (low === null || next > low)) low = next;
      if (!highs.includes(null))
        high = smaller(
          high,
          highs.reduce((most, next) => (next! > most! ? next : most))!,
        );
    }
  }
  return { low, high };
}

function larger(a: bigint | null, b: bigint): bigint {
  return a === null || b > a ? b : a;
}

function smaller(a: bigint | null, b: bigint): bigint {
  return a === null || b < a ? b : a;
}

/**
 * A product, or a sum of products of one sign, with its signed arguments assumed to be nonnegative; null if another
 * factor may be negative. `arguments`: the arguments that the assumption is about.
 */
export function nonNegativeArguments({ monomials }: Amount): { value: Amount; arguments: Amount[] } | null {
  const taken = new Map<string, Amount>();
  const all = [...monomials.values()];
  if (all.some(({ coefficient }) => coefficient > 0n !== all[0]!.coefficient > 0n)) return null;
  const parts: Monomial[] = [];
  for (const { factors, coefficient } of all) {
    const natural: Factor[] = [];
    for (const factor of factors) {
      const isNonNegative = factor.low !== null && factor.low >= 0n;
      if (!isNonNegative && factor.quantity.kind !== 'argument') return null;
      if (!isNonNegative) taken.set(factor.key, ofFactor(factor));
      natural.push(isNonNegative ? factor : { ...factor, low: 0n });
    }
    parts.push({ factors: natural, coefficient });
  }
  return { value: make(parts), arguments: [...taken.values()] };
}

/** Whether `a <= b` in every launch. */
export function isAtMost(a: Amount, b: Amount): boolean {
  const { low } = rangeOf(subtractAmounts(b, a));
  return low !== null && low >= 0n;
}

export const minAmount = (...of: readonly Amount[]): Amount => extreme('min', of);
export const maxAmount = (...of: readonly Amount[]): Amount => extreme('max', of);

function extreme(kind: 'min' | 'max', of: readonly Amount[]): Amount {
  const flat = of.flatMap((part) => {
    const [only] = part.monomials.values();
    const inner =
      part.monomials.size === 1 && only!.coefficient === 1n && only!.factors.length === 1 ? only!.factors[0]!.choices : undefined;
    return inner?.kind === kind ? inner.of : [part];
  });
  const isBetter = (a: Amount, b: Amount): boolean => (kind === 'min' ? isAtMost(a, b) : isAtMost(b, a));
  const kept: Amount[] = [];
  for (const part of flat) {
    if (kept.some((other) => isBetter(other, part))) continue;
    const left = kept.filter((other) => !isBetter(part, other));
    kept.splice(0, kept.length, ...left, part);
  }
  if (kept.length === 1) return kept[0]!;
  const shared = commonAddends(kept);
  if (shared.monomials.size > 0)
    return addAmounts(
      shared,
      extreme(
        kind,
        kept.map((part) => subtractAmounts(part, shared)),
      ),
    );
  kept.sort((a, b) => (a.key < b.key ? -1 : 1));
  const limits = kept.map(rangeOf);
  const lows = limits.map(({ low }) => low);
  const highs = limits.map(({ high }) => high);
  const known = (list: readonly (bigint | null)[]): bigint[] => list.filter((value) => value !== null);
  const least = (list: readonly bigint[]): bigint | null => (list.length === 0 ? null : leastOf(list));
  const most = (list: readonly bigint[]): bigint | null => (list.length === 0 ? null : greatestOf(list));
  const low = kind === 'min' ? (lows.includes(null) ? null : least(known(lows))) : most(known(lows));
  const high = kind === 'min' ? least(known(highs)) : highs.includes(null) ? null : most(known(highs));
  const key = `${kind}(${kept.map((part) => part.key).join(',')})`;
  return ofFactor({ key, quantity: { kind, operands: kept.map(quantityOf) }, low, high, choices: { kind, of: kept } });
}

/** Addends common to all of the polynomials: `min(a + c, b + c)` is `min(a, b) + c`. */
function commonAddends([first, ...others]: readonly Amount[]): Amount {
  const shared = [...first!.monomials].filter(([key, { coefficient }]) =>
    others.every(({ monomials }) => monomials.get(key)?.coefficient === coefficient),
  );
  return make(shared.map(([, part]) => part));
}

/** The quotient if each addend is a multiple of the divisor, otherwise null. */
export function divideExactly(a: Amount, by: Amount): Amount | null {
  if (by.monomials.size !== 1) {
    if (a.key === by.key) return oneAmount;
    return a.key === scaleAmount(by, -1n).key ? fixedAmount(-1n) : null;
  }
  const [divisor] = by.monomials.values() as unknown as [Monomial];
  const quotients: Monomial[] = [];
  const others: Amount[] = [];
  for (const part of a.monomials.values()) {
    const quotient = quotientOfProduct(part, divisor);
    if (quotient) quotients.push(quotient);
    else others.push(make([part]));
  }
  const rest = others.length === 0 ? zeroAmount : make(others.flatMap(({ monomials }) => [...monomials.values()]));
  if (rest.monomials.size === 0) return make(quotients);
  // e - e mod c is c * floor(e / c).
  for (const { factors: parts, coefficient: factor } of rest.monomials.values()) {
    const division = parts.length === 1 ? parts[0]!.division : undefined;
    if (division?.kind !== 'remainder' || division.by.key !== by.key) continue;
    const whole = scaleAmount(subtractAmounts(division.of, remainderAmount(division.of, division.by)), -factor);
    const left = subtractAmounts(rest, whole);
    const more = left.monomials.size < rest.monomials.size ? divideExactly(left, by) : null;
    if (more) return addAmounts(make(quotients), more, scaleAmount(quotientAmount(division.of, division.by), -factor));
  }
  return null;
}

/** Splits a polynomial into the quotient of the addends that are multiples of the divisor, and the other addends. */
function splitMultiples(a: Amount, by: Amount): { readonly whole: Amount; readonly rest: Amount } {
  const whole: Amount[] = [];
  const rest: Amount[] = [];
  const divisor = fixedValueOf(by);
  for (const part of a.monomials.values()) {
    const single = make([part]);
    if (divisor !== null && part.factors.length === 0) {
      const floor = floorDivide(part.coefficient, divisor);
      whole.push(fixedAmount(floor));
      rest.push(fixedAmount(part.coefficient - floor * divisor));
      continue;
    }
    const exact = divideExactly(single, by);
    if (exact) whole.push(exact);
    else rest.push(single);
  }
  return { whole: addAmounts(...whole), rest: addAmounts(...rest) };
}

/**
 * The quotient, rounded towards minus infinity. The divisor must be positive in every launch in which the quantity is
 * used.
 */
export function quotientAmount(a: Amount, by: Amount): Amount {
  if (fixedValueOf(by) === 1n) return a;
  const exact = divideExactly(a, by);
  if (exact) return exact;
  const { whole, rest } = splitMultiples(a, by);
  const range = rangeOf(rest);
  if (range.low !== null && range.low >= 0n && isAtMost(addAmounts(rest, oneAmount), by)) return whole;
  const divisor = rangeOf(by);
  const limit = fixedValueOf(by);
  const low = limit !== null && range.low !== null ? floorDivide(range.low, limit) : range.low !== null && range.low >= 0n ? 0n : range.low;
  const least = divisor.low !== null && divisor.low > 0n ? divisor.low : 1n;
  const high = range.high === null ? null : range.high >= 0n ? floorDivide(range.high, least) : -1n;
  const quantity: Quantity = { kind: 'quotient', dividend: quantityOf(rest), divisor: quantityOf(by) };
  const factor: Factor = { key: `floor(${rest.key};${by.key})`, quantity, low, high, division: { kind: 'quotient', of: rest, by } };
  return addAmounts(whole, ofFactor(factor));
}

/** The remainder of {@link quotientAmount}: from 0 to the divisor less 1. */
export function remainderAmount(a: Amount, by: Amount): Amount {
  if (divideExactly(a, by)) return zeroAmount;
  const { rest } = splitMultiples(a, by);
  const range = rangeOf(rest);
  if (range.low !== null && range.low >= 0n && isAtMost(addAmounts(rest, oneAmount), by)) return rest;
  const divisor = rangeOf(by);
  const most = divisor.high === null ? null : divisor.high - 1n;
  const high = range.low !== null && range.low >= 0n && range.high !== null ? smaller(most, range.high) : most;
  const quantity: Quantity = { kind: 'remainder', dividend: quantityOf(rest), divisor: quantityOf(by) };
  return ofFactor({ key: `mod(${rest.key};${by.key})`, quantity, low: 0n, high, division: { kind: 'remainder', of: rest, by } });
}

/** `yes` if a condition on the launch holds, otherwise `no`. */
export function choiceAmount(test: ValidatorCondition, testKey: string, yes: Amount, no: Amount): Amount {
  if (yes.key === no.key || test.kind === 'always') return yes;
  if (test.kind === 'never') return no;
  const [a, b] = [rangeOf(yes), rangeOf(no)];
  const low = a.low === null || b.low === null ? null : a.low < b.low ? a.low : b.low;
  const high = a.high === null || b.high === null ? null : a.high > b.high ? a.high : b.high;
  const quantity: Quantity = { kind: 'choice', test, yes: quantityOf(yes), no: quantityOf(no) };
  return ofFactor({ key: `(${testKey}?${yes.key}:${no.key})`, quantity, low, high });
}

const quantities = new WeakMap<Amount, Quantity>();

/** The quantity as validators compute it. */
export function quantityOf(a: Amount): Quantity {
  let known = quantities.get(a);
  if (!known) {
    known = sumOf(a);
    quantities.set(a, known);
  }
  return known;
}

function sumOf({ monomials }: Amount): Quantity {
  const operands: Quantity[] = [];
  for (const { factors, coefficient } of monomials.values()) {
    const parts = factors.map(({ quantity }) => quantity);
    if (coefficient !== 1n || parts.length === 0) parts.unshift({ kind: 'constant', value: coefficient });
    operands.push(parts.length === 1 ? parts[0]! : { kind: 'product', operands: parts });
  }
  if (operands.length === 0) return { kind: 'constant', value: 0n };
  return operands.length === 1 ? operands[0]! : { kind: 'sum', operands };
}
