/**
 * Values of terms in the lanes of a warp: a part that all lanes share, known only up to a modulus, and the offset of
 * each lane. Lanes that differ in something unknown are in different groups.
 */
import { gcd, greatestOf, leastOf } from '../../base/integer.ts';
import { type SymbolicKernel, undefinedValue } from '../../analysis/values/symbolic.ts';
import type { UniformityResult } from '../../analysis/values/uniformity.ts';
import type { CostAssumption } from '../model/cost-assumption.ts';
import type { BlockId, LoopId, ValueId } from '../../ir/form/kernel.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import { type Linear, type LinearView, dippingUnsigned, inside, readingOf, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { lanesInMask, type WarpPosition } from './warp-position.ts';

export interface LaneSetting {
  readonly symbolic: SymbolicKernel;
  readonly uniformity: UniformityResult;
  /** A divisor of a parameter. */
  readonly divisor: (index: number, offset: number) => bigint;
  /** Called with each assumption. */
  readonly assume: (what: CostAssumption) => void;
}

/** A sum in the lanes of a warp. */
export interface LaneValues {
  /** Divisor of the part that all lanes share; 0 if that part is 0. */
  readonly modulus: bigint;
  /** By lane: its offset; undefined for inactive lanes. */
  readonly offsets: readonly (bigint | undefined)[];
  /** By lane: equal for lanes that share the unknown part; with other lanes they may differ by a multiple of the modulus. */
  readonly groups: readonly string[];
  /** Addends that differ between lanes and are unknown in each: their range and a common divisor; null without such. */
  readonly scattered: Scattered | null;
}

interface Scattered {
  readonly low: bigint;
  readonly high: bigint;
  readonly divisor: bigint;
  /** Set if all values are in few aligned pieces: the size of a piece, their number, and a divisor of the values. */
  readonly pieces?: { readonly size: bigint; readonly count: number; readonly step: bigint };
}

/** Whether all lanes of a warp that execute a block in the same iteration have the same value of a term. */
export function isWarpUniform(setting: LaneSetting, term: Term, block: BlockId, { rounds }: WarpPosition): boolean {
  const { definedIn } = setting.symbolic;
  return term.leaves.every(({ atom }) => {
    switch (atom!.kind) {
      case 'thread':
        return false;
      case 'havoc':
      case 'phi': {
        if (atom.value === undefinedValue) return false;
        const uniformity = setting.uniformity.value(atom.value as ValueId);
        if (uniformity === 'varying' || leftDivergent(setting, definedIn(atom.value), block)) return false;
        if (uniformity === 'stable') setting.assume('stable-memory');
        return true;
      }
      case 'iteration':
        return rounds.has(atom.loop as LoopId) || !setting.uniformity.divergent(atom.loop as LoopId);
      default:
        return true;
    }
  });
}

/** Whether a value is used outside a loop that lanes leave in different iterations. */
function leftDivergent({ symbolic: { kernel }, uniformity }: LaneSetting, home: BlockId, block: BlockId): boolean {
  for (let loop = kernel.loopOf[home] ?? null; loop !== null; loop = kernel.loops[loop]!.parent)
    if (uniformity.divergent(loop) && !kernel.loops[loop]!.blocks.has(block)) return true;
  return false;
}

/** Values of terms by lane; undefined if unknown. */
export type LaneMemos = Map<Term, bigint | undefined>[];

/** Evaluates terms in one lane; a value is known if the launch and the iterations determine it. */
export class LaneEvaluator {
  readonly #memos: LaneMemos = [];
  readonly #ofWarp: LaneMemos;
  readonly #place: WarpPosition;

  /** @param ofWarp memos of values independent of iterations, shared by all evaluators of a warp */
  constructor(place: WarpPosition, ofWarp: LaneMemos = []) {
    this.#place = place;
    this.#ofWarp = ofWarp;
  }

  /** The bit pattern of a term; undefined if unknown. */
  evaluate(term: Term, lane: number): bigint | undefined {
    const memos = term.leaves.some(({ atom }) => atom!.kind === 'iteration') ? this.#memos : this.#ofWarp;
    const memo = (memos[lane] ??= new Map());
    return evaluateTerm(term, (leaf) => this.atom(leaf, lane), memo);
  }

