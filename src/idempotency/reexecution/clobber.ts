/**
 * The clobber test of PICKER (section 3): a byte whose first access is a read, and which is written later. The order is
 * that of one run. In a launch without races, a read and a write of one byte have the same order in each run; a launch
 * with races is not idempotent in any case.
 */
import type { MemoryAccess } from '../../interpreter/core/program.ts';
import type { GlobalMemory } from '../../interpreter/core/global-memory.ts';
import { pageBytes, regionPage, regionSlot } from '../../interpreter/core/global-memory.ts';

/** Bytes of global memory that a launch reads before it writes them. */
export interface Clobbers {
  readonly bytes: number;
  /** Number of those bytes in which every write stores the value that memory already has. */
  readonly rewritten: number;
  /** The first byte of an array that a write changes; if no write changes one, any byte; null: no byte is clobbered. */
  readonly first: { readonly name: string; readonly offset: number } | null;
}

const firstRead = 1;
const firstWritten = 2;
const clobbered = 4;
const changed = 8;

/** An announced write, with the previous contents. */
interface PendingWrite {
  readonly address: number;
  readonly before: Uint8Array;
}

/** Follows the accesses of one run to global memory. */
export class ClobberTest {
  readonly #memory: GlobalMemory;
  /** Access state of each byte, by address. */
  readonly #marks = new Map<number, number>();
  #pending: PendingWrite[] = [];

  /** @param memory that the run works on */
  constructor(memory: GlobalMemory) {
    this.#memory = memory;
  }

  /** Records an access of a thread to global memory before it is executed. */
  announce({ operation, bytes }: MemoryAccess, address: number): void {
    const region = this.#memory[regionSlot(address)];
    if (!region?.writable) return;
    const reads = operation !== 'write';
    for (let byte = address; byte < address + bytes; byte++) {
      const mark = this.#marks.get(byte);
      if (mark === undefined) this.#marks.set(byte, reads ? firstRead : firstWritten);
    }
    if (operation !== 'read') this.#pending.push({ address, before: this.#read(address, bytes) });
  }

  /**
   * Completes the announced writes.
   * @returns whether there was one
   */
  settle(): boolean {
    if (this.#pending.length === 0) return false;
    for (const { address, before } of this.#pending) {
      const after = this.#read(address, before.length);
      for (const [at, old] of before.entries()) {
        const mark = this.#marks.get(address + at)!;
        if ((mark & firstRead) !== 0) this.#marks.set(address + at, mark | clobbered | (after[at] === old ? 0 : changed));
      }
    }
    this.#pending = [];
    return true;
  }

  result(): Clobbers {
    const found = [...this.#marks].filter(([, mark]) => (mark & clobbered) !== 0);
    const [address] = found.find(([, mark]) => (mark & changed) !== 0) ?? found[0] ?? [];
    const region = address === undefined ? undefined : this.#memory[regionSlot(address)];
    return {
      bytes: found.length,
      rewritten: found.filter(([, mark]) => (mark & changed) === 0).length,
      first: region ? { name: region.name, offset: address! - region.base } : null,
    };
  }

  #read(address: number, bytes: number): Uint8Array {
    const region = this.#memory[regionSlot(address)];
    const read = new Uint8Array(bytes);
    if (!region) return read;
    for (let at = 0; at < bytes; at++) {
      const offset = address + at - region.base;
      const index = Math.floor(offset / pageBytes);
      const page = region.lastIndex === index && region.lastPage ? region.lastPage : regionPage(region, index);
      read[at] = page.u8[offset - index * pageBytes]!;
    }
    return read;
  }
}
