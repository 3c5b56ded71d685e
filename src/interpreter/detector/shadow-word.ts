/**
 * The shadow word of a memory location: 64 bits with a state of the state machine and the last accessor. This module
 * specifies the code that the fast back end generates inline.
 *
 * Low to high: state 5, thread in block 10, warp barriers passed 16, block barriers passed 14, ticket of the block 19.
 * Words are pairs of 32-bit halves, low half first, as in a little-endian memory.
 */
import { accessNames, handingOver, raceState, transitionIndex, transitions, uninitialised, untouched } from './state-machine.ts';

/** Number of bits of each field, and its shift within the 64 bits. */
export const shadowFields = {
  state: { shift: 0, bits: 5 },
  thread: { shift: 5, bits: 10 },
  warpBarriers: { shift: 15, bits: 16 },
  blockBarriers: { shift: 31, bits: 14 },
  ticket: { shift: 45, bits: 19 },
} as const;

/**
 * Fill byte for shadow words of locations without contents. Shadow words of locations with contents are initially zero.
 */
export const uninitialisedFill = 0x19;
/** Fill byte for shadow words of locations whose accesses are to be recorded: each word is in the race state. */
export const recordedFill = 0x18;
/** Fill byte for shadow words of locations for which only synchronization is recorded. */
export const handingOverFill = 0x1c;

/** Largest values of the counters: barriers of a block, barriers of a warp since its block's last one, and blocks. */
export const maxBlockBarriers = 2 ** shadowFields.blockBarriers.bits - 1;
export const maxWarpBarriers = 2 ** shadowFields.warpBarriers.bits - 1;
export const maxTickets = 2 ** shadowFields.ticket.bits - 1;

/** The thread that accesses a location. */
interface WordAccessor {
  /** Number of its block in the order in which blocks started; at most `maxTickets`. */
  readonly ticket: number;
  /** Number in the block. */
  readonly thread: number;
  /** Number of barriers of the whole block that the thread has passed. */
  readonly blockBarriers: number;
  /** Number of barriers of the whole warp that the thread has passed; may restart at each block barrier. */
  readonly warpBarriers: number;
}

/**
 * Result of an access: nothing, the first race of the location, a known race, a read (or an atomic) before any write.
 */
type WordEvent = 'none' | 'raced' | 'known-race' | 'uninitialised';

const plainWrite = accessNames.indexOf('write');

/**
 * Updates word `index` for an access.
 * @param access index into `accessNames`
 */
export function update(words: Uint32Array, index: number, access: number, accessor: WordAccessor): WordEvent {
  const low = words[2 * index]!;
  const high = words[2 * index + 1]!;
  const state = low & 31;
  if (state === raceState) return 'known-race';
  const thread = (low >>> 5) & 1023;
  const sync = syncLevel(low, high, accessor);
  const relation = high >>> 13 !== accessor.ticket ? 3 : relate(thread, accessor.thread);
  const next = transitions[transitionIndex(state, access, sync, relation)]!;
  words[2 * index] = next | (accessor.thread << 5) | (accessor.warpBarriers << 15) | (accessor.blockBarriers << 31);
  words[2 * index + 1] = (accessor.blockBarriers >>> 1) | (accessor.ticket << 13);
  if (next === raceState) return 'raced';
  return state === uninitialised && access !== plainWrite ? 'uninitialised' : 'none';
}

function relate(a: number, b: number): number {
  if (a === b) return 0;
  return a >>> 5 === b >>> 5 ? 1 : 2;
}

/**
 * The strongest barrier that the accessor has passed since the access in the word; meaningless if the latter is of
 * another block.
 */
function syncLevel(low: number, high: number, { blockBarriers, warpBarriers }: WordAccessor): number {
  if (blockBarriers > (((high & 0x1fff) << 1) | (low >>> 31))) return 2;
  return warpBarriers > ((low >>> 15) & 0xffff) ? 1 : 0;
}

/**
 * Removes all accesses, as a barrier of the whole grid does. Words of locations without contents, and words in the race
 * state, are unchanged.
 */
export function forgetAccesses(words: Uint32Array): void {
  for (let index = 0; index < words.length; index += 2) {
    const state = words[index]! & 31;
    if (state === uninitialised || state === raceState || state === handingOver) continue;
    words[index] = untouched;
    words[index + 1] = 0;
  }
}

/**
 * Renumbers tickets so that more blocks can start: blocks that have ended share ticket 0, running ones are renumbered
 * from 1 on.
 * @param running new ticket by old one
 */
export function renumberTickets(words: Uint32Array, running: ReadonlyMap<number, number>): void {
  for (let index = 0; index < words.length; index += 2) {
    if (isUntouched(words[index]!)) continue;
    const high = words[index + 1]!;
    words[index + 1] = (high & 0x1fff) | ((running.get(high >>> 13) ?? 0) << 13);
  }
}

/** Renumbers the barriers of a block: the count so far becomes 1, counts before the last barrier become 0. */
export function renumberBlockBarriers(words: Uint32Array, ticket: number, passed: number): void {
  for (let index = 0; index < words.length; index += 2) {
    const low = words[index]!;
    const high = words[index + 1]!;
    if (isUntouched(low) || high >>> 13 !== ticket) continue;
    const barriers = ((high & 0x1fff) << 1) | (low >>> 31);
    words[index] = (low & 0x7fffffff) | (barriers === passed ? 0x80000000 : 0);
    words[index + 1] = ticket << 13;
  }
}

/** Renumbers the barriers of a warp since the last barrier of its block, as {@link renumberBlockBarriers} does. */
export function renumberWarpBarriers(words: Uint32Array, ticket: number, warp: number, blockBarriers: number, passed: number): void {
  for (let index = 0; index < words.length; index += 2) {
    const low = words[index]!;
    const high = words[index + 1]!;
    if (isUntouched(low) || high >>> 13 !== ticket || ((low >>> 10) & 31) !== warp) continue;
    if ((((high & 0x1fff) << 1) | (low >>> 31)) !== blockBarriers) continue;
    const barriers = (low >>> 15) & 0xffff;
    words[index] = (low & 0x80007fff) | (barriers === passed ? 1 << 15 : 0);
  }
}

function isUntouched(low: number): boolean {
  const state = low & 31;
  return state === untouched || state >= raceState;
}
