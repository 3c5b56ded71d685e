/**
 * The common case of exchanges among the lanes of warps, on arrays: all threads of a range wait at the same exchange,
 * and all lanes of each warp participate. `warp-operation.ts` implements all other cases.
 */
import type { Effect } from '../../isa/model/operation.ts';

/** A source or result: an array by thread, or a number if equal in all threads. */
export type Words = Int32Array | number;

function at(words: Words, thread: number): number {
  return typeof words === 'number' ? words : words[thread]!;
}

/**
 * Performs an exchange for whole warps.
 * @param first thread, a multiple of 32
 * @param end one after the last thread; the last warp may have fewer lanes
 * @param operands by source; predicates are 0 or 1
 * @param results by result; null if no instruction reads it
 * @returns false if the exchange is not implemented here; no result is written then
 */
export function exchangeWords(
  effect: Effect,
  first: number,
  end: number,
  operands: readonly Words[],
  results: readonly (Int32Array | null)[],
): boolean {
  switch (effect.kind) {
    case 'shuffle':
      shuffleWords(effect.mode, first, end, operands, results);
      return true;
    case 'vote':
      for (let start = first; start < end; start += 32) {
        const stop = Math.min(start + 32, end);
        fill(results[0]!, start, stop, vote(effect.mode, start, stop, operands[0]!));
      }
      return true;
    case 'warp-value':
      return warpValueWords(effect.name, first, end, operands, results);
    case 'warp-barrier':
      return true;
    default:
      return false;
  }
}

function fill(result: Int32Array | null, start: number, stop: number, value: number): void {
  if (result) for (let thread = start; thread < stop; thread++) result[thread] = value;
}

/** The lane that a lane reads from, or -1 if that is outside its segment. */
export function sourceLane(mode: string, lane: number, b: number, c: number): number {
  const distance = b & 31;
  const segment = (c >> 8) & 31;
  const minimum = lane & segment;
  const maximum = minimum | (c & 31 & ~segment);
  switch (mode) {
    case 'up':
      return lane - distance >= maximum ? lane - distance : -1;
    case 'down':
      return lane + distance <= maximum ? lane + distance : -1;
    case 'bfly':
      return (lane ^ distance) <= maximum ? lane ^ distance : -1;
    default: {
      const source = minimum | (distance & ~segment);
      return source <= maximum ? source : -1;
    }
  }
}

const sourceLanes = new Int32Array(32);

function shuffleWords(
  mode: string,
  first: number,
  end: number,
  [values, distances, clamps]: readonly Words[],
  [result, inRange]: readonly (Int32Array | null)[],
): void {
  // Result arrays differ from source arrays, so no source is overwritten before it is read.
  if (typeof distances === 'number' && typeof clamps === 'number' && typeof values !== 'number') {
    for (let lane = 0; lane < 32; lane++) sourceLanes[lane] = sourceLane(mode, lane, distances, clamps);
    if (result) moveWords(values!, result, first, end);
    if (inRange) for (let thread = first; thread < end; thread++) inRange[thread] = sourceLanes[thread & 31]! < 0 ? 0 : 1;
    return;
  }
  for (let thread = first; thread < end; thread++) {
    const lane = thread & 31;
    const source = sourceLane(mode, lane, at(distances!, thread), at(clamps!, thread));
    const from = thread - lane + source;
    if (result) result[thread] = at(values!, source < 0 || from >= end ? thread : from);
    if (inRange) inRange[thread] = source < 0 ? 0 : 1;
  }
}

function moveWords(values: Int32Array, result: Int32Array, first: number, end: number): void {
  for (let thread = first; thread < end; thread++) {
    const source = sourceLanes[thread & 31]!;
    const from = (thread & ~31) + source;
    result[thread] = values[source < 0 || from >= end ? thread : from]!;
  }
}

/** The result of a vote of the lanes from `start` to before `stop`. */
function vote(mode: string, start: number, stop: number, truths: Words): number {
  const ballot = lanesThat(start, stop, (thread) => at(truths, thread) !== 0);
  const all = stop - start === 32 ? -1 : (1 << (stop - start)) - 1;
  if (mode === 'ballot') return ballot;
  if (mode === 'all') return Number(ballot === all);
  if (mode === 'any') return Number(ballot !== 0);
  return Number(ballot === 0 || ballot === all);
}

function lanesThat(start: number, stop: number, holds: (thread: number) => boolean): number {
  let mask = 0;
  for (let thread = start; thread < stop; thread++) if (holds(thread)) mask |= 1 << (thread - start);
  return mask;
}

function warpValueWords(
  name: string,
  first: number,
  end: number,
  [values]: readonly Words[],
  [result, second]: readonly (Int32Array | null)[],
): boolean {
  const combine = reductions[name];
  if (!combine && name !== 'activemask' && name !== 'elect') return false;
  for (let start = first; start < end; start += 32) {
    const stop = Math.min(start + 32, end);
    if (combine) {
      let total = at(values!, start);
      for (let thread = start + 1; thread < stop; thread++) total = combine(total, at(values!, thread));
      fill(result!, start, stop, total);
    } else if (name === 'activemask') {
      fill(
        result!,
        start,
        stop,
        lanesThat(start, stop, () => true),
      );
    } else {
      fill(result!, start, stop, 0);
      fill(second!, start, stop, 0);
      if (second) second[start] = 1;
    }
  }
  return true;
}

const reductions: Readonly<Record<string, (a: number, b: number) => number>> = {
  'redux.add.u32': (a, b) => (a + b) | 0,
  'redux.add.s32': (a, b) => (a + b) | 0,
  'redux.min.s32': Math.min,
  'redux.max.s32': Math.max,
  'redux.min.u32': (a, b) => (b >>> 0 < a >>> 0 ? b : a),
  'redux.max.u32': (a, b) => (b >>> 0 > a >>> 0 ? b : a),
  'redux.and.b32': (a, b) => a & b,
  'redux.or.b32': (a, b) => a | b,
  'redux.xor.b32': (a, b) => a ^ b,
};
