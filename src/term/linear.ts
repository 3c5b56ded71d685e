/**
 * The integer view of bit-vector terms: each term as a linear form over integer unknowns, with the range of its value.
 * The form is exact if the ranges show that no wrap-around can happen; otherwise it either carries the assumption that
 * none happens (`assumes`), or stays an unknown that the encoder defines exactly.
 */
import { absolute, bitLength, floorDivide } from '../base/integer.ts';
import { type Term, type TermStore, isFactor24 } from './term.ts';

export interface Bounds {
  readonly low: bigint;
  readonly high: bigint;
}

/** constant + sum of coefficient * integer value of term, within `low..high`. */
export interface Linear extends Bounds {
  readonly constant: bigint;
  readonly terms: ReadonlyMap<Term, bigint>;
  /** Terms whose arithmetic is assumed not to wrap around. */
  readonly assumes: readonly Term[];
}

interface RangeContext {
  /** The range of `natural` of an atom: its integer value, or a representative modulo 2^width. */
  readonly atom: (atom: Term) => Bounds;
  /** Ranges of terms that are derived elsewhere (loop guards). */
  readonly known: ReadonlyMap<Term, Bounds>;
  /** Whether an atom takes every value of its range in each launch: the index of a thread in a block of known size. */
  readonly isExhaustive?: (atom: Term) => boolean;
}

const noTerms: ReadonlyMap<Term, bigint> = new Map();
const noAssumptions: readonly Term[] = [];

export class LinearView {
  private readonly naturals = new Map<Term, Linear>();
  private readonly signeds = new Map<Term, Linear>();
  private readonly unsigneds = new Map<Term, Linear>();
  /** Cache of `mayAssumeNoWrap`: terms share subterms, and each is visited once, not once for each path to it. */
  private readonly assumable = new Map<Term, boolean>();
  private readonly store: TermStore;
  private readonly context: RangeContext;

  constructor(store: TermStore, context: RangeContext) {
    this.store = store;
    this.context = context;
  }

  /** Discards derived ranges: call it after a known range has been added. */
  reset(): void {
    this.naturals.clear();
    this.signeds.clear();
    this.unsigneds.clear();
    this.assumable.clear();
  }

  /** An integer congruent to the term modulo 2^width. */
  natural(term: Term): Linear {
    let view = this.naturals.get(term);
    if (!view) {
      view = this.computeNatural(term);
      const known = this.context.known.get(term);
      if (known) view = clamp(view, known);
      this.naturals.set(term, view);
    }
    return view;
  }

  /** The term's value read as a two's complement number. */
  signed(term: Term): Linear {
    let view = this.signeds.get(term);
    if (!view) {
      view =
        term.operator === 'constant'
          ? constantForm(BigInt.asIntN(term.width, term.value))
          : this.fit(term, signedBounds(term.width), 'signed');
      this.signeds.set(term, view);
    }
    return view;
  }

  /** The term's value read as an unsigned number. */
  unsigned(term: Term): Linear {
    let view = this.unsigneds.get(term);
    if (!view) {
      view = term.operator === 'constant' ? constantForm(term.value) : this.fit(term, unsignedBounds(term.width), 'unsigned');
      this.unsigneds.set(term, view);
    }
    return view;
  }

  /** The linear form of a byte offset from the start of an object, which ends before addresses wrap around. */
  offset(term: Term): Linear {
    return term.width < 64 || this.isDetermined(term) ? this.signed(term) : this.natural(term);
  }

  /**
   * Whether a term depends only on the launch: then some thread computes each of its values, even those that wrap
   * around.
   */
  private isDetermined(term: Term): boolean {
    const { isExhaustive } = this.context;
    return isExhaustive !== undefined && term.leaves.every(isExhaustive);
  }

  /** The span of the part of a sum that depends on the launch only. */
  private determinedSpan({ terms }: Linear): bigint {
    let span = 0n;
    for (const [term, factor] of terms) {
      if (!term.atom || this.context.isExhaustive?.(term) !== true) continue;
      const { low, high } = this.natural(term);
      span += absolute(factor) * (high - low);
    }
    return span;
  }

  /** The term's value as the operand of a shift, a mask or the like: read as unsigned, with possible wrap-around. */
  bits(term: Term): Linear {
    return term.operator === 'constant' ? constantForm(term.value) : this.exactly(term, 'unsigned');
  }

