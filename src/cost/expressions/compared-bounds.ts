import { type Expression, namesOf, scale, subtract } from './expression.ts';
import { compareGrowth, growthIn } from './growth.ts';
import { isNonNegative } from './expression-order.ts';

type Comparison =
  | { readonly kind: 'equal' | 'smaller' | 'larger' | 'incomparable' }
  /** The second bound grows faster, or slower, with this name. */
  | { readonly kind: 'other-order'; readonly name: string; readonly grows: 'faster' | 'slower' };

/**
 * Compares two bounds of one metric, over all values of their names: `larger` if the second bound is larger for some
 * values and smaller for none. A different order of growth takes precedence.
 */
export function compareBounds(before: Expression, after: Expression): Comparison {
  if (before.key === after.key) return { kind: 'equal' };
  const names = [...new Set([...namesOf(before), ...namesOf(after)])].sort();
  const orders = names.map((name) => compareGrowth(growthIn(after, name), growthIn(before, name)));
  if (orders.some((order) => order > 0) !== orders.some((order) => order < 0)) {
    const at = orders.findIndex((order) => order !== 0);
    return { kind: 'other-order', name: names[at]!, grows: orders[at]! > 0 ? 'faster' : 'slower' };
  }
  const difference = subtract(after, before);
  if (isNonNegative(difference)) return { kind: 'larger' };
  return { kind: isNonNegative(scale(difference, -1)) ? 'smaller' : 'incomparable' };
}
