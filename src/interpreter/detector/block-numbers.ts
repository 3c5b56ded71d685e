/** The data of a block's order in one chunk, accessible to WebAssembly code. */
import type { Reach } from '../../memory-model/scope.ts';
import { type DetectorMemory, addressForCode, wordsIn } from './detector-memory.ts';

/**
 * Byte offsets of the header fields of the chunk. Arrays are indexed by thread or warp; their fields contain addresses.
 */
export const blockFields = {
  ordinal: 0,
  barriers: 4,
  /** Key in clocks of the first thread. */
  firstOwner: 8,
  warpBarriers: 12,
  exchanges: 16,
  times: 20,
  lasts: 24,
  hasObserved: 28,
  /** Times of releases with the scope of the whole launch. */
  releasedAt: 32,
} as const;

/** Words reserved for fields before the arrays. */
const fieldWords = 16;

/** The arrays of {@link BlockOrder}, which describes them. */
export class BlockNumbers {
  readonly warpBarriers: Int32Array;
  readonly exchanges: Int32Array;
  readonly times: Int32Array;
  readonly lasts: Int32Array;
  readonly hasObserved: Int32Array;
  readonly releasedAt: readonly Int32Array[];
  readonly #fields: Int32Array;
  readonly #arrays: Int32Array;
  readonly #memory: DetectorMemory | null;
  readonly #address: number;

  /** @param memory memory read by generated code; null without such code */
  constructor(threads: number, narrowest: Reach, memory: DetectorMemory | null) {
    const warps = (threads + 31) >> 5;
    const words = wordsIn(memory, fieldWords + 2 * warps + (4 + 3 - narrowest) * threads);
    let taken = fieldWords;
    const take = (count: number): Int32Array => words.subarray(taken, (taken += count));
    this.warpBarriers = take(warps);
    this.exchanges = take(warps);
    this.times = take(threads);
    this.lasts = take(2 * threads);
    this.hasObserved = take(threads);
    this.releasedAt = [0, 1, 2].map((reach) => take(reach < narrowest ? 0 : threads));
    this.#fields = words.subarray(0, fieldWords);
    this.#arrays = words.subarray(fieldWords);
    this.#memory = memory;
    this.#address = addressForCode(words);
    for (const name of ['warpBarriers', 'exchanges', 'times', 'lasts', 'hasObserved'] as const) {
      this.#fields[blockFields[name] >> 2] = addressForCode(this[name]);
    }
    this.#fields[blockFields.releasedAt >> 2] = addressForCode(this.releasedAt[2]!);
  }

  /** Initialises the data for a block that starts. @param firstOwner key in clocks of its first thread */
  start(ordinal: number, firstOwner: number): void {
    this.#arrays.fill(0);
    this.#fields[blockFields.ordinal >> 2] = ordinal;
    this.#fields[blockFields.firstOwner >> 2] = firstOwner;
  }

  /** Called before threads of the block run. */
  enter(barriers: number): void {
    this.#fields[blockFields.barriers >> 2] = barriers;
    this.#memory?.set('block', this.#address);
  }
}
