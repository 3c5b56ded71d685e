/**
 * The reference machine: runs a kernel thread by thread, from barrier to barrier, on the code that `stage.ts` makes of
 * it, with every access seen by the race detector. One run is one of the executions that the hardware may produce.
 */
import type { InstructionId } from '../ir/kernel.ts';
import type { BlockHost } from './block-run.ts';
import type {
  AccessEvent,
  Dim3,
  DivergenceEvent,
  FaultEvent,
  RaceEvent,
  RunOutcome,
  RunRequest,
  RunResult,
} from './launch.ts';
import type { Page, Region } from './memory.ts';
import type { Conflict } from './race-detector.ts';
import type { Access, Program } from './stage.ts';
import type { StagedRuntime } from './staged-runtime.ts';
import type { Thread } from './thread.ts';
import { localWindow, sharedWindow } from '../isa/address-window.ts';
import { atomicResult } from './atomic-operation.ts';
import { BlockRun } from './block-run.ts';
import { createPage, createRegions, pageBytes, regionPage, regionSlot } from './memory.ts';
import { RaceDetector } from './race-detector.ts';
import { exited, stage, suspended } from './stage.ts';
import { tagNames } from './thread.ts';

export type {
  AccessEvent,
  Argument,
  Dim3,
  DivergenceEvent,
  FaultEvent,
  GlobalBuffer,
  RaceEvent,
  RunOutcome,
  RunRequest,
  RunResult,
  Unmodelled,
  Whereabouts,
} from './launch.ts';

/** Instructions that a thread may execute before others get their turn. */
const timeSlice = 1 << 14;

const sharedStart = Number(sharedWindow);
const localStart = Number(localWindow);

/** Ends the run from inside staged code. */
class Stop extends Error {
  readonly outcome: RunOutcome;

  constructor(outcome: RunOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}

/** Runs a launch. Never throws for what the kernel does. */
export function runKernel(request: RunRequest): RunResult {
  return new Machine(request).run();
}

interface FoundRace {
  readonly event: RaceEvent;
  readonly tags: number;
}

class Machine implements StagedRuntime, BlockHost {
  readonly program: Program;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly sharedBytes: number;
  page: Page;
  at = 0;
  /** Whether the page located last is shared memory (1), global memory (0), or of no interest to the detector (-1). */
  #where: -1 | 0 | 1 = -1;
  readonly #request: RunRequest;
  readonly #regions: readonly (Region | undefined)[];
  readonly #detector: RaceDetector | null;
  readonly #threadsPerBlock: number;
  readonly #indices: readonly number[] | null;
  readonly #blockCount: number;
  readonly #blocks: BlockRun[] = [];
  readonly #races = new Map<number, FoundRace>();
  /** The first of each kind at each barrier. */
  readonly #divergences = new Map<string, DivergenceEvent>();
  readonly #faults = new Map<string, FaultEvent>();
  readonly #havocs = new Set<InstructionId>();
  readonly #brokenAssumptions = new Set<InstructionId>();
  #steps = 0;
  #unknowns = 0;

