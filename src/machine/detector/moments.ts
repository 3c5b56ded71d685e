/** When accesses happened, as far as their order depends on it. */
import type { BlockOrder, CopyGroup } from './block-order.ts';

/** Words of a node are together, so that looking at one takes one line of a cache: the number of a node is shifted. */
const shift = 4;
const field = {
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
} as const;
const fields = Object.keys(field).length;

/** Accesses that are remembered: moments, and the site, in linked lists of nodes. Node 0 is the end of every list. */
export class Moments {
  #words = new Int32Array(0);
  /** For an access of an asynchronous copy. */
  readonly copy: (CopyGroup | undefined)[] = [];

  grow(capacity: number): void {
    const grown = new Int32Array(capacity << shift);
    grown.set(this.#words);
    this.#words = grown;
  }

  /** Number of the block. */
  block(node: number): number {
    return this.#words[(node << shift) | field.block]!;
  }

  /** Number of the thread in the block. */
  thread(node: number): number {
    return this.#words[(node << shift) | field.thread]!;
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

  /** Of a strong write: its chain, and its number in that; 0: no such. */
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

  /** What was written to the cell last. */
  value(node: number): number {
    return this.#words[(node << shift) | field.value]!;
  }

  setValue(node: number, value: number): void {
    this.#words[(node << shift) | field.value] = value;
  }

  /** Whether the thread wrote different values in this interval. */
  isVarying(node: number): boolean {
    return this.#words[(node << shift) | field.isVarying] !== 0;
  }

  setVarying(node: number): void {
    this.#words[(node << shift) | field.isVarying] = 1;
  }

  /** Makes node `at` an access that a thread makes with its next instruction. */
  setAccess(at: number, site: number, value: number): void {
    const words = this.#words;
    const first = at << shift;
    words[first | field.site] = site;
    words[first | field.value] = value;
    words[first | field.isVarying] = 0;
  }

  /** Makes moment `at` that of the next instruction of a thread. */
  set(at: number, block: BlockOrder, thread: number, chain: number, write: number): void {
    const warp = thread >> 5;
    const words = this.#words;
    const first = at << shift;
    words[first | field.block] = block.ordinal;
    words[first | field.thread] = thread;
    words[first | field.time] = block.times[thread]!;
    words[first | field.barriers] = block.barriers;
    words[first | field.warpBarriers] = block.warpBarriers[warp]!;
    words[first | field.exchanges] = block.exchanges[warp]!;
    words[first | field.chain] = chain;
    words[first | field.write] = write;
    if (this.copy.length > 0 && this.copy[at]) this.copy[at] = undefined;
  }

  /** All but the place in a list. */
  copyTo(to: number, from: number): void {
    const next = this.next(to);
    this.#words.copyWithin(to << shift, from << shift, (from << shift) + fields);
    this.setNext(to, next);
    if (this.copy[from] || this.copy[to]) this.copy[to] = this.copy[from];
  }
}
