/** When accesses happened, as far as their order depends on it. */
import type { BlockOrder, CopyGroup } from './block-order.ts';

/** Moments as parallel arrays. */
export class Moments {
  /** Block, and thread in it. */
  block = new Int32Array(0);
  thread = new Int32Array(0);
  time = new Int32Array(0);
  barriers = new Int32Array(0);
  warpBarriers = new Int32Array(0);
  exchanges = new Int32Array(0);
  /** Of a strong write: its chain and number in that; 0: no such. */
  chain = new Int32Array(0);
  write = new Int32Array(0);
  /** For an access of an asynchronous copy. */
  readonly copy: (CopyGroup | undefined)[] = [];

  grow(capacity: number): void {
    const larger = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const grown = new Int32Array(capacity);
      grown.set(old);
      return grown;
    };
    this.block = larger(this.block);
    this.thread = larger(this.thread);
    this.time = larger(this.time);
    this.barriers = larger(this.barriers);
    this.warpBarriers = larger(this.warpBarriers);
    this.exchanges = larger(this.exchanges);
    this.chain = larger(this.chain);
    this.write = larger(this.write);
  }

  /** Makes moment `at` that of the next instruction of a thread. */
  set(at: number, block: BlockOrder, thread: number): void {
    const warp = thread >> 5;
    this.block[at] = block.ordinal;
    this.thread[at] = thread;
    this.time[at] = block.times[thread]!;
    this.barriers[at] = block.barriers;
    this.warpBarriers[at] = block.warpBarriers[warp]!;
    this.exchanges[at] = block.exchanges[warp]!;
    this.chain[at] = 0;
    this.write[at] = 0;
    if (this.copy[at]) this.copy[at] = undefined;
  }

  copyTo(to: number, from: number): void {
    this.block[to] = this.block[from]!;
    this.thread[to] = this.thread[from]!;
    this.time[to] = this.time[from]!;
    this.barriers[to] = this.barriers[from]!;
    this.warpBarriers[to] = this.warpBarriers[from]!;
    this.exchanges[to] = this.exchanges[from]!;
    this.chain[to] = this.chain[from]!;
    this.write[to] = this.write[from]!;
    if (this.copy[from] || this.copy[to]) this.copy[to] = this.copy[from];
  }
}
