/**
 * Addresses composed of parts of indices: the tile `p / 64`, `p % 64` of a matrix, or the lane and the warp of a
 * thread. In mixed radix, two such addresses are equal only if all parts are equal. Equal parts fix bits of their
 * index, and these may identify the thread or the block. Then an overlap implies that both threads (blocks) are the
 * same one.
 */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';
import type { Difference, Unknown } from '../obligations/difference.ts';
import type { Obligation } from '../obligations/obligation.ts';

/**
 * A summand of the address difference: `by` times the difference of one part in two threads, whose absolute value is at
 * most `spread`.
 */
interface Part {
  readonly term: Term;
  readonly by: bigint;
  readonly spread: bigint;
}

/**
 * Shows that an overlap forces the two threads (blocks) to be the same one.
 * @returns the terms that are assumed not to wrap around; null if it is not proved
 */
export function refutedByCoordinates(
  symbolic: SymbolicKernel,
  dimensions: Dimensions,
  { first, second, scope }: Obligation,
  difference: Difference,
): readonly Term[] | null {
  const limits = [first, second].map(({ access, target }) => [symbolic.reach(access.block), target.condition].map(limitsOf));
  const parts = partsOf(difference, ({ term, bounds, reading }) => {
    const most = limits[reading.side - 1]!.flatMap((known) => known.get(term) ?? []);
    return most.reduce((high, limit) => (limit < high ? limit : high), bounds.high);
  });
  if (!parts) return null;
  const [behind, ahead] = [BigInt(first.access.bytes) - 1n, BigInt(second.access.bytes) - 1n];
  const outcome = areAllEqual(parts, difference.constant, behind, ahead);
  if (outcome !== 'equal') return outcome === 'apart' ? [] : null;
  const extents = scope === 'block' ? dimensions.block : dimensions.grid;
  const equal = new EqualBits(symbolic, dimensions);
  for (const { term } of parts) equal.add(term, allBits(term.width));
  const axes = ([0, 1, 2] as const).filter((axis) => extents[axis] !== 1);
  return axes.every((axis) => equal.isKnown(scope === 'block' ? 'thread' : 'block', axis)) ? equal.assumes : null;
}

function partsOf({ unknowns }: Difference, mostOf: (unknown: Unknown) => bigint): Part[] | null {
  const pairs = new Map<Term, { readonly by: bigint; readonly low: bigint; readonly high: bigint; readonly sides: Set<1 | 2> }>();
  for (const unknown of unknowns) {
    const { term, coefficient, reading } = unknown;
    const bounds = { low: unknown.bounds.low, high: mostOf(unknown) };
    const by = reading.side === 1 ? coefficient : -coefficient;
    const known = pairs.get(term);
    if (known && (known.by !== by || known.sides.has(reading.side))) return null;
    const [low, high] = [known?.low ?? bounds.low, known?.high ?? bounds.high];
    pairs.set(term, {
      by,
      low: bounds.low < low ? bounds.low : low,
      high: bounds.high > high ? bounds.high : high,
      sides: (known?.sides ?? new Set()).add(reading.side),
    });
  }
  if ([...pairs.values()].some(({ sides }) => sides.size !== 2)) return null;
  return [...pairs].map(([term, { by, low, high }]) => {
    // `1024*p & 65535` has only multiples of 1024 as values.
    const step = stepOf(term);
    return { term, by: (by < 0n ? -by : by) * step, spread: (high - low) / step };
  });
}

/** Upper bounds of terms that a condition implies, unsigned: `i < 16` for an index that counts from 0. */
function limitsOf(condition: Term): ReadonlyMap<Term, bigint> {
  const limits = new Map<Term, bigint>();
  for (const part of condition.operator === 'all' ? condition.arguments : [condition]) {
    const isNegated = part.operator === 'not';
    const comparison = isNegated ? part.arguments[0]! : part;
    if (!/^[us]lt$/.test(comparison.operator)) continue;
    const [term, limit] = isNegated ? comparison.arguments.toReversed() : comparison.arguments;
    // Iteration counters are never negative, and a limit below the sign bit has the same value signed and unsigned.
    const isIndex = term!.atom?.kind === 'iteration' && limit!.operator === 'constant' && limit!.value < 1n << 31n;
    if (isIndex) limits.set(term!, isNegated ? limit!.value : limit!.value - 1n);
  }
  return limits;
}

/** A common divisor of all values of a masked term. */
function stepOf({ operator, arguments: [a, mask] }: Term): bigint {
  if (operator !== 'and' || mask!.operator !== 'constant') return 1n;
  const bits = mask!.value & allBits(a!.width) & ~(scaleOf(a!) - 1n);
  return bits === 0n ? 1n : bits & -bits;
}

/** The largest known power of two, up to 2^width, that divides a term. */
function scaleOf(term: Term): bigint {
  if (term.operator !== 'sum') return 1n;
  const all = term.coefficients.reduce((bits, factor) => bits | factor, term.value);
  return all === 0n ? 1n : all & -all;
}

function allBits(width: number): bigint {
  return (1n << BigInt(width)) - 1n;
}

/**
 * Whether an overlap is impossible for all parts (`apart`), possible only if each part is the same in both threads
 * (`equal`), or neither is proved.
 */