  /** The operand of a shift to the left and back by the same amount, if no bits are lost; null otherwise. */
  private lowBits({ operator, width, arguments: [a, amount] }: Term): Linear | null {
    if (amount!.operator !== 'constant' || a!.operator !== 'sum' || amount!.value >= BigInt(width)) return null;
    const factor = 1n << amount!.value;
    const constant = BigInt.asIntN(width, a!.value);
    if (constant % factor !== 0n || a!.coefficients.some((by) => by % factor !== 0n)) return null;
    const whole = this.store.sum(
      width,
      constant / factor,
      a!.arguments.map((part, i) => [part, a!.coefficients[i]! / factor]),
    );
    const left = width - Number(amount!.value);
    const view = this.natural(whole);
    return inside(view, operator === 'ashr' ? signedBounds(left) : unsignedBounds(left)) ? view : null;
  }

  /**
   * The operand of a shift to the right. If a shift to the left precedes it, the upper bits were dropped on purpose.
   */
  shifted(term: Term): Linear {
    const [a, amount] = term.arguments as [Term, Term];
    // The quotient of a number of threads or blocks is an index, which does not wrap around in correct programs.
    if (term.operator === 'lshr') return a.leaves.every(isOfThreads) && this.mayAssumeNoWrap(a) ? this.unsigned(a) : this.bits(a);
    const isCutOff = amount.operator === 'constant' && holdsMultipleOf(a, 1n << amount.value);
    return isCutOff && a.operator !== 'constant' ? this.exactly(a, 'signed') : this.signed(a);
  }

  /** The term's value as a signed or unsigned number, without the assumption that it does not wrap around. */
  private exactly(term: Term, name: 'signed' | 'unsigned'): Linear {
    const view = this.natural(term);
    const target = name === 'signed' ? signedBounds(term.width) : unsignedBounds(term.width);
    if (inside(view, target)) return view;
    return this.unknown(this.store.pure(name, term.width, [term]), target, view.assumes);
  }

  private fit(term: Term, target: Bounds, name: 'signed' | 'unsigned'): Linear {
    const view = this.natural(term);
    if (inside(view, target)) return view;
    const either = { low: signedBounds(term.width).low, high: unsignedBounds(term.width).high };
    const unknown = (assumes: readonly Term[], reading: string = name): Linear =>
      this.unknown(this.store.pure(reading, term.width, [term]), target, assumes);
    if (inside(view, either)) return unknown(view.assumes);
    // Arithmetic on less than an int is a conversion, and a huge factor a hash: both truncate on purpose.
    const hasHugeFactor = [...view.terms.values()].some((factor) => bitLength(absolute(factor)) >= term.width - 1);
    const isExact =
      term.width < 32 ||
      hasHugeFactor ||
      !this.mayAssumeNoWrap(term) ||
      this.isDetermined(term) ||
      // A term that takes all its values in every launch does wrap around.
      this.determinedSpan(view) > target.high - target.low;
    if (isExact || view.low > either.high || view.high < either.low) return unknown(view.assumes);
    const assumes = view.assumes.includes(term) ? view.assumes : [...view.assumes, term];
    // Signed arithmetic is assumed to stay in range; unsigned arithmetic may still dip below zero (n - 1 - i).
    const limited = clamp({ ...view, assumes }, name === 'signed' ? target : either);
    return inside(limited, target) ? limited : unknown(assumes, dippingUnsigned);
  }

  /**
   * Masked, shifted and xored values are meant to wrap: their arithmetic stays exact. Quotients and remainders by
   * powers of two are masks and shifts as well, but their results are indices again.
   */
  mayAssumeNoWrap(term: Term): boolean {
    let may = this.assumable.get(term);
    if (may === undefined) {
      may = this.partsMayAssumeNoWrap(term);
      this.assumable.set(term, may);
    }
    return may;
  }

  private partsMayAssumeNoWrap(term: Term): boolean {
    const areParts = (): boolean => term.arguments.every((part) => this.mayAssumeNoWrap(part));
    const [a, b] = term.arguments as [Term, Term];
    switch (term.operator) {
      case 'or':
        // LLVM writes a sum as `or` if no bits overlap. A rotation loses bits on purpose.
        return !this.natural(term).terms.has(term) && !isRotation(a, b) && !isRotation(b, a) && areParts();
      case 'xor':
      case 'shl':
      case 'pure':
        return false;
      case 'and':
        return b.operator === 'constant' && isMaskOfPower(b) && this.mayAssumeNoWrap(a);
      case 'lshr':
      case 'ashr':
        return b.operator === 'constant' && this.mayAssumeNoWrap(a);
      case 'atom':
      case 'constant':
        return true;
      case 'select':
        return term.arguments.slice(1).every((arm) => this.mayAssumeNoWrap(arm));
      case 'sum':
        return !term.coefficients.some(isScrambling) && areParts();
      default:
        return areParts();
    }
  }

