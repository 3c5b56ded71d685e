/**
 * Simplifies conditions, so that validators are fast: of comparisons that differ in a constant only the strictest is
 * kept, and adjacent sets of bytes are merged. The result is equivalent.
 */
import { allOf, conditionKey, number, sumOfQuantities } from './build-condition.ts';
import type { AddressSet, Quantity, ValidatorCondition } from './model/quantity.ts';

type Comparison = Extract<ValidatorCondition, { kind: 'compare' }>;
type Disjoint = Extract<ValidatorCondition, { kind: 'disjoint' }>;

/** An equivalent condition with fewer parts, or the condition itself. */
export function shortCondition(condition: ValidatorCondition): ValidatorCondition {
  if (condition.kind === 'any') return { ...condition, conditions: condition.conditions.map(shortCondition) };
  if (condition.kind !== 'all') return condition;
  const parts = condition.conditions.map(shortCondition);
  const comparisons = parts.filter((part) => part.kind === 'compare');
  const disjoint = parts.filter((part) => part.kind === 'disjoint');
  const others = parts.filter((part) => part.kind !== 'compare' && part.kind !== 'disjoint');
  return allOf([...strictest(comparisons), ...others, ...joined(disjoint)]);
}

/** Splits a quantity into its constant addend and the other addends. */
function split(quantity: Quantity): { readonly rest: readonly Quantity[]; readonly constant: bigint } {
  const operands = quantity.kind === 'sum' ? quantity.operands : [quantity];
  const rest: Quantity[] = [];
  let constant = 0n;
  for (const operand of operands) {
    if (operand.kind === 'constant') constant += operand.value;
    else rest.push(operand);
  }
  return { rest, constant };
}

function restKey(rest: readonly Quantity[]): string {
  return rest
    .map((operand) => conditionKey(operand))
    .sort()
    .join();
}

/** The strictest of comparisons such as `x + 1 <= y` and `x + 2 <= y`. */
function strictest(comparisons: readonly Comparison[]): readonly Comparison[] {
  const kept = new Map<string, { readonly comparison: Comparison; readonly slack: bigint }>();
  comparisons.forEach((comparison, at) => {
    const [left, right] = [split(comparison.left), split(comparison.right)];
    const isOrder = comparison.comparison === '<=' || comparison.comparison === '<';
    const key = isOrder ? `${restKey(left.rest)};${restKey(right.rest)}` : `${at}`;
    const slack = right.constant - left.constant - (comparison.comparison === '<' ? 1n : 0n);
    const known = kept.get(key);
    if (!known || slack < known.slack) kept.set(key, { comparison, slack });
  });
  return [...kept.values()].map(({ comparison }) => comparison);
}

/** Merges adjacent sets that are compared with the same set. */
function joined(list: readonly Disjoint[]): readonly Disjoint[] {
  const byRight = joinedAlong(list, 'left', 'right');
  return joinedAlong(byRight, 'right', 'left');
}

function joinedAlong(list: readonly Disjoint[], side: 'left' | 'right', other: 'left' | 'right'): readonly Disjoint[] {
  const groups = new Map<string, Disjoint[]>();
  for (const one of list) {
    const { base, steps } = one[side];
    const key = `${conditionKey(one[other])} ${restKey(split(base).rest)} ${JSON.stringify(steps.map(({ stride, count }) => [conditionKey(stride), conditionKey(count)]))}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    const sets = union(group.map((one) => one[side]));
    return sets.map((set): Disjoint => ({ ...group[0]!, [side]: set }));
  });
}

/** The union of sets whose bases differ in a constant, as few sets as possible. */
function union(sets: readonly AddressSet[]): readonly AddressSet[] {
  const sorted = sets
    .map((set) => ({ set, start: split(set.base).constant }))
    .sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  const whole: { set: AddressSet; start: bigint; end: bigint }[] = [];
  for (const { set, start } of sorted) {
    const last = whole.at(-1);
    const end = start + BigInt(set.bytes);
    if (last && start <= last.end) last.end = end > last.end ? end : last.end;
    else whole.push({ set, start, end });
  }
  return whole.map(({ set, start, end }) => ({
    ...set,
    base: sumOfQuantities(...split(set.base).rest, number(start)),
    bytes: Number(end - start),
  }));
}
