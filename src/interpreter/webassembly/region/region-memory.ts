/**
 * Targets of the accesses of region code: addresses are checked against the place that an access is assumed to stay in.
 */
import type { Operand } from '../../../ir/form/kernel.ts';
import type { Width } from '../../../isa/model/domain.ts';
import type { ValueType } from '../../../isa/model/operation.ts';
import type { MemoryAccess } from '../../core/program.ts';
import type { FunctionBody, WasmMemoryOperator } from '../code/wasm-module.ts';
import type { Item, WasmLocal, WasmValue, WasmWord } from '../code/wasm-value.ts';
import type { RegionBuilder } from './region-builder.ts';
import type { RegionValues } from './region-values.ts';
import type { Plan } from './wasm-plan.ts';
import { localWindow, sharedWindow } from '../../../isa/model/address-window.ts';
import { word, wordsOf } from '../code/wasm-domain.ts';
import { append, bind, call, i32, i64, wasmConstant, wasmLocal } from '../code/wasm-value.ts';
import { pageBytes } from '../../core/global-memory.ts';
import { header, pageEntry, pageFactors, pageFactorShift, placeEntry, placeTable } from './wasm-plan.ts';

/** An address in linear memory: a local plus a constant. */
export interface LinearAddress {
  readonly base: WasmLocal;
  readonly offset: number;
}

/** The target found for an access. */
export interface Located {
  readonly data: LinearAddress;
  /** Its shadow words; null: the access is of no interest to the detector. */
  readonly shadow: { readonly words: LinearAddress; readonly cellShift: number } | null;
}

export class RegionMemory {
  readonly #code: RegionBuilder;
  readonly #plan: Plan;
  readonly #body: FunctionBody;
  readonly #values: RegionValues;

  constructor(code: RegionBuilder, values: RegionValues) {
    this.#code = code;
    this.#plan = code.plan;
    this.#body = code.body;
    this.#values = values;
  }

