/**
 * Code for the most frequent operations of the detector with lists in critical sections, on the memory of that
 * detector: - It records weak accesses to words without a race: all stored accesses to the word that the new one
 * conflicts with
 *   come before it, and one by the same site is replaced by it.
 * - It executes fences that publish known clocks, if the thread has observed nothing new. All else goes to
 *   `RaceDetector.record` and `HappensBefore.fence`, which do the same to the same numbers.
 */
import type { WatchedPage } from '../detector/race-detector.ts';
import { type DetectorMemory, addressForCode, detectorHeader, maxDetectorPages } from '../detector/detector-memory.ts';
import { blockFields } from '../detector/block-numbers.ts';
import { momentFields, nodeShift } from '../detector/access-history.ts';
import { type FunctionBody, type FunctionHandle, ModuleBuilder } from './code/wasm-module.ts';
import { type Item, type WasmLocal, append, bind, call, i32, wasmLocal } from './code/wasm-value.ts';
import { machineFunctions, machineModule } from './region/machine-function.ts';

/** Granules are of 2^8 bytes: pages begin at multiples of that. */
const granuleShift = 8;

/** Functions of the interpreter that record all other accesses, and execute all other fences. */
interface Slow {
  readonly record: WebAssembly.ImportedFunction;
  readonly event: WebAssembly.ImportedFunction;
}

/** A page of linear memory. */
interface LinearPage extends WatchedPage {
  readonly region: object | null;
  readonly written: Uint8Array | null;
  /** Its address in linear memory, and number of bytes. */
  readonly data: number;
  readonly bytes: number;
}

export class DetectorCode {
  /** As {@link machineFunctions} describes them. */
  readonly recordWord: WebAssembly.ImportedFunction;
  readonly fence: WebAssembly.ImportedFunction;
  /**
   * By granule of memory: the offset from an address to the list of its cell; 0: generated code does not record
   * accesses.
   */
  readonly #granules: Int32Array;