  /** True or false if the ranges decide it, without any assumption. */
  decide(condition: Term): boolean | undefined {
    switch (condition.operator) {
      case 'constant':
        return condition.value === 1n;
      case 'not': {
        const inner = this.decide(condition.arguments[0]!);
        return inner === undefined ? undefined : !inner;
      }
      case 'all': {
        let open = false;
        for (const part of condition.arguments) {
          const decided = this.decide(part);
          if (decided === false) return false;
          if (decided === undefined) open = true;
        }
        return open ? undefined : true;
      }
      case 'any': {
        let open = false;
        for (const part of condition.arguments) {
          const decided = this.decide(part);
          if (decided === true) return true;
          if (decided === undefined) open = true;
        }
        return open ? undefined : false;
      }
      case 'slt':
      case 'ult': {
        const [a, b] = condition.arguments as [Term, Term];
        const read = (term: Term): Linear => (condition.operator === 'slt' ? this.signed(term) : this.unsigned(term));
        const difference = this.subtract(read(a), read(b));
        if (difference.assumes.length > 0) return undefined;
        if (difference.high < 0n) return true;
        return difference.low >= 0n ? false : undefined;
      }
      case 'equal': {
        const [a, b] = condition.arguments as [Term, Term];
        const difference = this.subtract(this.unsigned(a), this.unsigned(b));
        if (difference.assumes.length > 0) return undefined;
        if (difference.low > 0n || difference.high < 0n) return false;
        return difference.low === 0n && difference.high === 0n ? true : undefined;
      }
      default:
        return undefined;
    }
  }

  subtract(a: Linear, b: Linear): Linear {
    return this.combine(a.constant - b.constant, [
      [a, 1n],
      [b, -1n],
    ]);
  }

  /** constant + sum of factor * (form without its constant), with the range of the combined form. */
  private combine(constant: bigint, parts: readonly (readonly [Linear, bigint])[]): Linear {
    const terms = new Map<Term, bigint>();
    const assumes = new Set<Term>();
    let lowByParts = constant;
    let highByParts = constant;
    for (const [part, factor] of parts) {
      for (const [term, coefficient] of part.terms) {
        const total = (terms.get(term) ?? 0n) + factor * coefficient;
        if (total === 0n) terms.delete(term);
        else terms.set(term, total);
      }
      for (const term of part.assumes) assumes.add(term);
      const low = part.low - part.constant;
      const high = part.high - part.constant;
      lowByParts += factor > 0n ? factor * low : factor * high;
      highByParts += factor > 0n ? factor * high : factor * low;
    }
    // The ranges of the addends may be tighter than those of their terms, or looser if terms cancel.
    const { low, high } = this.rangeOf(constant, terms);
    return {
      constant,
      terms,
      low: low > lowByParts ? low : lowByParts,
      high: high < highByParts ? high : highByParts,
      assumes: assumes.size === 0 ? noAssumptions : [...assumes],
    };
  }

  private rangeOf(constant: bigint, terms: ReadonlyMap<Term, bigint>): Bounds {
    let low = constant;
    let high = constant;
    for (const [term, coefficient] of terms) {
      const bounds = this.unknownRange(term);
      low += coefficient > 0n ? coefficient * bounds.low : coefficient * bounds.high;
      high += coefficient > 0n ? coefficient * bounds.high : coefficient * bounds.low;
    }
    return { low, high };
  }

  /** The range of the integer that an unknown of a linear form represents. */
  unknownRange(term: Term): Bounds {
    const reading = readingOf(term);
    if (reading) return reading === 'signed' ? signedBounds(term.width) : unsignedBounds(term.width);
    return this.natural(term);
  }

  private unknown(term: Term, bounds: Bounds, assumes: readonly Term[] = noAssumptions): Linear {
    return { constant: 0n, terms: new Map([[term, 1n]]), low: bounds.low, high: bounds.high, assumes };
  }

