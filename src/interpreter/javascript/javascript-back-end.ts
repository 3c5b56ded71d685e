/**
 * The back end of staged JavaScript, and of other programs with the same kind of segments: threads are objects with
 * registers, memory consists of pages of typed arrays.
 */
import type { Dim3 } from '../../base/dim3.ts';
import type { FaultEvent } from '../core/run-result.ts';
import type { Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { ResidentBlock } from '../core/back-end.ts';
import type { RunRequest } from '../core/run-request.ts';
import type { Executor, LocatedBytes, MachineHost } from '../core/interpreter-host.ts';
import type { MemoryBackEnd } from '../core/machine-run.ts';
import type { GlobalMemory, Page } from '../core/global-memory.ts';
import type { RunObserver } from '../core/observer.ts';
import type { MemoryAccess } from '../core/program.ts';
import type { CompiledProgram } from './stage.ts';
import type { StagedRuntime } from './staged-runtime.ts';
import type { ThreadContext } from '../core/thread.ts';
import { seededRandom } from '../../base/random.ts';
import { localWindow, sharedWindow } from '../../isa/model/address-window.ts';
import { type Fence, fenceOf } from '../../memory-model/fence.ts';
import { leftParentObject } from '../core/access-bounds.ts';
import { atomicResult } from '../core/atomic-operation.ts';
import { exitedStatus, mixedStatus, timeSlice, waitingAt } from '../core/back-end.ts';
import { isBuffered, isInterleaved, isTimeSliceExpired, timeSliceLengths } from '../core/schedule.ts';
import { createPage, createRegions, pageBytes, regionPage, regionSlot, touchedPage } from '../core/global-memory.ts';
import { exited, suspended } from './stage.ts';
import { StoreBuffer, type StorePlace } from './store-buffer.ts';
import { Thread } from '../core/thread.ts';

const sharedStart = Number(sharedWindow);
const localStart = Number(localWindow);

/** Limit on the time slices that a thread with buffered stores yields in a run. */
const maxPassedOn = 32;

/** Whether an instruction makes all stores of its thread visible to all. */
function endsWaiting({ operation: { effect } }: Instruction): boolean {
  const fence = fenceOf(effect);
  return effect.kind === 'atomic' || (fence?.semantics === 'sc' && fence.scope !== 'cta');
}

export class JavascriptBackEnd implements MemoryBackEnd, StagedRuntime {
  readonly mostResident = Infinity;
  readonly program: CompiledProgram;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly sharedBytes: number;
  /** Whether each time slice is one instruction. */
  readonly isInterleaved: boolean;
  readonly seed: number | undefined;
  page: Page;
  at = 0;
  /** Whether the page located last is shared memory (1), global memory (0), or of no interest to the detector (-1). */
  #where: -1 | 0 | 1 = -1;
  readonly #host: MachineHost;
  readonly #records: boolean;
  readonly #observer: RunObserver | null;
  readonly #regions: GlobalMemory;
  readonly #contentsSeed: number | undefined;
  /** Store buffers by thread of the launch; null: all stores are visible at once. */
  readonly #buffers: Map<number, StoreBuffer> | null;
  /** The fences of the kernel, if stores are buffered. */
  readonly #fences = new Map<InstructionId, Fence>();
  /** By thread of the launch: the number of time slices that it may still yield before its stores become visible. */
  readonly #patience = new Map<number, number>();
  /** Target of the store whose value is being written. */
  #target: StorePlace | null = null;

  /** @param memory initial global memory, which the run changes; absent: that of the request */
  constructor(program: CompiledProgram, request: RunRequest, host: MachineHost, memory?: GlobalMemory) {
    this.program = program;
    this.block = request.block;
    this.grid = request.grid;
    this.sharedBytes = request.sharedBytes;
    this.isInterleaved = isInterleaved(request.seed);
    this.seed = request.seed;
    this.page = createPage(0);
    this.#host = host;
    this.#records = request.detectRaces;
    this.#observer = request.observer ?? null;
    this.#regions = memory ?? createRegions(request.kernel, program.layout, request.buffers, request.arguments, request.steps);
    this.#contentsSeed = request.contentsSeed;
    this.#buffers = isBuffered(request.seed) ? new Map() : null;
    for (const { instructions } of this.#buffers ? request.kernel.blocks : [])
      for (const { id, operation } of instructions) {
        const fence = fenceOf(operation.effect);
        if (fence) this.#fences.set(id, fence);
      }
    const named = this.#regions.filter((region) => region !== undefined);
    this.#observer?.start(program, named);
  }

  /**
   * Shared or local memory before anything is written to it.
   * @param owner number of the block, or of the thread in the launch
   */
  fresh(bytes: number, owner: number): Page {
    const page = createPage(bytes);
    if (this.#contentsSeed === undefined) return page;
    const random = seededRandom(Math.imul(this.#contentsSeed, 0x9e3779b9) ^ owner);
    for (let word = 0; word < page.i32.length; word++) page.i32[word] = random.below(2 ** 32);
    return page;
  }

  start(ordinal: number, position: Dim3): ResidentBlock {
    return new JavascriptBlock(this, this.#observer, ordinal, position);
  }

  *globalPages(): Iterable<Page> {
    for (const region of this.#regions) if (region?.writable) yield* region.pages.values();
  }

  *sharedPages(block: ResidentBlock): Iterable<Page> {
    yield (block as JavascriptBlock).shared;
  }

  forgetGlobal(): void {
    // All recorded accesses are in the detector with lists, which discards them.
  }

  /**
   * Runs a thread until it waits or exits, or its time slice ends.
   * @param most number of steps of its time slice
   */
  execute(block: JavascriptBlock, thread: Thread, most: number): void {
    const { code, lengths } = this.program;
    const { registers } = thread;
    let { pc } = thread;
    if (this.#passesTurnOn(thread)) {
      this.#host.ran(1, block, thread.number, pc);
      return;
    }
    let steps = 0;
    try {
      for (;;) {
        steps += lengths[pc]!;
        thread.pc = pc;
        const next = code[pc]!(thread, registers, this);
        if (next < 0) {
          pc = next;
          break;
        }
        // A thread that waits in a loop must not delay stores that others wait for.
        if (this.#buffers && next <= pc) this.#drain(thread);
        const isDone = isTimeSliceExpired(steps, most, pc, next);
        pc = next;
        if (isDone) break;
      }
    } catch (stop) {
      this.#host.counted(steps);
      throw stop;
    }
    if (pc < 0) this.#drain(thread);
    if (pc >= 0) thread.pc = pc;
    else if (pc === suspended) thread.status = 'waiting';
    else if (pc === exited) thread.status = 'exited';
    this.#host.ran(steps, block, thread.number, thread.pc);
  }

  readBytes(buffer: number, offset: number, count: number): Uint8Array {
    const region = this.#regions[this.program.layout.firstBuffer + buffer]!;
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count;) {
      const index = Math.floor((offset + at) / pageBytes);
      const start = offset + at - index * pageBytes;
      const length = Math.min(count - at, pageBytes - start);
      bytes.set(regionPage(region, index).u8.subarray(start, start + length), at);
      at += length;
    }
    return bytes;
  }

  // Memory

  #locate(thread: Thread, access: MemoryAccess, address: number): void {
    this.#observer?.accessed(thread, access, address);
    const { space } = access;
    const { home } = thread;
    const left = access.home ? leftParentObject(access.home, access, address, home.sharedBytes) : null;
    if (left) this.#host.left(executor(thread), access, left);
    if (space === 'shared') {
      this.#locateWindow(thread, access, home.shared, home.sharedBytes, address, 1);
    } else if (space === 'local') {
      this.#locateLocal(thread, access, address);
    } else if (space === 'generic' && address >= sharedStart) {
      if (address >= localStart) this.#locateLocal(thread, access, address - localStart);
      else this.#locateWindow(thread, access, home.shared, home.sharedBytes, address - sharedStart, 1);
    } else {
      this.#locateGlobal(thread, access, address);
    }
    if ((this.at & (access.bytes - 1)) !== 0) {
      this.#fault(thread, 'misaligned', access, `address ${address} for ${access.bytes} bytes`);
    }
  }

  #locateLocal(thread: Thread, access: MemoryAccess, offset: number): void {
    const { localBytes } = this.program.layout;
    thread.local ??= this.fresh(localBytes, ~thread.id);
    this.#locateWindow(thread, access, thread.local, localBytes, offset, -1);
  }

  #locateWindow(thread: Thread, access: MemoryAccess, page: Page, bytes: number, offset: number, where: -1 | 1): void {
    if (offset + access.bytes > bytes) {
      const space = where === 1 ? 'shared' : 'local';
      this.#fault(thread, 'out-of-bounds', access, `byte ${offset} of ${bytes} in ${space} memory`);
    }
    this.page = page;
    this.at = offset;
    this.#where = where;
  }

  #locateGlobal(thread: Thread, access: MemoryAccess, address: number): void {
    const region = this.#regions[regionSlot(address)];
    if (!region) this.#fault(thread, 'out-of-bounds', access, `address ${address} belongs to no buffer`);
    const offset = address - region.base;
    if (region.bytes !== null && (offset < 0 || offset + access.bytes > region.bytes)) {
      this.#host.left(executor(thread), access, { object: region.name, offset, bytes: region.bytes });
    }
    if (!region.writable && access.operation !== 'read') {
      this.#fault(thread, 'read-only', access, `write to ${region.name}`);
    }
    const index = Math.floor(offset / pageBytes);
    this.page = region.lastIndex === index && region.lastPage ? region.lastPage : touchedPage(region, index);
    this.at = offset - index * pageBytes;
    this.#where = region.writable ? 0 : -1;
  }

  #fault(thread: Thread, kind: FaultEvent['kind'], access: MemoryAccess, message: string): never {
    this.#host.fault(executor(thread), kind, access, message);
  }

  #record(thread: Thread, access: MemoryAccess): void {
    if (!this.#records || this.#where < 0) return;
    this.#host.record(thread.home as JavascriptBlock, thread.number, access, this.page, this.at);
  }

  read(thread: Thread, access: MemoryAccess, address: number): void {
    this.#locate(thread, access, address);
    if (this.#buffers?.get(thread.id)?.containsAnyOf(this.page, this.at, access.bytes)) {
      const place = this.#place();
      this.#drain(thread);
      this.#return(place);
    }
    this.#record(thread, access);
  }

  write(thread: Thread, access: MemoryAccess, address: number): void {
    this.#locate(thread, access, address);
    if (!this.#buffers || this.#where < 0) return;
    // The value is written to a separate page.
    this.#target = this.#place();
    this.page = createPage(access.bytes);
    this.at = 0;
  }

  wrote(thread: Thread, access: MemoryAccess): void {
    const place = this.#target;
    if (!place) {
      this.#record(thread, access);
      return;
    }
    this.#target = null;
    this.#bufferOf(thread).add({ kind: 'store', access, place, value: this.page });
  }

  // Stores that wait

  #place(): StorePlace {
    return { page: this.page, at: this.at, where: this.#where };
  }

  #return({ page, at, where }: StorePlace): void {
    this.page = page;
    this.at = at;
    this.#where = where;
  }

  #bufferOf({ id }: Thread): StoreBuffer {
    const known = this.#buffers!.get(id) ?? new StoreBuffer();
    this.#buffers!.set(id, known);
    return known;
  }

  /**
   * Whether a thread with buffered stores yields its time slice, since its next instruction would make the stores
   * visible: threads that reach their loads a little later do not see the stores either.
   */
  #passesTurnOn({ id, pc }: Thread): boolean {
    const buffer = this.#buffers?.get(id);
    if (!buffer || buffer.isEmpty || !this.program.segments[pc]!.instructions.some(endsWaiting)) return false;
    const left = this.#patience.get(id) ?? maxPassedOn;
    if (left > 0) this.#patience.set(id, left - 1);
    return left > 0;
  }

  /** Effect of an instruction that orders accesses on buffered stores. */
  #orderStores(thread: Thread, instruction: InstructionId): void {
    const fence = this.#fences.get(instruction);
    // Threads that have passed a `fence.sc` before this one in the order of these fences: their stores become visible
    // now.
    if (fence?.semantics === 'sc') for (const other of (thread.home as JavascriptBlock).threads) if (other !== thread) this.#drain(other);
    // A `fence.sc` with the scope of a block does not order the stores of its thread for threads of other blocks.
    if (!fence || (fence.semantics === 'sc' && fence.scope !== 'cta')) {
      this.#drain(thread);
      return;
    }
    // The fence acquires now; its release includes the buffered stores before it.
    const buffer = this.#buffers!.get(thread.id);
    if (buffer && !buffer.isEmpty) buffer.add({ kind: 'fence', instruction });
  }

  /** Makes the stores of a thread visible. */
  #drain(thread: Thread): void {
    for (const pending of this.#buffers?.get(thread.id)?.take() ?? []) {
      if (pending.kind === 'fence') {
        this.#host.event(thread.home as JavascriptBlock, thread.number, pending.instruction);
        continue;
      }
      const { access, place, value } = pending;
      this.#return(place);
      place.page.u8.set(value.u8.subarray(0, access.bytes), place.at);
      this.#record(thread, access);
    }
  }

  atomic(thread: Thread, access: MemoryAccess, address: number, a: bigint, b = 0n): bigint {
    this.#drain(thread);
    this.#locate(thread, access, address);
    const { operation, type, bytes } = access.atomic!;
    const old = loadPattern(this.page, this.at, bytes);
    const isGlobal = this.#where === 0;
    storePattern(this.page, this.at, bytes, atomicResult(operation, type, 8 * bytes, old, a, b, isGlobal));
    this.#record(thread, access);
    return old;
  }

  copy(thread: Thread, write: MemoryAccess, read: MemoryAccess, to: number, from: number, count: number): void {
    let pattern = 0n;
    this.#drain(thread);
    if (count > 0) {
      this.read(thread, read, from);
      pattern = BigInt.asUintN(8 * count, loadPattern(this.page, this.at, read.bytes));
    }
    this.#locate(thread, write, to);
    storePattern(this.page, this.at, write.bytes, pattern);
    this.#record(thread, write);
  }

  locate({ block, thread }: Executor, access: MemoryAccess, address: number): LocatedBytes {
    this.#locate((block as JavascriptBlock).threads[thread]!, access, address);
    return { page: this.page, offset: this.at };
  }

  touch({ block, thread }: Executor, access: MemoryAccess): void {
    this.#record((block as JavascriptBlock).threads[thread]!, access);
  }

  // Events

  event(thread: Thread, instruction: InstructionId): void {
    if (this.#buffers) this.#orderStores(thread, instruction);
    if (this.#records) this.#host.event(thread.home as JavascriptBlock, thread.number, instruction);
  }

  foreign(thread: Thread, instruction: InstructionId, operands: readonly unknown[]): readonly unknown[] {
    this.#drain(thread);
    return this.#host.foreign(executor(thread), instruction, operands);
  }

  assumptionFailed(instruction: InstructionId): void {
    this.#host.broken(instruction);
  }

  havocExecuted(instruction: InstructionId): void {
    this.#host.havoc(instruction);
  }

  unknownValue(thread: Thread, instruction: InstructionId, result: number): bigint {
    return this.#host.unknown(executor(thread), instruction, result);
  }

  unknownOperation(thread: Thread, instruction: InstructionId): void {
    this.#host.unsupported(executor(thread), instruction);
  }

  unknownControl(thread: Thread): never {
    this.#host.lost(executor(thread), thread.pc);
  }

  trap(thread: Thread): never {
    this.#host.trapped(executor(thread), thread.pc);
  }
}

function executor(thread: Thread): { readonly block: JavascriptBlock; readonly thread: number } {
  return { block: thread.home as JavascriptBlock, thread: thread.number };
}

class JavascriptBlock implements ResidentBlock, ThreadContext {
  readonly ordinal: number;
  readonly position: Dim3;
  readonly shared: Page;
  readonly sharedBytes: number;
  readonly status: Int32Array;
  readonly #backEnd: JavascriptBackEnd;
  readonly #observer: RunObserver | null;
  /** Length of the next time slice of a thread if lengths vary; null if all are equal. */
  readonly #turnLength: (() => number) | null;
  readonly threads: Thread[];

  constructor(backEnd: JavascriptBackEnd, observer: RunObserver | null, ordinal: number, position: Dim3) {
    const { program, block, sharedBytes } = backEnd;
    const [x, y, z] = block;
    this.#backEnd = backEnd;
    this.#observer = observer;
    this.ordinal = ordinal;
    this.position = position;
    this.sharedBytes = program.layout.staticShared + sharedBytes;
    this.shared = backEnd.fresh(this.sharedBytes, ordinal);
    this.shared.written = new Uint8Array(this.sharedBytes);
    this.threads = Array.from(
      { length: x * y * z },
      (_, number) => new Thread(this, number, block, program.registers, program.countedLoops.length),
    );
    this.status = new Int32Array(this.threads.length);
    this.#turnLength = timeSliceLengths(backEnd.seed, ordinal);
  }

  get left(): Int32Array {
    return Int32Array.from(this.threads, (thread) => thread.left);
  }

  rounds(loop: number): Int32Array {
    return Int32Array.from(this.threads, (thread) => thread.rounds[loop]!);
  }

  run(segment: number, first: number, last: number): number {
    let common = mixedStatus;
    const { program, isInterleaved } = this.#backEnd;
    const alike = isInterleaved ? 1 : timeSlice(program, this.threads.length);
    for (let number = first; number <= last; number++) {
      const thread = this.threads[number]!;
      thread.pc = segment;
      thread.status = 'ready';
      this.#backEnd.execute(this, thread, this.#turnLength?.() ?? alike);
      const now = this.#statusOf(thread);
      this.status[number] = now;
      common = number === first || common === now ? now : mixedStatus;
    }
    return common;
  }

  /** Runs the ready lanes of a warp as the observer requires; absent without observer. */
  get runWarp(): ((first: number, end: number) => void) | undefined {
    const observer = this.#observer;
    if (!observer) return undefined;
    return (first, end) => {
      const warp = this.threads.slice(first, end);
      for (const thread of warp) {
        const status = this.status[thread.number]!;
        thread.status = status >= 0 ? 'ready' : status === exitedStatus ? 'exited' : 'waiting';
        if (status >= 0) thread.pc = status;
      }
      const turn = this.#turnLength ?? (this.#backEnd.isInterleaved ? () => 1 : null);
      observer.runWarp(warp, (thread, steps = 1) => this.#backEnd.execute(this, thread, steps), turn);
      for (const thread of warp) this.status[thread.number] = this.#statusOf(thread);
    };
  }

  #statusOf(thread: Thread): number {
    if (thread.status === 'ready') return thread.pc;
    return thread.status === 'exited' ? exitedStatus : waitingAt(thread.suspension);
  }

  operand(_suspension: number, index: number, thread: number): unknown {
    return this.threads[thread]!.operands[index];
  }

  setResults(suspension: number, thread: number, results: readonly unknown[]): void {
    const { slots } = this.#backEnd.program.suspensions[suspension]!;
    const { registers } = this.threads[thread]!;
    for (const [index, slot] of slots.entries()) if (slot !== -1) registers[slot] = results[index];
  }

  operandWords(suspension: number, index: number): number | null {
    const { instruction } = this.#backEnd.program.suspensions[suspension]!;
    const operand = instruction.arguments[index]!;
    return operand.kind === 'constant' && instruction.operation.sources[index] !== 64 ? Number(BigInt.asIntN(32, operand.value)) : null;
  }

  resultWords(): null {
    return null;
  }

  passedBarrier(): void {
    // The detector with lists counts barriers itself.
  }

  passedWarpBarrier(): void {
    // The detector with lists counts exchanges itself.
  }

  release(): void {
    this.threads.length = 0;
  }
}

function loadPattern(page: Page, at: number, bytes: number): bigint {
  switch (bytes) {
    case 2:
      return BigInt(page.u16[at >> 1]!);
    case 4:
      return BigInt(page.i32[at >> 2]! >>> 0);
    case 8:
      return page.u64[at >> 3]!;
    default:
      return page.u64[at >> 3]! | (page.u64[(at >> 3) + 1]! << 64n);
  }
}

function storePattern(page: Page, at: number, bytes: number, value: bigint): void {
  switch (bytes) {
    case 2:
      page.u16[at >> 1] = Number(value);
      return;
    case 4:
      page.i32[at >> 2] = Number(BigInt.asIntN(32, value));
      return;
    case 8:
      page.u64[at >> 3] = value;
      return;
    default:
      page.u64[at >> 3] = value;
      page.u64[(at >> 3) + 1] = value >> 64n;
  }
}
