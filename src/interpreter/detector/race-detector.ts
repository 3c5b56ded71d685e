/**
 * Finds conflicting unordered accesses (PTX ISA 9.0, section 8.7: data races), independently of the schedule that the
 * interpreter executed. For each cell of memory it stores enough accesses to find the racing pairs of instructions:
 * those that are not known to come before all later ones, a few of each instruction.
 */
import type { InstructionId } from '../../ir/form/kernel.ts';
import type { CopyEffect } from '../../isa/model/operation.ts';
import { type Reach, reachOf } from '../../memory-model/scope.ts';
import type { BlockOrder, CopyGroup } from './block-order.ts';
import type { Presumption } from './happens-before.ts';
import type { SyncLocation } from './sync-memory.ts';
import { HappensBefore, precedence } from './happens-before.ts';
import { type DetectorMemory, addressForCode, wordsIn } from './detector-memory.ts';
import { clockKey, clockKinds, noKey } from './vector-clock.ts';
import { type ConflictKind, type MemoryOperation, bytesOfElement, conflictOf } from '../../memory-model/conflict.ts';
import { acquires, releases } from '../../memory-model/fence.ts';
import { AccessHistory } from './access-history.ts';
import { SyncMemory } from './sync-memory.ts';

/** A memory access of one instruction. */
export interface AccessSite extends MemoryOperation {
  readonly index: number;
  readonly instruction: InstructionId;
  /**
   * Completion of the copy that makes the access asynchronously, at some time before its thread has waited for it;
   * absent for other accesses.
   */
  readonly copy?: CopyEffect['completion'];
  /**
   * Whether the access is an operation on an mbarrier, which synchronizes by phases and not by the contents of the
   * word.
   */
  readonly countsPhases?: true;
}

/** A contiguous part of memory with the accesses to its cells. */
export interface WatchedPage {
  readonly u8: Uint8Array;
  readonly i32: Int32Array;
  /** Newest access of each cell, as an index into the detector's pool; absent until the first access. */
  heads: Int32Array | null;
  /** A cell is `1 << cellShift` bytes: 4, until a narrower access splits the page's cells. */
  cellShift: 0 | 2;
  /** Clocks published by strong writes; null before the first of them. */
  sync: SyncMemory | null;
  /** Whether asynchronous copies have accessed it. */
  hasCopies: boolean;
}

/** A racing pair of sites, with the threads whose accesses raced. */
export interface Conflict<Page> {
  readonly first: AccessSite;
  readonly second: AccessSite;
  readonly kind: ConflictKind;
  /** Numbers in the launch: ordinal of the block times threads of a block plus number in the block. */
  readonly firstThread: number;
  readonly secondThread: number;
  readonly betweenBlocks: boolean;
  readonly page: Page;
  /** Offset in the page and length of the overlap. */
  readonly offset: number;
  readonly bytes: number;
  readonly sameValue: boolean;
  readonly presumed: readonly Presumption[];
}

/** Bits for conflicts of two sites: between threads of one block, of two blocks of a cluster, and of two clusters. */
const conflictBits = [
  { race: 1, volatile: 2 },
  { race: 4, volatile: 8 },
  { race: 16, volatile: 32 },
] as const;
const anyAt = [3, 12, 48] as const;
const anyVolatile = 42;

/** The nodes that store accesses. */
class Pool {
  #capacity = 1024;
  #used = 1;
  /** Free nodes, linked like lists of accesses. */
  #free = 0;
  readonly moments: AccessHistory;

