/**
 * Memory with the data of the detector with lists for WebAssembly code (`detector-code.ts`), which records most
 * accesses without a call of JavaScript. Views stay valid while the memory grows, since its buffer is shared.
 */
const wasmPage = 2 ** 16;

/** Maximum size of the memory in pages of 64 KiB. Data that does not fit is not accessible to code. */
export const maxDetectorPages = 2 ** 14;

/** Alignment of all data in bytes: a cache line. */
const alignment = 64;

/** Addresses of the words at the start of the memory. */
export const detectorHeader = {
  /** Address of the moments; 0: generated code cannot access them. */
  moments: 0,
  /**
   * Address of the table of sites: a row of conflicts (0: generated code does not record the site), and whether it
   * writes.
   */
  sites: 4,
  /** Address of the numbers of the block whose threads run ({@link blockFields}); 0: they are not in this memory. */
  block: 8,
  /**
   * Number and address of entries by granule of memory: the offset from an address to that of the cell's list; 0: none.
   */
  granuleCount: 12,
  granules: 16,
  /** Whether all fences and strong accesses reach the whole launch, and no presumed order is tracked. */
  isWide: 20,
  /** Whether generated code has executed a fence that is relevant to such an order. */
  hasFenceOrder: 24,
} as const;

export class DetectorMemory {
  readonly memory: WebAssembly.Memory;
  readonly #header: Int32Array;
  #end = alignment;

  constructor() {
    this.memory = new WebAssembly.Memory({ initial: 4, maximum: maxDetectorPages, shared: true });
    this.#header = new Int32Array(this.memory.buffer, 0, alignment / 4);
  }

  /** An array of zeros: in this memory, or outside of it if it is full. */
  allocate(words: number): Int32Array {
    const start = this.#end;
    const end = start + alignment * Math.ceil((4 * words) / alignment);
    if (end > maxDetectorPages * wasmPage) return new Int32Array(words);
    const missing = end - this.memory.buffer.byteLength;
    if (missing > 0) {
      const room = maxDetectorPages - this.memory.buffer.byteLength / wasmPage;
      try {
        this.memory.grow(Math.min(room, Math.ceil(Math.max(missing, end / 2) / wasmPage)));
      } catch {
        // The process has no more memory for it.
        return new Int32Array(words);
      }
    }
    this.#end = end;
    return new Int32Array(this.memory.buffer, start, words);
  }

  /** Sets a word of the header. */
  set(name: keyof typeof detectorHeader, value: number): void {
    this.#header[detectorHeader[name] >> 2] = value;
  }

  get(name: keyof typeof detectorHeader): number {
    return this.#header[detectorHeader[name] >> 2]!;
  }
}

/** The address of an array allocated by a {@link DetectorMemory}; 0 if it is outside of such memory. */
export function addressForCode(words: Int32Array): number {
  return words.buffer instanceof SharedArrayBuffer ? words.byteOffset : 0;
}

/** An array of zeros, in the memory for generated code if given. */
export function wordsIn(memory: DetectorMemory | null, words: number): Int32Array {
  return memory === null ? new Int32Array(words) : memory.allocate(words);
}