function areAllEqual(parts: readonly Part[], constant: bigint, behind: bigint, ahead: bigint): 'equal' | 'apart' | null {
  const sorted = parts.toSorted((a, b) => (a.by < b.by ? 1 : a.by > b.by ? -1 : 0));
  let reach = sorted.reduce((sum, { by, spread }) => sum + by * spread, 0n);
  for (const { by, spread } of sorted) {
    reach -= by * spread;
    // Under an overlap, constant + by * d + the smaller parts is within -behind … ahead.
    const least = ceiling(-behind - reach - constant, by);
    const most = floor(ahead + reach - constant, by);
    const [from, to] = [least > -spread ? least : -spread, most < spread ? most : spread];
    if (from > to) return 'apart';
    if (from !== 0n || to !== 0n) return null;
  }
  return constant > ahead || constant < -behind ? 'apart' : 'equal';
}

function floor(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

function ceiling(a: bigint, b: bigint): bigint {
  return -floor(-a, b);
}

/** Collects the bits of terms that are equal in both threads, and derives further ones from them. */
class EqualBits {
  readonly assumes: Term[] = [];
  private readonly bits = new Map<Term, bigint>();
  private readonly quotients = new Map<Term, Set<bigint>>();
  private readonly remainders = new Map<Term, Set<bigint>>();
  private readonly known = new Set<string>();
  private readonly symbolic: SymbolicKernel;
  private readonly dimensions: Dimensions;

  constructor(symbolic: SymbolicKernel, dimensions: Dimensions) {
    this.symbolic = symbolic;
    this.dimensions = dimensions;
  }

  /** Whether a coordinate of the thread or block is known to be equal in both threads. */
  isKnown(kind: 'thread' | 'block', axis: 0 | 1 | 2): boolean {
    return this.known.has(`${kind}${axis}`);
  }

  /** Records that these bits of a term are equal in both threads. */
  add(term: Term, mask: bigint): void {
    const before = this.bits.get(term) ?? 0n;
    const now = before | (mask & allBits(term.width));
    if (now === before) return;
    this.bits.set(term, now);
    const scale = scaleOf(term);
    if (scale > 1n) {
      // The upper bits of the quotient are lost in the multiplication by the scale.
      const divided = this.symbolic.store.sum(
        term.width,
        BigInt.asIntN(term.width, term.value) / scale,
        term.arguments.map((part, at) => [part, term.coefficients[at]! / scale]),
      );
      this.add(divided, now / scale);
    }
    const [a, b] = term.arguments;
    const constant = b?.operator === 'constant' ? b.value : undefined;
    switch (term.operator) {
      case 'and':
        if (constant !== undefined) this.add(a!, now & constant);
        break;
      case 'lshr':
        if (constant !== undefined) this.add(a!, now << constant);
        break;
      case 'ashr':
        // All bits above the shifted ones are copies of the sign bit.
        if (constant !== undefined && constant < BigInt(term.width)) this.add(a!, now << constant);
        break;
      case 'zext':
      case 'sext':
      case 'trunc':
        this.add(a!, now);
        break;
      case 'pure':
        // A conversion to an integer: its operand is equal if all bits of the result are.
        if (now === allBits(term.width) && /^(?:signed|unsigned)/.test(term.name)) this.add(a!, now);
        break;
      case 'udiv':
      case 'urem':
        if (constant !== undefined && now === allBits(term.width)) this.divided(term.operator, a!, constant);
        break;
      default:
    }
    if (now === allBits(term.width)) this.settle(term);
  }

  /** Records that a quotient or a remainder is equal in both threads. If both are, so is the dividend. */
  private divided(operator: 'udiv' | 'urem', term: Term, by: bigint): void {
    const [own, other] = operator === 'udiv' ? [this.quotients, this.remainders] : [this.remainders, this.quotients];
    own.set(term, (own.get(term) ?? new Set()).add(by));
    if (other.get(term)?.has(by)) this.add(term, allBits(term.width));
  }

  /** Records that all bits of a term are equal in both threads. */
  private settle(term: Term): void {
    const { atom } = term;
    if (atom?.kind === 'thread' || atom?.kind === 'block') this.known.add(`${atom.kind}${atom.axis}`);
    if (term.operator !== 'sum') return;
    const { terms, assumes } = this.symbolic.view.unsigned(term);
    for (const axis of [0, 1, 2] as const) {
      const own = [...terms].filter(([part]) => part.atom?.kind === 'block' && part.atom.axis === axis);
      const [[, by] = [undefined, 0n]] = own;
      // `b + n*k` with b below n: if the sum is equal, so is b.
      const others = [...terms].filter(([part]) => part.atom?.kind !== 'block' || part.atom.axis !== axis);
      if (own.length !== 1 || by === 0n || !others.every(([part, factor]) => this.isOfGrid(part, factor, by, axis))) continue;
      this.known.add(`block${axis}`);
      this.assumes.push(...assumes);
    }
  }

  /** Whether a summand is a multiple of `by` times the number of blocks along an axis. */
  private isOfGrid(part: Term, factor: bigint, by: bigint, axis: 0 | 1 | 2): boolean {
    const size = this.dimensions.grid[axis];
    if (size !== null) return factor % (by * BigInt(size)) === 0n;
    return (
      factor % by === 0n && part.operator === 'mul' && part.arguments.some(({ atom }) => atom?.kind === 'grid-size' && atom.axis === axis)
    );
  }
}
