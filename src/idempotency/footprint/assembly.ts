/** Linear forms of addresses as sets of bytes: one step for each index, or for each sum of indices that a condition bounds. */
import { absolute } from '../../base/integer.ts';
import type { AddressSet } from '../model/quantity.ts';
import { type AddressForm, type IndexVariable, type FootprintVariable, formMultiple } from './form.ts';
import { type LaunchCondition, allMet, lessOrEqual } from './launch-condition.ts';
import {
  type Amount,
  addAmounts,
  choiceAmount,
  fixedAmount,
  fixedValueOf,
  divideExactly,
  isAtMost,
  maxAmount,
  multiplyAmounts,
  oneAmount,
  quantityOf,
  rangeOf,
  scaleAmount,
  subtractAmounts,
  zeroAmount,
} from './amount.ts';
import { type FormFact, type WayFacts, type Span, propagated } from './path-facts.ts';

interface Run {
  readonly stride: Amount;
  readonly count: Amount;
  readonly variable: FootprintVariable;
}

interface Assembly {
  readonly bytes: AddressSet;
  readonly variables: readonly FootprintVariable[];
  readonly exact: boolean;
  /** Lowest and highest byte. */
  readonly low: Amount;
  readonly high: Amount;
}

/**
 * The bytes at `address` and the `width - 1` after it, for all values of its variables within the scope.
 * @param isComplete whether the scope knows all conditions of the access
 * @returns null if nothing bounds the address
 */
export function assembleBytes(outer: WayFacts, address: AddressForm, width: number, isComplete: boolean): Assembly | null {
  const facts = necessary(outer);
  const scope = outer.withFacts(facts);
  const { runs: found, base: start, exact: isExact, guards } = runsOf(scope, facts, address) ?? {};
  if (!found || !start || !guards) return null;
  let base = start;
  const runs: Run[] = [];
  for (const run of found) {
    const { low, high } = rangeOf(run.stride);
    if (fixedValueOf(run.count) === 1n || (low === 0n && high === 0n)) continue;
    if (high !== null && high < 0n) {
      base = addAmounts(base, multiplyAmounts(run.stride, subtractAmounts(run.count, oneAmount)));
      runs.push({ ...run, stride: scaleAmount(run.stride, -1n) });
    } else runs.push(run);
  }
  const merged = merge(runs, guards);
  const condition = allMet([...scope.guards, ...guards]);
  const extent = spanOf(scope, merged, base, width);
  const steps = merged.map(({ stride, count }) => ({ stride, count }));
  if (condition.condition.kind !== 'always') {
    const first = steps.shift() ?? { stride: zeroAmount, count: oneAmount };
    steps.unshift({ ...first, count: choiceAmount(condition.condition, condition.key, first.count, zeroAmount) });
  }
  const variables: FootprintVariable[] = merged.map(({ variable }) => variable);
  if (variables.length < steps.length) variables.push({ kind: 'part', of: [] });
  return {
    bytes: {
      base: quantityOf(base),
      steps: steps.map(({ stride, count }) => ({ stride: quantityOf(stride), count: quantityOf(count) })),
      bytes: width,
    },
    variables,
    exact: isComplete && isExact === true,
    ...extent,
  };
}

/** Facts that other facts do not imply: an index below n is below n after a subtraction too. */
function necessary(scope: WayFacts): readonly FormFact[] {
  const facts = scope.facts.filter((fact) => !fact.isRepeated && !isMet(scope, fact));
  return facts.filter((fact) => !facts.some((other) => other !== fact && implies(scope, other, fact)));
}

/** Whether the ranges of its variables imply the fact. */
function isMet(scope: WayFacts, fact: FormFact): boolean {
  if (fact.form.terms.size === 1) return false;
  const { low, high } = scope.byVariables(fact.form);
  const isLow = fact.low === null || (low !== null && scope.isAtMost(fact.low, low));
  return isLow && (fact.high === null || (high !== null && scope.isAtMost(high, fact.high)));
}

function implies(scope: WayFacts, other: FormFact, fact: FormFact): boolean {
  if (other.form.terms.size <= fact.form.terms.size || fact.low !== null || !fact.high || !other.high) return false;
  for (const [variable, coefficient] of fact.form.terms) if (other.form.terms.get(variable)?.key !== coefficient.key) return false;
  const rest = [...other.form.terms].filter(([variable]) => !fact.form.terms.has(variable));
  const isPositive = rest.every(([variable, coefficient]) => {
    const { low } = scope.times(scope.ofVariable(variable), coefficient);
    return low !== null && scope.isAtMost(zeroAmount, low);
  });
  return isPositive && scope.isAtMost(other.high, fact.high);
}

