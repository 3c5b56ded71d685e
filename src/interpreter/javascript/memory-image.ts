/** Global memory as a value: made for a launch, copied, and compared byte by byte. */
import type { RunRequest } from '../core/run-request.ts';
import type { GlobalMemory, Page, Region } from '../core/global-memory.ts';
import { createPage, createRegions, pageBytes, regionPage } from '../core/global-memory.ts';
import { stage } from './stage.ts';

/** A byte with different values in two memories. */
export interface MemoryDifference {
  /** Name of the buffer, or symbol of the variable, and bytes from its start. */
  readonly name: string;
  readonly offset: number;
  readonly first: number;
  readonly second: number;
}

/** Initial global memory of a launch. Its buffers have the same addresses in every run of the request. */
export function initialMemory({ kernel, buffers, arguments: values, steps }: RunRequest): GlobalMemory {
  return createRegions(kernel, stage(kernel).layout, buffers, values, steps);
}

/** A copy of the memory. */
export function copyMemory(memory: GlobalMemory): GlobalMemory {
  return memory.map((region) => {
    if (!region?.writable) return region;
    const copy: Region = { ...region, pages: new Map(), quota: { ...region.quota }, lastIndex: -1, lastPage: null };
    for (const [index, page] of region.pages) copy.pages.set(index, copyPage(page, copy));
    return copy;
  });
}

function copyPage(page: Page, region: Region): Page {
  const copy = createPage(pageBytes, region, page.start);
  copy.u8.set(page.u8);
  copy.written = page.written?.slice() ?? null;
  return copy;
}

/** The first byte in which two memories of one launch differ; null if they are equal. */
export function firstDifference(first: GlobalMemory, second: GlobalMemory): MemoryDifference | null {
  for (const [slot, region] of first.entries()) {
    const other = second[slot];
    if (!region?.writable || !other) continue;
    for (const index of new Set([...region.pages.keys(), ...other.pages.keys()])) {
      const [a, b] = [regionPage(region, index).u8, regionPage(other, index).u8];
      const at = a.findIndex((byte, offset) => byte !== b[offset]);
      if (at >= 0) return { name: region.name, offset: index * pageBytes + at, first: a[at]!, second: b[at]! };
    }
  }
  return null;
}
