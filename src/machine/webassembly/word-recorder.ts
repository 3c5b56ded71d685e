/**
 * Code that records weak accesses to words for the detector with lists, where that has nothing to report: all accesses to
 * the word that the new one meets come before it, as in a critical section, and one by the same site gives it its place.
 * All else goes to `RaceDetector.record`, which does the same to the same lists.
 */
import type { WasmPage } from './wasm-page.ts';
import { type DetectorMemory, addressOf, detectorHeader, mostDetectorPages } from '../detector/detector-memory.ts';
import { momentFields, nodeShift } from '../detector/moments.ts';
import { ModuleBuilder } from './code/wasm-module.ts';
import { type Item, type WasmLocal, append, bind, call, i32, wasmLocal } from './code/wasm-value.ts';
import { machineFunctions, machineModule } from './region/machine-function.ts';

/** Granules are of 2^8 bytes: pages begin at multiples of that. */
const granuleShift = 8;

type Record = (frame: number, site: number, data: number, thread: number) => void;

export class WordRecorder {
  /** As {@link machineFunctions.recordWord}. */
  readonly record: WebAssembly.ImportedFunction;
  /** By granule of memory: what added to an address gives that of the cell's list in the detector's memory; 0: code records nothing. */
  readonly #granules: Int32Array;

  /**
   * @param end of the memory whose accesses code may record
   * @param record what records all others
   */
  constructor(memory: DetectorMemory, end: number, record: Record) {
    this.#granules = memory.allocate(Math.ceil(end / 2 ** granuleShift));
    memory.set('granules', addressOf(this.#granules));
    memory.set('granuleCount', addressOf(this.#granules) === 0 ? 0 : this.#granules.length);
    recorderModule ??= new WebAssembly.Module(emitRecorder());
    const { exports } = new WebAssembly.Instance(recorderModule, {
      [machineModule]: { memory: memory.memory, record },
    });
    this.record = exports['record'] as WebAssembly.ImportedFunction;
  }

  /** Lets code record accesses to a page, or not, as the page is now. */
  show({ region, heads, cellShift, sync, written, data, bytes }: WasmPage): void {
    const address = heads === null ? 0 : addressOf(heads);
    // A write ends what the strong writes before it hand over, and contents are tracked by bytes.
    const isShown = address !== 0 && region !== null && cellShift === 2 && sync === null && written === null;
    const first = data >>> granuleShift;
    this.#granules.fill(isShown ? address - data : 0, first, Math.ceil((data + bytes) / 2 ** granuleShift));
  }
}

let recorderModule: WebAssembly.Module | undefined;

function emitRecorder(): Uint8Array {
  const module = new ModuleBuilder();
  module.importMemory(machineModule, 'memory', { minimum: 1, maximum: mostDetectorPages, isShared: true });
  const slow = module.importFunction(machineModule, 'record', ...machineFunctions.record);
  const body = module.addFunction(...machineFunctions.recordWord);
  module.exportFunction('record', body);
  const [frame, site, data, thread, value] = machineFunctions.recordWord[0].map((type, at) => wasmLocal(type, at)) as [
    WasmLocal, WasmLocal, WasmLocal, WasmLocal, WasmLocal,
  ]; // prettier-ignore

  const word = (address: readonly Item[], offset = 0): WasmLocal => {
    append(body, ...address);
    body.memory('i32.load', offset);
    return bind(body, 'i32');
  };
  const header = (name: keyof typeof detectorHeader): WasmLocal => word([i32(0)], detectorHeader[name]);
  const field = (node: WasmLocal, name: keyof typeof momentFields): WasmLocal => word([node], 4 * momentFields[name]);
  const setField = (node: WasmLocal, name: keyof typeof momentFields, content: WasmLocal | Item): void => {
    append(body, node, content);
    body.memory('i32.store', 4 * momentFields[name]);
  };
  const element = (array: WasmLocal, index: WasmLocal, shift: number): readonly Item[] => [
    array, index, i32(shift), 'i32.shl', 'i32.add',
  ]; // prettier-ignore

  // Left where `RaceDetector.record` has to see the access. Until then nothing changes.
  const otherwise = body.block();
  const moments = header('moments');
  const sites = header('sites');
  append(body, moments, 'i32.eqz', sites, 'i32.eqz', 'i32.or', header('isWithin'), 'i32.eqz', 'i32.or');
  body.brIf(otherwise);
  const entry = bind(body, 'i32', ...element(sites, site, 3));
  const conflicts = word([entry]);
  append(body, conflicts, 'i32.eqz');
  body.brIf(otherwise);
  const granule = bind(body, 'i32', data, i32(granuleShift), 'i32.shr_u');
  append(body, granule, header('granuleCount'), 'i32.ge_u');
  body.brIf(otherwise);
  const toList = word(element(header('granules'), granule, 2));
  append(body, toList, 'i32.eqz');
  body.brIf(otherwise);

  const owner = bind(body, 'i32', ...element(header('firstOwner'), thread, 3));
  const last = bind(body, 'i32', ...element(header('lasts'), thread, 3));
  const lastOwner = word([last]);
  const lastTime = word([last], 4);
  const next = word([data, toList, 'i32.add']);
  /** Of the same site. */
  const found = bind(body, 'i32', i32(0));
  const listEnd = body.block();
  const again = body.loop();
  append(body, next, 'i32.eqz');
  body.brIf(listEnd);
  const node = bind(body, 'i32', moments, next, i32(nodeShift), 'i32.shl', 'i32.add');
  append(body, field(node, 'next'));
  body.set(next.index);
  const other = field(node, 'site');
  append(body, other, site, 'i32.ne', conflicts, other, 'i32.add');
  body.memory('i32.load8_u');
  append(body, 'i32.eqz', 'i32.and');
  body.brIf(again);
  const nodeOwner = field(node, 'owner');
  append(
    body,
    nodeOwner, lastOwner, 'i32.ne', field(node, 'time'), lastTime, 'i32.ge_s', 'i32.or',
    nodeOwner, owner, 'i32.ne', 'i32.and',
  ); // prettier-ignore
  body.brIf(otherwise);
  append(body, other, site, 'i32.ne');
  body.brIf(again);
  append(body, found);
  body.brIf(otherwise);
  append(body, node);
  body.set(found.index);
  body.br(again);
  body.end();
  body.end();
  append(body, found, 'i32.eqz');
  body.brIf(otherwise);

  const barriers = header('barriers');
  append(body, field(found, 'owner'), owner, 'i32.eq', field(found, 'barriers'), barriers, 'i32.eq', 'i32.and');
  body.if();
  append(body, word([entry], 4), field(found, 'value'), value, 'i32.ne', 'i32.and');
  body.if();
  setField(found, 'isVarying', i32(1));
  body.end();
  body.else();
  setField(found, 'value', value);
  setField(found, 'isVarying', i32(0));
  body.end();
  const warp = bind(body, 'i32', thread, i32(5), 'i32.shr_u');
  setField(found, 'block', header('ordinal'));
  setField(found, 'thread', thread);
  setField(found, 'time', word(element(header('times'), thread, 2)));
  setField(found, 'barriers', barriers);
  setField(found, 'warpBarriers', word(element(header('warpBarriers'), warp, 2)));
  setField(found, 'exchanges', word(element(header('exchanges'), warp, 2)));
  setField(found, 'chain', i32(0));
  setField(found, 'write', i32(0));
  setField(found, 'owner', owner);
  append(body, 'return');
  body.end();
  append(body, frame, site, data, thread, call(slow));
  return module.encode();
}