/** One run for each variable of the address, or for each bounded sum of variables. */
function runsOf(
  scope: WayFacts,
  facts: readonly FormFact[],
  address: AddressForm,
): { runs: Run[]; base: Amount; exact: boolean; guards: LaunchCondition[] } | null {
  const left = new Map(address.terms);
  const runs: Run[] = [];
  const guards: LaunchCondition[] = [];
  let base = address.constant;
  let exact = true;
  const used = new Set<string>();
  const take = (stride: Amount, { low, high }: Span, variable: FootprintVariable): boolean => {
    if (!low || !high) return false;
    base = addAmounts(base, multiplyAmounts(stride, low));
    runs.push({ stride, count: addAmounts(subtractAmounts(high, low), oneAmount), variable });
    return true;
  };
  const sums = facts.filter(({ form }) => form.terms.size > 1);
  const bySize = [...sums].sort((a, b) => b.form.terms.size - a.form.terms.size);
  for (const fact of bySize) {
    const factor = formMultiple({ ...address, terms: left }, fact.form);
    if (!factor || hasGaps(scope, fact.form)) continue;
    const span = scope.narrower(fact, scope.byVariables(fact.form));
    const variables = [...fact.form.terms.keys()];
    const of = [...new Set(variables.flatMap((variable) => variable.of))];
    if (!take(factor, span, { kind: 'combined', of })) continue;
    if (!isDense(scope, fact.form)) exact = false;
    if (sums.some((other) => other !== fact && variables.some((variable) => other.form.terms.has(variable)))) exact = false;
    for (const variable of variables) left.delete(variable);
    used.add(fact.key);
  }
  for (const [variable, stride] of left) {
    let span = scope.ofVariable(variable);
    for (const fact of sums) {
      if (!fact.form.terms.has(variable)) continue;
      span = scope.narrower(span, propagated(scope, fact, variable));
      exact = false;
    }
    if (variable.isAnything && isAsWideAsItsType(variable, span)) return null;
    if (!take(stride, span, { kind: variable.kind, of: variable.of })) return null;
    if (!isSurjective(scope, variable)) exact = false;
  }
  for (const fact of facts) {
    const isOfAddress = [...fact.form.terms.keys()].some((variable) => address.terms.has(variable));
    // Otherwise the number of steps implies the fact.
    if (isOfAddress && (fact.form.terms.size > 1 || fact.low?.key !== fact.high?.key)) continue;
    const others = scope.withFacts(facts.filter((other) => other !== fact));
    const { low, high } = others.byVariables(fact.form);
    // A guard excludes launches whose range does not contain a fixed index, such as 5.
    if (fact.low && high) guards.push(lessOrEqual(fact.low, high));
    if (fact.high && low) guards.push(lessOrEqual(low, fact.high));
    if (isOfAddress) continue;
    if (fact.low && fact.high) guards.push(lessOrEqual(fact.low, fact.high));
    const [[only]] = fact.form.terms as unknown as [[IndexVariable]];
    if (fact.form.terms.size > 1 || !isSurjective(scope, only)) exact = false;
  }
  const leaves = [...address.terms.keys(), ...facts.flatMap(({ form }) => [...form.terms.keys()])];
  if (!areIndependent(new Set(leaves))) exact = false;
  return { runs, base, exact, guards };
}

function isAsWideAsItsType(variable: IndexVariable, { low, high }: Span): boolean {
  return low?.key === variable.low?.key || high?.key === variable.high?.key;
}

/** Whether no two variables depend on the same index. */
function areIndependent(variables: ReadonlySet<IndexVariable>): boolean {
  const all = [...variables].flatMap(({ of }) => of);
  return new Set(all).size === all.length;
}

/** Whether a variable takes each value of its range in some thread and iteration, independent of the others. */
function isSurjective(scope: WayFacts, { kind, part }: IndexVariable): boolean {
  if (!part) return kind !== 'value' && kind !== 'part';
  if (part.kind !== 'quotient' && part.kind !== 'remainder') return false;
  if (!isDense(scope, part.of)) return false;
  if (part.kind === 'quotient') return true;
  const { low } = scope.ofForm(part.of);
  return low !== null && fixedValueOf(low) === 0n;
}

