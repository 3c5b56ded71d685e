/**
 * Facts on the path to an access: bounds that narrow linear forms, conditions on the launch that guard the path, and
 * conditions that the launch must satisfy so that no arithmetic wraps around.
 */
import {
  type AddressForm,
  type IndexVariable,
  contentOf,
  formKey,
  formMultiple,
  oppositeForm,
  subtractForms,
  scaleForm,
  replaceVariable,
} from './form.ts';
import { type LaunchCondition, allMet, anyMet, lessOrEqual } from './launch-condition.ts';
import {
  type Amount,
  addAmounts,
  fixedAmount,
  fixedValueOf,
  divideExactly,
  isAtMost,
  maxAmount,
  minAmount,
  multiplyAmounts,
  nonNegativeArguments,
  oneAmount,
  quotientAmount,
  rangeOf,
  scaleAmount,
  subtractAmounts,
  zeroAmount,
} from './amount.ts';

/** Least and largest value; null: not bounded. */
export interface Span {
  readonly low: Amount | null;
  readonly high: Amount | null;
}

/** The fact that a form without a constant is within a span. */
export interface FormFact extends Span {
  readonly form: AddressForm;
  readonly key: string;
  /** Whether other facts imply it. */
  readonly isRepeated: boolean;
}

/** Nesting depth of bounds that replace an iteration counter. */
const maxWithin = 1;

export class WayFacts {
  private readonly known: Map<string, FormFact>;
  readonly guards: LaunchCondition[];
  /** For each guard `a <= b`: the difference `b - a`, which is not negative. */
  private readonly positive: Amount[];
  needs = new Map<string, LaunchCondition>();
  /** For each guard: the needs under which the guard is interpreted correctly, if the guards before it hold. */
  private readonly settled: LaunchCondition[];
  /** Incremented with each fact: forms that were computed earlier may improve with later facts. */
  version = 0;
  /** Current nesting depth of bounds that replace an iteration counter. */
  private standingFor = 0;

  constructor(outer?: WayFacts) {
    this.known = new Map(outer?.known);
    this.guards = [...(outer?.guards ?? [])];
    this.positive = [...(outer?.positive ?? [])];
    this.settled = [...(outer?.settled ?? [])];
  }

  get facts(): readonly FormFact[] {
    return [...this.known.values()];
  }

  /** How many facts and guards there are. */
  get size(): number {
    return this.known.size + this.guards.length;
  }

  /** Adds a guard: a condition on the launch under which the path is executed. */
  guard(condition: LaunchCondition): void {
    if (condition.condition.kind === 'always') return;
    // If the needs before a guard are violated, the guard may be false although the access is executed.
    if (this.needs.size > 0) this.settled.push(this.whereGuarded([...this.needs.values()]));
    this.guards.push(condition);
    if (condition.difference) this.positive.push(condition.difference);
    this.version++;
  }

  /** Requires a condition of the launch; false if no launch satisfies it. */
  need(condition: LaunchCondition): boolean {
    if (condition.condition.kind === 'never') return false;
    if (condition.condition.kind !== 'always') this.needs.set(condition.key, condition);
    return true;
  }

  /** Adds the needs of an inner scope, required if the launch satisfies the guards of that scope. */
  adopt(inner: WayFacts): void {
    const own = inner.guards.slice(this.guards.length).map((guard) => guard.negation());
    for (const need of inner.needs.values()) this.need(anyMet([...own, need]));
    for (const need of inner.settled.slice(this.settled.length)) this.need(need);
  }

  /** The conjunction of the needs, required if the guards hold. */
  demanded(): LaunchCondition {
    const needs = [...this.needs.values()];
    const left = needs.filter(
      ({ difference }, i) =>
        !difference ||
        !needs.some((other, at) => {
          const more = other.difference && subtractAmounts(difference, other.difference);
          return more && at !== i && this.isPositive(more, 0n) && (at < i || !this.isPositive(scaleAmount(more, -1n), 0n));
        }),
    );
    return allMet([...this.settled, this.whereGuarded(left)]);
  }

  private whereGuarded(needs: readonly LaunchCondition[]): LaunchCondition {
    return anyMet([...this.guards.map((guard) => guard.negation()), allMet(needs)]);
  }

