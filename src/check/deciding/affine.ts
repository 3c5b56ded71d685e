/**
 * The first tier decides obligations by the linear form of the address difference, without search. Its arguments are
 * intervals, the greatest common divisor of the coefficients, and injectivity in mixed radix: if each part of 4*t +
 * 1024*b + 65536*k stays below the next coefficient, the sum is equal for two threads only if t, b and k are.
 */
import { gcd } from '../../base/integer.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Term } from '../../term/term.ts';
import type { Difference } from '../obligations/difference.ts';
import type { Obligation } from '../obligations/obligation.ts';

/** The argument by which an address difference refutes an overlap. */
export type DifferenceArgument = 'interval' | 'divisor' | 'radix' | 'block-size';

/**
 * The argument that the accesses of an obligation never touch overlapping bytes; null if the difference refutes no
 * overlap.
 */
export function refutedByDifference(dimensions: Dimensions, obligation: Obligation, difference: Difference): DifferenceArgument | null {
  const behind = BigInt(obligation.first.access.bytes) - 1n;
  const ahead = BigInt(obligation.second.access.bytes) - 1n;
  // The accesses overlap if and only if -behind <= difference <= ahead.
  if (difference.low > ahead || difference.high < -behind) return 'interval';
  if (refutedByDivisor(difference, behind, ahead)) return 'divisor';
  if (obligation.sameThread || obligation.mayBeOne) return null;
  if (refutedByInjectivity(dimensions, obligation, difference, behind, ahead)) return 'radix';
  return refutedByBlockSize(dimensions, obligation, difference, behind, ahead) ? 'block-size' : null;
}

/** Adjacent blocks of any size n: c*(n*b + t) with t below n differs by at least c in threads of different blocks. */
function refutedByBlockSize(
  { grid }: Dimensions,
  { scope }: Obligation,
  { constant, unknowns }: Difference,
  behind: bigint,
  ahead: bigint,
): boolean {
  const [axis, ...more] = ([0, 1, 2] as const).filter((one) => grid[one] !== 1);
  if (scope !== 'grid' || axis === undefined || more.length > 0 || unknowns.length !== 4) return false;
  const isAtom = (term: Term, kind: 'block' | 'block-size' | 'thread'): boolean => {
    const { atom } = narrowed(term);
    return atom?.kind === kind && atom.axis === axis;
  };
  const isStart = ({ operator, arguments: [a, b] }: Term): boolean =>
    operator === 'mul' && ((isAtom(a!, 'block') && isAtom(b!, 'block-size')) || (isAtom(b!, 'block') && isAtom(a!, 'block-size')));
  const step = (side: 1 | 2, isPart: (term: Term) => boolean): bigint | undefined =>
    unknowns.find(({ term, reading }) => reading.side === side && isPart(term))?.coefficient;
  const by = step(1, isStart);
  const isThread = (term: Term): boolean => isAtom(term, 'thread');
  if (by === undefined || step(2, isStart) !== -by || step(1, isThread) !== by || step(2, isThread) !== -by) return false;
  const reach = (behind > ahead ? behind : ahead) + (constant < 0n ? -constant : constant);
  return (by < 0n ? -by : by) > reach;
}

/** A coordinate or an extent without its conversion to a wider type, which does not change a nonnegative value. */
export function narrowed(term: Term): Term {
  const [inner] = term.arguments;
  const isWidened = /^[sz]ext$/.test(term.operator) && /^(?:thread|block|block-size|grid-size)$/.test(inner!.atom?.kind ?? '');
  return isWidened ? inner! : term;
}

function refutedByDivisor(difference: Difference, behind: bigint, ahead: bigint): boolean {
  let divisor = 0n;
  for (const { coefficient } of difference.unknowns) divisor = gcd(divisor, coefficient);
  if (divisor === 0n) return false;
  const rest = ((difference.constant % divisor) + divisor) % divisor;
  // The difference is congruent to `rest` modulo the divisor. Its values nearest to zero are `rest` and `rest -
  // divisor`.
  return rest > ahead && divisor - rest > behind;
}

/** Shows that an overlap forces the two threads (blocks) to be the same one. */
function refutedByInjectivity(
  dimensions: Dimensions,
  obligation: Obligation,
  difference: Difference,
  behind: bigint,
  ahead: bigint,
): boolean {
  // Pair up the copies of each unknown in the two threads: c*(x1 - x2).
  const byTerm = new Map<string, { coefficient: bigint; spread: bigint; count: number; first: bigint }>();
  for (const { name, coefficient, bounds } of difference.unknowns) {
    const side = name.endsWith('_1') ? 1n : name.endsWith('_2') ? -1n : 0n;
    if (side === 0n) return false;
    const stem = name.slice(0, -2);
    const entry = byTerm.get(stem);
    if (!entry) byTerm.set(stem, { coefficient: coefficient * side, spread: bounds.high - bounds.low, count: 1, first: side });
    else {
      if (entry.coefficient !== coefficient * side) return false;
      entry.count++;
    }
  }
  const parts = [...byTerm].map(([stem, part]) => ({
    stem,
    ...part,
    size: part.coefficient < 0n ? -part.coefficient : part.coefficient,
  }));
  if (parts.some((part) => part.count !== 2)) return false;
  parts.sort((a, b) => (a.size < b.size ? -1 : a.size > b.size ? 1 : 0));
  // An upper bound of what the largest nonzero part has to compensate: the overlap, the constant and all smaller parts.
  const { constant } = difference;
  let below = (behind > ahead ? behind : ahead) + (constant < 0n ? -constant : constant);
  for (const part of parts) {
    if (part.size <= below) return false;
    below += part.size * part.spread;
  }
  // Every difference x1 - x2 is zero. If these include all coordinates, the two threads (blocks) are the same one.
  const stems = new Set(parts.map((part) => part.stem));
  const axes = ['x', 'y', 'z'] as const;
  const extents = obligation.scope === 'block' ? dimensions.block : dimensions.grid;
  const letter = obligation.scope === 'block' ? 't' : 'b';
  return axes.every((axis, i) => extents[i] === 1 || stems.has(`${letter}${axis}`));
}