  private computeNatural(term: Term): Linear {
    const fitting = isFactor24(term) ? this.factor24(term) : null;
    if (fitting) return fitting;
    switch (term.operator) {
      case 'constant':
        return constantForm(BigInt.asIntN(term.width, term.value));
      case 'atom':
        return this.unknown(term, this.context.atom(term));
      case 'sum':
        return this.combineSum(term);
      case 'mul': {
        const [a, b] = term.arguments as [Term, Term];
        const x = this.natural(a);
        const y = this.natural(b);
        const assumes = merge(x.assumes, y.assumes);
        if (x.terms.size === 0) return { ...this.scale(y, x.constant), assumes };
        if (y.terms.size === 0) return { ...this.scale(x, y.constant), assumes };
        return this.unknown(term, product(x, y), assumes);
      }
      case 'zext':
        return this.unsigned(term.arguments[0]!);
      case 'sext':
        return this.signed(term.arguments[0]!);
      case 'trunc': {
        const inner = this.natural(term.arguments[0]!);
        if (inside(inner, { low: signedBounds(term.width).low, high: unsignedBounds(term.width).high })) return inner;
        return this.unknown(term, unsignedBounds(term.width), inner.assumes);
      }
      case 'udiv':
      case 'sdiv':
        return this.quotient(term);
      case 'urem':
      case 'srem':
        return this.remainder(term);
      case 'lshr':
      case 'ashr': {
        const amount = term.arguments[1]!;
        const whole = this.lowBits(term);
        if (whole) return whole;
        const view = this.shifted(term);
        if (amount.operator === 'constant') {
          const divisor = 1n << amount.value;
          const bounds = { low: view.low >> amount.value, high: view.high >> amount.value };
          if (bounds.low === bounds.high) return { ...constantForm(bounds.low), assumes: view.assumes };
          const exact = this.divideExactly(view, divisor);
          return exact ?? this.unknown(term, bounds, view.assumes);
        }
        const low = view.low < 0n ? view.low : 0n;
        const high = view.high > 0n ? view.high : 0n;
        const by = this.unsigned(amount);
        const least = by.low > 0n && by.low < 64n ? by.low : 0n;
        return this.unknown(term, { low: low >> least, high: high >> least }, merge(view.assumes, by.assumes));
      }
      case 'shl': {
        const [a, amount] = term.arguments as [Term, Term];
        const view = this.natural(a);
        const by = this.unsigned(amount);
        const bounds = by.high < 64n ? product(view, { low: 1n << by.low, high: 1n << by.high }) : null;
        const range = signedBounds(term.width);
        if (bounds && inside(bounds, range)) return this.unknown(term, bounds, merge(view.assumes, by.assumes));
        return this.unknown(term, unsignedBounds(term.width), view.assumes);
      }
      case 'and':
        return this.mask(term);
      case 'or':
      case 'xor': {
        const [a, b] = term.arguments as [Term, Term];
        const x = this.natural(a);
        const y = this.natural(b);
        if (x.low < 0n || y.low < 0n) return this.unknown(term, unsignedBounds(term.width));
        const assumes = merge(x.assumes, y.assumes);
        const sum = this.disjointBits(x, y);
        if (sum) return sum;
        const high = (1n << BigInt(bitLength(x.high > y.high ? x.high : y.high))) - 1n;
        const low = term.operator === 'or' ? (x.low > y.low ? x.low : y.low) : 0n;
        return this.unknown(term, { low, high }, assumes);
      }
      case 'select': {
        const [condition, a, b] = term.arguments as [Term, Term, Term];
        const x = this.natural(a);
        const y = this.natural(b);
        let low = x.low < y.low ? x.low : y.low;
        let high = x.high > y.high ? x.high : y.high;
        const range = signedBounds(term.width);
        const order = inside(x, range) && inside(y, range) ? minimumOrMaximum(condition, a, b) : null;
        if (order === 'min') high = x.high < y.high ? x.high : y.high;
        if (order === 'max') low = x.low > y.low ? x.low : y.low;
        return this.unknown(term, { low, high }, merge(x.assumes, y.assumes));
      }
      case 'pure': {
        const small = countingFunctions[term.name];
        return this.unknown(term, small ? { low: 0n, high: BigInt(small) } : signedBounds(term.width));
      }
      default:
        return this.unknown(term, signedBounds(term.width === 0 ? 1 : term.width));
    }
  }

