/**
 * Layout of the linear memory of a WebAssembly run, and the assumptions of the code of a launch. Buffers and variables
 * are disjoint; each resident block has a frame with the state of its threads, their saved values, its shared memory
 * and the shadow words of that. A global address is an address in linear memory.
 */
import { alignedUp } from '../../../base/integer.ts';
import { hasPlainAccesses } from '../../../isa/model/effect.ts';
import { bytesOfElement, isVolatile } from '../../../memory-model/conflict.ts';
import { reachesGrid } from '../../../memory-model/scope.ts';
import type { Dim3 } from '../../../base/dim3.ts';
import type { ValueId } from '../../../ir/form/kernel.ts';
import type { Effect, ValueType } from '../../../isa/model/operation.ts';
import type { RunRequest } from '../../core/run-request.ts';
import type { Liveness } from './liveness.ts';
import type { MemoryAccess, Program } from '../../core/program.ts';
import { needsRuntime } from '../../core/runtime-instruction.ts';
import { livenessOf } from './liveness.ts';
import { pageBytes, regionBase } from '../../core/global-memory.ts';
import { pointerOrigins } from './pointer-origin.ts';
import { isRetreating, needsContents, segmentSuccessors, waits } from '../../core/program.ts';

/**
 * Mode of the race detector: off, shadow words, or a list of accesses with clocks; `sifted`: shadow words that filter
 * out accesses for which no clocks are needed.
 */
export type Detection = 'off' | 'words' | 'sifted' | 'clocks';

/** A bounded part of memory: a buffer, a variable, a parameter. */
export interface Place {
  readonly index: number;
  readonly name: string;
  readonly space: 'global' | 'shared';
  /** Address in linear memory, or offset in shared memory. */
  readonly start: number;
  readonly bytes: number;
  readonly writable: boolean;
  /** A shadow word is for `1 << cellShift` bytes. */
  readonly cellShift: number;
  /** The first shadow word of the place: address, or offset in the shadow words of shared memory. */
  readonly shadow: number;
  readonly source: { readonly kind: 'object' | 'buffer'; readonly index: number };
}

/** An unbounded buffer, whose pages are allocated on first access. */
export interface Expanse {
  readonly name: string;
  readonly base: number;
  readonly source: { readonly kind: 'object' | 'buffer'; readonly index: number };
}

/** Target of an access: a place (an access outside of it is a fault), thread-local memory, or any memory. */
type Site =
  | { readonly kind: 'place'; readonly place: Place }
  | { readonly kind: 'local' }
  | { readonly kind: 'anywhere'; readonly cellShift: number };

interface Slot {
  /** Bytes from the start of the slots of a block with one thread. */
  readonly offset: number;
  readonly bytes: 4 | 8 | 16;
}

/** Offsets within the frame of a resident block. */
interface Frame {
  readonly status: number;
  readonly left: number;
  /** By counted loop, and within that by thread. */
  readonly rounds: number;
  readonly warpBarriers: number;
  readonly operands: number;
  readonly slots: number;
  readonly shared: number;
  readonly sharedShadow: number;
  readonly local: number;
  readonly bytes: number;
}

/** Treatment of accesses by shadow words that sift. */
interface Sifting {
  /** Whether the kernel has strong accesses of several widths, which race if they overlap. */
  readonly hasMixedWidths: boolean;
  /** Whether volatile accesses race with atomics and with each other, as in CUDA C++. */
  readonly volatileRaces: boolean;
}

export interface Plan {
  readonly program: Program;
  readonly liveness: Liveness;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly threads: number;
  readonly dynamicShared: number;
  readonly sharedBytes: number;
  readonly sharedShadowBytes: number;
  /** Local memory of one thread, in bytes. */
  readonly localBytes: number;
  readonly detection: Exclude<Detection, 'sifted'>;
  /**
   * Set if shadow words only select the accesses to be recorded with clocks, because accesses are ordered not only by
   * full barriers.
   */
  readonly sifting: Sifting | null;
  /** Whether barriers of warps change shadow words. */
  readonly hasWarpBarriers: boolean;
  readonly places: readonly Place[];
  readonly expanses: readonly Expanse[];
  /** Addresses of kernel objects and buffers as threads see them. */
  readonly objectAddresses: readonly number[];
  readonly bufferAddresses: readonly number[];
  /** Targets by access. */
  readonly sites: readonly Site[];
  /** Slots of saved values, by value; undefined: never saved. */
  readonly slots: readonly (Slot | undefined)[];
  /** Whether threads may be resumed at a segment. */
  readonly isRegion: Uint8Array;
  readonly frame: Frame;
  /** Tables of the threads' coordinates along x, y and z, a 32-bit word for each. */
  readonly coordinates: number;
  /** One byte for each 64 of global memory: the number of the place in `placeTable`; 0: none. */
  readonly placeMap: number;
  readonly globalEnd: number;
  /** Address of the table of pages of unbounded buffers; 0 without such buffers. */
  readonly pageTable: number;
  readonly globalShadow: number;
  readonly globalShadowEnd: number;
  /** Shadow words shared by all memory without separate ones. */
  readonly scratch: number;
  /** Address of the first byte for the frames of resident blocks. */
  readonly end: number;
}

