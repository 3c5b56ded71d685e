/** Sums that lanes select between, and the number of runs of neighbouring lanes with the same selection. */
import { absolute } from '../../base/integer.ts';
import type { BlockId } from '../../ir/form/kernel.ts';
import { type Linear, inside, readingOf, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { type LaneEvaluator, type LaneSetting, type LaneValues, isWarpUniform, laneValues, withoutReadings } from './lane-values.ts';
import { lanesInMask, type WarpPosition } from './warp-position.ts';

/** A linear sum: a constant, and terms with factors. */
export type Sum = Pick<Linear, 'constant' | 'terms'>;

/** Limit on the alternatives of a sum with selections. */
const maxWays = 4;

/** The alternatives of the lanes, and the conditions that select them. */
interface Selection {
  /** The alternatives; the value of each lane is one of them. */
  readonly ways: readonly Sum[];
  readonly conditions: readonly Term[];
}

/**
 * Sums in which something is selected (`i == 0 ? i : i - 1`, `min(i + 1, n - 1)`), as the alternatives of each lane.
 * Only the sum itself if it has no selections, or too many.
 */
export function selectionOf(setting: LaneSetting, sum: Sum): Selection {
  const ways: Sum[] = [];
  const conditions = new Set<Term>();
  const work: Sum[] = [sum];
  for (let next = work.pop(); next; next = work.pop()) {
    const selected = [...next.terms.keys()].find((term) => selectIn(term) !== null);
    const arms = selected && armsOf(setting, selected);
    if (!arms) ways.push(next);
    else {
      conditions.add(selectIn(selected)!.arguments[0]!);
      for (const arm of arms) work.push(replaced(next, selected, arm));
    }
    if (ways.length + work.length > maxWays) return { ways: [sum], conditions: [] };
  }
  return { ways, conditions: [...conditions] };
}

/**
 * The sum of most lanes if every selection in it is by an equality that at most one lane of a warp satisfies (`i + 1 ==
 * n ? 0 : i + 1`), and the number of lanes that may have another one; null for other sums.
 */
export function sumOfMostLanes(
  setting: LaneSetting,
  sum: Sum,
  valuesOf: (sum: Sum) => LaneValues,
  mask: number,
): { readonly sum: Sum; readonly exceptions: number } | null {
  const { view } = setting.symbolic;
  const lanes = lanesInMask(mask);
  let rest = sum;
  const conditions = new Set<Term>();
  for (let turn = 0; turn < maxWays; turn++) {
    const selected = [...rest.terms.keys()].find((term) => selectIn(term) !== null);
    if (!selected) return conditions.size > 0 ? { sum: rest, exceptions: conditions.size } : null;
    const condition = selectIn(selected)!.arguments[0]!;
    const isNegated = condition.operator === 'not';
    const equality = isNegated ? condition.arguments[0]! : condition;
    const arms = equality.operator === 'equal' ? armsOf(setting, selected) : null;
    if (!arms) return null;
    const [a, b] = equality.arguments.map((side) => view.natural(side)) as [Linear, Linear];
    const { offsets, groups, scattered } = valuesOf(differenceOf(a, b));
    const isOneGroup = !scattered && lanes.every((lane) => groups[lane] === groups[lanes[0]!]);
    // Numbers that differ do so modulo any power of two above their distances.
    const size = 1n << BigInt(equality.arguments[0]!.width);
    const own = new Set(lanes.map((lane) => ((offsets[lane]! % size) + size) % size));
    if (!isOneGroup || own.size < lanes.length) return null;
    conditions.add(equality);
    rest = replaced(rest, selected, arms[isNegated ? 0 : 1]!);
  }
  return null;
}

/** The selection (`select`) that a term is or reads; null for other terms. */
function selectIn(term: Term): Term | null {
  const inner = readingOf(term) ? term.arguments[0]! : term;
  return inner.operator === 'select' ? inner : null;
}

/** The values of the two sides of a selection, or of a reading of one; null for other terms. */
function armsOf(setting: LaneSetting, term: Term): readonly Linear[] | null {
  const { view } = setting.symbolic;
  const reading = readingOf(term);
  const inner = selectIn(term);
  if (!inner) return null;
  const bounds = reading === 'signed' ? signedBounds(inner.width) : unsignedBounds(inner.width);
  const [condition, ...sides] = inner.arguments as [Term, Term, Term];
  const [taken, other] = sides.map((arm) => withoutReadings(setting, view.natural(arm))) as [Linear, Linear];
  const arms = [...withEquality(setting, condition, taken, other)];
  if (!reading || arms.every((arm) => inside(arm, bounds))) return arms;
  // Index arithmetic is assumed not to wrap around if it has at least the width of an index.
  if (inner.width < 32) return null;
  setting.assume('no-wrap');
  return arms;
}

/**
 * Sides of a selection by an equality. If two sums are equal, any multiple of their difference may be added: with it `i
 * == 0 ? 0 : i - 1` selects between `i` and `i - 1`, which are adjacent.
 */
function withEquality(setting: LaneSetting, condition: Term, taken: Linear, other: Linear): readonly [Linear, Linear] {
  const isNegated = condition.operator === 'not';
  const equality = isNegated ? condition.arguments[0]! : condition;
  if (equality.operator !== 'equal' || equality.arguments[0]!.width < 32) return [taken, other];
  const [a, b] = equality.arguments.map((side) => withoutReadings(setting, setting.symbolic.view.natural(side)));
  const none = differenceOf(a!, b!);
  const [equal, unequal] = isNegated ? [other, taken] : [taken, other];
  const [first] = [...none.terms].flatMap(([term, by]) => {
    const wanted = (unequal.terms.get(term) ?? 0n) - (equal.terms.get(term) ?? 0n);
    return wanted !== 0n && wanted % by === 0n ? [wanted / by] : [];
  });
  if (first === undefined) return [taken, other];
  setting.assume('no-wrap');
  const moved = { ...equal, ...plus(equal, none, first) };
  return isNegated ? [taken, moved] : [moved, other];
}

function replaced(form: Sum, term: Term, arm: Sum): Sum {
  const terms = new Map(form.terms);
  terms.delete(term);
  return plus({ ...form, terms }, arm, form.terms.get(term)!);
}

/** The difference of two sums. */
export function differenceOf(a: Sum, b: Sum): Sum {
  return plus(a, b, -1n);
}

/** a + factor * b. */
function plus(a: Sum, b: Sum, factor: bigint): Sum {
  const terms = new Map(a.terms);
  for (const [part, by] of b.terms) {
    const total = (terms.get(part) ?? 0n) + factor * by;
    if (total === 0n) terms.delete(part);
    else terms.set(part, total);
  }
  return { constant: a.constant + factor * b.constant, terms };
}

/**
 * Maximum number of runs of neighbouring lanes in which each of some conditions is constant; null if unknown. Lanes
 * that compare neighbouring numbers change sides once, and those that divide them have few quotients.
 */
export function runsOfLanes(
  setting: LaneSetting,
  conditions: readonly Term[],
  mask: number,
  block: BlockId,
  place: WarpPosition,
  evaluator: LaneEvaluator,
): number | null {
  const { view } = setting.symbolic;
  const lanes = lanesInMask(mask);
  /** Difference of a monotone form between the first lane and the last; null if the form is not monotone. */
  const spreadOf = (form: Sum): bigint | null => {
    const { offsets, groups, scattered } = laneValues(setting, withoutReadings(setting, form as Linear), mask, block, place, evaluator);
    if (scattered || lanes.some((lane) => groups[lane] !== groups[lanes[0]!])) return null;
    const steps = lanes.slice(1).map((lane, at) => offsets[lane]! - offsets[lanes[at]!]!);
    const isMonotone = steps.every((step) => step >= 0n) || steps.every((step) => step <= 0n);
    const spread = steps.reduce((sum, step) => sum + step, 0n);
    return isMonotone ? absolute(spread) : null;
  };
  /** By term: how often its value changes between neighbouring lanes. */
  const changes = new Map<Term, number>();
  const visit = (term: Term): boolean => {
    if (changes.has(term) || isWarpUniform(setting, term, block, place)) return true;
    const [a, b] = term.arguments as [Term, Term];
    if (term.operator === 'slt' || term.operator === 'ult') {
      const read = (side: Term): Linear => (term.operator === 'slt' ? view.signed(side) : view.unsigned(side));
      const spread = spreadOf(view.subtract(read(b), read(a)));
      if (spread !== null) changes.set(term, spread === 0n ? 0 : 1);
      return spread !== null || term.arguments.every(visit);
    }
    if (['lshr', 'ashr', 'udiv'].includes(term.operator) && b.operator === 'constant' && term.width >= 32) {
      const size = term.operator === 'udiv' ? b.value : 1n << b.value;
      const spread = size === 0n ? null : spreadOf(view.natural(a));
      if (spread === null) return false;
      setting.assume('no-wrap');
      changes.set(term, Number((spread + size - 1n) / size));
      return true;
    }
    return term.arguments.length > 0 && term.arguments.every(visit);
  };
  if (!conditions.every(visit)) return null;
  return 1 + [...changes.values()].reduce((sum, own) => sum + own, 0);
}
