/** The order in which a run executes blocks, and the warps of each block. */
import { seededRandom } from '../../base/random.ts';

/** The seed of the schedule with blocks and warps in descending order of their numbers. */
export const reversedSchedule = 1;

/**
 * The order of blocks.
 * @param count - of blocks
 * @param seed - undefined: ascending; 1: descending; any other: pseudorandom
 * @returns a permutation of the numbers from 0; null: ascending
 */
export function blockOrder(count: number, seed: number | undefined): readonly number[] | null {
  return orderOf(count, seed, 0);
}

/**
 * The order of the warps of a block. In a pseudorandom schedule each block has a different order.
 * @param count - of warps
 * @param seed - as of {@link blockOrder}
 * @param block - index of the block in the run, from 0
 * @returns a permutation of the numbers from 0; null: ascending
 */
export function warpOrder(count: number, seed: number | undefined, block: number): readonly number[] | null {
  return orderOf(count, seed, block + 1);
}

function orderOf(count: number, seed: number | undefined, stream: number): readonly number[] | null {
  if (seed === undefined) return null;
  const order = Array.from({ length: count }, (_, index) => index);
  if (seed === reversedSchedule) return order.reverse();
  const random = seededRandom(mixed(seed + Math.imul(stream, 0x9e3779b9)));
  for (let last = count - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}

/** The finaliser of MurmurHash3 (public domain): seeds that differ by one bit are to give unrelated orders. */
function mixed(seed: number): number {
  let bits = seed | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/**
 * Schedules with at least this seed run one instruction of a thread at a time, so that executions of blocks interleave.
 */
export const firstInterleaved = 1000;

/** Whether the time slice of a thread is one instruction. */
export function isInterleaved(seed: number | undefined): boolean {
  return seed !== undefined && seed >= firstInterleaved;
}

/**
 * Whether a time slice is over: after one instruction, or at the first back edge after its number of instructions.
 * @param steps instructions of the time slice so far
 * @param most length of the time slice
 * @param from segment of the last instruction; segments are in reverse postorder
 * @param to segment with which the thread continues
 */
export function isTimeSliceExpired(steps: number, most: number, from: number, to: number): boolean {
  return steps >= most && (most === 1 || to <= from);
}

/**
 * Interleaved schedules with at least this seed use time slices of different lengths, so that one thread of a warp gets
 * ahead of another.
 */
const firstUneven = firstInterleaved + 2;

/**
 * Lengths in instructions of the successive time slices of the threads of a block.
 * @param block - index of the block in the run, from 0
 * @returns null if all time slices have the same length
 */
export function timeSliceLengths(seed: number | undefined, block: number): (() => number) | null {
  if (seed === undefined || seed < firstUneven || isBuffered(seed)) return null;
  const random = seededRandom(mixed(seed + Math.imul(block + 1, 0x9e3779b9)));
  return () => 1 << random.below(6);
}

/**
 * Schedules with at least this seed are interleaved and use store buffers, so that other threads read old values: both
 * loads of the store-buffering (Dekker) pattern may read the old value.
 */
export const firstBuffered = 2000;

/** Whether the stores of a thread are buffered. */
export function isBuffered(seed: number | undefined): boolean {
  return seed !== undefined && seed >= firstBuffered;
}