/** Fixed addresses. Memory below the first of them is unused: a null pointer with a small offset is out of bounds. */
export const transitionTable = 1024;
export const levelTable = transitionTable + 2560;
export const placeTable = levelTable + 256;
const firstFree = placeTable + 4096;

/**
 * Synchronization between two accesses, as offsets into the transition table. `levelTable` maps the number of equal
 * leading bits of their shadow words to the offset.
 */
export const levels = { thread: 0, warp: 32, block: 64, warpBarrier: 96, blockBarrier: 128, grid: 160 } as const;

/**
 * Rows of the transition table: kinds of accesses. Strong accesses count as atomic: two of them do not race, and with
 * other accesses they race like weak ones. Only some kinds require initialised contents.
 */
export const accessKinds = {
  read: 0,
  write: 1,
  blockAtomic: 2,
  deviceAtomic: 3,
  blockWrite: 4,
  deviceWrite: 5,
  /** Always recorded; the second kind does not require initialised contents. */
  recorded: 6,
  recordedWrite: 7,
  /** Plain in CUDA C++, and strong. */
  volatileRead: 8,
  volatileWrite: 9,
} as const;

/**
 * The row of an access. Strong reads are reads: if the kernel has strong writes as well, shadow words do not suffice to
 * determine races. If shadow words sift, strong reads are atomics, and rows conflict if accesses do.
 */
export function accessKind(access: MemoryAccess, sifting: Sifting | null): number {
  const { operation, strong } = access;
  if (sifting !== null) {
    if (access.copy || access.countsPhases || (strong !== null && sifting.hasMixedWidths)) {
      return needsContents(access) ? accessKinds.recorded : accessKinds.recordedWrite;
    }
    if (sifting.volatileRaces && isVolatile(access)) return accessKinds[operation === 'read' ? 'volatileRead' : 'volatileWrite'];
  }
  if (operation === 'read' && (sifting === null || strong === null)) return accessKinds.read;
  if (strong === null) return accessKinds.write;
  const isOfBlock = !reachesGrid(strong);
  if (needsContents(access)) return isOfBlock ? accessKinds.blockAtomic : accessKinds.deviceAtomic;
  return isOfBlock ? accessKinds.blockWrite : accessKinds.deviceWrite;
}

/** Next states that make the interpreter examine the word. */
export const alerts = { uninitialised: 26, raced: 27, handsOver: 29, recorded: 30 } as const;

/** Fields at the start of a block's frame. */
export const header = {
  /** Coordinates of the block, three 32-bit words. */
  position: 0,
  /** 64 bits: number of instructions executed by the threads of a call. */
  steps: 16,
  /** 64 bits: ticket and barrier count of shadow words. */
  stamp: 24,
  /** The address of the shadow word that belongs to the last address found by `locate`. */
  shadow: 32,
  bytes: 64,
} as const;

/** Fields of an entry of `placeTable`, 32 bits each; entry 0 is an empty place. */
export const placeEntry = {
  /** Address. */
  start: 0,
  /** Number of readable bytes, and of writable bytes. */
  readable: 4,
  writable: 8,
  /** Address of the first shadow word. */
  shadow: 12,
  bytes: 16,
} as const;

/** Number of entries of the table of recently found pages of unbounded buffers ({@link Plan.pageTable}). */
const pageEntries = 4096;

/** Fields of an entry of the table of pages. */
export const pageEntry = {
  /** 64 bits: the address of the page / {@link pageBytes}; 0 without page. */
  number: 0,
  /** Address of the page in linear memory, and address of its shadow words. */
  data: 8,
  shadow: 12,
  bytes: 16,
} as const;

/**
 * Factors of the index of a page, and of its expanse, whose bases have a distance of 2^40 bytes: the leading bits of
 * the sum are the number of the entry.
 */
export const pageFactors = { page: 0x9e3779b1 | 0, expanse: 0x85ebca6b | 0 } as const;
export const pageFactorShift = 32 - Math.log2(pageEntries);

