/** Maximum cost of an access of a warp: sectors of global memory, extra phases of shared memory. */
import { greatestOf, leastOf } from '../../base/integer.ts';
import { conflictsOf, sectorsOf } from '../../interpreter/counters.ts';
import type { LaneValues } from './lane-values.ts';
import { lanesInMask } from './warp-position.ts';

export interface AccessShape {
  /** Bytes per lane, a power of two. */
  readonly bytes: number;
  readonly isAtomic: boolean;
  /** Alignment of the array in bytes. */
  readonly alignment: number;
}

/** An upper bound of sectors or phases. */
interface Amount {
  readonly most: number;
  /** Whether the amount does not depend on the address part that all lanes share. */
  readonly isExact: boolean;
}

const sectorBytes = 32;
const wordBytes = 4;
const banks = 32;
const rowBytes = banks * wordBytes;

/**
 * Maximum number of sectors that lanes touch, over all values of the address part that they share.
 * @param mask the lanes, at least one
 */
export function maxSectors(values: LaneValues, mask: number, shape: AccessShape): Amount {
  const lanes = lanesInMask(mask);
  const { bytes } = shape;
  const perLane = Math.ceil(bytes / sectorBytes);
  if (values.scattered) {
    const all = lanes.length * perLane;
    const { low, high, pieces } = values.scattered;
    const own = lanes.map((lane) => values.offsets[lane]!);
    const isOneGroup = new Set(lanes.map((lane) => values.groups[lane])).size === 1;
    if (!isOneGroup) return { most: all, isExact: false };
    const span = high - low + greatestOf(own) - leastOf(own) + BigInt(bytes);
    const inPieces = pieces && greatestOf(own) === leastOf(own) ? pieces.count * sectorsOfPiece(pieces, values, own[0]!, shape) : all;
    return { most: Math.min(all, inPieces, clampToNumber(span / BigInt(sectorBytes)) + 2), isExact: false };
  }
  const groups = grouped(lanes, values).map((group) => sectorsOfGroup(group, values, shape));
  const [only] = groups;
  if (groups.length === 1) return only!;
  const sum = groups.reduce((total, { most }) => total + most, 0);
  return { most: Math.min(sum, lanes.length * perLane), isExact: false };
}

/** Maximum number of sectors that accesses within one aligned piece touch. */
function sectorsOfPiece(
  { size, step }: { readonly size: bigint; readonly step: bigint },
  { modulus }: LaneValues,
  offset: bigint,
  { bytes, alignment }: AccessShape,
): number {
  const isAligned = gcdWithPower(modulus, sectorBytes, alignment) === BigInt(sectorBytes) && offset % size === 0n;
  const reach = Number(size - step) + bytes;
  return Math.ceil((isAligned ? reach : reach + sectorBytes - 1) / sectorBytes);
}

/** Alternative addresses of each lane: those of `values`, and with the offsets of `more` added. */
export interface LaneAlternatives {
  readonly values: LaneValues;
  readonly more: readonly (readonly (bigint | undefined)[])[];
}

/**
 * As {@link maxSectors} if each lane accesses one of several addresses.
 * @param ways alternatives, grouped by the address part that lanes share
 * @param runs maximum number of runs of neighbouring lanes with the same alternative; null if unknown
 */
export function maxSectorsOfAlternatives(
  ways: readonly LaneAlternatives[],
  mask: number,
  shape: AccessShape,
  runs: number | null = null,
): Amount {
  const lanes = lanesInMask(mask);
  let most = 0;
  for (const { values, more } of ways) {
    const isOneGroup = !values.scattered && new Set(lanes.map((lane) => values.groups[lane])).size === 1;
    const added = isOneGroup ? more.flatMap((offsets) => lanes.map((lane) => values.offsets[lane]! + offsets[lane]!)) : [];
    if (isOneGroup) most += sectorsOfGroup(lanes, values, shape, added).most;
    else most += maxSectors(values, mask, shape).most * (1 + more.length);
  }
  if (runs !== null && runs <= 2) most = Math.min(most, maxSectorsOfRuns(ways, lanes, shape, runs));
  return { most: Math.min(most, lanes.length * Math.ceil(shape.bytes / sectorBytes)), isExact: false };
}

