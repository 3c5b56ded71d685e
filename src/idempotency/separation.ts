/**
 * Launches of unknown sizes: conditions for disjoint arrays, if no index leaves its array or wraps around. Arrays in
 * different allocations are then disjoint, independent of the footprints of the accesses.
 */
import type { Root } from './footprint/footprint.ts';
import type { ArrayOrigin, Separation } from './model/kernel-idempotency.ts';
import { isOfOneDimension, type Quantity, type ValidatorCondition } from './model/quantity.ts';

/**
 * The conjuncts of a condition that are not about the number of dimensions of the launch, or about indices that do not
 * wrap around.
 */
export function ofLaunches(condition: ValidatorCondition): readonly ValidatorCondition[] {
  return (condition.kind === 'all' ? condition.conditions : [condition]).filter((part) => {
    if (part.kind !== 'compare') return true;
    const { left, right } = part;
    return !isOfOneDimension(part) && !isEndOfNumbers(left) && !isEndOfNumbers(right);
  });
}

/**
 * Conditions that make the arrays of pairs disjoint, for all sizes.
 * @param pairs bases of the accesses that must be disjoint
 * @param dimensions assumptions of proofs on dimensions, and on indices that do not wrap around
 * @returns empty if a launch must satisfy more
 */
export function separationOf(pairs: readonly (readonly [Root, Root])[], dimensions: ValidatorCondition): readonly Separation[] {
  const origins = pairs.map(([first, second]) => [originOf(first), originOf(second)] as const);
  const known = origins.flatMap(([a, b]) => (a && b ? [[a, b] as const] : []));
  const fixed = (dimensions.kind === 'all' ? dimensions.conditions : [dimensions]).map((part) => {
    if (part.kind === 'always') return [];
    if (part.kind !== 'compare') return null;
    const { left, comparison, right } = part;
    const isSize = left.kind === 'block-size' || left.kind === 'grid-size';
    if (isSize && comparison === '=' && right.kind === 'constant') return [{ kind: left.kind, axis: left.axis, size: right.value }];
    return isEndOfNumbers(left) || isEndOfNumbers(right) ? [] : null;
  });
  const sizes = fixed.flatMap((part) => part ?? []);
  return known.length < origins.length || fixed.includes(null) ? [] : [{ pairs: known, dimensions: sizes }];
}

/** The origin of an array; null if its base is neither an argument nor a variable of the module. */
function originOf(root: Root): ArrayOrigin | null {
  if (root.kind === 'object') return { kind: 'variable' };
  if (root.kind !== 'parameter' && root.kind !== 'texture') return null;
  return { kind: root.kind === 'texture' ? 'texture' : 'pointer', index: root.index, offset: root.offset };
}

/** Whether a quantity is a limit of 32- or 64-bit numbers, as in a condition that a number does not wrap around. */
function isEndOfNumbers(quantity: Quantity): boolean {
  if (quantity.kind !== 'constant') return false;
  const { value } = quantity;
  return [31n, 63n].some((bits) => value === 1n << bits || value === -(1n << bits));
}