/** Address of the table entry for the page of an address; region code computes the same. */
export function pageEntryAt(address: number): number {
  const page = Math.imul(Math.floor(address / pageBytes), pageFactors.page);
  const expanse = Math.imul(Math.floor(address / 2 ** 40), pageFactors.expanse);
  return pageEntry.bytes * ((page + expanse) >>> pageFactorShift);
}

/** Maximum number of places with an entry; the interpreter finds the others. */
export const maxEntries = 255;

/** Bytes in which a value is saved. */
function slotBytes(type: ValueType): 4 | 8 | 16 {
  return type === 128 ? 16 : type === 64 ? 8 : 4;
}

/** An array of memory before its address is assigned. */
interface Array0 {
  readonly name: string;
  readonly bytes: number;
  readonly writable: boolean;
  readonly source: Place['source'];
}

/**
 * Sites that were found outside of the object that they were assumed to stay in; the plan is rebuilt for each added
 * one.
 */
type Strays = ReadonlySet<number>;

/** Lays out a launch. */
export function planRun(program: Program, request: RunRequest, wanted: Detection, strays: Strays): Plan {
  const { kernel, accesses } = program;
  const detection = wanted === 'sifted' ? 'words' : wanted;
  const sifting = wanted === 'sifted' ? siftingOf(program, request) : null;
  const [x, y, z] = request.block;
  const threads = x * y * z;

  // Arrays of global memory, those of shared memory
  const globals: Array0[] = [];
  const objectAddresses: number[] = [];
  const bufferAddresses: number[] = [];
  const expanses: Expanse[] = [];
  let slot = 1;
  for (const object of kernel.objects) {
    const source = { kind: 'object', index: object.id } as const;
    if (object.space === 'shared' || object.space === 'local') {
      objectAddresses[object.id] = program.layout.addresses[object.id]!;
    } else if (object.external || object.bytes === null) {
      objectAddresses[object.id] = regionBase(slot++);
      expanses.push({ name: object.symbol, base: objectAddresses[object.id]!, source });
    } else {
      globals.push({ name: object.symbol, bytes: object.bytes, writable: object.space === 'global', source });
    }
  }
  for (const [index, buffer] of request.buffers.entries()) {
    const source = { kind: 'buffer', index } as const;
    if (buffer.bytes === null) {
      const base = regionBase(slot++);
      bufferAddresses[index] = base;
      expanses.push({ name: buffer.name, base, source });
    } else {
      globals.push({ name: buffer.name, bytes: buffer.bytes, writable: true, source });
    }
  }
  const shareds = sharedArrays(program, request.sharedBytes);
  const arrays = [...globals, ...shareds];

  // The target of each access, and the maximum width of the cells of each array
  const targets = chooseTargets(program, request, arrays, strays);
  // Cells start at the start of the array.
  const most = [...globals.map(() => 4), ...shareds.map(({ start }) => Math.min(4, Math.log2(start & -start || 16)))];
  const shifts = chooseCellShifts(program, arrays, globals.length, targets, most);

  const places: Place[] = [];
  let at = firstFree;
  const coordinates = at;
  at = alignedUp(at + 12 * threads, 256);
  const starts = globals.map(({ bytes }) => {
    const start = at;
    at = alignedUp(at + bytes + 64, 256);
    return start;
  });
  const globalEnd = at;
  const placeMap = at;
  at = alignedUp(at + globalEnd / 64, 256);
  const pageTable = expanses.length > 0 ? at : 0;
  if (pageTable !== 0) at += pageEntries * pageEntry.bytes;
  const globalShadow = at;
  for (const [index, array] of globals.entries()) {
    const cellShift = shifts[index]!;
    places.push({ ...array, index, space: 'global', start: starts[index]!, cellShift, shadow: at });
    const address = starts[index]!;
    if (array.source.kind === 'object') objectAddresses[array.source.index] = address;
    else bufferAddresses[array.source.index] = address;
    if (detection === 'words' && array.writable) at += 8 * Math.ceil(array.bytes / 2 ** cellShift);
  }
  const globalShadowEnd = at;
  let shadow = 0;
  for (const [position, array] of shareds.entries()) {
    const index = globals.length + position;
    const cellShift = shifts[index]!;
    places.push({ ...array, index, space: 'shared', cellShift, shadow });
    const cells = Math.ceil((array.start + array.bytes) / 2 ** cellShift) - Math.floor(array.start / 2 ** cellShift);
    shadow += 8 * cells;
  }

  const sharedBytes = program.layout.staticShared + request.sharedBytes;
  const sharedShadowBytes = detection === 'words' ? shadow : 0;
  const liveness = livenessOf(program);
  const { slots, isRegion, slotTotal } = assignSlots(program, liveness);
  const localBytes = alignedUp(program.layout.localBytes, 16);
  const passing = kernel.blocks.flatMap(({ instructions }) => instructions.filter(({ operation }) => isPassed(operation.effect)));
  const operandCount = passing.reduce((most, each) => Math.max(most, each.arguments.length, each.results.length), 0);
  const frame = layFrame(threads, program.countedLoops.length, operandCount, slotTotal, sharedBytes, sharedShadowBytes, localBytes);
  return {
    program,
    liveness,
    block: request.block,
    grid: request.grid,
    threads,
    dynamicShared: request.sharedBytes,
    sharedBytes,
    sharedShadowBytes,
    localBytes,
    detection,
    sifting,
    hasWarpBarriers: program.suspensions.some(({ effect }) => effect.kind === 'warp-barrier'),
    places,
    expanses,
    objectAddresses,
    bufferAddresses,
    sites: accesses.map((access) => {
      const target = targets[access.index]!;
      if (target === 'local') return { kind: 'local' };
      if (target === 'anywhere') return { kind: 'anywhere', cellShift: anywhereShift(access, shifts, targets, globals) };
      return { kind: 'place', place: places[target]! };
    }),
    slots,
    isRegion,
    frame,
    coordinates,
    placeMap,
    globalEnd,
    pageTable,
    globalShadow,
    globalShadowEnd,
    scratch: alignedUp(globalShadowEnd, 256),
    end: alignedUp(globalShadowEnd, 256) + 256,
  };
}

