/** The WebAssembly back end: instances of region code over one linear memory, and the functions that it calls. */
import { alignedUp } from '../../base/integer.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { DetectorMemory } from '../detector/detector-memory.ts';
import type { ResidentBlock } from '../core/back-end.ts';
import { leftParentObject } from '../core/access-bounds.ts';
import { mixedStatus } from '../core/back-end.ts';
import type { RunRequest } from '../core/run-request.ts';
import type { Executor, LocatedBytes, MachineHost, TrackedPage } from '../core/interpreter-host.ts';
import type { MemoryBackEnd } from '../core/machine-run.ts';
import type { WordMode } from './wasm-memory.ts';
import type { MemoryAccess } from '../core/program.ts';
import type { Expanse, Place, Plan } from './region/wasm-plan.ts';
import { localWindow, sharedWindow } from '../../isa/model/address-window.ts';
import { pageBytes } from '../core/global-memory.ts';
import { forgetAccesses, handingOverFill, maxTickets, recordedFill, renumberTickets, shadowFields } from '../detector/shadow-word.ts';
import { handingOver, raceState, untouched } from '../detector/state-machine.ts';
import { LinearMemory } from './wasm-memory.ts';
import { accessKind, alerts, header, levelTable, levels, placesOfStrongAccesses, transitionTable } from './region/wasm-plan.ts';
import { arithmeticModule } from './code/wasm-support.ts';
import { machineModule, type MachineFunction } from './region/machine-function.ts';
import { emitRegion } from './region/wasm-region.ts';
import { compiledRegions, type CompiledRegion } from './region-cache.ts';
import { WasmBlock } from './wasm-block.ts';
import { WasmPage } from './wasm-page.ts';
import { DetectorCode } from './detector-code.ts';

const sharedStart = Number(sharedWindow);
const localStart = Number(localWindow);

/** A shadow word in which a race was found. */
export interface RacyCell {
  /** The block whose shared memory contains it; -1: global memory. */
  readonly block: number;
  /** Address of the shadow word; for shared memory, its offset in the shadow words of the block. */
  readonly shadow: number;
}

/** Interface for events of the back end during a run. */
export interface WasmHost extends MachineHost {
  /** Whether the host tracks the order of accesses, and requires the events that order them. */
  readonly hasOrder: boolean;
  /** Memory of the detector with lists; null without such a detector. */
  readonly detectorMemory: DetectorMemory | null;
  /** Called before threads of a block run. */
  entered(block: ResidentBlock): void;
  /**
   * Called if the shadow word shows that an access races with an earlier one.
   * @param kind distinguishes former states, and accesses of one block and of two; below 64
   */
  raced(access: MemoryAccess, cell: RacyCell, kind: number): void;
}

/** Results of the shadow words. */
export interface WordUse {
  readonly mode: WordMode;
  /** Cells whose accesses are to be recorded. */
  readonly cells: readonly RacyCell[];
}

/** Ends a run that has to restart, with any memory as possible target of a site. */
export class StraySite extends Error {
  readonly site: number;

  constructor(site: number) {
    super('an access left the object that it was taken to stay in');
    this.site = site;
  }
}

/** Places of global memory begin at multiples of 2^8 bytes, and pages within them. */
const granuleShift = 8;
/** Maximum number of granules with a table of pages. */
const maxGranules = 1 << 20;

/** Events that region code reports to the detector with lists, some of them through {@link DetectorCode}. */
type DetectorFunctionName = 'record' | 'recordWord' | 'handOver' | 'event' | 'fence';

type RegionFunction = (frame: number, first: number, last: number) => number;

/** Linear memory has addresses of 32 bits. */
const maxBytes = 2 ** 32 - 2 ** 16;

/** Number of blocks that fit into linear memory at a time, together with all other data. */
export function roomFor({ end, frame }: Plan): number {
  return Math.floor((maxBytes - end) / frame.bytes);
}