/** Maximum if the lanes up to some index use one alternative and the later ones another, or all lanes use the same. */
function maxSectorsOfRuns(ways: readonly LaneAlternatives[], lanes: readonly number[], shape: AccessShape, runs: number): number {
  /** Maximum of the sum of two runs, from the amounts of the first n and the last n lanes, by alternative. */
  const mostOf = (fronts: readonly (readonly number[])[], backs: readonly (readonly number[])[]): number => {
    const splits = runs < 2 ? [0] : lanes.map((_, at) => at);
    const most = (amounts: readonly (readonly number[])[], count: number): number => Math.max(...amounts.map((of) => of[count]!));
    return Math.max(...splits.map((at) => most(fronts, at) + most(backs, lanes.length - at)));
  };
  const [only] = ways;
  if (ways.length === 1 && !only!.values.scattered && lanes.every((lane) => only!.values.groups[lane] === '')) {
    // The alternatives are assumed to start at the same offset within a sector unless the offsets are known to differ.
    const { values, more } = only!;
    const first = values.offsets[lanes[0]!]!;
    const all = [lanes.map(() => 0n), ...more.map((by) => lanes.map((lane) => by[lane]!))];
    const known = new Map(
      all.map((by) => {
        const own = lanes.map((lane, at) => values.offsets[lane]! - first + by[at]!);
        // A shift by whole sectors does not change the number of touched sectors.
        const shift = BigInt(modulo(own[0]!, sectorBytes)) - own[0]!;
        const places = own.map((place) => clampToNumber(place + shift));
        return [places.join(' '), places];
      }),
    );
    const starts = startsOf(first, values.modulus, sectorBytes, shape);
    const distinct = [...known.values()];
    return Math.max(
      ...starts.map((start) => {
        const moved = distinct.map((places) => places.map((place) => start + place));
        return mostOf(
          moved.map((places) => sectorsOfFirst(places, shape.bytes)),
          moved.map((places) => sectorsOfFirst(places.toReversed(), shape.bytes)),
        );
      }),
    );
  }
  const each = ways.flatMap(({ values, more }) => [
    values,
    ...more.map((by) => ({ ...values, offsets: values.offsets.map((offset, lane) => offset! + by[lane]!) })),
  ]);
  const back = lanes.toReversed();
  return mostOf(
    each.map((values) => mostSectorsOfFirst(values, lanes, shape)),
    each.map((values) => mostSectorsOfFirst(values, back, shape)),
  );
}

/** At index n: the number of sectors that the first n accesses touch. */
function sectorsOfFirst(addresses: readonly number[], bytes: number): number[] {
  const sectors = new Set<number>();
  return [
    0,
    ...addresses.map((address) => {
      const last = Math.floor((address + bytes - 1) / sectorBytes);
      for (let sector = Math.floor(address / sectorBytes); sector <= last; sector++) sectors.add(sector);
      return sectors.size;
    }),
  ];
}

/** At index n: {@link maxSectors} of the first n lanes; 0 at index 0. */
function mostSectorsOfFirst(values: LaneValues, lanes: readonly number[], shape: AccessShape): number[] {
  if (values.scattered)
    return [
      0,
      ...lanes.map(
        (_, at) =>
          maxSectors(
            values,
            lanes.slice(0, at + 1).reduce((bits, lane) => bits | (1 << lane), 0),
            shape,
          ).most,
      ),
    ];
  const perLane = Math.ceil(shape.bytes / sectorBytes);
  const groups = new Map<string, GroupSectors>();
  return [
    0,
    ...lanes.map((lane, at) => {
      const key = values.groups[lane]!;
      const group = groups.get(key) ?? new GroupSectors(values, shape);
      groups.set(key, group);
      group.add(values.offsets[lane]!);
      const sum = [...groups.values()].reduce((total, { most }) => total + most, 0);
      return groups.size === 1 ? sum : Math.min(sum, (at + 1) * perLane);
    }),
  ];
}

/** Incremental {@link sectorsOfGroup} for a growing group of lanes. */
class GroupSectors {
  /** Maximum number of sectors of the lanes added so far. */
  most = 0;
  readonly #bytes: number;
  /** Possible displacements of the group within a sector, in bytes, each with the sectors touched at it. */
  readonly #moves: readonly { readonly by: number; readonly sectors: Set<number> }[];
  /** The offset of the first lane, and the smallest offset of all lanes. */
  #origin: bigint | null = null;
  #least = 0n;