function siftingOf({ accesses }: Program, { volatileRaces }: RunRequest): Sifting {
  const widths = new Set(accesses.filter(({ strong }) => strong !== null).map(bytesOfElement));
  return { hasMixedWidths: widths.size > 1, volatileRaces: volatileRaces === true };
}

/** The places and unbounded buffers that strong accesses may access. */
export function placesOfStrongAccesses({ program, sites, places }: Plan): {
  readonly places: readonly Place[];
  readonly anywhere: boolean;
} {
  const strong = sites.filter((_, index) => program.accesses[index]!.strong !== null);
  if (strong.some(({ kind }) => kind === 'anywhere')) return { places, anywhere: true };
  const found = new Set(strong.map((site) => (site.kind === 'place' ? site.place : null)));
  return { places: places.filter((place) => found.has(place)), anywhere: false };
}

/** Whether the sources of an instruction are passed in the frame. */
function isPassed(effect: Effect): boolean {
  return needsRuntime(effect) || waits(effect);
}

/** Variables of shared memory, each with the gap after it. All dynamic shared memory is one variable. */
function sharedArrays(program: Program, dynamicBytes: number): (Array0 & { readonly start: number })[] {
  const { kernel, layout } = program;
  const total = layout.staticShared + dynamicBytes;
  const found: { name: string; start: number; index: number }[] = [];
  let hasDynamic = false;
  for (const object of kernel.objects) {
    if (object.space !== 'shared' || (object.bytes === null && hasDynamic)) continue;
    hasDynamic ||= object.bytes === null;
    found.push({ name: object.symbol, start: layout.addresses[object.id]!, index: object.id });
  }
  if (!hasDynamic && dynamicBytes > 0) found.push({ name: 'shared memory', start: layout.staticShared, index: -1 });
  found.sort((a, b) => a.start - b.start);
  return found.map(({ name, start, index }, position) => ({
    name,
    start,
    bytes: (found[position + 1]?.start ?? total) - start,
    writable: true,
    source: { kind: 'object', index },
  }));
}

/** Index of an array, or another target of an access. */
type Target = number | 'local' | 'anywhere';

