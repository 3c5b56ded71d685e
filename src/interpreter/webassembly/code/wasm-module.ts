/**
 * An encoder of WebAssembly modules (binary format 1): MVP with sign extension, saturating conversions and bulk memory,
 * as supported by Node 20. Code is appended instruction by instruction; the encoder checks no types, which `new
 * WebAssembly.Module` does. Functions refer to each other by handle, so imports may be added at any time.
 */
import { invariant } from '../../../base/assert.ts';

export type WasmType = 'i32' | 'i64' | 'f32' | 'f64';

const typeCodes: Readonly<Record<WasmType, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c };

/** Operators without immediates. */
const operators = {
  unreachable: [0x00],
  return: [0x0f],
  select: [0x1b],
  'i32.eqz': [0x45],
  'i32.eq': [0x46],
  'i32.ne': [0x47],
  'i32.lt_s': [0x48],
  'i32.lt_u': [0x49],
  'i32.gt_s': [0x4a],
  'i32.gt_u': [0x4b],
  'i32.le_s': [0x4c],
  'i32.le_u': [0x4d],
  'i32.ge_s': [0x4e],
  'i32.ge_u': [0x4f],
  'i64.eqz': [0x50],
  'i64.eq': [0x51],
  'i64.ne': [0x52],
  'i64.lt_s': [0x53],
  'i64.lt_u': [0x54],
  'i64.gt_s': [0x55],
  'i64.gt_u': [0x56],
  'i64.le_s': [0x57],
  'i64.le_u': [0x58],
  'i64.ge_s': [0x59],
  'i64.ge_u': [0x5a],
  'f32.eq': [0x5b],
  'f32.ne': [0x5c],
  'f32.lt': [0x5d],
  'f32.gt': [0x5e],
  'f32.le': [0x5f],
  'f32.ge': [0x60],
  'f64.eq': [0x61],
  'f64.ne': [0x62],
  'f64.lt': [0x63],
  'f64.gt': [0x64],
  'f64.le': [0x65],
  'f64.ge': [0x66],
  'i32.clz': [0x67],
  'i32.popcnt': [0x69],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i32.mul': [0x6c],
  'i32.div_s': [0x6d],
  'i32.div_u': [0x6e],
  'i32.rem_s': [0x6f],
  'i32.rem_u': [0x70],
  'i32.and': [0x71],
  'i32.or': [0x72],
  'i32.xor': [0x73],
  'i32.shl': [0x74],
  'i32.shr_s': [0x75],
  'i32.shr_u': [0x76],
  'i32.rotl': [0x77],
  'i32.rotr': [0x78],
  'i64.clz': [0x79],
  'i64.popcnt': [0x7b],
  'i64.add': [0x7c],
  'i64.sub': [0x7d],
  'i64.mul': [0x7e],
  'i64.div_s': [0x7f],
  'i64.div_u': [0x80],
  'i64.rem_s': [0x81],
  'i64.rem_u': [0x82],
  'i64.and': [0x83],
  'i64.or': [0x84],
  'i64.xor': [0x85],
  'i64.shl': [0x86],
  'i64.shr_s': [0x87],
  'i64.shr_u': [0x88],
  'i64.rotl': [0x89],
  'i64.rotr': [0x8a],
  'f32.abs': [0x8b],
  'f32.neg': [0x8c],
  'f32.ceil': [0x8d],
  'f32.floor': [0x8e],
  'f32.trunc': [0x8f],
  'f32.nearest': [0x90],
  'f32.sqrt': [0x91],
  'f32.add': [0x92],
  'f32.sub': [0x93],
  'f32.mul': [0x94],
  'f32.div': [0x95],
  'f32.min': [0x96],
  'f32.max': [0x97],
  'f32.copysign': [0x98],
  'f64.abs': [0x99],
  'f64.neg': [0x9a],
  'f64.ceil': [0x9b],
  'f64.floor': [0x9c],
  'f64.trunc': [0x9d],
  'f64.nearest': [0x9e],
  'f64.sqrt': [0x9f],
  'f64.add': [0xa0],
  'f64.sub': [0xa1],
  'f64.mul': [0xa2],
  'f64.div': [0xa3],
  'f64.min': [0xa4],
  'f64.max': [0xa5],
  'f64.copysign': [0xa6],
  'i32.wrap_i64': [0xa7],
  'i64.extend_i32_s': [0xac],
  'i64.extend_i32_u': [0xad],
  'f32.convert_i32_s': [0xb2],
  'f32.convert_i32_u': [0xb3],
  'f32.convert_i64_s': [0xb4],
  'f32.convert_i64_u': [0xb5],
  'f32.demote_f64': [0xb6],
  'f64.convert_i32_s': [0xb7],
  'f64.convert_i32_u': [0xb8],
  'f64.convert_i64_s': [0xb9],
  'f64.convert_i64_u': [0xba],
  'f64.promote_f32': [0xbb],
  'i32.reinterpret_f32': [0xbc],
  'i64.reinterpret_f64': [0xbd],
  'f32.reinterpret_i32': [0xbe],
  'f64.reinterpret_i64': [0xbf],
  'i32.extend8_s': [0xc0],
  'i32.extend16_s': [0xc1],
  'i64.extend8_s': [0xc2],
  'i64.extend16_s': [0xc3],
  'i64.extend32_s': [0xc4],
  'i32.trunc_sat_f32_s': [0xfc, 0],
  'i32.trunc_sat_f32_u': [0xfc, 1],
  'i32.trunc_sat_f64_s': [0xfc, 2],
  'i32.trunc_sat_f64_u': [0xfc, 3],
  'i64.trunc_sat_f32_s': [0xfc, 4],
  'i64.trunc_sat_f32_u': [0xfc, 5],
  'i64.trunc_sat_f64_s': [0xfc, 6],
  'i64.trunc_sat_f64_u': [0xfc, 7],
} as const;