  constructor({ modulus }: LaneValues, { bytes, alignment }: AccessShape) {
    this.#bytes = bytes;
    const step = Number(gcdWithPower(modulus, sectorBytes, alignment));
    this.#moves = Array.from({ length: sectorBytes / step }, (_, at) => ({ by: at * step, sectors: new Set() }));
  }

  add(offset: bigint): void {
    this.#origin ??= offset;
    if (this.#origin === offset || offset < this.#least) this.#least = offset;
    // A displacement by whole sectors does not change the number of sectors.
    const from = modulo(this.#origin, sectorBytes);
    const distance = offset - this.#origin;
    const place = from + (distance < 0n ? -clampToNumber(-distance) : clampToNumber(distance));
    for (const { by, sectors } of this.#moves) {
      const last = Math.floor((place + by + this.#bytes - 1) / sectorBytes);
      for (let sector = Math.floor((place + by) / sectorBytes); sector <= last; sector++) sectors.add(sector);
    }
    // Accesses are aligned to their own size; misaligned accesses are faults.
    const within = Math.min(this.#bytes, sectorBytes);
    const least = modulo(this.#least, sectorBytes);
    const aligned = this.#moves.filter(({ by }) => (least + by) % within === 0);
    const possible = aligned.length > 0 ? aligned : this.#moves;
    this.most = possible.reduce((most, { sectors }) => Math.max(most, sectors.size), 0);
  }
}

/**
 * As {@link maxConflicts} if each lane accesses one of several addresses: no bank has more phases than with the words
 * of all alternatives.
 */
export function mostConflictsOfWays(ways: readonly LaneValues[], mask: number, shape: AccessShape): Amount {
  const lanes = lanesInMask(mask);
  const phases = phasesOf(lanes, shape);
  const turns = ways.reduce((sum, values) => sum + maxConflicts(values, mask, shape).most + phases, 0);
  return upperBound(Math.min(worstConflicts(lanes, shape), turns - phases));
}

function sectorsOfGroup(lanes: readonly number[], values: LaneValues, shape: AccessShape, more: readonly bigint[] = []): Amount {
  const offsets = [...lanes.map((lane) => values.offsets[lane]!), ...more];
  const first = leastOf(offsets);
  const relative = offsets.map((offset) => clampToNumber(offset - first));
  const starts = startsOf(first, values.modulus, sectorBytes, shape);
  return knownAmount(`${shape.bytes};${starts.join()};${relative.join()}`, () =>
    worstOf(
      starts.map((start) =>
        sectorsOf(
          relative.map((offset) => start + offset),
          shape.bytes,
        ),
      ),
    ),
  );
}

/** Amounts by access pattern; cached, since warps, iterations and instructions share few patterns. */
const amounts = new Map<string, Amount>();
const maxAmounts = 4096;

function knownAmount(key: string, compute: () => Amount): Amount {
  const known = amounts.get(key);
  if (known) return known;
  const amount = compute();
  if (amounts.size >= maxAmounts) amounts.clear();
  amounts.set(key, amount);
  return amount;
}

/**
 * Maximum number of extra phases of an access by some lanes.
 * @param mask the lanes, at least one
 */
export function maxConflicts(values: LaneValues, mask: number, shape: AccessShape): Amount {
  const lanes = lanesInMask(mask);
  const all = worstConflicts(lanes, shape);
  const groups = grouped(lanes, values);
  if (values.scattered || groups.length > 1) {
    const strangers = values.scattered?.divisor ?? BigInt(rowBytes);
    if (strangers % BigInt(rowBytes) === 0n && (groups.length === 1 || values.modulus % BigInt(rowBytes) === 0n)) {
      // The banks are known, and in the worst case all words differ.
      const spread = lanes.map((lane) => modulo(values.offsets[lane]!, rowBytes) + 2 * rowBytes * lane);
      return upperBound(Math.min(all, conflictsOf(lanes, spread, shape.bytes, shape.isAtomic)));
    }
    if (!values.scattered) {
      const turns = groups.map((group) => conflictsOfGroup(group, values, shape).most + phasesOf(group, shape));
      return upperBound(Math.min(all, turns.reduce((sum, turn) => sum + turn, 0) - phasesOf(lanes, shape)));
    }
    if (shape.isAtomic || groups.length > 1) return upperBound(all);
    const own = lanes.map((lane) => values.offsets[lane]!);
    const span = values.scattered.high - values.scattered.low + greatestOf(own) - leastOf(own) + BigInt(shape.bytes);
    const words = clampToNumber(span / BigInt(wordBytes)) + 1 + (shape.bytes < wordBytes ? 1 : 0);
    const isWhole = shape.bytes >= wordBytes && span % BigInt(wordBytes) === 0n;
    const perBank = Math.ceil((isWhole ? words - 1 : words) / banks);
    return upperBound(Math.min(all, phasesOf(lanes, shape) * (perBank - 1)));
  }
  return conflictsOfGroup(lanes, values, shape);
}

/** An upper bound; exact if it is 0. */
function upperBound(most: number): Amount {
  return { most, isExact: most === 0 };
}

function worstOf(amounts: readonly number[]): Amount {
  const most = Math.max(...amounts);
  return { most, isExact: amounts.every((amount) => amount === most) };
}

function conflictsOfGroup(lanes: readonly number[], values: LaneValues, shape: AccessShape): Amount {
  const offsets = lanes.map((lane) => values.offsets[lane]!);
  const first = leastOf(offsets);
  const relative = offsets.map((offset) => clampToNumber(offset - first));
  // A displacement by whole banks does not change the conflicts.
  const starts = startsOf(first, values.modulus, wordBytes, shape);
  return knownAmount(`${shape.isAtomic ? 'atomic' : 'plain'} ${shape.bytes};${starts.join()};${lanes.join()};${relative.join()}`, () =>
    worstOf(
      starts.map((start) =>
        conflictsOf(
          lanes,
          relative.map((offset) => start + offset),
          shape.bytes,
          shape.isAtomic,
        ),
      ),
    ),
  );
}

/** Possible offsets of the first lane within a sector or a word, in bytes. */
function startsOf(first: bigint, modulus: bigint, within: number, { bytes, alignment }: AccessShape): number[] {
  const step = Number(gcdWithPower(modulus, within, alignment));
  const own = modulo(first, within);
  const starts: number[] = [];
  for (let start = own % step; start < within; start += step) starts.push(start);
  // Accesses are aligned to their own size; misaligned accesses are faults.
  const aligned = starts.filter((start) => start % Math.min(bytes, within) === 0);
  return aligned.length > 0 ? aligned : starts;
}

/** The largest power of two that divides the modulus, the alignment and `within`. */
function gcdWithPower(modulus: bigint, within: number, alignment: number): bigint {
  let power = BigInt(within);
  const divides = (value: bigint): boolean => modulus % value === 0n && BigInt(alignment) % value === 0n;
  while (power > 1n && !divides(power)) power /= 2n;
  return power;
}

/** Lanes grouped by the unknown part of their addresses. */
function grouped(lanes: readonly number[], { groups }: LaneValues): number[][] {
  const byKey = new Map<string, number[]>();
  for (const lane of lanes) {
    const key = groups[lane]!;
    const group = byKey.get(key);
    if (group) group.push(lane);
    else byKey.set(key, [lane]);
  }
  return [...byKey.values()];
}

/** The phase in which a lane is served if the access has no conflicts. */
function phaseOf(lane: number, { bytes }: AccessShape): number {
  return Math.floor((lane * Math.max(bytes, wordBytes)) / rowBytes);
}

/** Phases of an access without conflicts. */
function phasesOf(lanes: readonly number[], shape: AccessShape): number {
  return new Set(lanes.map((lane) => phaseOf(lane, shape))).size;
}

/** Conflicts if all lanes of a phase access different words of one bank. */
function worstConflicts(lanes: readonly number[], shape: AccessShape): number {
  return lanes.length - phasesOf(lanes, shape);
}

function modulo(value: bigint, by: number): number {
  const rest = Number(value % BigInt(by));
  return rest < 0 ? rest + by : rest;
}

/** The value as a number; distances above 2^40 bytes are clamped, which does not change the result. */
function clampToNumber(value: bigint): number {
  return Number(value > 1n << 40n ? (1n << 40n) + (value % 128n) : value);
}