  /** Whether the guards imply `a <= b`. */
  isAtMost(a: Amount, b: Amount): boolean {
    return this.isPositive(subtractAmounts(b, a), 0n);
  }

  /** Whether the guards imply a condition. */
  isMet({ condition, key, difference }: LaunchCondition): boolean {
    if (condition.kind === 'always' || this.guards.some((guard) => guard.key === key)) return true;
    return difference !== undefined && this.isPositive(difference, 0n);
  }

  /** Whether a quantity is at least a number. */
  isPositive(value: Amount, least: bigint): boolean {
    const isLarge = (candidate: Amount): boolean => {
      const { low } = rangeOf(candidate);
      return low !== null && low >= least;
    };
    return isLarge(value) || this.positive.some((difference) => isLarge(subtractAmounts(value, difference)));
  }

  /** Adds `low <= form <= high`; null: no bound. True: the fact was added completely. */
  learn(form: AddressForm, { low, high }: Span): boolean {
    if (form.terms.size === 0) return false;
    const arms = armsOf(form, low, high);
    const isAll = arms.map((arm) => this.learn(arm, { low, high })).every((isWhole) => isWhole);
    let core: AddressForm = { ...form, constant: zeroAmount };
    let [least, most] = [low && subtractAmounts(low, form.constant), high && subtractAmounts(high, form.constant)];
    const content = contentOf(core);
    if (content > 1n) {
      const by = fixedAmount(content);
      core = { ...core, terms: new Map([...core.terms].map(([v, c]) => [v, divideExactly(c, by)!])) };
      least = least && quotientAmount(addAmounts(least, fixedAmount(content - 1n)), by);
      most = most && quotientAmount(most, by);
    }
    if (isMostlyNegative(core)) {
      core = oppositeForm(core);
      [least, most] = [most && scaleAmount(most, -1n), least && scaleAmount(least, -1n)];
    }
    const opposite = oppositeForm(core);
    const mirrored = this.known.get(formKey(opposite));
    const [key, first, span] = mirrored
      ? [mirrored.key, mirrored.form, { low: most && scaleAmount(most, -1n), high: least && scaleAmount(least, -1n) }]
      : [formKey(core), core, { low: least, high: most }];
    const told = this.narrower(this.known.get(key) ?? unbounded, span);
    this.known.set(key, { form: first, key, ...told, isRepeated: arms.length > 0 });
    this.version++;
    return isAll;
  }

  /** The intersection of two spans. */
  narrower(a: Span, b: Span): Span {
    return { low: joined(a.low, b.low, maxAmount), high: joined(a.high, b.high, minAmount) };
  }

  /** The range of a variable, from facts on only this variable. */
  ofVariable(variable: IndexVariable): Span {
    let span = this.itself(variable);
    for (const fact of this.known.values()) {
      const coefficient = fact.form.terms.size === 1 ? fact.form.terms.get(variable) : undefined;
      if (!coefficient) continue;
      const told = this.divided(fact, coefficient);
      if (told.low && told.low.key === told.high?.key) return told;
      span = this.narrower(span, told);
    }
    return span;
  }

  /** The range of a variable by its kind, without learnt facts. */
  itself({ part, low, high }: IndexVariable): Span {
    if (!part) return { low, high };
    switch (part.kind) {
      case 'quotient': {
        const inner = this.ofForm(part.of);
        return {
          low: inner.low && quotientAmount(inner.low, part.by),
          high: inner.high && quotientAmount(inner.high, part.by),
        };
      }
      case 'remainder': {
        const inner = this.ofForm(part.of);
        const most = subtractAmounts(part.by, oneAmount);
        const isSmall = inner.low !== null && inner.high !== null && isAtMost(zeroAmount, inner.low);
        return { low: zeroAmount, high: isSmall ? minAmount(most, inner.high) : most };
      }
      default: {
        const [a, b] = [this.ofForm(part.a), this.ofForm(part.b)];
        const lows = part.kind === 'largest' ? joined(a.low, b.low, maxAmount) : both(a.low, b.low, minAmount);
        const highs = part.kind === 'least' ? joined(a.high, b.high, minAmount) : both(a.high, b.high, maxAmount);
        return this.narrower({ low, high }, { low: lows, high: highs });
      }
    }
  }