  /** A factor of `mul24` that fits in 24 bits, or is assumed to; null if its truncation has to be modelled. */
  private factor24(term: Term): Linear | null {
    const fits = term.operator === 'ashr' ? signedBounds(24) : unsignedBounds(24);
    const whole = this.store.wholeFactor(term);
    const view = this.natural(whole);
    if (inside(view, fits)) return view;
    const isExact = !this.mayAssumeNoWrap(whole) || this.isDetermined(whole) || this.determinedSpan(view) > fits.high - fits.low;
    if (isExact || view.low > fits.high || view.high < fits.low) return null;
    return clamp({ ...view, assumes: [...view.assumes, term] }, fits);
  }

  private combineSum(term: Term): Linear {
    const parts: [Linear, bigint][] = [];
    let constant = BigInt.asIntN(term.width, term.value);
    for (let i = 0; i < term.arguments.length; i++) {
      const part = this.natural(term.arguments[i]!);
      parts.push([part, term.coefficients[i]!]);
      constant += part.constant * term.coefficients[i]!;
    }
    return this.combine(constant, parts);
  }

  private scale(form: Linear, factor: bigint): Linear {
    return this.combine(form.constant * factor, [[form, factor]]);
  }

  private quotient(term: Term): Linear {
    const [a, b] = term.arguments as [Term, Term];
    const signed = term.operator === 'sdiv';
    const dividend = signed ? this.signed(a) : this.unsigned(a);
    const divisor = signed ? this.signed(b) : this.unsigned(b);
    const assumes = merge(dividend.assumes, divisor.assumes);
    if (divisor.low <= 0n) return this.unknown(term, signedBounds(term.width), assumes);
    if (divisor.terms.size === 0 && dividend.low >= 0n) {
      const exact = this.divideExactly(dividend, divisor.constant);
      if (exact) return { ...exact, assumes };
    }
    // Truncating division is monotone in the dividend; its magnitude falls with the divisor.
    const candidates = [dividend.low / divisor.low, dividend.low / divisor.high, dividend.high / divisor.low, dividend.high / divisor.high];
    return this.unknown(term, hull(candidates), assumes);
  }

  private remainder(term: Term): Linear {
    const [a, b] = term.arguments as [Term, Term];
    const signed = term.operator === 'srem';
    const dividend = signed ? this.signed(a) : this.unsigned(a);
    const divisor = signed ? this.signed(b) : this.unsigned(b);
    const assumes = merge(dividend.assumes, divisor.assumes);
    if (divisor.low <= 0n) return this.unknown(term, signed ? signedBounds(term.width) : unsignedBounds(term.width), assumes);
    if (dividend.low >= 0n && dividend.high < divisor.low) return { ...dividend, assumes };
    const most = divisor.high - 1n;
    const low = dividend.low >= 0n ? 0n : dividend.low > -most ? dividend.low : -most;
    const high = dividend.high < 0n ? 0n : dividend.high < most ? dividend.high : most;
    return this.unknown(term, { low, high }, assumes);
  }

  private mask(term: Term): Linear {
    const [a, b] = term.arguments as [Term, Term];
    const view = this.natural(a);
    if (b.operator !== 'constant') {
      const other = this.natural(b);
      const limits = [view, other].filter((form) => form.low >= 0n);
      const high = limits.reduce((least, { high: next }) => (next < least ? next : least), unsignedBounds(term.width).high);
      return this.unknown(
        term,
        { low: 0n, high },
        limits.reduce<readonly Term[]>((all, form) => merge(all, form.assumes), noAssumptions),
      );
    }
    const mask = b.value;
    if ((mask & (mask + 1n)) === 0n) {
      if (inside(view, { low: 0n, high: mask })) return view;
      return this.unknown(term, { low: 0n, high: view.low >= 0n && view.high < mask ? view.high : mask }, view.assumes);
    }
    const high = view.low >= 0n && view.high < mask ? view.high : mask;
    return this.unknown(term, { low: 0n, high }, view.assumes);
  }

  /** x | y and x ^ y are x + y if one is a multiple of a power of two that the other is below. */
  private disjointBits(x: Linear, y: Linear): Linear | null {
    for (const [wide, narrow] of [
      [x, y],
      [y, x],
    ] as const) {
      if (narrow.low < 0n) continue;
      const step = 1n << BigInt(bitLength(narrow.high));
      const multiple = wide.constant % step === 0n && [...wide.terms.values()].every((coefficient) => coefficient % step === 0n);
      if (multiple)
        return this.combine(wide.constant + narrow.constant, [
          [wide, 1n],
          [narrow, 1n],
        ]);
    }
    return null;
  }