export class WasmBackEnd implements MemoryBackEnd {
  readonly mostResident: number;
  readonly plan: Plan;
  readonly linear: LinearMemory;
  readonly #host: WasmHost;
  readonly #compiled: Map<number, CompiledRegion>;
  readonly #functions: (RegionFunction | undefined)[];
  readonly #imports: Record<MachineFunction, WebAssembly.ImportedFunction>;
  /** By number of the frame. */
  readonly #resident: (WasmBlock | undefined)[] = [];
  readonly #detectorCode: DetectorCode | null;
  /** The block whose threads are running. */
  #running!: WasmBlock;
  readonly #buffers: RunRequest['buffers'];
  readonly #instructions = new Map<InstructionId, Instruction>();
  readonly #globals: readonly Place[];
  readonly #shareds: readonly Place[];
  /** Places for which only synchronization is recorded, except for some of their cells. */
  readonly #handingOver: readonly Place[];
  /** By block (-1: global memory): shadow words of cells whose accesses are to be recorded. */
  readonly #recorded = new Map<number, number[]>();
  /** Pages by place, then by offset / {@link pageBytes}. */
  readonly #pages = new Map<number, Map<number, WasmPage>>();
  readonly #sharedPages = new Map<number, WasmPage>();
  /** Ticket 0 is shared by the blocks that ended before tickets were renumbered. */
  #tickets = 1;
  #unknown = 0n;
  /** Pages of global memory by address / 2^{@link granuleShift}, at which places and so pages begin. */
  readonly #pageTable: (WasmPage | undefined)[] = [];
  /** Last page passed to the detector with lists; never one of a block that has ended. */
  #lastPage: WasmPage | null = null;
  /** Shadow word of the last result of `locate`. */
  #lastShadow = 0;