/** Whether a form takes each integer of its range: digits of mixed radix. */
function isDense(scope: WayFacts, form: AddressForm): boolean {
  const left = new Map(form.terms);
  for (const variable of left.keys()) if (!isSurjective(scope, variable)) return false;
  if (!areIndependent(new Set(left.keys()))) return false;
  let radix: Amount | null = oneAmount;
  while (left.size > 0) {
    const next: IndexVariable | undefined = [...left].find(
      ([, coefficient]) => radix && (coefficient.key === radix.key || coefficient.key === scaleAmount(radix, -1n).key),
    )?.[0];
    if (!next || !radix) return false;
    left.delete(next);
    const { low, high }: Span = scope.ofVariable(next);
    radix = low && high && multiplyAmounts(radix, addAmounts(subtractAmounts(high, low), oneAmount));
  }
  return true;
}

/** Whether it is certain that a sum of bounded indices skips numbers: 64 * b + t with t below 16. */
function hasGaps(scope: WayFacts, form: AddressForm): boolean {
  const sizes: { readonly by: bigint; readonly reach: bigint }[] = [];
  for (const [variable, coefficient] of form.terms) {
    const by = fixedValueOf(coefficient);
    const { low, high } = scope.ofVariable(variable);
    const count = low && high && rangeOf(subtractAmounts(high, low)).high;
    if (by === null || count === null) return false;
    const size = absolute(by);
    sizes.push({ by: size, reach: size * count });
  }
  sizes.sort((a, b) => (a.by < b.by ? -1 : 1));
  let reach = 0n;
  for (const [i, size] of sizes.entries()) {
    if (i > 0 && size.by > reach + 1n) return true;
    reach += size.reach;
  }
  return false;
}

/** Joins runs that continue or overlap each other. */
function merge(runs: readonly Run[], guards: LaunchCondition[]): readonly Run[] {
  const list = [...runs];
  for (;;) {
    const found = joinable(list);
    if (!found) return list;
    const { inner, outer, overlap } = found;
    list.splice(list.indexOf(outer), 1);
    const of = [...new Set([...inner.variable.of, ...outer.variable.of])];
    const variable: FootprintVariable = { kind: 'combined', of };
    // Two negative counts must not be multiplied to a positive one.
    const isNonNegative = (count: Amount): boolean => isAtMost(zeroAmount, count);
    let count: Amount;
    if (overlap === null) {
      const own = isNonNegative(inner.count) || isNonNegative(outer.count) ? inner.count : maxAmount(zeroAmount, inner.count);
      count = multiplyAmounts(own, outer.count);
    } else {
      guards.push(lessOrEqual(oneAmount, inner.count), lessOrEqual(oneAmount, outer.count));
      count = addAmounts(inner.count, scaleAmount(subtractAmounts(outer.count, oneAmount), overlap));
    }
    list[list.indexOf(inner)] = { stride: inner.stride, count, variable };
  }
}

/**
 * A pair of runs that can be merged. `overlap`: steps of the inner run that one step of the outer run advances by;
 * null: the whole inner run.
 */
function joinable(runs: readonly Run[]): { inner: Run; outer: Run; overlap: bigint | null } | null {
  for (const inner of runs) {
    const reach = multiplyAmounts(inner.stride, inner.count).key;
    for (const outer of runs) {
      if (inner === outer) continue;
      if (outer.stride.key === reach) return { inner, outer, overlap: null };
      const ratio = divideExactly(outer.stride, inner.stride);
      const by = ratio && fixedValueOf(ratio);
      if (by !== null && by >= 1n && isAtMost(fixedAmount(by), inner.count)) return { inner, outer, overlap: by };
    }
  }
  return null;
}

/** Lowest and highest byte of a set that is not empty. */
function spanOf(scope: WayFacts, runs: readonly Run[], base: Amount, width: number): { low: Amount; high: Amount } {
  let low = base;
  let high = addAmounts(base, fixedAmount(BigInt(width - 1)));
  for (const { stride, count } of runs) {
    const reach = scope.times({ low: zeroAmount, high: subtractAmounts(count, oneAmount) }, stride);
    low = addAmounts(low, reach.low!);
    high = addAmounts(high, reach.high!);
  }
  return { low, high };
}
