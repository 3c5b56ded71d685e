/** Conditions on a launch with the comparisons decided that the ranges of quantities decide. */
import { type Condition, always, never } from '../model/condition.ts';
import { type Polynomial, add, bySign, constantOf, isAtMost, one, quantityOf, subtract } from './polynomial.ts';

/** A condition and the text by which equal ones are found. */
export interface LaunchCondition {
  readonly condition: Condition;
  readonly key: string;
  readonly negation: () => LaunchCondition;
  /** Of `a <= b` the difference `b - a`. */
  readonly difference?: Polynomial;
}

export const holds: LaunchCondition = { condition: always, key: 'always', negation: () => fails };
export const fails: LaunchCondition = { condition: never, key: 'never', negation: () => holds };

/** `a <= b` */
export function atMost(a: Polynomial, b: Polynomial): LaunchCondition {
  if (isAtMost(a, b)) return holds;
  if (isAtMost(add(b, one), a)) return fails;
  const difference = subtract(b, a);
  const { negative, positive } = bySign(difference);
  return {
    condition: { kind: 'compare', comparison: '<=', left: quantityOf(negative), right: quantityOf(positive) },
    key: `0<=${difference.key}`,
    difference,
    negation: () => atMost(add(b, one), a),
  };
}

export function equal(a: Polynomial, b: Polynomial): LaunchCondition {
  return equality(a, b, true);
}

function equality(a: Polynomial, b: Polynomial, wanted: boolean): LaunchCondition {
  const difference = subtract(a, b);
  const known = constantOf(difference);
  const isApart = isAtMost(add(a, one), b) || isAtMost(add(b, one), a);
  if (known !== null || isApart) return (known === 0n) === wanted ? holds : fails;
  // Of what is not negative to be unlike zero is to be at least one.
  if (isAtMost(b, a)) return wanted ? atMost(a, b) : atMost(add(b, one), a);
  if (isAtMost(a, b)) return wanted ? atMost(b, a) : atMost(add(a, one), b);
  const { negative, positive } = bySign(difference);
  return {
    condition: { kind: 'compare', comparison: wanted ? '=' : '!=', left: quantityOf(negative), right: quantityOf(positive) }, // prettier-ignore
    key: `${difference.key}${wanted ? '=' : '!='}0`,
    negation: () => equality(a, b, !wanted),
  };
}

/** All conditions of a list. */
export function allOf(list: readonly LaunchCondition[]): LaunchCondition {
  return joined('all', list);
}

/** At least one condition of a list. */
export function anyOf(list: readonly LaunchCondition[]): LaunchCondition {
  return joined('any', list);
}

function joined(kind: 'all' | 'any', list: readonly LaunchCondition[]): LaunchCondition {
  const [neutral, absorbing] = kind === 'all' ? (['always', 'never'] as const) : (['never', 'always'] as const);
  const byKey = new Map<string, LaunchCondition>();
  for (const part of list) {
    if (part.condition.kind === absorbing) return part;
    if (part.condition.kind !== neutral) byKey.set(part.key, part);
  }
  const parts = [...byKey.values()];
  if (parts.length === 0) return kind === 'all' ? holds : fails;
  if (parts.length === 1) return parts[0]!;
  return {
    condition: { kind, conditions: parts.map(({ condition }) => condition) },
    key: `${kind}(${parts.map(({ key }) => key).join(',')})`,
    negation: () => joined(kind === 'all' ? 'any' : 'all', parts.map((part) => part.negation())), // prettier-ignore
  };
}
