/** Conditions on a launch. Comparisons that the ranges of quantities decide are folded to constants. */
import { type ValidatorCondition, always, never } from '../model/quantity.ts';
import { type Amount, addAmounts, bySign, fixedValueOf, isAtMost, oneAmount, quantityOf, subtractAmounts } from './amount.ts';

/** A condition with a key that is equal for equal conditions. */
export interface LaunchCondition {
  readonly condition: ValidatorCondition;
  readonly key: string;
  readonly negation: () => LaunchCondition;
  /** For `a <= b`: the difference `b - a`. */
  readonly difference?: Amount;
}

export const alwaysMet: LaunchCondition = { condition: always, key: 'always', negation: () => neverMet };
export const neverMet: LaunchCondition = { condition: never, key: 'never', negation: () => alwaysMet };

/** `a <= b` */
export function lessOrEqual(a: Amount, b: Amount): LaunchCondition {
  if (isAtMost(a, b)) return alwaysMet;
  if (isAtMost(addAmounts(b, oneAmount), a)) return neverMet;
  const difference = subtractAmounts(b, a);
  const { negative, positive } = bySign(difference);
  return {
    condition: { kind: 'compare', comparison: '<=', left: quantityOf(negative), right: quantityOf(positive) },
    key: `0<=${difference.key}`,
    difference,
    negation: () => lessOrEqual(addAmounts(b, oneAmount), a),
  };
}

/** `a = b` */
export function equal(a: Amount, b: Amount): LaunchCondition {
  return equality(a, b, true);
}

function equality(a: Amount, b: Amount, wanted: boolean): LaunchCondition {
  const difference = subtractAmounts(a, b);
  const known = fixedValueOf(difference);
  const isApart = isAtMost(addAmounts(a, oneAmount), b) || isAtMost(addAmounts(b, oneAmount), a);
  if (known !== null || isApart) return (known === 0n) === wanted ? alwaysMet : neverMet;
  // A value that is not negative is not zero if it is at least one.
  if (isAtMost(b, a)) return wanted ? lessOrEqual(a, b) : lessOrEqual(addAmounts(b, oneAmount), a);
  if (isAtMost(a, b)) return wanted ? lessOrEqual(b, a) : lessOrEqual(addAmounts(a, oneAmount), b);
  const { negative, positive } = bySign(difference);
  return {
    condition: { kind: 'compare', comparison: wanted ? '=' : '!=', left: quantityOf(negative), right: quantityOf(positive) },
    key: `${difference.key}${wanted ? '=' : '!='}0`,
    negation: () => equality(a, b, !wanted),
  };
}

/** The conjunction of a list of conditions. */
export function allMet(list: readonly LaunchCondition[]): LaunchCondition {
  return joined('all', list);
}

/** The disjunction of a list of conditions. */
export function anyMet(list: readonly LaunchCondition[]): LaunchCondition {
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
  if (parts.length === 0) return kind === 'all' ? alwaysMet : neverMet;
  if (parts.length === 1) return parts[0]!;
  return {
    condition: { kind, conditions: parts.map(({ condition }) => condition) },
    key: `${kind}(${parts.map(({ key }) => key).join(',')})`,
    negation: () =>
      joined(
        kind === 'all' ? 'any' : 'all',
        parts.map((part) => part.negation()),
      ),
  };
}