  /** As {@link evaluate}, in several lanes: evaluated once if all lanes have the same value. */
  inLanes(term: Term, lanes: readonly number[]): readonly (bigint | undefined)[] {
    const isShared = term.leaves.every(({ atom }) => atom!.kind !== 'thread');
    if (!isShared) return lanes.map((lane) => this.evaluate(term, lane));
    const value = lanes.length > 0 ? this.evaluate(term, lanes[0]!) : undefined;
    return lanes.map(() => value);
  }

  atom(leaf: Term, lane: number): bigint | undefined {
    const atom = leaf.atom!;
    if (atom.kind === 'thread') return this.#place.warp.threads?.[lane]?.[atom.axis];
    if (atom.kind !== 'iteration') return undefined;
    const round = this.#place.rounds.get(atom.loop as LoopId) ?? null;
    return round === null ? undefined : BigInt(round);
  }
}

/**
 * The value that a reading reads, as a separate form: if it leaves the range of the reading only by its sign, index
 * arithmetic is assumed not to wrap. Hashes, masks and types narrower than int are truncated on purpose.
 */
export function unread(view: LinearView, reading: Term): Linear | null {
  if (!readingOf(reading) || reading.width < 32) return null;
  const [inner] = reading.arguments as [Term];
  const form = view.natural(inner);
  const either = { low: signedBounds(reading.width).low, high: unsignedBounds(reading.width).high };
  if (reading.name !== dippingUnsigned && !inside(form, either)) return null;
  return form.terms.size === 1 && form.terms.has(inner) && inner.operator === 'pure' ? null : form;
}

/**
 * A linear form in which readings of values that may wrap around are the values themselves, see {@link unread}.
 * @param more other readings that do not truncate, and the values that they read
 */
export function withoutReadings(
  { symbolic: { view }, assume }: LaneSetting,
  form: Linear,
  more: (reading: Term) => Linear | null = () => null,
): Linear {
  if (form.assumes.length > 0) assume('no-wrap');
  if (![...form.terms.keys()].some(readingOf)) return form;
  const terms = new Map<Term, bigint>();
  let { constant } = form;
  const work = [...form.terms];
  for (let next = work.pop(); next; next = work.pop()) {
    const [term, factor] = next;
    const inner = unread(view, term) ?? (readingOf(term) ? more(term) : null);
    if (inner) {
      if (!inside(inner, readingOf(term) === 'signed' ? signedBounds(term.width) : unsignedBounds(term.width))) assume('no-wrap');
      constant += factor * inner.constant;
      work.push(...[...inner.terms].map(([part, by]) => [part, factor * by] as [Term, bigint]));
      continue;
    }
    const total = (terms.get(term) ?? 0n) + factor;
    if (total === 0n) terms.delete(term);
    else terms.set(term, total);
  }
  return { ...form, constant, terms };
}

/** The values of a linear form in some lanes of a warp. */
export function laneValues(
  setting: LaneSetting,
  { constant, terms }: Pick<Linear, 'constant' | 'terms'>,
  mask: number,
  block: BlockId,
  place: WarpPosition,
  evaluator: LaneEvaluator,
): LaneValues {
  const lanes = lanesInMask(mask);
  const offsets: (bigint | undefined)[] = [];
  const groups: string[] = [];
  for (const lane of lanes) {
    offsets[lane] = constant;
    groups[lane] = '';
  }
  let modulus = 0n;
  let scattered: Scattered | null = null;
  const { view } = setting.symbolic;
  const scatter = (term: Term, factor: bigint): void => {
    const range = view.unknownRange(term);
    const ends = [range.low * factor, range.high * factor];
    const [low, high] = factor < 0n ? [ends[1]!, ends[0]!] : [ends[0]!, ends[1]!];
    const divisor = factor * divisorOf(setting, term);
    const pieces = scattered ? null : piecesOf(setting, term, factor, lanes, block, place, evaluator);
    scattered = scattered
      ? { low: scattered.low + low, high: scattered.high + high, divisor: gcd(scattered.divisor, divisor) }
      : { low, high, divisor: gcd(divisor, 0n), ...(pieces && { pieces }) };
  };
  const addKnown = (values: readonly bigint[], factor: bigint): void => {
    lanes.forEach((lane, i) => (offsets[lane] = offsets[lane]! + factor * values[i]!));
  };
  for (const [term, factor] of terms) {
    const known = integersOf(setting, term, lanes, evaluator);
    if (known) {
      addKnown(known, factor);
      continue;
    }
    if (isWarpUniform(setting, term, block, place)) {
      modulus = gcd(modulus, factor * divisorOf(setting, term));
      continue;
    }
    const masked = maskedIntegers(setting, term, lanes, block, place, evaluator);
    if (masked) {
      addKnown(masked, factor);
      continue;
    }
    const split = splitProduct(setting, term, block, place, lanes, evaluator);
    if (!split) {
      scatter(term, factor);
      continue;
    }
    const divisor = divisorOf(setting, split.shared);
    lanes.forEach((lane, i) => {
      groups[lane] += `${term.id}*${split.values[i]!};`;
      modulus = gcd(modulus, factor * split.values[i]! * divisor);
    });
  }
  return { modulus, offsets, groups, scattered };
}

