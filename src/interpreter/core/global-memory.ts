/** Memory of the reference interpreter: pages with typed views, regions of global memory, and the layout of objects. */
import { alignedUp } from '../../base/integer.ts';
import type { Argument, GlobalBuffer } from './arguments.ts';
import type { Instruction, Kernel, MemoryObject } from '../../ir/form/kernel.ts';
import type { WatchedPage } from '../detector/race-detector.ts';
import { RunStop } from './run-stop.ts';
import { workspaceHigh, workspaceLow } from '../../ir/form/synthetic-operation.ts';

/** A contiguous part of memory, with typed views of every width and the cells of the race detector. */
export interface Page extends WatchedPage {
  readonly u8: Uint8Array;
  readonly u16: Uint16Array;
  readonly i32: Int32Array;
  readonly u64: BigUint64Array;
  /** The region that contains the page, and the offset of the page in it; null for shared and local memory. */
  readonly region: Region | null;
  readonly start: number;
  /** By byte: 1 once a thread has written it. Null: all bytes have initial contents. */
  written: Uint8Array | null;
}

/**
 * Memory of zeros that no thread has accessed.
 * @param bytes its size; the arrays over it are rounded up to whole 64-bit words
 * @param region that it belongs to; null for shared and local memory
 * @param start of its first byte in the region, in bytes
 */
export function createPage(bytes: number, region: Region | null = null, start = 0): Page {
  const buffer = new ArrayBuffer(Math.ceil(bytes / 8) * 8);
  return {
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    i32: new Int32Array(buffer),
    u64: new BigUint64Array(buffer),
    heads: null,
    cellShift: 2,
    sync: null,
    hasCopies: false,
    region,
    start,
    written: null,
  };
}

export const pageBytes = 1024;

/**
 * Distance of the base addresses of regions of global memory; an unbounded buffer extends by half of it on either side
 * of its base.
 */
const regionBytes = 2 ** 40;

/** Remaining number of pages of unbounded arrays in one run. */
interface PageQuota {
  left: number;
}

/** Steps that take about as long as allocating a page. */
const stepsPerPage = 128;
/** Minimum number of pages granted to any run. */
const fewestPages = 2 ** 12;

/**
 * The number of pages that take no longer than the steps of the run, and 256 MiB at most. The access history of a page
 * takes several times its size.
 */
export function pageQuota(steps: number): PageQuota {
  return { left: Math.min(2 ** 18, Math.max(fewestPages, Math.ceil(steps / stepsPerPage))) };
}

/** A buffer, a variable of the module or a kernel parameter. */
export interface Region {
  readonly name: string;
  readonly base: number;
  /** Null: no end. */
  readonly bytes: number | null;
  readonly writable: boolean;
  readonly elementBytes: number;
  readonly fill: bigint;
  readonly values: ReadonlyMap<number, bigint>;
  readonly initial: Uint8Array | null;
  /** Whether bytes have no contents until a thread writes them. */
  readonly uninitialised: boolean;
  readonly pages: Map<number, Page>;
  readonly quota: PageQuota;
  lastIndex: number;
  lastPage: Page | null;
}

/** Global memory by slot: variables and parameters of the kernel, then the buffers. */
export type GlobalMemory = readonly (Region | undefined)[];

/** Base address of the region in `slot`, which is 1 or more. */
export function regionBase(slot: number): number {
  return slot * regionBytes + regionBytes / 2;
}

/** Slot of the region that an address of global memory belongs to. */
export function regionSlot(address: number): number {
  return Math.floor(address / regionBytes);
}

/** A region whose pages are made when touched. @param slot 1 or more: decides its base address */
export function createRegion(
  slot: number,
  description: Omit<Region, 'base' | 'pages' | 'quota' | 'lastIndex' | 'lastPage'>,
  quota: PageQuota,
): Region {
  return { ...description, base: regionBase(slot), pages: new Map(), quota, lastIndex: -1, lastPage: null };
}