/** An operator whose operands are all on the stack. */
export type WasmOperator = keyof typeof operators;

/** Loads and stores: code, and the logarithm of the natural alignment. */
const memoryOperators = {
  'i32.load': [0x28, 2],
  'i64.load': [0x29, 3],
  'i32.load8_s': [0x2c, 0],
  'i32.load8_u': [0x2d, 0],
  'i32.load16_s': [0x2e, 1],
  'i32.load16_u': [0x2f, 1],
  'i64.load8_s': [0x30, 0],
  'i64.load8_u': [0x31, 0],
  'i64.load16_s': [0x32, 1],
  'i64.load16_u': [0x33, 1],
  'i64.load32_s': [0x34, 2],
  'i64.load32_u': [0x35, 2],
  'i32.store': [0x36, 2],
  'i64.store': [0x37, 3],
  'i32.store8': [0x3a, 0],
  'i32.store16': [0x3b, 1],
  'i64.store8': [0x3c, 0],
  'i64.store16': [0x3d, 1],
  'i64.store32': [0x3e, 2],
} as const;

/** An operator with an address on the stack and a constant displacement. */
export type WasmMemoryOperator = keyof typeof memoryOperators;

const encoder = new TextEncoder();

/** A growing sequence of bytes, with the number formats of WebAssembly. */
class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(values: Uint8Array | readonly number[]): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Unsigned LEB128 of a number below 2^32. */
  unsigned(value: number): void {
    let left = value >>> 0;
    while (left >= 0x80) {
      this.byte((left & 0x7f) | 0x80);
      left >>>= 7;
    }
    this.byte(left);
  }

  /** Unsigned LEB128 in five bytes, to be overwritten at `position` or appended. */
  padded(value: number, position?: number): void {
    const at = position ?? this.#length;
    if (position === undefined) {
      this.#reserve(5);
      this.#length += 5;
    }
    for (let index = 0; index < 5; index++) {
      this.#bytes[at + index] = ((value >>> (7 * index)) & 0x7f) | (index < 4 ? 0x80 : 0);
    }
  }

  /** Signed LEB128 of a signed 32-bit number. */
  signed(value: number): void {
    let left = value | 0;
    while (left < -64 || left > 63) {
      this.byte((left & 0x7f) | 0x80);
      left >>= 7;
    }
    this.byte(left & 0x7f);
  }

  /** Signed LEB128 of a signed 64-bit number. */
  signed64(value: bigint): void {
    let left = BigInt.asIntN(64, value);
    while (left < -64n || left > 63n) {
      this.byte(Number(left & 0x7fn) | 0x80);
      left >>= 7n;
    }
    this.byte(Number(left & 0x7fn));
  }

  name(text: string): void {
    const bytes = encoder.encode(text);
    this.unsigned(bytes.length);
    this.bytes(bytes);
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

/** A function of the module, imported or defined; `index` is known once the module is encoded. */
export interface FunctionHandle {
  readonly parameters: readonly WasmType[];
  readonly results: readonly WasmType[];
}

/** A target of `br`: the end of a block or `if`, or the start of a loop. */
export type Label = number;

/**
 * The body of a function: instructions in the order in which they are appended. Locals are numbered with the parameters
 * first; one that is freed may be allocated again, with an arbitrary value.
 */
export class FunctionBody implements FunctionHandle {
  readonly parameters: readonly WasmType[];
  readonly results: readonly WasmType[];
  readonly #code = new ByteWriter(256);
  readonly #locals: WasmType[];
  readonly #free: Record<WasmType, number[]> = { i32: [], i64: [], f32: [], f64: [] };
  readonly #allocations: number[] = [];
  readonly #calls: { readonly position: number; readonly target: FunctionHandle }[] = [];
  #depth = 0;

  constructor(parameters: readonly WasmType[], results: readonly WasmType[]) {
    this.parameters = parameters;
    this.results = results;
    this.#locals = [...parameters];
  }

  /** Bytes of code so far. */
  get size(): number {
    return this.#code.length;
  }

  // Locals

  /** A local with an arbitrary value (zero if it was never freed). */
  local(type: WasmType): number {
    const local = this.#free[type].pop() ?? this.#locals.push(type) - 1;
    this.#allocations.push(local);
    return local;
  }

  typeOf(local: number): WasmType {
    return this.#locals[local]!;
  }

  /** Frees `local`, so that it may be allocated again. */
  free(local: number): void {
    this.#free[this.#locals[local]!].push(local);
  }

  /** A point in the sequence of allocations. */
  mark(): number {
    return this.#allocations.length;
  }

  /** Frees the locals allocated since `mark`, except for `kept`. None of them may have been freed separately. */
  freeSince(mark: number, kept: ReadonlySet<number>): void {
    for (const local of this.#allocations.splice(mark)) {
      if (kept.has(local)) this.#allocations.push(local);
      else this.free(local);
    }
  }

  // Instructions

  /** Appends operators without immediates. */
  op(...names: readonly WasmOperator[]): void {
    for (const name of names) {
      const code = operators[name];
      if (code.length === 1) this.#code.byte(code[0]);
      else this.#code.bytes(code);
    }
  }

  i32(value: number): void {
    this.#code.byte(0x41);
    this.#code.signed(value);
  }

  i64(value: bigint): void {
    this.#code.byte(0x42);
    this.#code.signed64(value);
  }

  f32(value: number): void {
    scratch.setFloat32(0, value, true);
    this.#code.byte(0x43);
    for (let index = 0; index < 4; index++) this.#code.byte(scratch.getUint8(index));
  }

  f64(value: number): void {
    scratch.setFloat64(0, value, true);
    this.#code.byte(0x44);
    for (let index = 0; index < 8; index++) this.#code.byte(scratch.getUint8(index));
  }

  get(local: number): void {
    this.#code.byte(0x20);
    this.#code.unsigned(local);
  }

  set(local: number): void {
    this.#code.byte(0x21);
    this.#code.unsigned(local);
  }

  tee(local: number): void {
    this.#code.byte(0x22);
    this.#code.unsigned(local);
  }

  /**
   * A load or store; the address (and then the value) is on the stack.
   * @param offset added to the address, in bytes, unsigned
   * @param alignment in bytes, a hint; default: natural
   */
  memory(name: WasmMemoryOperator, offset = 0, alignment?: number): void {
    const [code, natural] = memoryOperators[name];
    this.#code.byte(code);
    this.#code.unsigned(alignment === undefined ? natural : Math.log2(alignment));
    this.#code.unsigned(offset);
  }

  call(target: FunctionHandle): void {
    this.#code.byte(0x10);
    this.#calls.push({ position: this.#code.length, target });
    this.#code.padded(0);
  }

  // Control

  #open(code: number, result: WasmType | undefined): Label {
    this.#code.byte(code);
    this.#code.byte(result === undefined ? 0x40 : typeCodes[result]);
    return ++this.#depth;
  }

  /** Opens a block; `br` to its label leaves it. */
  block(result?: WasmType): Label {
    return this.#open(0x02, result);
  }

  /** Opens a loop; `br` to its label begins the next iteration. */
  loop(): Label {
    return this.#open(0x03, undefined);
  }

  /** Opens a conditional on the i32 on the stack; `br` to its label leaves the conditional. */
  if(result?: WasmType): Label {
    return this.#open(0x04, result);
  }

  else(): void {
    this.#code.byte(0x05);
  }

  /** Closes the innermost block, loop or conditional. */
  end(): void {
    invariant(this.#depth > 0, 'end of a block that was not opened');
    this.#depth--;
    this.#code.byte(0x0b);
  }

  br(label: Label): void {
    this.#code.byte(0x0c);
    this.#code.unsigned(this.#distance(label));
  }

  brIf(label: Label): void {
    this.#code.byte(0x0d);
    this.#code.unsigned(this.#distance(label));
  }

  /** Branches to the label with the number on the stack, or to `otherwise`. */
  brTable(labels: readonly Label[], otherwise: Label): void {
    this.#code.byte(0x0e);
    this.#code.unsigned(labels.length);
    for (const label of labels) this.#code.unsigned(this.#distance(label));
    this.#code.unsigned(this.#distance(otherwise));
  }

  #distance(label: Label): number {
    invariant(label > 0 && label <= this.#depth, 'branch to a block that is not open');
    return this.#depth - label;
  }

  /** The code with its locals, once indices are assigned to all functions. */
  encode(indexOf: (target: FunctionHandle) => number): Uint8Array {
    invariant(this.#depth === 0, 'a block is not closed');
    for (const { position, target } of this.#calls) this.#code.padded(indexOf(target), position);
    const head = new ByteWriter(32);
    const runs: { type: WasmType; count: number }[] = [];
    for (const type of this.#locals.slice(this.parameters.length)) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    head.unsigned(runs.length);
    for (const { type, count } of runs) {
      head.unsigned(count);
      head.byte(typeCodes[type]);
    }
    head.bytes(this.#code.finish());
    head.byte(0x0b);
    return head.finish();
  }
}

interface Import {
  readonly module: string;
  readonly name: string;
}

interface ImportedFunction extends Import, FunctionHandle {}

/** The size of a memory, in pages of 64 KiB. */
interface MemorySize {
  readonly minimum: number;
  readonly maximum?: number;
  /** Whether the memory is shared: it has a maximum size, and views stay valid when it grows. */
  readonly isShared?: boolean;
}

/** A module under construction. */
export class ModuleBuilder {
  readonly #imports: ImportedFunction[] = [];
  readonly #functions: FunctionBody[] = [];
  readonly #exports: { readonly name: string; readonly target: FunctionHandle }[] = [];
  #memory: (Import & MemorySize) | null = null;

  /** An imported function; cached by name. */
  importFunction(module: string, name: string, parameters: readonly WasmType[], results: readonly WasmType[]): FunctionHandle {
    const known = this.#imports.find((other) => other.module === module && other.name === name);
    if (known) return known;
    const added: ImportedFunction = { module, name, parameters, results };
    this.#imports.push(added);
    return added;
  }

  /** Imports the single memory of the module. */
  importMemory(module: string, name: string, size: MemorySize): void {
    this.#memory = { module, name, ...size };
  }

  /** A new function of the module; its code is appended later. */
  addFunction(parameters: readonly WasmType[], results: readonly WasmType[]): FunctionBody {
    const body = new FunctionBody(parameters, results);
    this.#functions.push(body);
    return body;
  }

  exportFunction(name: string, target: FunctionHandle): void {
    this.#exports.push({ name, target });
  }

  /** The module in the binary format. */
  encode(): Uint8Array {
    const indices = new Map<FunctionHandle, number>();
    for (const handle of [...this.#imports, ...this.#functions]) indices.set(handle, indices.size);
    const indexOf = (target: FunctionHandle): number => {
      const index = indices.get(target);
      invariant(index !== undefined, 'a call of a function of another module');
      return index;
    };
    const types = new Map<string, number>();
    const typeSection = new ByteWriter(64);
    const typeIndex = ({ parameters, results }: FunctionHandle): number => {
      const key = `${parameters.join()}:${results.join()}`;
      let index = types.get(key);
      if (index === undefined) {
        index = types.size;
        types.set(key, index);
        typeSection.byte(0x60);
        for (const list of [parameters, results]) {
          typeSection.unsigned(list.length);
          for (const type of list) typeSection.byte(typeCodes[type]);
        }
      }
      return index;
    };
    const importTypes = this.#imports.map(typeIndex);
    const functionTypes = this.#functions.map(typeIndex);

    const module = new ByteWriter(4096);
    module.bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    const section = (id: number, count: number, write: (to: ByteWriter) => void): void => {
      if (count === 0) return;
      const content = new ByteWriter(256);
      content.unsigned(count);
      write(content);
      module.byte(id);
      module.unsigned(content.length);
      module.bytes(content.finish());
    };
    section(1, types.size, (to) => to.bytes(typeSection.finish()));
    const importCount = this.#imports.length + (this.#memory ? 1 : 0);
    section(2, importCount, (to) => this.#encodeImports(to, importTypes));
    section(3, functionTypes.length, (to) => {
      for (const type of functionTypes) to.unsigned(type);
    });
    section(7, this.#exports.length, (to) => {
      for (const { name, target } of this.#exports) {
        to.name(name);
        to.byte(0);
        to.unsigned(indexOf(target));
      }
    });
    section(10, this.#functions.length, (to) => {
      for (const body of this.#functions) {
        const code = body.encode(indexOf);
        to.unsigned(code.length);
        to.bytes(code);
      }
    });
    return module.finish();
  }

  #encodeImports(to: ByteWriter, types: readonly number[]): void {
    for (const [index, { module, name }] of this.#imports.entries()) {
      to.name(module);
      to.name(name);
      to.byte(0);
      to.unsigned(types[index]!);
    }
    if (this.#memory) {
      const { module, name, minimum, maximum, isShared } = this.#memory;
      to.name(module);
      to.name(name);
      to.byte(2);
      to.byte((maximum === undefined ? 0 : 1) | (isShared ? 2 : 0));
      to.unsigned(minimum);
      if (maximum !== undefined) to.unsigned(maximum);
    }
  }
}