  constructor(request: RunRequest) {
    this.#request = request;
    this.program = stage(request.kernel);
    this.block = request.block;
    this.grid = request.grid;
    this.sharedBytes = request.sharedBytes;
    this.page = createPage(0);
    this.#regions = createRegions(request.kernel, this.program.layout, request.buffers, request.arguments);
    const [x, y, z] = request.block;
    this.#threadsPerBlock = x * y * z;
    this.#indices = request.blocks ?? null;
    this.#blockCount = request.blocks?.length ?? request.grid[0] * request.grid[1] * request.grid[2];
    this.#detector = request.detectRaces
      ? new RaceDetector(this.program.accesses, (conflict) => this.#raced(conflict))
      : null;
  }

  run(): RunResult {
    let outcome: RunOutcome;
    try {
      outcome = this.#runBlocks() ? 'stuck' : 'finished';
    } catch (stop) {
      if (!(stop instanceof Stop)) throw stop;
      outcome = stop.outcome;
    }
    return {
      outcome,
      steps: this.#steps,
      races: Array.from(this.#races.values(), (found) => found.event),
      divergences: [...this.#divergences.values()],
      faults: [...this.#faults.values()],
      havocs: [...this.#havocs],
      brokenAssumptions: [...this.#brokenAssumptions],
      read: (buffer, offset, bytes) => this.#readBack(buffer, offset, bytes),
    };
  }

  /** Runs all blocks; one after the other, unless some spin or wait for others. Whether any got stuck. */
  #runBlocks(): boolean {
    let next = 0;
    let active: BlockRun[] = [];
    let atGridBarrier: BlockRun[] = [];
    let stuck = false;
    let ended = 0;
    for (;;) {
      // While blocks spin, each turn admits one more: they may wait for it.
      if (next < this.#blockCount) active.push(this.#startBlock(next++));
      if (active.length === 0) {
        if (atGridBarrier.length === 0) return stuck;
        if (ended > 0) {
          atGridBarrier[0]!.reportGridDeadlock();
          return true;
        }
        active = atGridBarrier;
        atGridBarrier = [];
        for (const block of active) block.releaseGridBarrier();
        this.#forgetGlobalAccesses();
      }
      const spinning: BlockRun[] = [];
      for (const block of active) {
        const turn = block.run();
        if (turn === 'spinning') {
          spinning.push(block);
        } else if (turn === 'grid-barrier') {
          atGridBarrier.push(block);
        } else {
          ended++;
          stuck ||= turn === 'stuck';
          this.#detector?.forget(block.shared);
          block.threads.length = 0;
        }
      }
      active = spinning;
    }
  }

  #startBlock(ordinal: number): BlockRun {
    const block = new BlockRun(
      this,
      ordinal,
      this.#blockPosition(ordinal),
      this.program.layout.staticShared + this.sharedBytes,
    );
    this.#blocks.push(block);
    return block;
  }

  #blockPosition(ordinal: number): Dim3 {
    const index = this.#indices?.[ordinal] ?? ordinal;
    const [x, y] = this.grid;
    return [index % x, Math.floor(index / x) % y, Math.floor(index / (x * y))];
  }

  #forgetGlobalAccesses(): void {
    for (const region of this.#regions) {
      if (region) for (const page of region.pages.values()) this.#detector?.forget(page);
    }
  }

  execute(thread: Thread): void {
    const { code, lengths } = this.program;
    const { registers } = thread;
    const slice = Math.min(timeSlice, this.#request.steps - this.#steps);
    if (slice <= 0) throw new Stop('budget');
    let { pc } = thread;
    let left = slice;
    try {
      while (pc >= 0 && left > 0) {
        left -= lengths[pc]!;
        thread.pc = pc;
        pc = code[pc]!(thread, registers, this);
      }
    } finally {
      this.#steps += slice - left;
    }
    if (pc >= 0) thread.pc = pc;
    else if (pc === suspended) thread.status = 'waiting';
    else if (pc === exited) thread.status = 'exited';
  }

  diverged(event: DivergenceEvent): void {
    const key = `${event.kind} ${event.barrier}`;
    if (!this.#divergences.has(key)) this.#divergences.set(key, event);
  }

  // Memory

  #locate(thread: Thread, access: Access, address: number): void {
    const { space } = access;
    if (space === 'shared') {
      this.#locateWindow(thread, access, thread.home.shared, thread.home.sharedBytes, address, 1);
    } else if (space === 'local') {
      this.#locateLocal(thread, access, address);
    } else if (space === 'generic' && address >= sharedStart) {
      if (address >= localStart) this.#locateLocal(thread, access, address - localStart);
      else this.#locateWindow(thread, access, thread.home.shared, thread.home.sharedBytes, address - sharedStart, 1);
    } else {
      this.#locateGlobal(thread, access, address);
    }
    if ((this.at & (access.bytes - 1)) !== 0) {
      this.#fault(thread, 'misaligned', access.instruction, `address ${address} for ${access.bytes} bytes`);
    }
  }

  #locateLocal(thread: Thread, access: Access, offset: number): void {
    const { localBytes } = this.program.layout;
    thread.local ??= createPage(localBytes);
    this.#locateWindow(thread, access, thread.local, localBytes, offset, -1);
  }

  #locateWindow(thread: Thread, access: Access, page: Page, bytes: number, offset: number, where: -1 | 1): void {
    if (offset + access.bytes > bytes) {
      const space = where === 1 ? 'shared' : 'local';
      this.#fault(thread, 'out-of-bounds', access.instruction, `byte ${offset} of ${bytes} in ${space} memory`);
    }
    this.page = page;
    this.at = offset;
    this.#where = where;
  }

  #locateGlobal(thread: Thread, access: Access, address: number): void {
    const region = this.#regions[regionSlot(address)];
    if (!region) {
      this.#fault(thread, 'out-of-bounds', access.instruction, `address ${address} belongs to no buffer`);
    }
    const offset = address - region.base;
    if (region.bytes !== null && (offset < 0 || offset + access.bytes > region.bytes)) {
      const message = `byte ${offset} of ${region.bytes} in ${region.name}`;
      this.#fault(thread, 'out-of-bounds', access.instruction, message);
    }
    if (!region.writable && access.operation !== 'read') {
      this.#fault(thread, 'read-only', access.instruction, `write to ${region.name}`);
    }
    const index = Math.floor(offset / pageBytes);
    this.page = region.lastIndex === index && region.lastPage ? region.lastPage : regionPage(region, index);
    this.at = offset - index * pageBytes;
    this.#where = region.writable ? 0 : -1;
  }

  #record(thread: Thread, access: Access): void {
    if (this.#where >= 0) this.#detector?.record(this.page, this.at, access, thread, this.#where === 1);
  }

  read(thread: Thread, access: Access, address: number): void {
    this.#locate(thread, access, address);
    this.#record(thread, access);
  }

  write(thread: Thread, access: Access, address: number): void {
    this.#locate(thread, access, address);
  }

  wrote(thread: Thread, access: Access): void {
    this.#record(thread, access);
  }

  atomic(thread: Thread, access: Access, address: number, a: bigint, b?: bigint): bigint {
    this.#locate(thread, access, address);
    const { operation, type, bytes } = access.atomic!;
    const old = loadPattern(this.page, this.at, bytes);
    storePattern(this.page, this.at, bytes, atomicResult(operation, type, 8 * bytes, old, a, b));
    this.#record(thread, access);
    return old;
  }

  copy(thread: Thread, write: Access, read: Access, to: number, from: number, count: number): void {
    let pattern = 0n;
    if (count > 0) {
      this.read(thread, read, from);
      pattern = BigInt.asUintN(8 * count, loadPattern(this.page, this.at, read.bytes));
    }
    this.#locate(thread, write, to);
    storePattern(this.page, this.at, write.bytes, pattern);
    this.#record(thread, write);
  }

  #readBack(buffer: number, offset: number, bytes: number): bigint {
    const region = this.#regions[this.program.layout.firstBuffer + buffer]!;
    let value = 0n;
    for (let byte = bytes - 1; byte >= 0; byte--) {
      const index = Math.floor((offset + byte) / pageBytes);
      value = (value << 8n) | BigInt(regionPage(region, index).u8[offset + byte - index * pageBytes]!);
    }
    return value;
  }