  /** The range of a form: from the range of each variable, and of sums of them that are known to be in a range. */
  ofForm(form: AddressForm): Span {
    let span = this.byVariables(form);
    for (const fact of this.known.values()) {
      if (fact.form.terms.size < 2) continue;
      const factor = formMultiple(form, fact.form);
      if (!factor) continue;
      const rest = this.byVariables(subtractForms(form, scaleForm(fact.form, factor)));
      // If the launch determines the sign of the factor, both bounds are needed.
      const isOfSign = this.isPositive(factor, 0n) || this.isPositive(scaleAmount(factor, -1n), 0n);
      const known = isOfSign ? fact : this.narrower(fact, this.byVariables(fact.form));
      span = this.narrower(span, plus(this.times(known, factor), rest));
    }
    return span.low && span.high ? span : this.withRounds(form, span);
  }

  /** The range of a form whose iteration counters without bounds are replaced by their bounds. */
  private withRounds(form: AddressForm, known: Span): Span {
    // The bound of one counter may depend on another that depends on the first.
    if (this.standingFor >= maxWithin) return known;
    let { low, high } = known;
    this.standingFor++;
    for (const fact of this.known.values()) {
      for (const [variable, coefficient] of fact.form.terms) {
        const own = variable.kind === 'round' && fact.form.terms.size > 1 ? form.terms.get(variable) : undefined;
        const factor = own && divideExactly(own, coefficient);
        if (!factor) continue;
        const rest = this.byVariables(subtractForms(form, scaleForm(fact.form, factor)));
        const span = plus(this.times(fact, factor), rest);
        low ??= span.low;
        high ??= span.high;
      }
    }
    this.standingFor--;
    return { low, high };
  }

  byVariables(form: AddressForm): Span {
    let span: Span = { low: form.constant, high: form.constant };
    // Digits of mixed radix form one number: the sign of their common factor is considered once.
    const digits: Digit[] = [];
    for (const [variable, coefficient] of form.terms) digits.push(digitOf(coefficient, this.ofVariable(variable)));
    for (let i = 0; i < digits.length; i++) {
      const inner = digits[i]!;
      const isNext = ({ coefficient, outer }: Digit): boolean => outer !== null && coefficient.key === inner.outer;
      const next = digits.findIndex((digit) => digit !== inner && isNext(digit));
      if (next < 0) continue;
      const [outer] = digits.splice(next, 1);
      const count = multiplyAmounts(addAmounts(inner.reach.high!, oneAmount), addAmounts(outer!.reach.high!, oneAmount));
      digits[digits.indexOf(inner)] = digitOf(inner.coefficient, {
        low: zeroAmount,
        high: subtractAmounts(count, oneAmount),
      });
      i = -1;
    }
    for (const { coefficient, reach } of digits) span = plus(span, this.times(reach, coefficient));
    return span;
  }

  /** A span times a factor whose sign may depend on the launch. */
  times({ low, high }: Span, of: Amount): Span {
    const factor = this.presumed(of);
    const scaled = (bound: Amount | null): Amount | null => bound && multiplyAmounts(bound, factor);
    if (this.isPositive(factor, 0n)) return { low: scaled(low), high: scaled(high) };
    if (this.isPositive(scaleAmount(factor, -1n), 0n)) return { low: scaled(high), high: scaled(low) };
    if (!low || !high) return unbounded;
    const [a, b] = [multiplyAmounts(low, factor), multiplyAmounts(high, factor)];
    return { low: minAmount(a, b), high: maxAmount(a, b) };
  }

  /**
   * A factor in which strides and extents among the arguments are assumed to be nonnegative; the launch must satisfy
   * that.
   */
  private presumed(factor: Amount): Amount {
    if (rangeOf(factor).low !== null && rangeOf(factor).low! >= 0n) return factor;
    const natural = nonNegativeArguments(factor);
    if (!natural) return factor;
    for (const argument of natural.arguments) this.need(lessOrEqual(zeroAmount, argument));
    return natural.value;
  }

