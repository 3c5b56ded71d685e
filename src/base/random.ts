import { invariant } from './assert.ts';

/** A seeded source of numbers: the same seed gives the same sequence on every platform. Not for secrets. */
export interface Random {
  /** A float in [0, 1). */
  next(): number;
  /** An integer in [0, bound), for a bound of 1 to 2^32. */
  below(bound: number): number;
  /** An integer in [low, high], both included. */
  between(low: number, high: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One element of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
}

/** The generator `mulberry32` (32 bits of state, period 2^32) with the given seed, of which 32 bits count. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (probability) => next() < probability,
    pick: (list) => {
      invariant(list.length > 0, 'pick from an empty list');
      return list[below(list.length)]!;
    },
  };
}
