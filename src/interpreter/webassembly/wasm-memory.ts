/** The linear memory of a WebAssembly run: tables, buffers, shadow words, frames of resident blocks. */
import { alignedUp } from '../../base/integer.ts';
import type { Argument, GlobalBuffer } from '../core/arguments.ts';
import type { RunRequest } from '../core/run-request.ts';
import type { Expanse, Place, Plan } from './region/wasm-plan.ts';
import { InvariantError } from '../../base/assert.ts';
import { handingOverFill, recordedFill, uninitialisedFill } from '../detector/shadow-word.ts';
import { handingOver, raceState, transitionIndex, transitions, uninitialised, untouched } from '../detector/state-machine.ts';
import { argumentBytes, createRegion, fillPage, initialBytes, pageBytes, pageQuota, regionPage, takePage } from '../core/global-memory.ts';
import {
  accessKinds,
  alerts,
  levelTable,
  levels,
  maxEntries,
  pageEntry,
  pageEntryAt,
  placesOfStrongAccesses,
  placeEntry,
  placeTable,
  transitionTable,
} from './region/wasm-plan.ts';

const wasmPage = 2 ** 16;

/** The state of a resident block in linear memory, with views of parts of it. */
export class BlockFrame {
  readonly start: number;
  /** Index of the frame among all frames. */
  readonly index: number;
  status: Int32Array = new Int32Array(0);
  left: Int32Array = new Int32Array(0);
  #generation = -1;

  constructor(start: number, index: number) {
    this.start = start;
    this.index = index;
  }

  refresh({ i32, generation }: LinearMemory, { threads, frame }: Plan): void {
    if (this.#generation === generation) return;
    this.#generation = generation;
    const at = (offset: number): Int32Array => {
      const first = (this.start + offset) >>> 2;
      return i32.subarray(first, first + threads);
    };
    this.status = at(frame.status);
    this.left = at(frame.left);
  }
}

/** Treatment of a racing location by shadow words: report it once, or report each access to it. */
export type WordMode = 'detect' | 'record';

export class LinearMemory {
  readonly memory: WebAssembly.Memory;
  readonly #plan: Plan;
  #end: number;
  u8: Uint8Array;
  u16: Uint16Array;
  i32: Int32Array;
  u64: BigUint64Array;
  /** Incremented whenever the views change. */
  generation = 0;
  readonly #free: BlockFrame[] = [];
  #frames = 0;
  readonly #pages = new Map<Expanse, Map<number, { readonly data: number; readonly shadow: number }>>();
  /** The page of the last requested address. */
  #lastPage: {
    readonly expanse: Expanse;
    readonly index: number;
    readonly data: number;
    readonly shadow: number;
  } | null = null;
  /** Pages of unbounded buffers, in ascending order of their addresses. */
  readonly #allocated: { readonly data: number; readonly expanse: Expanse; readonly page: number }[] = [];
  readonly #regions: ReadonlyMap<Expanse, ReturnType<typeof createRegion>>;

  /** Fill byte of the shadow words of pages of unbounded buffers. */
  readonly #expanseFill: number;
  /** Shadow words of global memory whose cells are to be recorded. */
  readonly #recorded: readonly number[];