  constructor(plan: Plan, request: RunRequest, host: WasmHost, use: WordUse) {
    this.plan = plan;
    this.mostResident = roomFor(plan);
    this.#host = host;
    for (const { block, shadow } of use.cells) {
      const cells = this.#recorded.get(block);
      if (cells) cells.push(shadow);
      else this.#recorded.set(block, [shadow]);
    }
    this.linear = new LinearMemory(plan, request, use.mode, this.#recorded.get(-1) ?? []);
    this.#buffers = request.buffers;
    for (const { instructions } of plan.program.kernel.blocks) {
      for (const instruction of instructions) this.#instructions.set(instruction.id, instruction);
    }
    this.#compiled = compiledRegions(plan);
    this.#functions = new Array<RegionFunction | undefined>(plan.program.segments.length);
    this.#globals = plan.places.filter(({ space }) => space === 'global');
    this.#shareds = plan.places.filter(({ space }) => space === 'shared');
    this.#handingOver =
      use.mode === 'record' && plan.sifting !== null ? placesOfStrongAccesses(plan).places.filter(({ space }) => space === 'shared') : [];
    const called = this.#detectorFunctions();
    const { detectorMemory } = host;
    this.#detectorCode = detectorMemory === null ? null : new DetectorCode(detectorMemory, plan.globalEnd, called);
    const { recordWord = called.record, fence = called.event } = this.#detectorCode ?? {};
    this.#imports = { ...this.#createImports(), ...called, recordWord, fence };
  }

  start(ordinal: number, position: Dim3): WasmBlock {
    if (this.#tickets > maxTickets) this.#renumberTickets();
    const block = new WasmBlock(this, this.linear.takeFrame(), ordinal, position, this.#tickets++);
    this.#resident[block.views.index] = block;
    for (const { shadow, bytes, cellShift } of this.#handingOver) {
      const at = block.frame + this.plan.frame.sharedShadow + shadow;
      this.linear.u8.fill(handingOverFill, at, at + 8 * Math.ceil(bytes / 2 ** cellShift));
    }
    for (const shadow of this.#recorded.get(ordinal) ?? []) {
      const at = block.frame + this.plan.frame.sharedShadow + shadow;
      this.linear.u8.fill(recordedFill, at, at + 8);
    }
    return block;
  }

  released(block: WasmBlock): void {
    this.#resident[block.views.index] = undefined;
    if (this.#sharedPages.size > 0) this.#sharedPages.delete(block.ordinal);
    this.#lastPage = null;
    this.linear.returnFrame(block.views);
  }

  instruction(id: InstructionId): Instruction {
    return this.#instructions.get(id)!;
  }

  call(block: WasmBlock, segment: number, first: number, last: number): number {
    const { frame } = block;
    this.#running = block;
    this.#host.entered(block);
    const run = this.#functions[segment] ?? this.#instantiate(segment);
    const status = run(frame, first, last);
    const now = status === mixedStatus ? block.status[last]! : status;
    const steps = this.linear.i32[(frame + header.steps) >>> 2]! >>> 0;
    this.#host.ran(steps, block, last, now >= 0 ? now : segment);
    return status;
  }

  #instantiate(segment: number): RegionFunction {
    let region = this.#compiled.get(segment);
    if (!region) {
      const { bytes, arithmetic } = emitRegion(this.plan, segment);
      region = { module: new WebAssembly.Module(bytes), arithmetic };
      this.#compiled.set(segment, region);
    }
    const instance = new WebAssembly.Instance(region.module, {
      [machineModule]: { ...this.#imports, memory: this.linear.memory },
      [arithmeticModule]: region.arithmetic,
    });
    const run = instance.exports['run'] as RegionFunction;
    this.#functions[segment] = run;
    return run;
  }

  /** Events that region code reports to the detector with lists. */
  #detectorFunctions(): Record<'record' | 'handOver' | 'event', WebAssembly.ImportedFunction> {
    const host = this.#host;
    const { accesses } = this.plan.program;
    return {
      record: (_frame: number, site: number, data: number, thread: number): void => {
        const block = this.#running;
        const page = this.#pageAt(block, data >>> 0);
        host.record(block, thread, accesses[site]!, page, page.offsetOf(data >>> 0));
      },
      handOver: (_frame: number, site: number, data: number, thread: number): void => {
        const block = this.#running;
        const page = this.#pageAt(block, data >>> 0);
        host.handOver(block, thread, accesses[site]!, page, page.offsetOf(data >>> 0));
      },
      event: host.hasOrder
        ? (_frame: number, instruction: InstructionId, thread: number): void => host.event(this.#running, thread, instruction)
        : (): void => undefined,
    };
  }

  #createImports(): Record<Exclude<MachineFunction, DetectorFunctionName>, WebAssembly.ImportedFunction> {
    const host = this.#host;
    const { accesses } = this.plan.program;
    // Only code of the running block calls this.
    const who = (_frame: number, thread: number): Executor & { readonly block: WasmBlock } => ({
      block: this.#running,
      thread,
    });
    return {
      stray: (frame: number, site: number, address: bigint, thread: number, steps: number): void => {
        host.counted(steps);
        this.#find(who(frame, thread), accesses[site]!, Number(BigInt.asUintN(64, address)));
        throw new StraySite(site);
      },
      locate: (frame: number, site: number, address: bigint, thread: number, steps: number): number =>
        this.#locate(who(frame, thread), accesses[site]!, Number(BigInt.asUintN(64, address)), steps),
      report: (frame: number, site: number, data: number, shadow: number, thread: number, last: bigint): void =>
        this.#report(who(frame, thread), accesses[site]!, data >>> 0, shadow >>> 0, last),
      foreign: (_frame: number, instruction: InstructionId, thread: number): void => {
        const block = this.#running;
        block.setForeign(thread, host.foreign({ block, thread }, instruction, block.passed(instruction, thread)));
      },
      unknown: (frame: number, thread: number, instruction: InstructionId, result: number, part: number): bigint => {
        if (part === 0) this.#unknown = host.unknown(who(frame, thread), instruction, result);
        return BigInt.asIntN(64, this.#unknown >> BigInt(64 * part));
      },
      havoc: (instruction: InstructionId) => host.havoc(instruction),
      broken: (instruction: InstructionId) => host.broken(instruction),
      unsupported: (frame: number, instruction: InstructionId, thread: number) => host.unsupported(who(frame, thread), instruction),
      lost: (frame: number, segment: number, thread: number, steps: number) => {
        host.counted(steps);
        host.lost(who(frame, thread), segment);
      },
      trap: (frame: number, segment: number, thread: number, steps: number) => {
        host.counted(steps);
        host.trapped(who(frame, thread), segment);
      },
    };
  }

  /** The place and the offset of the target of an access, or a fault. */
  #find(
    executor: Executor,
    access: MemoryAccess,
    address: number,
  ): { readonly place: Place; readonly offset: number } | { readonly expanse: Expanse; readonly offset: number } | null {
    const { space, bytes } = access;
    const left = access.home ? leftParentObject(access.home, access, address, this.plan.sharedBytes) : null;
    if (left) this.#host.left(executor, access, left);
    if (space === 'local' || (space === 'generic' && address >= localStart)) {
      const offset = space === 'local' ? address : address - localStart;
      this.#checkWindow(executor, access, address, offset, this.plan.program.layout.localBytes, 'local');
      return null;
    }
    if (space === 'shared' || (space === 'generic' && address >= sharedStart)) {
      const offset = space === 'shared' ? address : address - sharedStart;
      this.#checkWindow(executor, access, address, offset, this.plan.sharedBytes, 'shared');
      const place = placeAt(this.#shareds, offset)!;
      return { place, offset: offset - place.start };
    }
    for (const expanse of this.plan.expanses) {
      if (Math.abs(address - expanse.base) >= 2 ** 39) continue;
      this.#checkAligned(executor, access, address, address);
      return { expanse, offset: address - expanse.base };
    }
    const place = placeAt(this.#globals, address);
    if (!place || address >= this.plan.globalEnd) {
      return this.#host.fault(executor, 'out-of-bounds', access, `address ${address} belongs to no buffer`);
    }
    const offset = address - place.start;
    if (offset + bytes > place.bytes) return this.#host.left(executor, access, { object: place.name, offset, bytes: place.bytes });
    if (!place.writable && access.operation !== 'read') this.#host.fault(executor, 'read-only', access, `write to ${place.name}`);
    this.#checkAligned(executor, access, address, address);
    return { place, offset };
  }

  // Called for thousands of accesses a run: methods, to avoid a closure for each access.

  #checkAligned(executor: Executor, access: MemoryAccess, address: number, offset: number): void {
    const { bytes } = access;
    if (offset % bytes !== 0) this.#host.fault(executor, 'misaligned', access, `address ${address} for ${bytes} bytes`);
  }

  /** @param offset of the address in a window of `size` bytes */
  #checkWindow(executor: Executor, access: MemoryAccess, address: number, offset: number, size: number, name: 'local' | 'shared'): void {
    if (offset + access.bytes > size) this.#host.fault(executor, 'out-of-bounds', access, `byte ${offset} of ${size} in ${name} memory`);
    this.#checkAligned(executor, access, address, offset);
  }

  #locate(executor: Executor & { readonly block: WasmBlock }, access: MemoryAccess, address: number, steps: number): number {
    const { frame, localBytes } = this.plan;
    const { block, thread } = executor;
    let found;
    try {
      found = this.#find(executor, access, address);
    } catch (stop) {
      this.#host.counted(steps);
      throw stop;
    }
    const shadowAt = (block.frame + header.shadow) >>> 2;
    if (found === null) {
      const offset = access.space === 'local' ? address : address - localStart;
      this.linear.i32[shadowAt] = this.plan.scratch;
      return block.frame + frame.local + thread * localBytes + offset;
    }
    const site = this.plan.sites[access.index]!;
    const cellShift = site.kind === 'anywhere' ? site.cellShift : 0;
    if ('expanse' in found) {
      const { data, shadow } = this.linear.expanseAddress(found.expanse, found.offset);
      const inPage = found.offset & (pageBytes - 1);
      this.linear.i32[shadowAt] = shadow + 8 * (inPage >> cellShift);
      this.linear.showPage(address, data - inPage, shadow);
      return data;
    }
    const { place, offset } = found;
    const shadow = place.shadow + 8 * (offset >> cellShift);
    if (place.space === 'global') {
      this.linear.i32[shadowAt] = place.writable ? shadow : this.plan.scratch;
      return place.start + offset;
    }
    this.linear.i32[shadowAt] = block.frame + frame.sharedShadow + shadow;
    return block.frame + frame.shared + place.start + offset;
  }

  /** The page that contains an address of linear memory, for the detector with lists. */
  #pageAt(block: WasmBlock, data: number): WasmPage {
    let page = this.#lastPage;
    if (page === null || page.offsetOf(data) < 0) {
      page = this.#pageTable[data >>> granuleShift] ?? this.#findPage(block, data);
      this.#lastPage = page;
    }
    page.refresh(this.linear);
    return page;
  }

  /** The page that contains an address of linear memory, and the offset of the address in it. */
  #pageOf(block: WasmBlock, data: number): { readonly page: WasmPage; readonly offset: number } {
    const page = this.#pageAt(block, data);
    return { page, offset: page.offsetOf(data) };
  }

