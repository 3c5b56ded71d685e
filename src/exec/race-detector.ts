/**
 * Finds conflicting accesses that nothing it knows orders: two threads of a block with no full barrier between them, or
 * threads of two blocks, whatever order the machine happened to run them in. It remembers for each cell of memory
 * enough accesses that every racing pair of instructions of the run is found: of each instruction two threads of the
 * current barrier interval, and two other blocks.
 */
import type { InstructionId } from '../ir/kernel.ts';
import type { Scope } from '../isa/operation.ts';
import type { Page } from './memory.ts';

/** One instruction's way to touch memory. */
export interface AccessSite {
  readonly index: number;
  readonly instruction: InstructionId;
  readonly operation: 'read' | 'write' | 'atomic';
  /** Bytes of the whole access. */
  readonly bytes: number;
  /** The widest scope at which the access is strong; null: weak. */
  readonly strong: Scope | null;
}

/** Who performs an access. Ordinals number the blocks of the run. */
export interface Accessor {
  /** Number of the thread in the launch: block ordinal times threads of a block plus number in the block. */
  readonly id: number;
  readonly blockOrdinal: number;
  /** Full barriers that the block has passed. */
  readonly epoch: number;
}

/** A racing pair of sites, with the threads that showed it. */
export interface Conflict {
  readonly first: AccessSite;
  readonly second: AccessSite;
  readonly firstThread: number;
  readonly secondThread: number;
  readonly betweenBlocks: boolean;
  readonly page: Page;
  /** Offset in the page and length of the overlap. */
  readonly offset: number;
  readonly bytes: number;
  readonly sameValue: boolean;
}

const varyingBit = 1;