  /** form / divisor if every coefficient is a multiple and the remainder of the constant cannot carry. */
  private divideExactly(form: Linear, divisor: bigint): Linear | null {
    const terms = new Map<Term, bigint>();
    const rest = new Map<Term, bigint>();
    for (const [term, coefficient] of form.terms) {
      if (coefficient % divisor === 0n) terms.set(term, coefficient / divisor);
      else rest.set(term, coefficient);
    }
    const floor = floorDivide(form.constant, divisor);
    const remaining = this.rangeOf(form.constant - floor * divisor, rest);
    if (remaining.low < 0n || remaining.high >= divisor) return null;
    const { low, high } = this.rangeOf(floor, terms);
    const byForm = { low: floorDivide(form.low, divisor), high: floorDivide(form.high, divisor) };
    return {
      constant: floor,
      terms,
      low: low > byForm.low ? low : byForm.low,
      high: high < byForm.high ? high : byForm.high,
      assumes: form.assumes,
    };
  }
}

/** Range of a signed number of `width` bits. */
export function signedBounds(width: number): Bounds {
  const half = 1n << BigInt(width - 1);
  return { low: -half, high: half - 1n };
}

/** Range of an unsigned number of `width` bits. */
export function unsignedBounds(width: number): Bounds {
  return { low: 0n, high: (1n << BigInt(width)) - 1n };
}

/** Whether `a` is within `b`. */
export function inside(a: Bounds, b: Bounds): boolean {
  return a.low >= b.low && a.high <= b.high;
}

/** The unsigned value of a term that is assumed to be between the least signed and the largest unsigned value. */
export const dippingUnsigned = 'unsigned of a difference';

/**
 * Whether an unknown of a linear form represents its argument as a signed or as an unsigned number; null if it
 * represents its own value.
 */
export function readingOf(term: Term): 'signed' | 'unsigned' | null {
  if (term.operator !== 'pure') return null;
  if (term.name === 'signed') return 'signed';
  return term.name === 'unsigned' || term.name === dippingUnsigned ? 'unsigned' : null;
}

const countingFunctions: Readonly<Record<string, number>> = { popc: 64, clz: 64 };

function constantForm(value: bigint): Linear {
  return { constant: value, terms: noTerms, low: value, high: value, assumes: noAssumptions };
}

function clamp(form: Linear, bounds: Bounds): Linear {
  const low = form.low > bounds.low ? form.low : bounds.low;
  const high = form.high < bounds.high ? form.high : bounds.high;
  return { ...form, low, high: high < low ? low : high };
}

function merge(a: readonly Term[], b: readonly Term[]): readonly Term[] {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  return [...new Set([...a, ...b])];
}

function product(a: Bounds, b: Bounds): Bounds {
  return hull([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]);
}

function hull(values: readonly bigint[]): Bounds {
  let low = values[0]!;
  let high = low;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

/** select(x < y, x, y) is a minimum, select(x < y, y, x) a maximum, by signed order. */
function minimumOrMaximum(condition: Term, a: Term, b: Term): 'min' | 'max' | null {
  if (condition.operator !== 'slt') return null;
  const [x, y] = condition.arguments;
  if (x === a && y === b) return 'min';
  return x === b && y === a ? 'max' : null;
}

/** Whether an atom is the index of a thread or a block, or how many of them there are. */
function isOfThreads({ atom }: Term): boolean {
  return /^(thread|block|block-size|grid-size)$/.test(atom?.kind ?? '');
}

/** Whether the bits that a left shift drops are inserted again at the right, as in a rotation. */
function isRotation(left: Term, { operator, arguments: [source] }: Term): boolean {
  return operator === 'lshr' && left.operator === 'sum' && left.arguments.includes(source!);
}

/** Whether part of a sum is a multiple of a power of two above one. */
function holdsMultipleOf(term: Term, power: bigint): boolean {
  if (power <= 1n || term.operator !== 'sum') return false;
  return term.coefficients.some((factor) => factor % power === 0n);
}

/** Whether a constant keeps the bits below a power of two, or those above it, of a number. */
function isMaskOfPower({ value, width }: Term): boolean {
  const upper = value & (value + 1n);
  return upper === 0n || upper + (upper & -upper) === 1n << BigInt(width);
}

/** Factors of hashes and random number generators are large and odd; extents of arrays are small or even. */
function isScrambling(factor: bigint): boolean {
  const size = absolute(factor);
  return size >= 1n << 15n && size % 2n === 1n;
}