  // Events

  tag(thread: Thread, bits: number): void {
    thread.tags |= bits;
    thread.home.tags |= bits;
  }

  assumptionFailed(instruction: InstructionId): void {
    this.#brokenAssumptions.add(instruction);
  }

  havocExecuted(instruction: InstructionId): void {
    this.#havocs.add(instruction);
  }

  unknownValue(thread: Thread, instruction: InstructionId, result: number): bigint {
    const seed = this.#request.havocSeed;
    if (seed === undefined) return 0n;
    let pattern = 0n;
    let state = mix(mix(mix(seed ^ thread.id) ^ instruction) ^ (result + this.#unknowns++));
    for (let word = 0; word < 4; word++) {
      state = mix(state + 0x9e3779b9);
      pattern = (pattern << 32n) | BigInt(state >>> 0);
    }
    return pattern;
  }

  unknownOperation(thread: Thread, instruction: InstructionId, mnemonic: string): void {
    this.#addFault(thread, 'unknown-operation', instruction, mnemonic);
  }

  unknownControl(thread: Thread, reason: string): never {
    this.#fault(thread, 'unknown-control', null, reason);
  }

  trap(): never {
    throw new Stop('trap');
  }

  #fault(thread: Thread, kind: FaultEvent['kind'], instruction: InstructionId | null, message: string): never {
    this.#addFault(thread, kind, instruction, message);
    throw new Stop('fault');
  }

  #addFault(thread: Thread, kind: FaultEvent['kind'], instruction: InstructionId | null, message: string): void {
    const key = `${kind} ${instruction}`;
    if (this.#faults.has(key)) return;
    const { block, thread: position } = this.#positions(thread.id);
    this.#faults.set(key, { kind, instruction, block, thread: position, message });
  }

  #positions(id: number): { readonly block: Dim3; readonly thread: Dim3 } {
    const [x, y] = this.block;
    const ordinal = Math.floor(id / this.#threadsPerBlock);
    const number = id - ordinal * this.#threadsPerBlock;
    return {
      block: this.#blockPosition(ordinal),
      thread: [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))],
    };
  }