  #findPage(block: WasmBlock, data: number): WasmPage {
    const { frame, places, expanses, sharedBytes } = this.plan;
    const inShared = data - block.frame - frame.shared;
    if (inShared >= 0 && inShared < sharedBytes) {
      let page = this.#sharedPages.get(block.ordinal);
      if (!page) {
        page = new WasmPage(null, 0, block.frame + frame.shared, alignedUp(sharedBytes, 8), this.plan.detection === 'clocks', null);
        this.#sharedPages.set(block.ordinal, page);
      }
      return page;
    }
    const place = data < this.plan.globalEnd ? placeAt(this.#globals, data) : undefined;
    const found = place
      ? { index: place.index, region: place, offset: data - place.start, bytes: alignedUp(place.bytes, 8) }
      : this.#expanseOf(data, places.length, expanses);
    let pages = this.#pages.get(found.index);
    if (!pages) this.#pages.set(found.index, (pages = new Map<number, WasmPage>()));
    const number = Math.floor(found.offset / pageBytes);
    const start = number * pageBytes;
    let page = pages.get(number);
    if (!page) {
      const length = Math.min(pageBytes, found.bytes - start);
      const isTracked = this.plan.detection === 'clocks' && place !== undefined && this.#isUninitialised(place);
      page = new WasmPage(found.region, start, data - found.offset + start, length, isTracked, place ? this.#detectorCode : null);
      pages.set(number, page);
    }
    if (place && data >>> granuleShift < maxGranules) this.#pageTable[data >>> granuleShift] = page;
    return page;
  }

  #isUninitialised({ source }: Place): boolean {
    return source.kind === 'buffer' && this.#buffers[source.index]!.uninitialised === true;
  }