  constructor(plan: Plan, request: RunRequest, mode: WordMode, recorded: readonly number[]) {
    this.#plan = plan;
    this.#recorded = recorded;
    this.#end = plan.end;
    this.memory = new WebAssembly.Memory({ initial: Math.ceil((plan.end + plan.frame.bytes) / wasmPage) });
    this.u8 = new Uint8Array(0);
    this.u16 = new Uint16Array(0);
    this.i32 = new Int32Array(0);
    this.u64 = new BigUint64Array(0);
    this.#view();
    this.#fillTables(mode);
    this.#fillPlaceTable();
    for (const place of plan.places) if (place.space === 'global') this.#fillPlace(place, request);
    const handOver = mode === 'record' && plan.sifting !== null ? placesOfStrongAccesses(plan) : null;
    this.#expanseFill = handOver?.anywhere ? handingOverFill : untouched;
    for (const { space, writable, shadow, bytes, cellShift } of handOver?.places ?? []) {
      if (space !== 'global' || !writable) continue;
      this.u8.fill(handingOverFill, shadow, shadow + 8 * Math.ceil(bytes / 2 ** cellShift));
    }
    this.#fillRecorded(plan.globalShadow, plan.globalShadowEnd);
    const quota = pageQuota(request.steps);
    this.#regions = new Map(
      plan.expanses.map((expanse, index) => {
        const buffer = expanse.source.kind === 'buffer' ? request.buffers[expanse.source.index]! : null;
        const contents = buffer ?? { elementBytes: 1, fill: 0n, values: new Map<number, bigint>() };
        const { elementBytes, fill, values } = contents;
        const initial = buffer?.initial ?? null;
        const common = {
          name: expanse.name,
          bytes: null,
          writable: true,
          elementBytes,
          fill,
          values,
          initial,
          uninitialised: false,
        };
        return [expanse, createRegion(index + 1, common, quota)];
      }),
    );
  }

  #view(): void {
    const { buffer } = this.memory;
    this.u8 = new Uint8Array(buffer);
    this.u16 = new Uint16Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.u64 = new BigUint64Array(buffer);
    this.generation++;
  }

  #allocate(bytes: number): number {
    const start = this.#end;
    this.#end += alignedUp(bytes, 256);
    const missing = this.#end - this.u8.length;
    if (missing > 0) {
      const wanted = Math.max(missing, Math.min(this.u8.length / 4, 2 ** 26, 2 ** 32 - wasmPage - this.u8.length));
      this.memory.grow(Math.ceil(wanted / wasmPage));
      this.#view();
    }
    return start;
  }

  #fillTables(mode: WordMode): void {
    const { threads, block, coordinates, detection } = this.#plan;
    const [x, y] = block;
    for (let thread = 0; thread < threads; thread++) {
      const at = coordinates / 4 + thread;
      this.i32[at] = thread % x;
      this.i32[at + threads] = Math.floor(thread / x) % y;
      this.i32[at + 2 * threads] = Math.floor(thread / (x * y));
    }
    if (detection === 'words') this.u8.set(tables[mode], transitionTable);
  }

  #fillRecorded(start: number, end: number): void {
    for (const word of this.#recorded) if (word >= start && word < end) this.u8.fill(recordedFill, word, word + 8);
  }

  /** Fills the table by which generated code finds the place of an address. */
  #fillPlaceTable(): void {
    const { places, placeMap, detection } = this.#plan;
    const globals = places.filter(({ space }) => space === 'global').slice(0, maxEntries);
    for (const [index, { start, bytes, writable, shadow }] of globals.entries()) {
      const entry = (placeTable + placeEntry.bytes * (index + 1)) >>> 2;
      // Without shadow words, the place is not readable by code that updates shadow words.
      const readable = writable || detection !== 'words' ? bytes : 0;
      this.i32.set([start, readable, writable ? bytes : 0, shadow], entry);
      this.u8.fill(index + 1, placeMap + start / 64, placeMap + Math.ceil((start + bytes) / 64));
    }
  }

  #fillPlace(place: Place, request: RunRequest): void {
    const { program, objectAddresses, bufferAddresses } = this.#plan;
    if (place.source.kind === 'buffer') {
      const buffer = request.buffers[place.source.index]!;
      this.#fillBuffer(place, buffer);
      if (buffer.uninitialised && this.#plan.detection === 'words') {
        this.u8.fill(uninitialisedFill, place.shadow, place.shadow + 8 * Math.ceil(place.bytes / 2 ** place.cellShift));
      }
      return;
    }
    const object = program.kernel.objects[place.source.index]!;
    const argument: Argument | undefined = request.arguments[object.parameter ?? -1];
    const initial =
      object.parameter === undefined
        ? initialBytes(object, objectAddresses)
        : argumentBytes(argument, place.bytes, (buffer) => bufferAddresses[buffer]!);
    if (initial) this.u8.set(initial.subarray(0, place.bytes), objectAddresses[place.source.index]);
  }

  #fillBuffer({ start, bytes }: Place, { initial, elementBytes, fill, values }: GlobalBuffer): void {
    if (initial) {
      this.u8.set(initial.subarray(0, bytes), start);
      return;
    }
    const put = (element: number, value: bigint): void => {
      for (let byte = 0; byte < elementBytes; byte++) {
        const offset = element * elementBytes + byte;
        if (offset >= 0 && offset < bytes) this.u8[start + offset] = Number((value >> BigInt(8 * byte)) & 0xffn);
      }
    };
    if (fill !== 0n && bytes > 0) {
      // Writes one element, then repeatedly doubles the filled part.
      put(0, fill);
      for (let done = elementBytes; done < bytes; done *= 2) {
        this.u8.copyWithin(start + done, start, start + Math.min(done, bytes - done));
      }
    }
    for (const [element, value] of values) put(element, value);
  }

  /** A frame for a block, with thread state, shared memory and local memory in their initial state. */
  takeFrame(): BlockFrame {
    const { frame, localBytes, threads, sharedBytes, sharedShadowBytes } = this.#plan;
    const reused = this.#free.pop();
    const taken = reused ?? new BlockFrame(this.#allocate(frame.bytes), this.#frames++);
    const { start } = taken;
    this.#fill(0xff, start + frame.left, 4 * threads);
    if (reused !== undefined) {
      this.#fill(0, start + frame.rounds, frame.operands - frame.rounds);
      this.#fill(0, start + frame.shared, sharedBytes);
      this.#fill(0, start + frame.local, localBytes * threads);
    }
    this.#fill(uninitialisedFill, start + frame.sharedShadow, sharedShadowBytes);
    return taken;
  }

  #fill(byte: number, start: number, bytes: number): void {
    if (bytes > 0) this.u8.fill(byte, start, start + bytes);
  }

  returnFrame(frame: BlockFrame): void {
    this.#free.push(frame);
  }

  /** Addresses of the byte at an offset of an unbounded buffer, and of its shadow word. */
  expanseAddress(expanse: Expanse, offset: number): { readonly data: number; readonly shadow: number } {
    const index = Math.floor(offset / pageBytes);
    const last = this.#lastPage;
    if (last?.expanse === expanse && last.index === index) return { data: last.data + offset - index * pageBytes, shadow: last.shadow };
    let pages = this.#pages.get(expanse);
    if (!pages) this.#pages.set(expanse, (pages = new Map<number, { data: number; shadow: number }>()));
    let page = pages.get(index);
    if (!page) {
      const region = this.#regions.get(expanse)!;
      takePage(region);
      const data = this.#allocate(pageBytes);
      const shadow = this.#plan.detection === 'words' ? this.#allocate(8 * pageBytes) : 0;
      fillPage(this.u8.subarray(data, data + pageBytes), region, index);
      if (shadow !== 0) {
        if (this.#expanseFill !== untouched) this.u8.fill(this.#expanseFill, shadow, shadow + 8 * pageBytes);
        this.#fillRecorded(shadow, shadow + 8 * pageBytes);
      }
      page = { data, shadow };
      pages.set(index, page);
      this.#allocated.push({ data, expanse, page: index });
    }
    this.#lastPage = { expanse, index, ...page };
    return { data: page.data + offset - index * pageBytes, shadow: page.shadow };
  }

  /** Adds a page of an unbounded buffer to the table by which generated code finds the page of an address. */
  showPage(address: number, data: number, shadow: number): void {
    const number = Math.floor(address / pageBytes);
    const at = (this.#plan.pageTable + pageEntryAt(address)) >>> 2;
    this.i32[at] = number;
    this.i32[at + 1] = Math.floor(number / 2 ** 32);
    this.i32[at + pageEntry.data / 4] = data;
    this.i32[at + pageEntry.shadow / 4] = shadow;
  }

  /** Part of the memory as 32-bit words. */
  words(start: number, bytes: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, start, bytes >>> 2);
  }

  /** Shadow words of the pages of unbounded buffers. */
  *expanseShadows(): Iterable<{ readonly start: number; readonly bytes: number }> {
    for (const pages of this.#pages.values()) {
      for (const { shadow } of pages.values()) if (shadow !== 0) yield { start: shadow, bytes: 8 * pageBytes };
    }
  }

  /** The unbounded buffer that contains an address of linear memory, and the offset in the buffer. */
  expanseOf(data: number): { readonly index: number; readonly offset: number } {
    let [low, high] = [0, this.#allocated.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#allocated[middle]!.data <= data) low = middle;
      else high = middle;
    }
    const found = this.#allocated[low];
    if (!found || data < found.data || data >= found.data + pageBytes) throw new InvariantError(`address ${data} belongs to nothing`);
    return {
      index: this.#plan.expanses.indexOf(found.expanse),
      offset: found.page * pageBytes + data - found.data,
    };
  }

  /** A byte of an unbounded buffer, whether or not a thread has accessed its page. */
  expanseByte(expanse: Expanse, offset: number): number {
    const index = Math.floor(offset / pageBytes);
    const page = this.#pages.get(expanse)?.get(index);
    const at = offset - index * pageBytes;
    return page ? this.u8[page.data + at]! : regionPage(this.#regions.get(expanse)!, index).u8[at]!;
  }
}

/**
 * Fills the table of levels by the number of equal leading bits of two shadow words. @param u8 memory from
 * `transitionTable` on, as for all tables
 */
function fillLevels(u8: Uint8Array): void {
  for (let agreeing = 0; agreeing <= 64; agreeing++) {
    const highest = 63 - agreeing;
    u8[levelTable - transitionTable + agreeing] =
      highest >= 45
        ? levels.grid
        : highest >= 31
          ? levels.blockBarrier
          : highest >= 15
            ? levels.warpBarrier
            : highest >= 10
              ? levels.block
              : highest >= 5
                ? levels.warp
                : levels.thread;
  }
}

/** Indices of barrier and relation for each level. */
const levelMeanings = [
  [levels.thread, 0, 0],
  [levels.warp, 0, 1],
  [levels.block, 0, 2],
  [levels.warpBarrier, 1, 1],
  [levels.blockBarrier, 2, 2],
  [levels.grid, 0, 3],
] as const;

function fillTransitions(u8: Uint8Array, mode: WordMode): void {
  const { blockWrite, deviceWrite, blockAtomic, deviceAtomic, read, write } = accessKinds;
  const { recorded, recordedWrite, volatileRead, volatileWrite } = accessKinds;
  /** Maps kinds of accesses to those of the table of the state machine. */
  const accessOf = new Map<number, number>([
    [blockWrite, blockAtomic],
    [deviceWrite, deviceAtomic],
    [volatileRead, read],
    [volatileWrite, write],
    [recorded, write],
    [recordedWrite, write],
  ]);
  const writes = new Set<number>([write, blockWrite, deviceWrite, volatileWrite, recordedWrite]);
  for (const kind of Object.values(accessKinds)) {
    const isRecorded = kind === recorded || kind === recordedWrite;
    for (const [level, sync, relation] of levelMeanings) {
      const row = 256 * kind + level;
      for (let state = 0; state <= uninitialised; state++) {
        let next = transitions[transitionIndex(state, accessOf.get(kind) ?? kind, sync, relation)]!;
        if (state === raceState) next = mode === 'record' ? alerts.recorded : raceState;
        else if (state === uninitialised && !writes.has(kind)) next = alerts.uninitialised;
        else if (next === raceState || isRecorded) next = alerts.raced;
        u8[row + state] = next;
      }
      u8[row + handingOver] = kind === read ? handingOver : alerts.handsOver;
    }
  }
}

/** The contents from `transitionTable` to `placeTable`, computed once. */
const tables: Readonly<Record<WordMode, Uint8Array>> = { detect: tablesOf('detect'), record: tablesOf('record') };

function tablesOf(mode: WordMode): Uint8Array {
  const bytes = new Uint8Array(placeTable - transitionTable);
  fillLevels(bytes);
  fillTransitions(bytes, mode);
  return bytes;
}