  /** Keeps one event for each pair of instructions: one with no unmodelled construct in the way, if there is one. */
  #raced(conflict: Conflict): void {
    const { first, second, betweenBlocks } = conflict;
    const [low, high] = first.index < second.index ? [first.index, second.index] : [second.index, first.index];
    const key = (low * this.program.accesses.length + high) * 2 + (betweenBlocks ? 1 : 0);
    const found = this.#races.get(key);
    if (found?.tags === 0 && (!found.event.sameValue || conflict.sameValue)) return;
    const tags = this.#tagsOf(conflict);
    if (found) {
      if (found.tags === 0 && tags !== 0) return;
      const clears = found.tags !== 0 && tags === 0;
      if (!clears && (!found.event.sameValue || conflict.sameValue)) return;
    }
    this.#races.set(key, { event: this.#raceEvent(conflict, tags), tags });
    if (this.#races.size >= (this.#request.maxRaces ?? 64)) throw new Stop('race-limit');
  }

  #tagsOf({ firstThread, secondThread, betweenBlocks }: Conflict): number {
    const count = this.#threadsPerBlock;
    const home = (id: number): BlockRun => this.#blocks[Math.floor(id / count)]!;
    if (betweenBlocks) return home(firstThread).tags | home(secondThread).tags;
    const { threads } = home(firstThread);
    return threads[firstThread % count]!.tags | threads[secondThread % count]!.tags;
  }

  #raceEvent(conflict: Conflict, tags: number): RaceEvent {
    const { page, first, second } = conflict;
    const side = (access: Conflict['first'], id: number): AccessEvent => ({
      instruction: access.instruction,
      operation: access.operation,
      ...this.#positions(id),
    });
    const place = page.region
      ? { space: 'global' as const, object: page.region.name, offset: page.start + conflict.offset }
      : { space: 'shared' as const, ...this.#sharedObject(conflict.offset) };
    return {
      first: side(first, conflict.firstThread),
      second: side(second, conflict.secondThread),
      ...place,
      bytes: conflict.bytes,
      sameValue: conflict.sameValue,
      unmodelled: tagNames(tags),
    };
  }

  /** The variable that lies at an offset of shared memory. */
  #sharedObject(offset: number): { readonly object: string; readonly offset: number } {
    const { addresses } = this.program.layout;
    let best = { object: 'shared memory', offset };
    for (const object of this.program.kernel.objects) {
      if (object.space !== 'shared') continue;
      const start = addresses[object.id]!;
      if (start <= offset && (object.bytes === null || offset < start + object.bytes)) {
        best = { object: object.symbol, offset: offset - start };
      }
    }
    return best;
  }
}

function mix(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
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
