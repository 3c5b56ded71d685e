/** The distance of two addresses as a sum of parts with constant weights. */
import { absolute } from '../../base/integer.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { commonStep } from '../../term/steps.ts';
import type { Term } from '../../term/term.ts';
import type { Difference, Unknown } from '../obligations/difference.ts';
import type { AccessSide } from '../obligations/obligation.ts';
import type { WeightedPart } from './mixed-radix.ts';

/** A comparison that an executed access implies: `index < limit`, or `index <= limit` if it is closed. */
interface IndexBound {
  readonly index: Term;
  readonly limit: Term;
  readonly isClosed: boolean;
  readonly isSigned: boolean;
}

/** The conditions of an access. */
export function sideConditions(symbolic: SymbolicKernel, { access, target }: AccessSide): readonly Term[] {
  return [symbolic.reach(access.block), target.condition].flatMap((condition) => conjunctsOf(symbolic, condition));
}

/** The parts of a conjunction; those of `!(a || b)` are `!a` and `!b`. */
function conjunctsOf(symbolic: SymbolicKernel, condition: Term): readonly Term[] {
  const [inner] = condition.arguments;
  if (condition.operator === 'all') return condition.arguments.flatMap((part) => conjunctsOf(symbolic, part));
  if (condition.operator === 'not' && inner!.operator === 'any')
    return inner!.arguments.flatMap((part) => conjunctsOf(symbolic, symbolic.store.not(part)));
  return [condition];
}

/** The comparisons among the conditions of an access. */
export function indexBounds(symbolic: SymbolicKernel, side: AccessSide): readonly IndexBound[] {
  return sideConditions(symbolic, side).flatMap((condition): readonly IndexBound[] => {
    // `!(n < i)` is `i <= n`.
    const isClosed = condition.operator === 'not';
    const { operator, arguments: both } = isClosed ? condition.arguments[0]! : condition;
    if (!/^[us]lt$/.test(operator)) return [];
    const [index, limit] = (isClosed ? both.toReversed() : both) as [Term, Term];
    return [{ index, limit, isClosed, isSigned: operator === 'slt' }];
  });
}

/**
 * The parts of a difference. Unknowns of the same term in two threads with opposite coefficients are one part, and so
 * are `n * block` and `thread` for blocks of any size n: the index of a thread in the grid.
 * @param sides the accesses, whose conditions bound iteration counters
 */
export function weightedParts(
  symbolic: SymbolicKernel,
  sides: readonly [AccessSide, AccessSide],
  { unknowns }: Difference,
): WeightedPart[] {
  const firsts = new Map<Term | number, Unknown>();
  const left = new Set(unknowns);
  const pairs: { readonly term: Term; readonly by: bigint; terms: readonly Term[]; most: bigint }[] = [];
  for (const unknown of unknowns) if (unknown.reading.side === 1) firsts.set(keyOf(unknown), unknown);
  for (const unknown of unknowns) {
    const { term, coefficient, bounds, reading } = unknown;
    const first = firsts.get(keyOf(unknown));
    if (reading.side === 1 || first?.coefficient !== -coefficient) continue;
    for (const one of [first, unknown]) left.delete(one);
    const [one, other] = [mostOf(symbolic, sides[0], first), mostOf(symbolic, sides[1], unknown)];
    const spread = (one > other ? one : other) - (bounds.low < first.bounds.low ? bounds.low : first.bounds.low);
    // `1024*p & 65535` has only multiples of 1024 as values.
    const step = stepOf(term);
    pairs.push({ term, by: coefficient * step, terms: [term], most: spread < 0n ? 0n : spread / step });
  }
  const separate = pairs.filter(({ term, by, most }) => {
    const [start, ...others] = pairs.filter((one) => one.by === by && isThreadOf(term, blockOf(one.term)));
    if (!start || others.length > 0) return true;
    start.terms = [blockOf(start.term)!, term];
    start.most += most;
    return false;
  });
  return [
    ...separate.map(({ terms, by, most }): WeightedPart => ({ terms, weight: absolute(by), least: -most, most })),
    ...[...left].map(({ coefficient, bounds: { low, high } }): WeightedPart => {
      const [least, most] = coefficient > 0n ? [low, high] : [-high, -low];
      return { terms: [], weight: absolute(coefficient), least, most };
    }),
  ];
}

/** The block in the product of its index and the size of a block along one axis; null for other terms. */
function blockOf({ operator, arguments: factors }: Term): Term | null {
  if (operator !== 'mul') return null;
  const atoms = factors.map((factor) => narrowed(factor).atom);
  const at = atoms.findIndex((atom) => atom?.kind === 'block');
  const [block, extent] = [atoms[at], atoms[1 - at]];
  return block?.kind === 'block' && extent?.kind === 'block-size' && extent.axis === block.axis ? narrowed(factors[at]!) : null;
}

/** Whether a term is the thread along the axis of a block. */
function isThreadOf({ atom }: Term, block: Term | null): boolean {
  return atom?.kind === 'thread' && block?.atom?.kind === 'block' && atom.axis === block.atom.axis;
}

/** Equal for the unknowns of one term, and for the counters of one loop in two widths. */
function keyOf({ term }: Unknown): Term | number {
  return term.atom?.kind === 'iteration' ? term.atom.loop : term;
}

/** The upper bound of an unknown, from its range and, for a counter of iterations, from the conditions of the access. */
function mostOf(symbolic: SymbolicKernel, side: AccessSide, { term, bounds }: Unknown): bigint {
  if (term.atom?.kind !== 'iteration') return bounds.high;
  const own = indexBounds(symbolic, side).filter(({ index }) => index === term);
  return own.reduce((high, { limit: { operator, value }, isClosed }) => {
    // Iteration counters are never negative, and a limit below the sign bit has the same value signed and unsigned.
    const most = isClosed ? value : value - 1n;
    return operator === 'constant' && value < 1n << 31n && most < high ? most : high;
  }, bounds.high);
}

/** A common divisor of all values of a masked term. */
function stepOf({ operator, arguments: [a, mask] }: Term): bigint {
  if (operator !== 'and' || mask!.operator !== 'constant') return 1n;
  const bits = mask!.value & ((1n << BigInt(a!.width)) - 1n) & ~(powerOf(a!) - 1n);
  return bits === 0n ? 1n : bits & -bits;
}

/** The largest known power of two that divides a term. */
export function powerOf(term: Term): bigint {
  const step = commonStep(term);
  return step & -step;
}

/** A coordinate or an extent without its conversion to a wider type, which does not change a nonnegative value. */
export function narrowed(term: Term): Term {
  const [inner] = term.arguments;
  const isWidened = /^[sz]ext$/.test(term.operator) && /^(?:thread|block|block-size|grid-size)$/.test(inner!.atom?.kind ?? '');
  return isWidened ? inner! : term;
}
