/** The history of accesses: for each, the moment and the properties that determine its order. */
import type { BlockOrder, CopyGroup } from './block-order.ts';
import type { SyncLocation } from './sync-memory.ts';
import { type DetectorMemory, addressForCode, wordsIn } from './detector-memory.ts';

/**
 * Words of a node are contiguous, so that an access to a node needs one cache line: the number of a node is shifted.
 */
const shift = 4;
/** Bytes of a node, as a power of two. */
export const nodeShift = shift + 2;
/** Words of a node. */
export const momentFields = {
  block: 0,
  thread: 1,
  time: 2,
  barriers: 3,
  warpBarriers: 4,
  exchanges: 5,
  chain: 6,
  write: 7,
  next: 8,
  site: 9,
  value: 10,
  isVarying: 11,
  owner: 12,
  earlierTime: 13,
  earlierWarpBarriers: 14,
  earlierExchanges: 15,
} as const;
const field = momentFields;
const fields = Object.keys(field).length;

/** Stored accesses, each with its moment and its site, in linked lists of nodes. Node 0 terminates every list. */
export class AccessHistory {
  #words: Int32Array = new Int32Array(0);
  /** Groups of asynchronous copies, for the accesses made by them. */
  readonly #copies: (CopyGroup | undefined)[] = [];
  /** Whether any asynchronous copy was recorded. */
  hasCopies = false;
  readonly #memory: DetectorMemory | null;

  /** @param memory for data read by WebAssembly code; null without such code */
  constructor(memory: DetectorMemory | null) {
    this.#memory = memory;
  }

  grow(capacity: number): void {
    const grown = wordsIn(this.#memory, capacity << shift);
    grown.set(this.#words);
    this.#words = grown;
    this.#memory?.set('moments', addressForCode(grown));
  }

  /** Number of the block of the access. */
  block(node: number): number {
    return this.#words[(node << shift) | field.block]!;
  }

  /** Number of the thread in its block. */
  thread(node: number): number {
    return this.#words[(node << shift) | field.thread]!;
  }

  /** The key of the accessing thread in clocks. */
  owner(node: number): number {
    return this.#words[(node << shift) | field.owner]!;
  }

  time(node: number): number {
    return this.#words[(node << shift) | field.time]!;
  }

  barriers(node: number): number {
    return this.#words[(node << shift) | field.barriers]!;
  }

  warpBarriers(node: number): number {
    return this.#words[(node << shift) | field.warpBarriers]!;
  }

  exchanges(node: number): number {
    return this.#words[(node << shift) | field.exchanges]!;
  }

  /** For a strong write: its release sequence, and its index in the sequence; otherwise 0. */
  chain(node: number): number {
    return this.#words[(node << shift) | field.chain]!;
  }

  write(node: number): number {
    return this.#words[(node << shift) | field.write]!;
  }

  next(node: number): number {
    return this.#words[(node << shift) | field.next]!;
  }

  setNext(node: number, next: number): void {
    this.#words[(node << shift) | field.next] = next;
  }

  site(node: number): number {
    return this.#words[(node << shift) | field.site]!;
  }

  /** The last value written to the cell. */
  value(node: number): number {
    return this.#words[(node << shift) | field.value]!;
  }

  setValue(node: number, value: number): void {
    this.#words[(node << shift) | field.value] = value;
  }

  /** Whether the thread wrote different values to the cell since its last barrier. */
  isVarying(node: number): boolean {
    return this.#words[(node << shift) | field.isVarying] !== 0;
  }

  /** Stores the value of the next write of the thread, and the moment of its last write of another value. */
  setVarying(node: number, value: number): void {
    const words = this.#words;
    const first = node << shift;
    words[first | field.value] = value;
    words[first | field.isVarying] = 1;
    words[first | field.earlierTime] = words[first | field.time]!;
    words[first | field.earlierWarpBarriers] = words[first | field.warpBarriers]!;
    words[first | field.earlierExchanges] = words[first | field.exchanges]!;
  }

  /** Copies a node to `to`, with the moment of the thread's last write of another value. */
  copyEarlier(to: number, from: number): void {
    this.copyTo(to, from);
    const words = this.#words;
    const first = to << shift;
    words[first | field.time] = words[first | field.earlierTime]!;
    words[first | field.warpBarriers] = words[first | field.earlierWarpBarriers]!;
    words[first | field.exchanges] = words[first | field.earlierExchanges]!;
    words[first | field.chain] = 0;
  }

  /** Stores an access of a site in node `at`. @param copy group of the asynchronous copy that makes the access */
  setAccess(at: number, site: number, value: number, copy: CopyGroup | undefined): void {
    const words = this.#words;
    const first = at << shift;
    words[first | field.site] = site;
    words[first | field.value] = value;
    words[first | field.isVarying] = 0;
    if (copy) this.hasCopies = true;
    if (this.hasCopies) this.#copies[at] = copy;
  }

  /** Group of the asynchronous copy that made an access; undefined for other accesses. */
  copyOf(node: number): CopyGroup | undefined {
    return this.hasCopies ? this.#copies[node] : undefined;
  }

  /**
   * Stores the moment of the next instruction of a thread in node `at`.
   * @param owner key of the thread in clocks
   * @param location the first location written by a strong write of the instruction; null: none
   */
  set(at: number, block: BlockOrder, thread: number, owner: number, location: SyncLocation | null): void {
    const warp = thread >> 5;
    const words = this.#words;
    const first = at << shift;
    words[first | field.block] = block.ordinal;
    words[first | field.thread] = thread;
    words[first | field.owner] = owner;
    words[first | field.time] = block.times[thread]!;
    words[first | field.barriers] = block.barriers;
    words[first | field.warpBarriers] = block.warpBarriers[warp]!;
    words[first | field.exchanges] = block.exchanges[warp]!;
    words[first | field.chain] = location === null ? 0 : location.chain;
    words[first | field.write] = location === null ? 0 : location.writes;
  }

  /** Copies all fields except for the link to the next node. */
  copyTo(to: number, from: number): void {
    const next = this.next(to);
    this.#words.copyWithin(to << shift, from << shift, (from << shift) + fields);
    this.setNext(to, next);
    if (this.hasCopies) this.#copies[to] = this.#copies[from];
  }
}