/** The integers that a term of a linear form denotes in some lanes; null if one is unknown. */
function integersOf({ symbolic: { view } }: LaneSetting, term: Term, lanes: readonly number[], evaluator: LaneEvaluator): bigint[] | null {
  const reading = readingOf(term);
  const inner = reading ? term.arguments[0]! : term;
  const isSigned = reading ? reading === 'signed' : term.operator !== 'atom' && view.unknownRange(term).low < 0n;
  // If a term has an atom without a value, the first lane usually suffices.
  if (lanes.length > 0 && evaluator.evaluate(inner, lanes[0]!) === undefined) return null;
  const values: bigint[] = [];
  for (const value of evaluator.inLanes(inner, lanes)) {
    if (value === undefined) return null;
    values.push(isSigned ? BigInt.asIntN(inner.width, value) : value);
  }
  return values;
}

/**
 * The part of a number that remains in a term or in its operand: the bits of a mask, or the remainder of a division.
 */
function cutIn(
  setting: LaneSetting,
  term: Term,
  block: BlockId,
  place: WarpPosition,
): { readonly of: Term; readonly by: Term; readonly isRest: boolean } | null {
  const { operator, arguments: sides } = readingOf(term) ? term.arguments[0]! : term;
  const [a, b] = sides as [Term, Term];
  if (operator === 'urem' || operator === 'srem') return isWarpUniform(setting, b, block, place) ? { of: a, by: b, isRest: true } : null;
  if (operator !== 'and') return null;
  if (isWarpUniform(setting, b, block, place)) return { of: a, by: b, isRest: false };
  return isWarpUniform(setting, a, block, place) ? { of: b, by: a, isRest: false } : null;
}

/** Offset of each lane from a common multiple of a number; null without such a multiple. */
function plainValues(
  setting: LaneSetting,
  { constant, terms }: Linear,
  lanes: readonly number[],
  block: BlockId,
  place: WarpPosition,
  evaluator: LaneEvaluator,
): { readonly modulus: bigint; readonly offsets: readonly bigint[] } | null {
  let modulus = 0n;
  let offsets = lanes.map(() => constant);
  for (const [term, factor] of terms) {
    const known = integersOf(setting, term, lanes, evaluator);
    if (known) offsets = offsets.map((offset, at) => offset + factor * known[at]!);
    else if (isWarpUniform(setting, term, block, place)) modulus = gcd(modulus, factor * divisorOf(setting, term));
    else return null;
  }
  return { modulus, offsets };
}

/** The lowest bits of a number if lanes share multiples of all higher bits; null for other terms. */
function maskedIntegers(
  setting: LaneSetting,
  term: Term,
  lanes: readonly number[],
  block: BlockId,
  place: WarpPosition,
  evaluator: LaneEvaluator,
): bigint[] | null {
  const cut = cutIn(setting, term, block, place);
  if (!cut || cut.isRest || cut.by.operator !== 'constant') return null;
  const size = cut.by.value + 1n;
  if ((size & cut.by.value) !== 0n || size >= 1n << BigInt(cut.by.width - 1)) return null;
  // A linear form is congruent to the term modulo a power of two that is larger.
  const values = plainValues(setting, setting.symbolic.view.natural(cut.of), lanes, block, place, evaluator);
  if (!values || values.modulus % size !== 0n) return null;
  return values.offsets.map((offset) => modulo(offset, size));
}

/** Size of a sector of global memory in bytes. */
const sectorBytes = 32n;