  /** @param end of the memory whose accesses code may record */
  constructor(memory: DetectorMemory, end: number, slow: Slow) {
    this.#granules = memory.allocate(Math.ceil(end / 2 ** granuleShift));
    memory.set('granules', addressForCode(this.#granules));
    memory.set('granuleCount', addressForCode(this.#granules) === 0 ? 0 : this.#granules.length);
    compiled ??= new WebAssembly.Module(emitDetector());
    const { record, event } = slow;
    const imports = { [machineModule]: { memory: memory.memory, record, event } };
    const { exports } = new WebAssembly.Instance(compiled, imports);
    this.recordWord = exports['recordWord'] as WebAssembly.ImportedFunction;
    this.fence = exports['fence'] as WebAssembly.ImportedFunction;
  }

  /** Updates whether generated code records accesses to a page, after a change of the page. */
  show({ region, heads, cellShift, sync, written, data, bytes }: LinearPage): void {
    const address = heads === null ? 0 : addressForCode(heads);
    // A write ends the publication by earlier strong writes, and contents are tracked by bytes.
    const isShown = address !== 0 && region !== null && cellShift === 2 && sync === null && written === null;
    const first = data >>> granuleShift;
    this.#granules.fill(isShown ? address - data : 0, first, Math.ceil((data + bytes) / 2 ** granuleShift));
  }
}

let compiled: WebAssembly.Module | undefined;

function emitDetector(): Uint8Array {
  const module = new ModuleBuilder();
  module.importMemory(machineModule, 'memory', { minimum: 1, maximum: maxDetectorPages, isShared: true });
  const record = module.importFunction(machineModule, 'record', ...machineFunctions.record);
  const event = module.importFunction(machineModule, 'event', ...machineFunctions.event);
  for (const name of ['recordWord', 'fence'] as const) {
    const [parameters, results] = machineFunctions[name];
    const body = module.addFunction(parameters, results);
    module.exportFunction(name, body);
    const given = parameters.map((type, at) => wasmLocal(type, at));
    if (name === 'fence') emitFence(new DetectorFunction(body), given as Four, event);
    else emitRecord(new DetectorFunction(body), given as [...Four, WasmLocal], record);
  }
  return module.encode();
}

type Four = [WasmLocal, WasmLocal, WasmLocal, WasmLocal];

/** A function that accesses the memory of the detector. Loaded values are bound to locals at once. */
class DetectorFunction {
  readonly body: FunctionBody;

  constructor(body: FunctionBody) {
    this.body = body;
  }

  word(address: readonly Item[], offset = 0): WasmLocal {
    append(this.body, ...address);
    this.body.memory('i32.load', offset);
    return bind(this.body, 'i32');
  }

  header(name: keyof typeof detectorHeader): WasmLocal {
    return this.word([i32(0)], detectorHeader[name]);
  }

  field(node: WasmLocal, name: keyof typeof momentFields): WasmLocal {
    return this.word([node], 4 * momentFields[name]);
  }

  setField(node: WasmLocal, name: keyof typeof momentFields, content: Item): void {
    append(this.body, node, content);
    this.body.memory('i32.store', 4 * momentFields[name]);
  }
}

/** The address of an element of 2^`shift` bytes. */
function element(array: WasmLocal, index: WasmLocal, shift: number): readonly Item[] {
  return [array, index, i32(shift), 'i32.shl', 'i32.add'];
}

function emitRecord(
  code: DetectorFunction,
  [frame, site, data, thread, value]: readonly [...Four, WasmLocal],
  record: FunctionHandle,
): void {
  const { body } = code;
  // Target of branches for accesses that `RaceDetector.record` has to record. Nothing is changed before such a branch.
  const otherwise = body.block();
  const block = code.header('block');
  const moments = code.header('moments');
  const sites = code.header('sites');
  append(body, moments, 'i32.eqz', sites, 'i32.eqz', 'i32.or', block, 'i32.eqz', 'i32.or');
  body.brIf(otherwise);

  // Row of conflicts of the site, and address of the list of the word.
  const entry = bind(body, 'i32', ...element(sites, site, 3));
  const conflicts = code.word([entry]);
  append(body, conflicts, 'i32.eqz');
  body.brIf(otherwise);
  const granule = bind(body, 'i32', data, i32(granuleShift), 'i32.shr_u');
  append(body, granule, code.header('granuleCount'), 'i32.ge_u');
  body.brIf(otherwise);
  const toList = code.word(element(code.header('granules'), granule, 2));
  append(body, toList, 'i32.eqz');
  body.brIf(otherwise);

  // Whether the conflicting accesses are by the thread itself, or precede the last release that it acquired from.
  const owner = bind(body, 'i32', ...element(code.word([block], blockFields.firstOwner), thread, 3));
  const last = bind(body, 'i32', ...element(code.word([block], blockFields.lasts), thread, 3));
  const lastOwner = code.word([last]);
  const lastTime = code.word([last], 4);
  const next = code.word([data, toList, 'i32.add']);
  /** The node with the last access by the same site. */
  const found = bind(body, 'i32', i32(0));
  const listEnd = body.block();
  const again = body.loop();
  append(body, next, 'i32.eqz');
  body.brIf(listEnd);
  const node = bind(body, 'i32', moments, next, i32(nodeShift), 'i32.shl', 'i32.add');
  append(body, code.field(node, 'next'));
  body.set(next.index);
  const other = code.field(node, 'site');
  append(body, other, site, 'i32.ne', conflicts, other, 'i32.add');
  body.memory('i32.load8_u');
  append(body, 'i32.eqz', 'i32.and');
  body.brIf(again);
  const nodeOwner = code.field(node, 'owner');
  append(
    body,
    nodeOwner,
    lastOwner,
    'i32.ne',
    code.field(node, 'time'),
    lastTime,
    'i32.ge_s',
    'i32.or',
    nodeOwner,
    owner,
    'i32.ne',
    'i32.and',
  );
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

  // The new access replaces the last one by its site, or updates it if both are by one thread between two barriers.
  const barriers = code.word([block], blockFields.barriers);
  const isOwn = bind(body, 'i32', code.field(found, 'owner'), owner, 'i32.eq');
  append(body, code.field(found, 'barriers'), barriers, 'i32.eq', isOwn, 'i32.and');
  body.if();
  append(body, code.word([entry], 4), code.field(found, 'value'), value, 'i32.ne', 'i32.and');
  body.if();
  code.setField(found, 'value', value);
  code.setField(found, 'isVarying', i32(1));
  code.setField(found, 'earlierTime', code.field(found, 'time'));
  code.setField(found, 'earlierWarpBarriers', code.field(found, 'warpBarriers'));
  code.setField(found, 'earlierExchanges', code.field(found, 'exchanges'));
  body.end();
  body.else();
  code.setField(found, 'value', value);
  code.setField(found, 'isVarying', i32(0));
  body.end();
  const warp = bind(body, 'i32', thread, i32(5), 'i32.shr_u');
  code.setField(found, 'block', code.word([block], blockFields.ordinal));
  code.setField(found, 'thread', thread);
  code.setField(found, 'time', code.word(element(code.word([block], blockFields.times), thread, 2)));
  code.setField(found, 'barriers', barriers);
  code.setField(found, 'warpBarriers', code.word(element(code.word([block], blockFields.warpBarriers), warp, 2)));
  code.setField(found, 'exchanges', code.word(element(code.word([block], blockFields.exchanges), warp, 2)));
  code.setField(found, 'chain', i32(0));
  code.setField(found, 'write', i32(0));
  code.setField(found, 'owner', owner);
  append(body, 'return');
  body.end();
  append(body, frame, site, data, thread, call(record));
}

function emitFence(code: DetectorFunction, [frame, instruction, thread, isSequential]: Readonly<Four>, event: FunctionHandle): void {
  const { body } = code;
  const otherwise = body.block();
  const block = code.header('block');
  append(body, code.header('isWide'), 'i32.eqz', block, 'i32.eqz', 'i32.or');
  body.brIf(otherwise);
  const warp = bind(body, 'i32', thread, i32(5), 'i32.shr_u');
  // Passed barriers are part of the published clocks.
  const warpBarriers = code.word(element(code.word([block], blockFields.warpBarriers), warp, 2));
  const hasObserved = code.word(element(code.word([block], blockFields.hasObserved), thread, 2));
  append(body, hasObserved, warpBarriers, 'i32.or', code.word([block], blockFields.barriers), 'i32.or');
  body.brIf(otherwise);
  const clock = bind(body, 'i32', ...element(code.word([block], blockFields.times), thread, 2));
  const time = bind(body, 'i32', code.word([clock]), i32(1), 'i32.add');
  append(body, clock, time);
  body.memory('i32.store');
  append(body, ...element(code.word([block], blockFields.releasedAt), thread, 2), time);
  body.memory('i32.store');
  append(body, i32(0), code.header('hasFenceOrder'), isSequential, 'i32.or');
  body.memory('i32.store', detectorHeader.hasFenceOrder);
  append(body, 'return');
  body.end();
  append(body, frame, instruction, thread, call(event));
}