  constructor(memory: DetectorMemory | null) {
    this.moments = new AccessHistory(memory);
    this.moments.grow(this.#capacity);
  }

  allocate(): number {
    const node = this.#free;
    if (node !== 0) {
      this.#free = this.moments.next(node);
      return node;
    }
    if (this.#used === this.#capacity) {
      this.#capacity *= 2;
      this.moments.grow(this.#capacity);
    }
    return this.#used++;
  }

  /** Frees all nodes of a list. */
  release(head: number): void {
    const { moments } = this;
    let last = head;
    while (moments.next(last) !== 0) last = moments.next(last);
    moments.setNext(last, this.#free);
    this.#free = head;
  }
}

/** Maximum number of stored accesses of one instruction to one cell if threads of a block may have different clocks. */
const maxUnordered = 64;

/** Properties of a site needed by each access. These objects have one hidden class (in V8), unlike sites. */
class WatchedSite {
  readonly site: AccessSite;
  readonly index: number;
  readonly bytes: number;
  readonly operation: AccessSite['operation'];
  readonly reads: boolean;
  readonly writes: boolean;
  readonly semantics: AccessSite['semantics'];
  /** Bytes of each element that a strong access reads or writes individually. */
  readonly elementBytes: number;
  /** Whether the access synchronizes by the contents of its memory, and not by phases. */
  readonly hasContents: boolean;
  /** Its reach as a strong access; -1: the access is weak, or counts phases. */
  readonly reach: Reach | -1;
  /** By other site: their conflicts, as bits of {@link conflictBits}. */
  readonly pairs: Uint8Array;
  /** Whether the site conflicts with any site, including itself. */
  readonly isConflicting: boolean;
  /** Whether the site conflicts with some other one only between blocks. */
  readonly isScoped: boolean;
  /** Whether the site conflicts with another one because one of the two is volatile. */
  readonly isVolatile: boolean;
  /** Whether its accesses may race, as opposed to only synchronize. */
  readonly isWatched: boolean;
  /** Whether its conflicts do not depend on the threads, and involve no volatile access. */
  readonly isPlain: boolean;
  /** Whether the site is a weak access to one word. */
  readonly isWeakWord: boolean;

  constructor(site: AccessSite, pairs: Uint8Array) {
    const { index, bytes, operation, semantics, strong, copy, countsPhases } = site;
    this.site = site;
    this.index = index;
    this.bytes = bytes;
    this.operation = operation;
    this.semantics = semantics;
    this.elementBytes = bytesOfElement(site);
    this.hasContents = !countsPhases;
    this.reads = operation !== 'write';
    this.writes = operation !== 'read';
    this.reach = strong === null || countsPhases ? -1 : reachOf[strong];
    this.pairs = pairs;
    this.isConflicting = pairs.some((pair) => pair !== 0);
    this.isScoped = pairs.some((pair) => pair !== 0 && (pair & anyAt[0]) === 0);
    this.isVolatile = pairs.some((pair) => (pair & anyVolatile) !== 0);
    this.isPlain = !this.isScoped && !this.isVolatile;
    this.isWatched = this.isConflicting || copy !== undefined || countsPhases === true;
    this.isWeakWord = this.isConflicting && this.reach === -1 && copy === undefined && !countsPhases && bytes === 4;
  }
}

/** Cached by the accesses of a program, which several runs share: with and without races of volatile accesses. */
const known = {
  volatile: new WeakMap<readonly AccessSite[], readonly WatchedSite[]>(),
  relaxed: new WeakMap<readonly AccessSite[], readonly WatchedSite[]>(),
} as const;

function watchedSites(sites: readonly AccessSite[], volatileRaces: boolean): readonly WatchedSite[] {
  const kept = volatileRaces ? known.volatile : known.relaxed;
  let watched = kept.get(sites);
  if (!watched) kept.set(sites, (watched = watchAll(sites, volatileRaces)));
  return watched;
}

function watchAll(sites: readonly AccessSite[], volatileRaces: boolean): readonly WatchedSite[] {
  const pairs = sites.map(() => new Uint8Array(sites.length));
  for (const a of sites) {
    for (const b of sites) {
      for (const distance of [0, 1, 2] as const) {
        const conflict = conflictOf(a, b, distance);
        if (conflict !== null && (conflict === 'race' || volatileRaces)) pairs[a.index]![b.index]! |= conflictBits[distance][conflict];
      }
    }
  }
  return sites.map((site) => new WatchedSite(site, pairs[site.index]!));
}

interface DetectorOptions {
  /** Number of threads of a block. */
  readonly threads: number;
  /**
   * Whether only barriers of whole blocks, warps and the grid order accesses, so that fewer accesses need to be stored.
   */
  readonly onlyBarriers: boolean;
  /**
   * Whether volatile accesses conflict with each other and with atomics, as in CUDA C++; otherwise they are relaxed
   * atomics.
   */
  readonly volatileRaces: boolean;
  /** Narrowest reach of a fence or strong access of the kernel; absent: any. */
  readonly narrowest?: Reach;
  /** Whether all fences of the kernel are `fence.sc`; absent: no. */
  readonly isSequential?: boolean;
  /** Whether races between accesses that another execution would order are reported; absent: yes. */
  readonly presumes?: boolean;
  /** Memory for generated code that records accesses itself; absent without such code. */
  readonly memory?: DetectorMemory;
}

export class RaceDetector<Page extends WatchedPage> {
  readonly order: HappensBefore;
  /** Whether it has forgotten accesses of one instruction, as there were more than {@link maxUnordered}. */
  hasForgotten = false;
  readonly #sites: readonly WatchedSite[];
  readonly #threads: number;
  readonly #onlyBarriers: boolean;
  readonly #report: (conflict: Conflict<Page>) => void;
  readonly #pool: Pool;
  readonly #memory: DetectorMemory | null;
  /** Release sequences that the strong read of the current access has observed, and the number of writes of each. */
  readonly #observedChains: number[] = [];
  readonly #observedWrites: number[] = [];
  #observed = 0;

  /** @param report called for each racing pair of accesses, possibly several times for a pair of sites */
  constructor(sites: readonly AccessSite[], options: DetectorOptions, report: (conflict: Conflict<Page>) => void) {
    this.order = new HappensBefore(options.threads, {
      hasAcquires: sites.some(({ semantics }) => acquires(semantics)),
      hasReleases: sites.some(({ semantics }) => releases(semantics)),
      narrowest: options.narrowest ?? 0,
      presumes: options.presumes ?? true,
      isSequential: options.narrowest === 2 && (options.isSequential ?? false),
      memory: options.memory ?? null,
    });
    this.#memory = options.memory ?? null;
    this.#pool = new Pool(this.#memory);
    this.#threads = options.threads;
    this.#onlyBarriers = options.onlyBarriers;
    this.#report = report;
    this.#sites = watchedSites(sites, options.volatileRaces);
    if (this.#memory !== null && !sites.some(({ copy }) => copy !== undefined)) this.#showSites(this.#memory);
  }

  /**
   * Registers the sites whose accesses generated code can record: those without a report, because all stored accesses
   * come before them.
   */
  #showSites(memory: DetectorMemory): void {
    const table = memory.allocate(2 * this.#sites.length);
    for (const { index, pairs, writes, isWeakWord, isPlain } of this.#sites) {
      if (!isWeakWord || !isPlain) continue;
      const row = memory.allocate(Math.ceil(pairs.length / 4));
      new Uint8Array(row.buffer, row.byteOffset, pairs.length).set(pairs);
      table[2 * index] = addressForCode(row);
      table[2 * index + 1] = writes ? 1 : 0;
    }
    memory.set('sites', addressForCode(table));
  }

  /** Called before threads of a block run. */
  enter(block: BlockOrder): void {
    if (this.#memory !== null) block.numbers.enter(block.barriers);
  }

  /**
   * Records an access to `site.bytes` bytes at `offset` of a page, reports its conflicts, and records the clocks that
   * it publishes or acquires. A write has already changed the contents.
   * @param thread number in the block
   * @param shared whether the page belongs to one block, so that accesses before the block's last barrier are
   * irrelevant
   */
  record(page: Page, offset: number, { index }: AccessSite, block: BlockOrder, thread: number, shared: boolean): void {
    const site = this.#sites[index]!;
    const { bytes } = site;
    if (site.isWeakWord && page.heads !== null && page.cellShift === 2) {
      // Fast path: one weak access to one cell.
      if (site.writes && page.sync !== null) page.sync.overwrite(offset, 4, null);
      this.#recordCell(page, page.heads, offset >> 2, site, block, thread, shared, undefined, null);
      return;
    }
    if (page.cellShift === 2 && ((offset | bytes) & 3) !== 0) this.#split(page);
    if (!site.isWatched) {
      this.#synchronise(page, offset, site, block, thread);
      return;
    }
    const copy = this.#copyOf(site.site, block, thread);
    this.#observed = 0;
    if (site.reads) this.#read(page, offset, site, block, thread);
    page.heads ??= wordsIn(shared ? null : this.#memory, page.u8.length >> page.cellShift);
    if (copy) page.hasCopies = true;
    const { cellShift } = page;
    const location = site.hasContents && site.writes ? this.#overwrite(page, offset, site, block) : null;
    if (location !== null) location.namedChain = location.chain;
    const end = (offset + bytes) >> cellShift;
    for (let cell = offset >> cellShift; cell < end; cell++) {
      this.#recordCell(page, page.heads, cell, site, block, thread, shared, copy, location);
    }
    this.#learnObserved(block, thread);
    if (location !== null) this.#written(page, offset, site, location, block, thread);
  }

  /**
   * Records the clocks that an access publishes or acquires. The access itself is not stored, since no other one
   * conflicts with it.
   * @param thread number in the block
   */
  synchronise(page: Page, offset: number, { index }: AccessSite, block: BlockOrder, thread: number): void {
    this.#synchronise(page, offset, this.#sites[index]!, block, thread);
  }

  #synchronise(page: Page, offset: number, site: WatchedSite, block: BlockOrder, thread: number): void {
    const { bytes, reach, writes } = site;
    if (reach === -1) {
      if (writes) page.sync?.overwrite(offset, bytes, null);
      return;
    }
    if (site.elementBytes === bytes) {
      const isNoted = writes || this.order.ordersFences(block, thread);
      if (isNoted) page.sync ??= new SyncMemory();
      const { sync } = page;
      if (sync === null) return;
      const location = isNoted ? this.order.locationAt(sync, offset, bytes) : sync.find(offset, bytes);
      if (location === undefined) return;
      if (writes) sync.overwrite(offset, bytes, location);
      this.order.access(block, thread, location, site.operation, site.semantics, reach);
      return;
    }
    this.#observed = 0;
    if (site.reads) this.#read(page, offset, site, block, thread);
    const location = writes ? this.#overwrite(page, offset, site, block) : null;
    this.#learnObserved(block, thread);
    if (location !== null) this.#written(page, offset, site, location, block, thread);
  }

  #copyOf({ copy, operation }: AccessSite, block: BlockOrder, thread: number): CopyGroup | undefined {
    if (copy === undefined) return undefined;
    const { reads, writes } = this.order.issueCopy(block, thread, copy);
    return operation === 'read' ? reads : writes;
  }

  /** A strong read acquires the clocks published at the locations of its elements. */
  #read(page: Page, offset: number, site: WatchedSite, block: BlockOrder, thread: number): void {
    const { reach, elementBytes } = site;
    if (reach === -1) return;
    const isNoted = this.order.ordersFences(block, thread);
    if (isNoted) page.sync ??= new SyncMemory();
    const { sync } = page;
    if (sync === null) return;
    for (let at = offset; at < offset + site.bytes; at += elementBytes) {
      const location = isNoted ? this.order.locationAt(sync, at, elementBytes) : sync.find(at, elementBytes);
      if (location === undefined) continue;
      if (!this.order.strongRead(block, thread, location, site.semantics, reach) || !location.isNamed) continue;
      this.#observedChains[this.#observed] = location.chain;
      this.#observedWrites[this.#observed] = location.writes;
      this.#observed++;
    }
  }

  #learnObserved(block: BlockOrder, thread: number): void {
    for (let at = 0; at < this.#observed; at++) {
      this.order.observed(block, thread, this.#observedChains[at]!, this.#observedWrites[at]!);
    }
  }

  /**
   * Ends the publication by the values that a write overwrites; returns the first location of the write if it is
   * strong.
   */
  #overwrite(page: Page, offset: number, site: WatchedSite, block: BlockOrder): SyncLocation | null {
    const { reach, elementBytes } = site;
    if (reach === -1) {
      page.sync?.overwrite(offset, site.bytes, null);
      return null;
    }
    const sync = (page.sync ??= new SyncMemory());
    let location: SyncLocation | null = null;
    for (let at = offset + site.bytes - elementBytes; at >= offset; at -= elementBytes) {
      location = this.order.locationAt(sync, at, elementBytes);
      sync.overwrite(at, elementBytes, location);
      this.order.beginWrite(block, location, reach, site.operation === 'atomic');
    }
    return location;
  }

  /** @param first first location of the write */
  #written(page: Page, offset: number, site: WatchedSite, first: SyncLocation, block: BlockOrder, thread: number): void {
    const reach = site.reach as Reach;
    const bytes = site.elementBytes;
    this.order.endWrite(block, thread, first, site.semantics, reach);
    for (let at = offset + bytes; at < offset + site.bytes; at += bytes) {
      const location = this.order.locationAt(page.sync!, at, bytes);
      this.order.endWrite(block, thread, location, site.semantics, reach);
    }
  }

  #recordCell(
    page: Page,
    heads: Int32Array,
    cell: number,
    site: WatchedSite,
    block: BlockOrder,
    thread: number,
    shared: boolean,
    copy: CopyGroup | undefined,
    location: SyncLocation | null,
  ): void {
    const pool = this.#pool;
    const { moments } = pool;
    const { ordinal, barriers } = block;
    const value = page.cellShift === 2 ? page.i32[cell]! : page.u8[cell]!;
    let head = heads[cell]!;
    if (shared && head !== 0 && !page.hasCopies && moments.barriers(head) < barriers) {
      pool.release(head);
      head = heads[cell] = 0;
    }
    let again = 0;
    let stale = 0;
    let companions = 0;
    let sameWarp = 0;
    let others = 0;
    let firstOther = -1;
    let spare = 0;
    const { pairs, index } = site;
    const own = clockKey(clockKinds.thread, ordinal * this.#threads + thread);
    // Usually the other access is by the thread that this one acquired from last.
    const lastKey = moments.hasCopies ? noKey : block.lasts[2 * thread]!;
    const lastTime = block.lasts[2 * thread + 1]!;
    for (let node = head; node !== 0; node = moments.next(node)) {
      const other = moments.site(node);
      const conflict = pairs[other]!;
      const sameSite = other === index;
      if (conflict === 0 && !sameSite) continue;
      const owner = moments.owner(node);
      let isAfter = (owner === lastKey && moments.time(node) < lastTime) || (owner === own && !moments.hasCopies);
      if (!isAfter) {
        const found = conflict & anyAt[this.#distance(moments.block(node), block)];
        // In CUDA C++ a volatile write does not come before reads of its value.
        const before = this.order.precedes(moments, node, block, thread, (found & anyVolatile) === 0);
        if (before !== precedence.definite && found !== 0) {
          const sameValue = moments.value(node) === value && !this.#isOfTwoValues(node, block, thread, before);
          this.#conflict(page, node, cell, site, block, thread, sameValue, before === precedence.presumed);
        }
        if (!sameSite) continue;
        isAfter =
          site.isVolatile && before === precedence.definite
            ? this.order.precedes(moments, node, block, thread, false) === precedence.definite
            : before === precedence.definite;
      } else if (!sameSite) continue;
      const otherBlock = moments.block(node) !== ordinal;
      if (isAfter && !(otherBlock && site.isScoped)) {
        // All events after the new access come after this one, which therefore need not be stored.
        stale = node;
        if (owner === own && moments.barriers(node) === barriers) again = node;
      } else if (!otherBlock) {
        companions++;
        if (moments.thread(node) >> 5 === thread >> 5) sameWarp++;
        spare = node;
      } else if (!this.#onlyBarriers) {
        others++;
        spare = node;
      } else if (firstOther === -1) {
        // One access of each of two blocks represents all other blocks; nodes of further blocks may be reused.
        firstOther = moments.block(node);
      } else if (moments.block(node) === firstOther || others === 1) {
        spare = node;
      } else {
        others = 1;
      }
    }
    if (again !== 0 && !copy && !moments.copyOf(again)) {
      if (site.writes && moments.value(again) !== value) moments.setVarying(again, value);
      moments.set(again, block, thread, own, location);
      return;
    }
    if (this.#onlyBarriers) {
      // Two accesses of a warp represent the others of that warp, and one more those of other warps; two of two warps
      // represent all.
      if (companions >= 2 && (sameWarp > 0 || companions > 2)) return;
      // An access of the same block is not reused.
      if (spare !== 0 && moments.block(spare) === ordinal) spare = 0;
    } else if (companions + others < maxUnordered) {
      spare = 0;
    } else if (stale === 0) {
      this.hasForgotten = true;
    }
    let node = stale !== 0 ? stale : spare;
    if (node === 0) {
      node = pool.allocate();
      moments.setNext(node, head);
      heads[cell] = node;
    }
    moments.set(node, block, thread, own, location);
    moments.setAccess(node, index, value, copy);
  }

  /**
   * Whether the thread of a node also wrote another value, which comes before the current access no more certainly than
   * its last write does.
   * @param before certainty of the order of its last write
   */
  #isOfTwoValues(node: number, block: BlockOrder, thread: number, before: number): boolean {
    const { moments } = this.#pool;
    if (!moments.isVarying(node)) return false;
    const earlier = this.#pool.allocate();
    moments.copyEarlier(earlier, node);
    const isOrdered = this.order.precedes(moments, earlier, block, thread) > before;
    moments.setNext(earlier, 0);
    this.#pool.release(earlier);
    return !isOrdered;
  }

  /** The narrowest scope that contains a thread of a block and a thread of another block. */
  #distance(ordinal: number, block: BlockOrder): Reach {
    if (ordinal === block.ordinal) return 0;
    return this.order.clusterOf(ordinal) === block.cluster ? 1 : 2;
  }