/** The page `index` of a region, made from its initial contents on first use. */
export function regionPage(region: Region, index: number): Page {
  let page = region.pages.get(index);
  if (!page) {
    page = createPage(pageBytes, region, index * pageBytes);
    fillPage(page.u8, region, index);
    if (region.uninitialised) page.written = new Uint8Array(pageBytes);
    region.pages.set(index, page);
  }
  region.lastIndex = index;
  region.lastPage = page;
  return page;
}

/**
 * The page of a region that a thread accesses.
 * @throws RunStop if the threads of a run touch more memory than the quota
 */
export function touchedPage(region: Region, index: number): Page {
  if (region.bytes === null && !region.pages.has(index)) takePage(region);
  return regionPage(region, index);
}

/** Counts a page of an unbounded region. @throws RunStop if the threads of a run touch more memory than the quota */
export function takePage({ quota }: Region): void {
  if (quota.left-- <= 0) throw new RunStop('budget');
}

function putElement(u8: Uint8Array, offset: number, bytes: number, value: bigint): void {
  // Numbers instead of big integers, which are slow: arrays of random contents are filled here.
  let rest = Number(BigInt.asUintN(32, value));
  for (let byte = 0; byte < Math.min(bytes, 4); byte++, rest >>>= 8) u8[offset + byte] = rest & 0xff;
  if (bytes > 4) putElement(u8, offset + 4, bytes - 4, value >> 32n);
}

/** Writes the initial contents of a page of a region over its zeros. */
export function fillPage(u8: Uint8Array, region: Region, index: number): void {
  const start = index * pageBytes;
  if (region.initial) {
    u8.set(region.initial.subarray(Math.max(0, start), Math.max(0, start + pageBytes)));
    return;
  }
  const { elementBytes, fill, values } = region;
  const count = pageBytes / elementBytes;
  const first = start / elementBytes;
  if (fill !== 0n) {
    // Writes one element, then repeatedly doubles the filled part.
    putElement(u8, 0, elementBytes, fill);
    for (let done = elementBytes; done < pageBytes; done *= 2) u8.copyWithin(done, 0, Math.min(done, pageBytes - done));
  }
  if (values.size > count) {
    for (let at = 0; at < count; at++) {
      const value = values.get(first + at);
      if (value !== undefined) putElement(u8, at * elementBytes, elementBytes, value);
    }
  } else {
    for (const [element, value] of values) {
      if (element >= first && element < first + count) {
        putElement(u8, (element - first) * elementBytes, elementBytes, value);
      }
    }
  }
}

/** The layout of the objects of a kernel; it does not depend on the launch. */
export interface Layout {
  /** By object id: offset within its window for shared and local objects, address for the others. */
  readonly addresses: readonly number[];
  /** Bytes of shared memory before the dynamic part. */
  readonly staticShared: number;
  readonly localBytes: number;
  /** The slot of the first buffer. */
  readonly firstBuffer: number;
}

/** Assigns an address to each object of a kernel: in order, aligned, with the dynamic part of shared memory last. */
export function layOut(kernel: Kernel): Layout {
  const addresses: number[] = [];
  let shared = 0;
  let local = 0;
  let slot = 1;
  let dynamicAlignment = 16;
  for (const object of kernel.objects) {
    if (object.space === 'shared') {
      if (object.bytes === null) {
        dynamicAlignment = Math.max(dynamicAlignment, object.alignment);
      } else {
        addresses[object.id] = alignedUp(shared, object.alignment);
        shared = addresses[object.id]! + object.bytes;
      }
    } else if (object.space === 'local') {
      addresses[object.id] = alignedUp(local, object.alignment);
      local = addresses[object.id]! + (object.bytes ?? 0);
    } else {
      addresses[object.id] = regionBase(slot++);
    }
  }
  shared = alignedUp(shared, dynamicAlignment);
  for (const object of kernel.objects) {
    if (object.space === 'shared' && object.bytes === null) addresses[object.id] = shared;
  }
  return { addresses, staticShared: shared, localBytes: local, firstBuffer: slot };
}