  /** Finds and checks the address of an access. */
  locate(access: MemoryAccess, operand: Operand, type: ValueType, displacement: bigint): Located {
    const site = this.#plan.sites[access.index]!;
    if (site.kind === 'anywhere') return this.#locateAnywhere(access, operand, type, displacement);
    const { frame, localBytes, detection } = this.#plan;
    const isShared = site.kind === 'place' && site.place.space === 'shared';
    const start = site.kind === 'place' ? site.place.start : 0;
    const { home } = access;
    // A place of shared memory extends to the next place; its variable may end before.
    const own = isShared && home?.start === start && home.end !== null ? home.end - start : Infinity;
    const bytes = site.kind === 'place' ? Math.min(site.place.bytes, own) : localBytes;
    if (site.kind === 'place' && !site.place.writable && access.operation !== 'read') {
      return this.#locateAnywhere(access, operand, type, displacement);
    }
    let window = 0n;
    if (access.space === 'generic') window = site.kind === 'local' ? localWindow : isShared ? sharedWindow : 0n;
    const relative = this.#relativeAddress(access, operand, type, displacement, window + BigInt(start), start, bytes);
    let base: WasmLocal = relative;
    let offset = start;
    if (isShared || site.kind === 'local') {
      const from = site.kind === 'local' ? this.#code.localBase : this.#code.frame;
      base = bind(this.#body, 'i32', relative, from, 'i32.add');
      offset += site.kind === 'local' ? frame.local : frame.shared;
    }
    const data = { base, offset };
    if (site.kind === 'local' || detection !== 'words' || !site.place.writable) return { data, shadow: null };
    const { cellShift, shadow } = site.place;
    const toWord: Item[] =
      cellShift === 3
        ? [relative]
        : cellShift > 3
          ? [relative, i32(cellShift - 3), 'i32.shr_u', i32(-8), 'i32.and']
          : [relative, i32(3 - cellShift), 'i32.shl'];
    if (cellShift === 3 && access.bytes < 8) toWord.push(i32(-8), 'i32.and');
    const words = isShared
      ? { base: bind(this.#body, 'i32', ...toWord, this.#code.frame, 'i32.add'), offset: frame.sharedShadow + shadow }
      : { base: bind(this.#body, 'i32', ...toWord), offset: shadow };
    return { data, shadow: { words, cellShift } };
  }

  /** The address minus `origin`, as an i32, after a check that the access is aligned and within `bytes`. */
  #relativeAddress(
    access: MemoryAccess,
    operand: Operand,
    type: ValueType,
    displacement: bigint,
    origin: bigint,
    start: number,
    bytes: number,
  ): WasmLocal {
    const body = this.#body;
    const scale = Math.log2(access.bytes);
    const isWide = type === 64;
    const address = this.#values.operand(operand, type);
    const width = isWide ? 64 : 32;
    if (address.kind === 'constant') {
      const relative = BigInt.asUintN(width, address.value + displacement - origin);
      const isGood = relative + BigInt(access.bytes) <= BigInt(bytes) && (relative + BigInt(start)) % BigInt(access.bytes) === 0n;
      if (isGood) return bind(body, 'i32', i32(Number(relative)));
      this.#emitStray(access, bind(body, 'i64', i64(BigInt.asUintN(width, address.value + displacement))));
      return bind(body, 'i32', i32(0));
    }
    const local = word(address);
    const shift = displacement - origin;
    const prefix = isWide ? 'i64' : 'i32';
    const constant = (value: bigint): Item => (isWide ? i64(value) : i32(Number(BigInt.asIntN(32, value))));
    const relative = shift === 0n ? (local as WasmLocal) : bind(body, prefix, local, constant(shift), `${prefix}.add`);
    const limit = BigInt(Math.max(0, Math.floor(bytes / access.bytes)));
    const isAligned = start % access.bytes === 0;
    if (isAligned) {
      // A misaligned address is rotated to a number beyond every limit.
      const turned: Item[] = scale === 0 ? [relative] : [relative, constant(BigInt(scale)), `${prefix}.rotr`];
      append(body, ...turned, constant(limit), `${prefix}.ge_u`);
    } else {
      const last = BigInt(bytes - access.bytes);
      append(body, relative, constant(last), `${prefix}.gt_u`);
      append(body, relative, constant(BigInt(start)), `${prefix}.add`, constant(BigInt(access.bytes - 1)), `${prefix}.and`);
      append(body, constant(0n), `${prefix}.ne`, 'i32.or');
    }
    body.if();
    const full = bind(body, prefix, relative, constant(origin), `${prefix}.add`);
    this.#emitStray(access, isWide ? full : bind(body, 'i64', full, 'i64.extend_i32_u'));
    body.end();
    return isWide ? bind(body, 'i32', relative, 'i32.wrap_i64') : relative;
  }

  #emitStray(access: MemoryAccess, address: WasmLocal): void {
    append(this.#body, this.#code.frame, i32(access.index), address, this.#code.thread, ...this.#code.steps());
    append(this.#body, call(this.#code.machineFunction('stray')), 'unreachable');
  }

  /** Finds the place of global memory that contains the address; the interpreter finds other places. */
  #locateAnywhere(access: MemoryAccess, operand: Operand, type: ValueType, displacement: bigint): Located {
    const body = this.#body;
    const { detection, placeMap, globalEnd, sites } = this.#plan;
    const site = sites[access.index]!;
    const cellShift = site.kind === 'anywhere' ? site.cellShift : site.kind === 'place' ? site.place.cellShift : 0;
    const address = this.#values.operand(operand, type);
    const moved = this.#code.domain.add(type as Width, address, wasmConstant(type as Width, displacement));
    const full = type === 64 ? word(moved) : word(this.#code.domain.zeroExtend(32, 64, moved));
    const base = wasmLocal('i32', body.local('i32'));
    const words = wasmLocal('i32', body.local('i32'));
    // Beyond global memory: byte 0, which is in no place, since it is unused.
    const at = bind(body, 'i32', full, 'i32.wrap_i64', i32(0), full, i64(BigInt(globalEnd)), 'i64.lt_u', 'select');
    append(body, at, i32(6), 'i32.shr_u');
    body.memory('i32.load8_u', placeMap);
    const entry = bind(body, 'i32', i32(Math.log2(placeEntry.bytes)), 'i32.shl');
    const load = (field: number): WasmLocal => {
      append(body, entry);
      body.memory('i32.load', placeTable + field);
      return bind(body, 'i32');
    };
    const scale = i32(Math.log2(access.bytes));
    const relative = bind(body, 'i32', at, load(placeEntry.start), 'i32.sub');
    const room = load(access.operation === 'read' ? placeEntry.readable : placeEntry.writable);
    append(body, relative, scale, 'i32.rotr', room, scale, 'i32.shr_u', 'i32.lt_u');
    body.if();
    append(body, at);
    body.set(base.index);
    if (detection === 'words') {
      const cell: Item[] = [relative, i32(cellShift), 'i32.shr_u', i32(3), 'i32.shl'];
      append(body, ...cell, load(placeEntry.shadow), 'i32.add');
      body.set(words.index);
    }
    body.else();
    const isPaged = this.#plan.pageTable !== 0 && site.kind === 'anywhere' && access.home === undefined;
    if (isPaged) this.#findPage(access, full, cellShift, base, words);
    append(body, this.#code.frame, i32(access.index), full, this.#code.thread, ...this.#code.steps());
    append(body, call(this.#code.machineFunction('locate')));
    body.set(base.index);
    if (detection === 'words') {
      append(body, this.#code.frame);
      body.memory('i32.load', header.shadow);
      body.set(words.index);
    }
    if (isPaged) body.end();
    body.end();
    const data = { base, offset: 0 };
    return { data, shadow: detection === 'words' ? { words: { base: words, offset: 0 }, cellShift } : null };
  }

  /**
   * Begins a condition: whether the table of pages contains the page of an aligned address. The `else` has to call the
   * interpreter.
   */
  #findPage(access: MemoryAccess, address: Item, cellShift: number, base: WasmLocal, words: WasmLocal): void {
    const body = this.#body;
    const { pageTable, detection } = this.#plan;
    const number = bind(body, 'i64', address, i64(BigInt(Math.log2(pageBytes))), 'i64.shr_u');
    const entry = bind(
      body,
      'i32',
      number,
      'i32.wrap_i64',
      i32(pageFactors.page),
      'i32.mul',
      address,
      i64(40n),
      'i64.shr_u',
      'i32.wrap_i64',
      i32(pageFactors.expanse),
      'i32.mul',
      'i32.add',
      i32(pageFactorShift),
      'i32.shr_u',
      i32(Math.log2(pageEntry.bytes)),
      'i32.shl',
    );
    append(body, entry);
    body.memory('i64.load', pageTable + pageEntry.number);
    append(body, number, 'i64.eq');
    append(body, address, i64(BigInt(access.bytes - 1)), 'i64.and', 'i64.eqz', 'i32.and');
    body.if();
    const inPage = bind(body, 'i32', address, 'i32.wrap_i64', i32(pageBytes - 1), 'i32.and');
    append(body, entry);
    body.memory('i32.load', pageTable + pageEntry.data);
    append(body, inPage, 'i32.add');
    body.set(base.index);
    if (detection === 'words') {
      append(body, entry);
      body.memory('i32.load', pageTable + pageEntry.shadow);
      append(body, inPage, i32(cellShift), 'i32.shr_u', i32(3), 'i32.shl', 'i32.add');
      body.set(words.index);
    }
    body.else();
  }

  /** Loads a value of `width` bits. */
  load(width: Width, { base, offset }: LinearAddress): WasmValue {
    const load = (name: WasmMemoryOperator, at: number): WasmLocal => {
      append(this.#body, base);
      this.#body.memory(name, at);
      return bind(this.#body, name.startsWith('i64') ? 'i64' : 'i32');
    };
    if (width === 128) return { kind: 'pair', low: load('i64.load', offset), high: load('i64.load', offset + 8) };
    const names = { 8: 'i32.load8_u', 16: 'i32.load16_u', 32: 'i32.load', 64: 'i64.load' } as const;
    const loaded = load(names[width], offset);
    return width < 32 ? { ...loaded, limit: 2 ** width - 1 } : loaded;
  }

  /** Stores a value of `width` bits. */
  store(width: Width, { base, offset }: LinearAddress, value: WasmValue): void {
    const store = (name: WasmMemoryOperator, at: number, part: WasmWord): void => {
      append(this.#body, base, part);
      this.#body.memory(name, at);
    };
    if (width === 128) {
      const { low, high } = wordsOf(value);
      store('i64.store', offset, low);
      store('i64.store', offset + 8, high);
      return;
    }
    const names = { 8: 'i32.store8', 16: 'i32.store16', 32: 'i32.store', 64: 'i64.store' } as const;
    store(names[width], offset, word(value));
  }
}