  #expanseOf(data: number, firstIndex: number, expanses: readonly Expanse[]) {
    const { index, offset } = this.linear.expanseOf(data);
    return { index: firstIndex + index, region: expanses[index]!, offset, bytes: Infinity };
  }

  locate({ block, thread }: Executor, access: MemoryAccess, address: number): LocatedBytes {
    const who = { block: block as WasmBlock, thread };
    const data = this.#locate(who, access, address, 0);
    this.#lastShadow = this.linear.i32[(who.block.frame + header.shadow) >>> 2]! >>> 0;
    if (access.space === 'local' || (access.space === 'generic' && address >= localStart)) {
      const page = new WasmPage(null, 0, data - (data & 7), alignedUp(access.bytes, 8) + 8, false, null);
      page.refresh(this.linear);
      this.#lastShadow = this.plan.scratch;
      return { page, offset: data & 7 };
    }
    return this.#pageOf(who.block, data);
  }

  /** Updates shadow words as the inline region code does; called after `locate` for the access. */
  touch({ block, thread }: Executor, access: MemoryAccess, { page, offset }: LocatedBytes): void {
    const who = { block: block as WasmBlock, thread };
    if (this.plan.detection === 'clocks') this.#host.record(block, thread, access, page, offset);
    const site = this.plan.sites[access.index]!;
    if (this.plan.detection !== 'words' || site.kind !== 'anywhere') return;
    const { u8, u64 } = this.linear;
    const stamp = who.block.stampOf(thread);
    const kind = accessKind(access, this.plan.sifting);
    let most = 0;
    for (let cell = 0; cell < Math.max(1, access.bytes >> site.cellShift); cell++) {
      const shadow = this.#lastShadow + 8 * cell;
      const last = u64[shadow >>> 3]!;
      let level = u8[levelTable + leadingZeros(last ^ stamp)]!;
      const isOtherWarp = (Number((last ^ stamp) & 0xffffffffn) & (31 << (shadowFields.thread.shift + 5))) !== 0;
      if (level === levels.warpBarrier && isOtherWarp) level = levels.block;
      const next = u8[transitionTable + 256 * kind + level + Number(last & 31n)]!;
      if (next >= handingOver) {
        most = Math.max(most, next);
        continue;
      }
      u64[shadow >>> 3] = stamp | BigInt(next);
      if (next > raceState) this.#report(who, access, (page as WasmPage).dataAt(offset), shadow, last);
    }
    if (most === alerts.recorded) this.#host.record(block, thread, access, page, offset);
    else if (most === alerts.handsOver) this.#host.handOver(block, thread, access, page, offset);
  }

  *globalPages(): Iterable<TrackedPage> {
    for (const pages of this.#pages.values()) yield* pages.values();
  }

  sharedPages({ ordinal }: ResidentBlock): Iterable<TrackedPage> {
    const page = this.#sharedPages.get(ordinal);
    return page ? [page] : [];
  }

  forgetGlobal(): void {
    if (this.plan.detection !== 'words') return;
    for (const words of this.#globalWords()) forgetAccesses(words);
  }

  /** Shadow words of global memory. */
  *#globalWords(): Iterable<Uint32Array> {
    const { globalShadow, globalShadowEnd } = this.plan;
    yield this.linear.words(globalShadow, globalShadowEnd - globalShadow);
    for (const { start, bytes } of this.linear.expanseShadows()) yield this.linear.words(start, bytes);
  }

  /** Arrays with the shadow words of all memory that a block may access. */
  *wordsOf(block: WasmBlock): Iterable<Uint32Array> {
    if (this.plan.detection !== 'words') return;
    yield* this.#globalWords();
    yield this.linear.words(block.frame + this.plan.frame.sharedShadow, this.plan.sharedShadowBytes);
  }

  #renumberTickets(): void {
    const running = new Map<number, number>();
    const blocks = this.#resident.filter((block) => block !== undefined).sort((a, b) => a.ticket - b.ticket);
    for (const [index, { ticket }] of blocks.entries()) running.set(ticket, index + 1);
    if (this.plan.detection === 'words') {
      for (const words of this.#globalWords()) renumberTickets(words, running);
      for (const { frame } of blocks) {
        renumberTickets(this.linear.words(frame + this.plan.frame.sharedShadow, this.plan.sharedShadowBytes), running);
      }
    }
    for (const block of blocks) block.renumber(running.get(block.ticket)!);
    this.#tickets = blocks.length + 1;
  }

  readBytes(buffer: number, offset: number, count: number): Uint8Array {
    const isIt = ({ source }: Pick<Place, 'source'>): boolean => source.kind === 'buffer' && source.index === buffer;
    const place = this.plan.places.find(isIt);
    if (place) return this.linear.u8.slice(place.start + offset, place.start + offset + count);
    const expanse = this.plan.expanses.find(isIt)!;
    return Uint8Array.from({ length: count }, (_, index) => this.linear.expanseByte(expanse, offset + index));
  }

  #report(executor: Executor & { readonly block: WasmBlock }, access: MemoryAccess, data: number, shadow: number, last: bigint): void {
    const { u8 } = this.linear;
    const { scratch, end, frame, sharedShadowBytes } = this.plan;
    if (shadow >= scratch && shadow < end) {
      u8.fill(untouched, scratch, end);
      return;
    }
    const { block } = executor;
    if ((u8[shadow]! & 31) === alerts.uninitialised) {
      const { page, offset } = this.#pageOf(block, data);
      this.#host.uninitialised(executor, access, page, offset);
      const kind = accessKind(access, this.plan.sifting);
      // A word that was not written has one of two states; the other state determines the transition.
      const next = u8[transitionTable + 256 * kind + untouched]!;
      u8[shadow] = (u8[shadow]! & ~31) | next;
      if (next !== alerts.raced) return;
    }
    u8[shadow] = (u8[shadow]! & ~31) | raceState;
    const inShared = shadow - block.frame - frame.sharedShadow;
    const isShared = inShared >= 0 && inShared < sharedShadowBytes;
    const cell = isShared ? { block: block.ordinal, shadow: inShared } : { block: -1, shadow };
    const word = BigInt.asUintN(64, last);
    const sameBlock = Number(word >> BigInt(shadowFields.ticket.shift)) === block.ticket;
    this.#host.raced(access, cell, 2 * Number(word & 31n) + (sameBlock ? 1 : 0));
  }
}

function leadingZeros(word: bigint): number {
  const high = Number(word >> 32n);
  return high === 0 ? 32 + Math.clz32(Number(word & 0xffffffffn)) : Math.clz32(high);
}

/** The last place that starts at or before an offset; undefined without one. */
function placeAt(places: readonly Place[], at: number): Place | undefined {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]!.start <= at) low = middle + 1;
    else high = middle;
  }
  return places[low - 1];
}
