import type { TrackedPage } from '../core/interpreter-host.ts';
import type { SyncMemory } from '../detector/sync-memory.ts';
import type { LinearMemory } from './wasm-memory.ts';
import type { DetectorCode } from './detector-code.ts';

/** A part of linear memory watched by the detector with lists. */
export class WasmPage implements TrackedPage {
  readonly region: { readonly name: string } | null;
  readonly start: number;
  u8: Uint8Array = new Uint8Array(0);
  i32: Int32Array = new Int32Array(0);
  #heads: Int32Array | null = null;
  #cellShift: 0 | 2 = 2;
  #sync: SyncMemory | null = null;
  hasCopies = false;
  readonly written: Uint8Array | null;
  /** Address in linear memory, and size in bytes. */
  readonly data: number;
  readonly bytes: number;
  readonly #code: DetectorCode | null;
  #generation = -1;

  constructor(
    region: { readonly name: string } | null,
    start: number,
    data: number,
    length: number,
    isTracked: boolean,
    code: DetectorCode | null,
  ) {
    this.#code = code;
    this.written = isTracked ? new Uint8Array(length) : null;
    this.region = region;
    this.start = start;
    this.data = data;
    this.bytes = length;
  }

  get heads(): Int32Array | null {
    return this.#heads;
  }

  set heads(heads: Int32Array | null) {
    this.#heads = heads;
    this.#code?.show(this);
  }

  get cellShift(): 0 | 2 {
    return this.#cellShift;
  }

  set cellShift(cellShift: 0 | 2) {
    this.#cellShift = cellShift;
    this.#code?.show(this);
  }

  get sync(): SyncMemory | null {
    return this.#sync;
  }

  set sync(sync: SyncMemory | null) {
    this.#sync = sync;
    this.#code?.show(this);
  }

  /** Address in linear memory. */
  dataAt(offset: number): number {
    return this.data + offset;
  }

  /** The offset in the page of an address of linear memory; -1 if the address is outside of the page. */
  offsetOf(data: number): number {
    const offset = data - this.data;
    return offset < this.bytes ? Math.max(offset, -1) : -1;
  }

  refresh(linear: LinearMemory): void {
    if (this.#generation === linear.generation) return;
    this.#generation = linear.generation;
    this.u8 = linear.u8.subarray(this.data, this.data + this.bytes);
    this.i32 = linear.i32.subarray(this.data >>> 2, (this.data + this.bytes) >>> 2);
  }
}
