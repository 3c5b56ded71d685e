/** Launches in a file, as `launcher.c` reads them. */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';

/** A location in memory with a pointer. */
export interface StoredPointer {
  readonly buffer: number;
  readonly offset: number;
  readonly target: { readonly buffer: number; readonly offset: number };
}

export interface LaunchRecord {
  readonly id: number;
  readonly symbol: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly cluster?: Dim3;
  readonly sharedBytes: number;
  /** All contents, in bytes; zero at the locations of `pointers`. */
  readonly buffers: readonly Uint8Array[];
  readonly pointers?: readonly StoredPointer[];
  /** With the sizes of the parameters, in bytes. */
  readonly arguments: readonly { readonly value: Argument; readonly bytes: number }[];
  /** Expected {@link memoryHash} of the buffers after the launch; absent: their contents are output. */
  readonly expected?: bigint;
  /** Set for a litmus program: many instances of it run at once, several times. */
  readonly litmus?: {
    readonly instances: number;
    readonly repetitions: number;
    /** Words that an instance keeps of its reads, at the start of its part of the last buffer. */
    readonly reads: number;
    /** Bytes from one instance to the next. */
    readonly spacing: number;
  };
}

/** Room for the buffers of a launch, in MiB. */
const arena = 64;

/** Collects the parts of a file. */
export class LaunchFile {
  readonly #parts: Buffer[] = [words(arena)];

  /** The PTX that the launches which follow belong to. */
  addModule(ptx: string): void {
    const text = Buffer.from(`${ptx}\0`);
    this.#parts.push(words(1, text.length), text);
  }

  addLaunch(launch: LaunchRecord): void {
    const symbol = Buffer.from(`${launch.symbol}\0`);
    const { id, grid, block, cluster = [1, 1, 1], sharedBytes, expected = 0n, pointers = [], litmus } = launch;
    const hash = Buffer.alloc(8);
    hash.writeBigUInt64LE(expected);
    this.#parts.push(words(2, id, symbol.length), symbol, words(...grid, ...block, ...cluster, sharedBytes), hash);
    this.#parts.push(words(launch.buffers.length));
    for (const bytes of launch.buffers) {
      const [first = 0] = bytes;
      if (bytes.every((byte) => byte === first)) this.#parts.push(words(bytes.length, 1, first));
      else this.#parts.push(words(bytes.length, 0), Buffer.from(bytes));
    }
    this.#parts.push(words(pointers.length));
    for (const { buffer, offset, target } of pointers) this.#parts.push(words(buffer, offset, target.buffer, target.offset));
    this.#parts.push(words(launch.arguments.length));
    for (const { value, bytes } of launch.arguments) this.#parts.push(...argumentParts(value, bytes));
    if (litmus) this.#parts.push(words(litmus.instances, litmus.repetitions, litmus.reads, litmus.spacing));
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function words(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, 4 * index);
  return bytes;
}

function argumentParts(value: Argument, bytes: number): Buffer[] {
  const own = Buffer.alloc(bytes);
  if (value.kind === 'struct') own.set(value.bytes.subarray(0, bytes));
  else if (value.kind === 'scalar') for (let at = 0; at < bytes; at++) own[at] = Number((value.value >> BigInt(8 * at)) & 0xffn);
  const pointers = value.kind === 'struct' ? value.pointers : value.kind === 'pointer' ? [{ ...value, at: 0 }] : [];
  const placed = pointers.map(({ at, buffer, offset }) => words(at, buffer, Number(offset)));
  return [words(bytes), own, words(pointers.length), ...placed];
}

/** The contents of a buffer of the interpreter; one without an end has `size` bytes. */
export function contentsOf({ bytes, elementBytes, fill, values, initial }: GlobalBuffer, size: number): Uint8Array {
  if (initial) return initial;
  const contents = new Uint8Array(bytes ?? size);
  for (let at = 0; at < contents.length; at++) {
    const element = values.get(Math.floor(at / elementBytes)) ?? fill;
    contents[at] = Number((element >> BigInt(8 * (at % elementBytes))) & 0xffn);
  }
  return contents;
}

/** FNV-1a of all bytes of all buffers, in 64 bits. */
export function memoryHash(buffers: readonly Uint8Array[]): bigint {
  let sum = 0xcbf29ce484222325n;
  for (const bytes of buffers) for (const byte of bytes) sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
  return sum;
}

/** Output of `launcher memory` for a launch. */
export interface MemoryOutcome {
  readonly id: number;
  /** Status of the driver; 0: no error. */
  readonly status: number;
  /** The launch changed bytes next to its buffers. */
  readonly isGuardChanged: boolean;
  /** A second execution on the result of the first changed the memory. */
  readonly differsAgain: boolean;
  /** Contents of the buffers in sequence, if they were not as expected. */
  readonly memory: Uint8Array | null;
}

/** @throws RangeError where the file ends early */
export function* memoryOutcomes(file: Buffer): Iterable<MemoryOutcome> {
  for (let at = 0; at < file.length;) {
    const [id, status, guard, again, kept] = [0, 1, 2, 3, 4].map((index) => file.readUInt32LE(at + 4 * index));
    const memory = kept! > 0 ? file.subarray(at + 20, at + 20 + kept!) : null;
    yield { id: id!, status: status!, isGuardChanged: guard === 1, differsAgain: again === 1, memory };
    at += 20 + kept!;
  }
}

/** Output of `launcher litmus` for a launch: the frequency of each outcome. */
export interface LitmusOutcome {
  readonly id: number;
  readonly status: number;
  readonly found: readonly { readonly times: number; readonly reads: readonly number[] }[];
}

/** @throws RangeError where the file ends early */
export function* litmusOutcomes(file: Buffer): Iterable<LitmusOutcome> {
  for (let at = 0; at < file.length;) {
    const [id, status, count, reads] = [0, 1, 2, 3].map((index) => file.readUInt32LE(at + 4 * index));
    at += 16;
    const found = Array.from({ length: count! }, () => {
      const times = file.readUInt32LE(at);
      const own = Array.from({ length: reads! }, (_, index) => file.readUInt32LE(at + 4 + 4 * index));
      at += 4 + 4 * reads!;
      return { times, reads: own };
    });
    yield { id: id!, status: status!, found };
  }
}