  /** The span of v from a span of `coefficient * v`. */
  divided({ low, high }: Span, coefficient: Amount): Span {
    const value = fixedValueOf(coefficient);
    if (value === -1n) return { low: high && scaleAmount(high, -1n), high: low && scaleAmount(low, -1n) };
    if (!this.isPositive(coefficient, 1n)) {
      if (!this.isPositive(scaleAmount(coefficient, -1n), 1n)) return unbounded;
      return this.divided({ low: high && scaleAmount(high, -1n), high: low && scaleAmount(low, -1n) }, scaleAmount(coefficient, -1n));
    }
    const up = subtractAmounts(coefficient, oneAmount);
    return {
      low: low && quotientAmount(addAmounts(low, up), coefficient),
      high: high && quotientAmount(high, coefficient),
    };
  }

  /** A scope with other facts; both scopes share their needs. */
  withFacts(facts: readonly FormFact[]): WayFacts {
    const other = new WayFacts(this);
    other.needs = this.needs;
    other.known.clear();
    for (const fact of facts) other.known.set(fact.key, fact);
    return other;
  }

  /**
   * Whether a form is within a range. If that depends on the launch, it becomes a need. False: unknown, or in no
   * launch.
   */
  fits(form: AddressForm, low: bigint, high: bigint): boolean {
    const span = this.ofForm(form);
    if (!span.low || !span.high) return false;
    const conditions = [
      this.isAtMost(fixedAmount(low), span.low) ? null : lessOrEqual(fixedAmount(low), span.low),
      this.isAtMost(span.high, fixedAmount(high)) ? null : lessOrEqual(span.high, fixedAmount(high)),
    ];
    if (conditions.some((condition) => condition?.condition.kind === 'never')) return false;
    for (const condition of conditions) if (condition) this.need(condition);
    return true;
  }
}

const unbounded: Span = { low: null, high: null };

function joined(a: Amount | null, b: Amount | null, join: (a: Amount, b: Amount) => Amount): Amount | null {
  return a && b ? join(a, b) : (a ?? b);
}

function both(a: Amount | null, b: Amount | null, join: (a: Amount, b: Amount) => Amount): Amount | null {
  return a && b ? join(a, b) : null;
}

/** Cases of a bound by a minimum: i < min(a, b) implies i < a and i < b. */
function armsOf(form: AddressForm, low: Amount | null, high: Amount | null): readonly AddressForm[] {
  if (low && high) return [];
  for (const [variable, coefficient] of form.terms) {
    const { part } = variable;
    const factor = fixedValueOf(coefficient);
    if (factor === null || (part?.kind !== 'least' && part?.kind !== 'largest')) continue;
    if (part.kind === 'least' ? factor > 0n === (high !== null) : factor > 0n === (low !== null)) continue;
    return [part.a, part.b].map((arm) => replaceVariable(form, variable, arm));
  }
  return [];
}

/** Normal form of facts: a sum is stored rather than its negation. */
function isMostlyNegative({ terms }: AddressForm): boolean {
  const ranges = [...terms.values()].map(rangeOf);
  const negative = ranges.filter(({ high }) => high !== null && high < 0n).length;
  return negative > ranges.filter(({ low }) => low !== null && low > 0n).length;
}

function isZeroBased({ low, high }: Span): boolean {
  return low !== null && high !== null && low.monomials.size === 0;
}

/** A factor of a sum and its coefficient. */
interface Digit {
  readonly coefficient: Amount;
  readonly reach: Span;
  /** For a digit: the key of the factor of the next digit. */
  readonly outer: string | null;
}

function digitOf(coefficient: Amount, reach: Span): Digit {
  const outer = isZeroBased(reach) ? multiplyAmounts(coefficient, addAmounts(reach.high!, oneAmount)).key : null;
  return { coefficient, reach, outer };
}

function plus(a: Span, b: Span): Span {
  return { low: a.low && b.low && addAmounts(a.low, b.low), high: a.high && b.high && addAmounts(a.high, b.high) };
}

/** Bounds that a fact implies for one of its variables, given the ranges of the others. */
export function propagated(scope: WayFacts, fact: FormFact, variable: IndexVariable): Span {
  const coefficient = fact.form.terms.get(variable);
  if (!coefficient) return unbounded;
  const terms = new Map(fact.form.terms);
  terms.delete(variable);
  const rest = scope.byVariables({ ...fact.form, terms });
  return scope.divided(
    {
      low: fact.low && rest.high && subtractAmounts(fact.low, rest.high),
      high: fact.high && rest.low && subtractAmounts(fact.high, rest.low),
    },
    coefficient,
  );
}