function chooseTargets(program: Program, request: RunRequest, arrays: readonly Array0[], strays: Strays): readonly Target[] {
  const { kernel } = program;
  const arrayOf = new Map(arrays.map(({ source }, index) => [`${source.kind}${source.index}`, index]));
  const dynamic = arrays.findIndex(({ source }) => source.kind === 'object' && kernel.objects[source.index]?.bytes === null);
  const originOf = pointerOrigins(kernel, request.arguments);
  const targets: Target[] = program.accesses.map(() => 'anywhere');
  for (const [instruction, first] of program.firstAccess) {
    const { effect } = instruction.operation;
    if (!hasPlainAccesses(effect)) continue;
    for (let index = first; program.accesses[index]?.instruction === instruction.id; index++) {
      const access = program.accesses[index]!;
      const origin = originOf(instruction.arguments[access.source]!);
      if (access.space === 'local') {
        targets[index] = 'local';
        continue;
      }
      if (origin.kind === 'unknown' || strays.has(index)) continue;
      if (origin.kind === 'buffer') {
        targets[index] = arrayOf.get(`buffer${origin.buffer}`) ?? 'anywhere';
        continue;
      }
      const object = kernel.objects[origin.object]!;
      if (object.space === 'local') targets[index] = 'local';
      else if (object.space === 'shared' && object.bytes === null) targets[index] = dynamic < 0 ? 'anywhere' : dynamic;
      else targets[index] = arrayOf.get(`object${object.id}`) ?? 'anywhere';
    }
  }
  return targets;
}

/** The widest cells that every access fills. Accesses with any target make the cells of all arrays equal. */
function chooseCellShifts(
  program: Program,
  arrays: readonly Array0[],
  globalCount: number,
  targets: readonly Target[],
  most: readonly number[],
): readonly number[] {
  const shifts = [...most];
  const isLoose = { global: false, shared: false };
  let loose = 4;
  for (const access of program.accesses) {
    const width = Math.min(4, Math.log2(access.bytes));
    const target = targets[access.index]!;
    if (typeof target === 'number') {
      shifts[target] = Math.min(shifts[target]!, width);
    } else if (target === 'anywhere') {
      if (access.space !== 'shared') isLoose.global = true;
      if (access.space === 'shared' || access.space === 'generic') isLoose.shared = true;
      loose = Math.min(loose, width);
    }
  }
  if (!isLoose.global && !isLoose.shared) return shifts;
  const touched = (index: number): boolean => arrays[index]!.writable && (index < globalCount ? isLoose.global : isLoose.shared);
  for (const [index, shift] of shifts.entries()) if (touched(index)) loose = Math.min(loose, shift);
  return shifts.map((shift, index) => (touched(index) ? loose : shift));
}

function anywhereShift(access: MemoryAccess, shifts: readonly number[], targets: readonly Target[], globals: readonly Array0[]): number {
  let shift = Math.min(4, Math.log2(access.bytes));
  for (const [index, own] of shifts.entries()) {
    const isGlobal = index < globals.length;
    if (isGlobal && !globals[index]!.writable) continue;
    if (access.space === 'generic' || isGlobal === (access.space !== 'shared')) shift = Math.min(shift, own);
  }
  return targets.length > 0 ? shift : 0;
}

function assignSlots(
  program: Program,
  liveness: Liveness,
): { readonly slots: (Slot | undefined)[]; readonly isRegion: Uint8Array; readonly slotTotal: number } {
  const { kernel, segments, suspensions } = program;
  const isRegion = new Uint8Array(segments.length);
  isRegion[0] = 1;
  for (const { resume } of suspensions) isRegion[resume] = 1;
  for (const segment of segments) {
    for (const target of segmentSuccessors(program, segment)) {
      if (isRetreating(segment.block, segments[target]!.block)) isRegion[target] = 1;
    }
  }
  const kept = new Set<ValueId>();
  for (const segment of segments) if (isRegion[segment.index]) for (const id of liveness.liveIn[segment.index]!) kept.add(id);
  const slots: (Slot | undefined)[] = new Array<Slot | undefined>(kernel.values.length).fill(undefined);
  let offset = 0;
  for (const bytes of [16, 8, 4] as const) {
    for (const id of kept) {
      if (slotBytes(kernel.values[id]!.type) !== bytes) continue;
      slots[id] = { offset, bytes };
      offset += bytes;
    }
  }
  return { slots, isRegion, slotTotal: offset };
}

function layFrame(
  threads: number,
  loops: number,
  operands: number,
  slotBytesTotal: number,
  sharedBytes: number,
  sharedShadowBytes: number,
  localBytes: number,
): Frame {
  let at: number = header.bytes;
  const take = (bytes: number): number => {
    const start = at;
    at = alignedUp(at + bytes, 64);
    return start;
  };
  const areas = {
    status: take(4 * threads),
    left: take(4 * threads),
    rounds: take(4 * threads * loops),
    warpBarriers: take(4 * Math.ceil(threads / 32)),
    operands: take(8 * operands * threads),
    slots: take(slotBytesTotal * threads),
    shared: take(sharedBytes + 64),
    sharedShadow: take(sharedShadowBytes),
    local: take(localBytes * threads),
  };
  return { ...areas, bytes: alignedUp(at, 256) };
}
