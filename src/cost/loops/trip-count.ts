/**
 * Maximum trip count of a loop, from the conditions under which it continues: variables that grow by the same amount in
 * each iteration, and those that double or halve.
 */
import { absolute } from '../../base/integer.ts';
import { dominates } from '../../ir/form/dominators.ts';
import type { BlockId, Loop } from '../../ir/form/kernel.ts';
import { type Linear, inside, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import {
  type Expression,
  add,
  ceilDivide,
  constant,
  constantValue,
  floorQuotient,
  log2,
  named,
  scale,
  subtract,
} from '../expressions/expression.ts';
import { isNonNegative, maximum, minimum, substitute } from '../expressions/expression-order.ts';
import { comparisonOf, type TermComparison, conjuncts } from '../lanes/term-comparison.ts';
import { type LaneEvaluator, divisorOf, isWarpUniform, laneValues, withoutReadings } from '../lanes/lane-values.ts';
import { type BoundSetting, TermBounder, type TermBounds } from '../lanes/term-bound.ts';
import { selectionOf } from '../lanes/selection.ts';
import { lanesInMask, type WarpPosition } from '../lanes/warp-position.ts';

export interface TripCount {
  /** The block that decides on another iteration. */
  readonly from: BlockId;
  /** The successor that stays in the loop. */
  readonly stay: BlockId;
  /** Iterations that are followed by another one, for the lane with the most iterations. */
  readonly rounds: Expression;
  /** Maximum number of divergent executions of the exit branch: some lanes of the warp leave and others stay. */
  readonly spread: Expression;
  /** Whether each lane executes its maximum number of iterations unless it leaves by another exit. */
  readonly isDetermined: boolean;
  /** Whether all lanes execute that number of iterations. */
  readonly isExact: boolean;
}

/**
 * The exits of a loop that bound its trip count.
 * @param mask lanes that enter the loop
 * @param place around the loop
 */
export function tripCounts(setting: BoundSetting, loop: Loop, mask: number, place: WarpPosition, evaluator: LaneEvaluator): TripCount[] {
  const { kernel, store } = setting.symbolic;
  const found: TripCount[] = [];
  const least = leastAt(setting, loop.header, mask, evaluator);
  for (const { from, to } of loop.exits) {
    if (!loop.latches.every((latch) => dominates(kernel.dominators, from, latch))) continue;
    const staying = kernel.blocks[from]!.successors.filter((next) => loop.blocks.has(next));
    if (staying.length !== 1) continue;
    const condition = store.not(setting.symbolic.edge(from, to));
    const parts = conjuncts(setting.symbolic.store, condition);
    const bounds = parts.flatMap((part) => boundOf(setting, loop, part, from, mask, place, evaluator, least) ?? []);
    if (bounds.length === 0) continue;
    const rounds = minimum(...bounds.map((bound) => bound.rounds));
    const isOnly = bounds.length === 1 && parts.length === 1;
    const spread = isOnly ? bounds[0]!.spread : most(mask);
    const isDetermined = bounds.every((bound) => bound.isDetermined);
    const isExact = isOnly && isDetermined && constantValue(spread)?.top === 0n;
    found.push({ from, stay: staying[0]!, rounds, spread, isDetermined, isExact });
  }
  return found;
}

/** Parameters that the branches on every path to a block bound from below: `if (n < 1) return;`. */
function leastAt(setting: BoundSetting, block: BlockId, mask: number, evaluator: LaneEvaluator): Map<string, bigint> {
  const { kernel, view, edge } = setting.symbolic;
  /** Minimum or maximum of a term over the lanes that enter the loop. */
  const endOf = (term: Term, isLeast: boolean): bigint => {
    const values = evaluator.inLanes(term, lanesInMask(mask));
    const range = view.unknownRange(term);
    if (range.low < 0n || values.includes(undefined)) return isLeast ? range.low : range.high;
    return (values as bigint[]).reduce((a, b) => (a < b === isLeast ? a : b));
  };
  const least = new Map<string, bigint>();
  for (let at = block, up = kernel.dominators[at]!; up !== at; at = up, up = kernel.dominators[at]!) {
    // Back edges come from blocks that the block dominates.
    const ways = kernel.blocks[at]!.predecessors.filter((from) => !dominates(kernel.dominators, at, from));
    if (kernel.blocks[up]!.terminator.kind !== 'branch' || ways.length !== 1 || ways[0] !== up) continue;
    const condition = edge(up, at);
    for (const part of conjuncts(setting.symbolic.store, condition)) {
      const comparison = comparisonOf(part);
      if (!comparison || comparison.kind === 'differ' || comparison.larger.width === 0) continue;
      const read = (term: Term): Linear => (comparison.signed ? view.signed(term) : view.unsigned(term));
      const difference = withoutReadings(setting, view.subtract(read(comparison.larger), read(comparison.smaller)));
      const parameters = [...difference.terms].filter(([term]) => term.atom?.kind === 'parameter');
      const [[term, factor] = [null, 0n]] = parameters;
      if (parameters.length !== 1 || term?.atom?.kind !== 'parameter' || factor <= 0n) continue;
      const name = setting.parameterName(term.atom.index, term.atom.offset);
      // Upper bound of the other addends, such as the block index.
      let rest = difference.constant;
      for (const [other, times] of difference.terms) if (other !== term) rest += times * endOf(other, times < 0n);
      const above = (comparison.kind === 'strict' ? 1n : 0n) - rest;
      const from = above > 0n ? (above + factor - 1n) / factor : 0n;
      if (name !== null && from > (least.get(name) ?? 0n)) least.set(name, from);
    }
  }
  return least;
}

/** Divergent executions if all lanes leave separately: one fewer than the lanes. */
function most(mask: number): Expression {
  return constant(Math.max(0, lanesInMask(mask).length - 1));
}

type Sums = Map<Term, bigint>;

/**
 * The form that a reading of a loop variable reads. The variable does not wrap around before the loop ends, although it
 * might do so within the bound of the trip count.
 */
function movingForm({ symbolic: { view } }: BoundSetting, loop: Loop, reading: Term): Linear | null {
  const [inner] = reading.arguments as [Term];
  if (!holdsRound(inner, loop) || reading.width < 32) return null;
  const form = view.natural(inner);
  if (form.terms.has(inner)) return null;
  let [low, high] = [form.constant, form.constant];
  for (const [term, factor] of form.terms) {
    if (holdsRound(term, loop)) continue;
    const range = view.unknownRange(term);
    low += factor * (factor > 0n ? range.low : range.high);
    high += factor * (factor > 0n ? range.high : range.low);
  }
  const either = { low: -unsignedBounds(reading.width).high, high: unsignedBounds(reading.width).high };
  return inside({ low, high }, either) ? form : null;
}

function holdsRound({ leaves }: Term, loop: Loop): boolean {
  return leaves.some(({ atom }) => atom!.kind === 'iteration' && atom.loop === loop.id);
}

type RoundBound = Pick<TripCount, 'rounds' | 'spread' | 'isDetermined'>;

function boundOf(
  setting: BoundSetting,
  loop: Loop,
  condition: Term,
  from: BlockId,
  mask: number,
  place: WarpPosition,
  evaluator: LaneEvaluator,
  least: ReadonlyMap<string, bigint>,
): RoundBound | null {
  const comparison = comparisonOf(condition);
  if (!comparison || comparison.larger.width === 0) return null;
  const { view } = setting.symbolic;
  const read = (term: Term): Linear => (comparison.signed ? view.signed(term) : view.unsigned(term));
  const sum = withoutReadings(setting, view.subtract(read(comparison.larger), read(comparison.smaller)), (reading) =>
    movingForm(setting, loop, reading),
  );
  const moving: [Term, bigint][] = [];
  const rest: Sums = new Map();
  for (const [term, factor] of sum.terms) {
    if (holdsRound(term, loop)) moving.push([term, factor]);
    else rest.set(term, factor);
  }
  if (moving.length === 0) return null;
  // Only the constant and the terms of a form are looked at from here on.
  // Numbers that are compared for equality count modulo a power of two: the one nearest to zero is meant.
  const constantPart = comparison.kind === 'differ' ? BigInt.asIntN(comparison.larger.width, sum.constant) : sum.constant;
  const still: Linear = { constant: constantPart, terms: rest, low: 0n, high: 0n, assumes: [] };
  const shape = shapeOf(setting, loop, moving);
  if (!shape) return null;
  const amounts = shape.kind === 'shift' ? [shape.start] : shape.steps.flatMap(({ by }) => by ?? []);
  const meets = ({ constant: own, terms }: Linear, size: bigint): boolean =>
    own % size === 0n && [...terms].every(([term, factor]) => (factor * divisorOf(setting, term)) % size === 0n);
  const isShared = amounts.every((term) => isWarpUniform(setting, term, from, place));
  // The selected values (the start of an unrolled loop after its remainder) may share terms with the limit.
  const { ways } = selectionOf(setting, still);
  const each = ways.map((way): Linear => ({ ...still, ...way }));
  // If lanes use different alternatives, each alternative counts.
  const lanesOf = (way: Linear): Representatives =>
    isShared ? representatives(setting, way, from, mask, place, evaluator) : { list: lanesInMask(mask), spread: null };
  const boundBy = (sums: readonly Linear[]): RoundBound | null => {
    const perLane: Expression[] = [];
    const spreads: (Expression | null)[] = [];
    let isDetermined = sums.length === 1;
    for (const way of sums) {
      const { list, spread: distance } = lanesOf(way);
      for (const lane of list) {
        const bounder = new TermBounder(setting, place, evaluator, lane, least);
        const rounds =
          shape.kind === 'linear'
            ? linearRounds(bounder, way, shape, comparison.kind, loop.exits.length === 1, meets)
            : geometricRounds(bounder, way, shape, comparison.kind);
        if (!rounds) return null;
        perLane.push(rounds);
        isDetermined &&= isKnown(bounder, way, shape);
      }
      if (distance === null) spreads.push(null);
      else if (shape.kind === 'linear') {
        const step = stepOf(new TermBounder(setting, place, evaluator, list[0]!), shape);
        const slow = step && isNonNegative(subtract(step.low, constant(distance))) ? constant(distance > 0n ? 1 : 0) : null;
        spreads.push(slow ?? (step && ceilDivide(constant(distance), step.low)));
      } else spreads.push(distance === 0n && shape.isShared ? constant(0) : null);
    }
    // Simplified with the bounds of the guards; elsewhere the names may be smaller.
    const rounds = substitute(maximum(...perLane), (name) => (least.has(name) ? named(name) : undefined));
    // The lanes of one alternative leave in one iteration more than their spread; each further alternative adds one.
    const spread = spreads.includes(null) ? null : add(...(spreads as Expression[]), constant(sums.length - 1));
    return { rounds, spread: spread ? minimum(spread, most(mask)) : most(mask), isDetermined };
  };
  // A selection as a whole may have a better bound than each of its sides.
  return boundBy(each) ?? (each.length > 1 ? boundBy([still]) : null);
}

/** Whether all values that determine the trip count, except for parameters, are known. */
function isKnown(bounder: TermBounder, still: Linear, shape: Shape): boolean {
  const isOne = ({ low, high }: TermBounds): boolean => low !== null && low.key === high?.key;
  if (!isOne(bounder.ofForm(still))) return false;
  if (shape.kind === 'shift') return shape.places === 1n && isOne(bounder.ofTerm(shape.start));
  return shape.steps.every(({ by }) => by === null || isOne(bounder.ofTerm(by)));
}

interface Representatives {
  readonly list: readonly number[];
  /** Difference between the largest and the smallest of their values; null if unknown. */
  readonly spread: bigint | null;
}

/**
 * Lanes that represent all others: if lanes differ only by a constant, the ones with the largest and the smallest;
 * otherwise all of them.
 */
function representatives(
  setting: BoundSetting,
  still: Linear,
  from: BlockId,
  mask: number,
  place: WarpPosition,
  evaluator: LaneEvaluator,
): Representatives {
  const lanes = lanesInMask(mask);
  const values = laneValues(setting, still, mask, from, place, evaluator);
  const isOneGroup = new Set(lanes.map((lane) => values.groups[lane])).size === 1;
  if (values.scattered || !isOneGroup) return { list: lanes, spread: null };
  const order = [...lanes].sort((a, b) => Number(values.offsets[b]! - values.offsets[a]!));
  const [last, first] = [order[order.length - 1]!, order[0]!];
  return {
    list: first === last ? [first] : [first, last],
    spread: values.offsets[first]! - values.offsets[last]!,
  };
}

type Shape =
  | { readonly kind: 'linear'; readonly steps: readonly { readonly factor: bigint; readonly by: Term | null }[] }
  | {
      readonly kind: 'shift';
      readonly grows: boolean;
      readonly start: Term;
      /** Number of bits by which each iteration shifts. */
      readonly places: bigint;
      readonly factor: bigint;
      readonly isShared: boolean;
    };

function shapeOf(setting: BoundSetting, loop: Loop, moving: readonly (readonly [Term, bigint])[]): Shape | null {
  const isRound = ({ atom }: Term): boolean => atom?.kind === 'iteration' && atom.loop === loop.id;
  const steps = moving.map(([term, factor]) => {
    if (isRound(term)) return { factor, by: null };
    if (term.operator !== 'mul') return null;
    const [a, b] = term.arguments as [Term, Term];
    const by = isRound(a) ? b : isRound(b) ? a : null;
    return by && !holdsRound(by, loop) ? { factor, by } : null;
  });
  if (!steps.includes(null)) return { kind: 'linear', steps: steps.filter((step) => step !== null) };
  const [[term, factor]] = moving as [readonly [Term, bigint]];
  if (moving.length > 1 || !['shl', 'lshr', 'ashr'].includes(term.operator)) return null;
  let [start, amount] = term.arguments as [Term, Term];
  const inner = start;
  // (start >> k) >> 1 is (start >> 1) >> k.
  if (amount.operator === 'constant' && inner.operator === term.operator && term.operator !== 'shl') {
    start = setting.symbolic.store.shift('lshr', start.width, inner.arguments[0]!, amount);
    amount = inner.arguments[1]!;
  }
  const { constant: more, terms } = setting.symbolic.view.natural(amount);
  const [[round, places] = [term, 0n]] = terms;
  if (terms.size !== 1 || more !== 0n || places < 1n || !isRound(round) || holdsRound(start, loop)) return null;
  return { kind: 'shift', grows: term.operator === 'shl', start, places, factor, isShared: start.leaves.length === 0 };
}

/** Decrease of the difference in each iteration; null if it may be 0. */
function stepOf(bounder: TermBounder, shape: Shape & { kind: 'linear' }): { low: Expression; high: Expression | null } | null {
  let low: Expression | null = constant(0);
  let high: Expression | null = constant(0);
  for (const { factor, by } of shape.steps) {
    const bounds = by ? bounder.ofTerm(by) : { low: constant(1), high: constant(1) };
    const [below, above] = factor < 0n ? [bounds.low, bounds.high] : [bounds.high, bounds.low];
    low = low && below && add(low, scale(below, -factor));
    high = high && above && add(high, scale(above, -factor));
  }
  return low && { low, high };
}

function linearRounds(
  bounder: TermBounder,
  still: Linear,
  shape: Shape & { kind: 'linear' },
  kind: TermComparison['kind'],
  isOnlyExit: boolean,
  meets: (form: Linear, size: bigint) => boolean,
): Expression | null {
  const { low, high } = bounder.ofForm(still);
  const step = stepOf(bounder, shape);
  if (kind === 'differ') {
    if (!step?.high || step.low.key !== step.high.key) return null;
    const by = constantValue(step.low);
    if (!by || by.top === 0n) return null;
    const size = by.top > 0n ? by.top : -by.top;
    const [least, most] = by.top > 0n ? [low, high] : [high && scale(high, -1), low && scale(low, -1)];
    // If the loop has no other exit the limit is reached: passing it means wrapping around. Otherwise the limit has to
    // be at a positive distance that is a multiple of the step.
    const isMet = isOnlyExit || (least !== null && isNonNegative(least) && meets(still, size));
    return isMet ? most && maximum(constant(0), ceilDivide(most, constant(size))) : null;
  }
  if (!step || !high || !isNonNegative(subtract(step.low, constant(1)))) return null;
  const reach = add(high, constant(kind === 'strict' ? 0 : 1));
  return maximum(constant(0), ceilDivide(reach, step.low));
}

function geometricRounds(
  bounder: TermBounder,
  still: Linear,
  shape: Shape & { kind: 'shift' },
  kind: TermComparison['kind'],
): Expression | null {
  const start = bounder.ofTerm(shape.start);
  const rest = bounder.ofForm(still);
  const size = absolute(shape.factor);
  // The number of j from 0 on with 2^j <= quotient.
  const shifts = (quotient: Expression): Expression => ceilDivide(log2(add(quotient, constant(1)), 'ceil'), constant(shape.places));
  if (shape.grows) {
    if (shape.factor > 0n || kind === 'differ' || !rest.high || !start.low) return null;
    if (!isNonNegative(subtract(start.low, constant(1)))) return null;
    const limit = floorQuotient(subtract(rest.high, constant(kind === 'strict' ? 1 : 0)), constant(size));
    return shifts(floorQuotient(limit, start.low));
  }
  // The loop continues down to a number of at least 1.
  if (kind === 'differ') {
    const isZero = still.terms.size === 0 && still.constant === 0n;
    return isZero && start.high ? shifts(start.high) : null;
  }
  if (shape.factor < 0n || !rest.high || !start.high) return null;
  const least = subtract(constant(kind === 'strict' ? 1 : 0), rest.high);
  const limit = ceilDivide(least, constant(size));
  if (!isNonNegative(subtract(limit, constant(1)))) return null;
  return shifts(floorQuotient(start.high, limit));
}