/**
 * Number of sector-sized pieces that contain masked or reduced neighbouring integers: integers that differ only in
 * their lowest bits do so after any mask, and a remainder wraps once.
 */
function piecesOf(
  setting: LaneSetting,
  term: Term,
  factor: bigint,
  lanes: readonly number[],
  block: BlockId,
  place: WarpPosition,
  evaluator: LaneEvaluator,
): Scattered['pieces'] | null {
  // With a negative factor the piece ends at its alignment, and an access at the end of the piece extends beyond it.
  const cut = factor > 0n && sectorBytes % factor === 0n ? cutIn(setting, term, block, place) : null;
  if (!cut) return null;
  const form = setting.symbolic.view.natural(cut.of);
  // Values that wrap around, or are negative, have other remainders.
  if (cut.isRest && (form.low < 0n || !inside(form, signedBounds(cut.of.width)))) return null;
  const values = plainValues(setting, form, lanes, block, place, evaluator);
  if (!values) return null;
  const { modulus, offsets } = values;
  const numbers = sectorBytes / factor;
  const step = factor * gcd(divisorOf(setting, term), numbers);
  if (cut.isRest) {
    const spread = greatestOf(offsets) - leastOf(offsets);
    const most = (spread + numbers - 1n) / numbers + 2n;
    return { size: sectorBytes, count: most < BigInt(lanes.length) ? Number(most) : lanes.length, step };
  }
  let count = 0;
  const shift = gcd(modulus, numbers);
  for (let start = 0n; start < numbers; start += shift)
    count = Math.max(count, new Set(offsets.map((offset) => start + offset - modulo(start + offset, numbers))).size);
  return { size: sectorBytes, count, step };
}

function modulo(value: bigint, by: bigint): bigint {
  return ((value % by) + by) % by;
}

/** A product of a factor known in each lane and a factor that all lanes share. */
function splitProduct(
  setting: LaneSetting,
  term: Term,
  block: BlockId,
  place: WarpPosition,
  lanes: readonly number[],
  evaluator: LaneEvaluator,
): { readonly values: readonly bigint[]; readonly shared: Term } | null {
  if (term.operator !== 'mul') return null;
  const [a, b] = term.arguments as [Term, Term];
  for (const [own, shared] of [
    [a, b],
    [b, a],
  ] as const) {
    if (!isWarpUniform(setting, shared, block, place)) continue;
    const values = integersOf(setting, own, lanes, evaluator);
    if (values) return { values, shared };
  }
  return null;
}

/** Results of {@link divisorOf}; cached, so that shared subterms are visited once. */
const knownDivisors = new WeakMap<LaneSetting, Map<Term, bigint>>();

/** A number that divides every value of a term; 0 for 0. */
export function divisorOf(setting: LaneSetting, term: Term): bigint {
  let known = knownDivisors.get(setting);
  if (!known) knownDivisors.set(setting, (known = new Map<Term, bigint>()));
  let divisor = known.get(term);
  if (divisor === undefined) known.set(term, (divisor = computeDivisor(setting, term)));
  return divisor;
}

function computeDivisor(setting: LaneSetting, term: Term): bigint {
  const { view } = setting.symbolic;
  const { atom } = term;
  if (atom) return atom.kind === 'parameter' ? setting.divisor(atom.index, atom.offset) : 1n;
  if (readingOf(term)) return divisorOf(setting, term.arguments[0]!);
  if (term.operator === 'mul') return divisorOf(setting, term.arguments[0]!) * divisorOf(setting, term.arguments[1]!);
  if (term.operator === 'and') {
    // A bit that is clear on one side of an `and` is clear in the result.
    const [a, b] = term.arguments.map((side) => {
      const divisor = side.operator === 'constant' ? side.value : divisorOf(setting, side);
      return divisor & -divisor;
    }) as [bigint, bigint];
    return a === 0n || b === 0n ? 0n : a > b ? a : b;
  }
  if (term.operator === 'select') return gcd(divisorOf(setting, term.arguments[1]!), divisorOf(setting, term.arguments[2]!));
  const form = view.natural(term);
  if (form.terms.size === 1 && form.terms.has(term)) return 1n;
  let divisor = gcd(form.constant, 0n);
  for (const [part, factor] of form.terms) divisor = gcd(divisor, factor * divisorOf(setting, part));
  return divisor;
}