const noValues: ReadonlyMap<number, bigint> = new Map();

/** The bytes of a parameter. */
export function argumentBytes(argument: Argument | undefined, bytes: number, pointer: (buffer: number) => number): Uint8Array {
  const result = new Uint8Array(bytes);
  const put = (at: number, value: bigint, count: number): void => {
    for (let byte = 0; byte < count && at + byte < bytes; byte++) {
      result[at + byte] = Number((value >> BigInt(8 * byte)) & 0xffn);
    }
  };
  const address = (buffer: number, offset: bigint): bigint => BigInt.asUintN(64, BigInt(pointer(buffer)) + offset);
  if (argument?.kind === 'scalar') put(0, argument.value, bytes);
  if (argument?.kind === 'pointer') put(0, address(argument.buffer, argument.offset), 8);
  if (argument?.kind === 'struct') {
    result.set(argument.bytes.subarray(0, bytes));
    for (const { at, buffer, offset } of argument.pointers) put(at, address(buffer, offset), 8);
  }
  return result;
}

/**
 * The initial bytes of a variable; null: zeros.
 * @param placed addresses of the objects of the kernel, by id
 */
export function initialBytes({ initial, addresses = [] }: MemoryObject, placed: readonly number[]): Uint8Array | null {
  if (!initial || addresses.length === 0) return initial ?? null;
  const bytes = initial.slice();
  const view = new DataView(bytes.buffer);
  for (const { at, object, offset } of addresses) view.setBigUint64(at, BigInt(placed[object]!) + offset, true);
  return bytes;
}

/** The word of the address of the workspace that an instruction reads; null if the instruction reads something else. */
export function workspaceWord(kernel: Kernel, { operation }: Instruction, placed: readonly number[]): bigint | null {
  if (kernel.workspace === undefined) return null;
  const address = BigInt(placed[kernel.workspace]!);
  if (operation === workspaceHigh) return address >> 32n;
  return operation === workspaceLow ? BigInt.asUintN(32, address) : null;
}

/** Global memory at the start of a launch. */
export function createRegions(
  kernel: Kernel,
  layout: Layout,
  buffers: readonly GlobalBuffer[],
  values: readonly Argument[],
  steps: number,
): GlobalMemory {
  const regions: (Region | undefined)[] = [undefined];
  const quota = pageQuota(steps);
  const pointer = (buffer: number): number => regionBase(layout.firstBuffer + buffer);
  const contentsOf = (object: MemoryObject): Uint8Array | null =>
    object.parameter === undefined
      ? initialBytes(object, layout.addresses)
      : argumentBytes(values[object.parameter], object.bytes ?? 8, pointer);
  for (const object of kernel.objects) {
    if (object.space === 'shared' || object.space === 'local') continue;
    const description = {
      name: object.symbol,
      bytes: object.external ? null : object.bytes,
      writable: object.space === 'global',
      elementBytes: 1,
      fill: 0n,
      values: noValues,
      initial: contentsOf(object),
      uninitialised: false,
    };
    regions.push(createRegion(regions.length, description, quota));
  }
  for (const buffer of buffers) {
    const { name, bytes, elementBytes, fill, initial = null, uninitialised = false, pointers } = buffer;
    const placed = (pointers?.elements ?? []).map(
      (element, at) => [element, BigInt(pointer(pointers!.buffer) + at * pointers!.spacing)] as const,
    );
    const elements = placed.length > 0 ? new Map([...buffer.values, ...placed]) : buffer.values;
    const description = { name, bytes, writable: true, elementBytes, fill, values: elements, initial, uninitialised };
    regions.push(createRegion(regions.length, description, quota));
  }
  return regions;
}