  #conflict(
    page: Page,
    node: number,
    cell: number,
    { site }: WatchedSite,
    block: BlockOrder,
    thread: number,
    sameValue: boolean,
    isPresumed: boolean,
  ): void {
    const pool = this.#pool;
    const { moments } = pool;
    const first = this.#sites[moments.site(node)]!.site;
    const kind = conflictOf(first, site, this.#distance(moments.block(node), block))!;
    if (kind === 'race') this.order.orderFencesOfRace(block, thread, moments.block(node), moments.thread(node));
    // Both are aligned to their size, so the larger contains the smaller.
    const bytes = Math.min(first.bytes, site.bytes);
    const bothWrite = first.operation === 'write' && site.operation === 'write';
    this.#report({
      first,
      second: site,
      kind,
      firstThread: moments.block(node) * this.#threads + moments.thread(node),
      secondThread: block.ordinal * this.#threads + thread,
      betweenBlocks: moments.block(node) !== block.ordinal,
      page,
      offset: (cell << page.cellShift) & -bytes,
      bytes,
      sameValue: bothWrite && sameValue,
      presumed: isPresumed ? this.order.presumptions(moments, node, block, thread) : [],
    });
  }

  /** Splits the cells of a page into single bytes: each byte gets a copy of the list of its cell. */
  #split(page: Page): void {
    const { heads } = page;
    page.cellShift = 0;
    if (!heads) return;
    const pool = this.#pool;
    const { moments } = pool;
    const bytes = new Int32Array(page.u8.length);
    for (const [cell, head] of heads.entries()) {
      for (let byte = 0; byte < 4 && head !== 0; byte++) {
        let last = 0;
        for (let node = head; node !== 0; node = moments.next(node)) {
          const copied = pool.allocate();
          moments.copyTo(copied, node);
          moments.setValue(copied, (moments.value(node) >>> (8 * byte)) & 0xff);
          moments.setNext(copied, 0);
          if (last === 0) bytes[4 * cell + byte] = copied;
          else moments.setNext(last, copied);
          last = copied;
        }
      }
    }
    page.heads = bytes;
  }

  /**
   * Removes all stored accesses to a page: they are ordered before all later accesses, or no thread can access the
   * page.
   */
  forget(page: Page): void {
    if (!page.heads) return;
    // Most pages are seen in few runs, whose code is not compiled: an iterator would take ten times as long.
    const { heads } = page;
    for (let cell = 0; cell < heads.length; cell++) if (heads[cell] !== 0) this.#pool.release(heads[cell]!);
    heads.fill(0);
  }
}