/** Accesses of cells as linked lists in typed arrays. Node 0 is the end of every list. */
class Pool {
  #capacity = 1024;
  #used = 1;
  /** Nodes to use again, linked by `next`. */
  #free = 0;
  next = new Int32Array(this.#capacity);
  thread = new Int32Array(this.#capacity);
  block = new Int32Array(this.#capacity);
  epoch = new Int32Array(this.#capacity);
  site = new Int32Array(this.#capacity);
  /** What was written to the cell last. */
  value = new Int32Array(this.#capacity);
  /** `varyingBit`: the thread wrote different values in this interval. */
  flags = new Uint8Array(this.#capacity);

  allocate(): number {
    const node = this.#free;
    if (node !== 0) {
      this.#free = this.next[node]!;
      return node;
    }
    if (this.#used === this.#capacity) this.#grow();
    return this.#used++;
  }

  /** Takes back a whole list. */
  release(head: number): void {
    let last = head;
    while (this.next[last] !== 0) last = this.next[last]!;
    this.next[last] = this.#free;
    this.#free = head;
  }

  copy(from: number, to: number): void {
    this.thread[to] = this.thread[from]!;
    this.block[to] = this.block[from]!;
    this.epoch[to] = this.epoch[from]!;
    this.site[to] = this.site[from]!;
    this.value[to] = this.value[from]!;
    this.flags[to] = this.flags[from]!;
  }

  #grow(): void {
    this.#capacity *= 2;
    const larger = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const grown = new Int32Array(this.#capacity);
      grown.set(old);
      return grown;
    };
    this.next = larger(this.next);
    this.thread = larger(this.thread);
    this.block = larger(this.block);
    this.epoch = larger(this.epoch);
    this.site = larger(this.site);
    this.value = larger(this.value);
    const flags = new Uint8Array(this.#capacity);
    flags.set(this.flags);
    this.flags = flags;
  }
}

const scopeRank: Readonly<Record<Scope, number>> = { cta: 0, cluster: 1, gpu: 2, sys: 3 };

/**
 * Two strong accesses of the same bytes whose scopes include both threads do not race (PTX ISA 8, morally strong).
 * Clusters are not modelled: `cluster` scope counts as that of a block.
 */
function morallyStrong(a: AccessSite, b: AccessSite, betweenBlocks: boolean): boolean {
  if (a.strong === null || b.strong === null || a.bytes !== b.bytes) return false;
  return !betweenBlocks || (scopeRank[a.strong] >= scopeRank.gpu && scopeRank[b.strong] >= scopeRank.gpu);
}

export class RaceDetector {
  readonly #sites: readonly AccessSite[];
  readonly #report: (conflict: Conflict) => void;
  /** By pair of sites: 0 reads and the like, 1 races in a block and between blocks, 2 between blocks alone. */
  readonly #pairs: Uint8Array;
  readonly #pool = new Pool();

  /** @param report called for each racing pair of accesses; a pair of sites may come often */
  constructor(sites: readonly AccessSite[], report: (conflict: Conflict) => void) {
    this.#sites = sites;
    this.#report = report;
    this.#pairs = new Uint8Array(sites.length * sites.length);
    for (const a of sites) {
      for (const b of sites) {
        const reads = a.operation === 'read' && b.operation === 'read';
        const within = !reads && !morallyStrong(a, b, false);
        const between = !reads && !morallyStrong(a, b, true);
        this.#pairs[a.index * sites.length + b.index] = within ? 1 : between ? 2 : 0;
      }
    }
  }

  /**
   * Records an access to `site.bytes` bytes at `offset` of a page, of which a write has already changed the contents,
   * and reports its conflicts. `shared`: the page belongs to one block, so that older intervals are of no interest.
   */
  record(page: Page, offset: number, site: AccessSite, accessor: Accessor, shared: boolean): void {
    if (page.cellShift === 2 && ((offset | site.bytes) & 3) !== 0) this.#split(page);
    page.heads ??= new Int32Array(page.u8.length >> page.cellShift);
    const { cellShift } = page;
    const end = (offset + site.bytes) >> cellShift;
    for (let cell = offset >> cellShift; cell < end; cell++) {
      this.#recordCell(page, page.heads, cell, site, accessor, shared);
    }
  }

  #recordCell(
    page: Page,
    heads: Int32Array,
    cell: number,
    site: AccessSite,
    accessor: Accessor,
    shared: boolean,
  ): void {
    const pool = this.#pool;
    const { id, blockOrdinal, epoch } = accessor;
    const value = page.cellShift === 2 ? page.i32[cell]! : page.u8[cell]!;
    const writes = site.operation !== 'read';
    const count = this.#sites.length;
    let head = heads[cell]!;
    if (shared && head !== 0 && pool.epoch[head]! < epoch) {
      pool.release(head);
      head = heads[cell] = 0;
    }
    let own = 0;
    let stale = 0;
    let companions = 0;
    let firstOther = -1;
    let secondOther = -1;
    let spare = 0;
    for (let node = head; node !== 0; node = pool.next[node]!) {
      const otherBlock = pool.block[node]! !== blockOrdinal;
      const sameInterval = !otherBlock && pool.epoch[node]! === epoch;
      if (otherBlock || (sameInterval && pool.thread[node]! !== id)) {
        const verdict = this.#pairs[pool.site[node]! * count + site.index]!;
        if (verdict === 1 || (verdict === 2 && otherBlock)) {
          this.#conflict(page, node, cell, site, id, otherBlock, value);
        }
      }
      if (pool.site[node]! !== site.index) continue;
      if (otherBlock) {
        // One access each of two blocks stands for all other blocks; further nodes may be used again.
        const block = pool.block[node]!;
        if (firstOther === -1) firstOther = block;
        else if (block === firstOther || secondOther !== -1) spare = node;
        else secondOther = block;
      } else if (!sameInterval) {
        stale = node;
      } else if (pool.thread[node]! === id) {
        own = node;
      } else {
        companions++;
      }
    }
    if (own !== 0) {
      if (writes && pool.value[own]! !== value) pool.flags[own]! |= varyingBit;
      return;
    }
    if (companions >= 2) return;
    let node = stale !== 0 ? stale : spare;
    if (node === 0) {
      node = pool.allocate();
      pool.next[node] = head;
      heads[cell] = node;
    }
    pool.thread[node] = id;
    pool.block[node] = blockOrdinal;
    pool.epoch[node] = epoch;
    pool.site[node] = site.index;
    pool.value[node] = value;
    pool.flags[node] = 0;
  }

  #conflict(
    page: Page,
    node: number,
    cell: number,
    site: AccessSite,
    thread: number,
    betweenBlocks: boolean,
    value: number,
  ): void {
    const pool = this.#pool;
    const first = this.#sites[pool.site[node]!]!;
    // Both are aligned to their size, so the smaller lies within the larger.
    const bytes = Math.min(first.bytes, site.bytes);
    const bothWrite = first.operation === 'write' && site.operation === 'write';
    const sameValue = bothWrite && pool.value[node]! === value && (pool.flags[node]! & varyingBit) === 0;
    this.#report({
      first,
      second: site,
      firstThread: pool.thread[node]!,
      secondThread: thread,
      betweenBlocks,
      page,
      offset: (cell << page.cellShift) & -bytes,
      bytes,
      sameValue,
    });
  }

  /** Makes the cells of a page single bytes: each gets a copy of its list. */
  #split(page: Page): void {
    const { heads } = page;
    page.cellShift = 0;
    if (!heads) return;
    const pool = this.#pool;
    const bytes = new Int32Array(page.u8.length);
    for (const [cell, head] of heads.entries()) {
      for (let byte = 0; byte < 4 && head !== 0; byte++) {
        let last = 0;
        for (let node = head; node !== 0; node = pool.next[node]!) {
          const copied = pool.allocate();
          pool.copy(node, copied);
          pool.value[copied] = (pool.value[node]! >>> (8 * byte)) & 0xff;
          pool.next[copied] = 0;
          if (last === 0) bytes[4 * cell + byte] = copied;
          else pool.next[last] = copied;
          last = copied;
        }
      }
    }
    page.heads = bytes;
  }

  /** Forgets all accesses to a page: they are ordered before everything after, or nobody can reach it any more. */
  forget(page: Page): void {
    if (!page.heads) return;
    for (const head of page.heads) if (head !== 0) this.#pool.release(head);
    page.heads.fill(0);
  }
}
