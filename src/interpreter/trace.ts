/** One entry for each instruction that chosen threads execute, with the values that it reads and writes. */
import type { Dim3 } from '../base/dim3.ts';
import { localWindow, sharedWindow } from '../isa/model/address-window.ts';
import type { BlockId, Instruction, Operand, Terminator, ValueId } from '../ir/form/kernel.ts';
import type { ValueType } from '../isa/model/operation.ts';
import type { NamedMemory, RunObserver } from './core/observer.ts';
import type { MemoryAccess } from './core/program.ts';
import type { WatchedProgram } from './core/program.ts';
import type { Thread } from './core/thread.ts';
import { isTimeSliceExpired } from './core/schedule.ts';

/** A value in a register: its bits, or a truth value. */
export interface TracedValue {
  /** The register in the PTX, if any; the symbol of an address. */
  readonly register: string | undefined;
  readonly type: ValueType;
  /** Null: a special register or an address, whose name suffices. */
  readonly value: bigint | boolean | null;
}

export interface TracedAccess {
  readonly operation: MemoryAccess['operation'];
  readonly bytes: number;
  /** The accessed object: the name of a buffer or the symbol of a variable, and the offset from its start in bytes. */
  readonly object: string;
  readonly offset: number;
}

export interface TraceEntry {
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly place: Instruction | Terminator;
  readonly reads: readonly TracedValue[];
  readonly writes: readonly TracedValue[];
  readonly accesses: readonly TracedAccess[];
  /** Basic block at which a terminator continued. */
  readonly target: BlockId | null;
}

const sharedStart = Number(sharedWindow);
const localStart = Number(localWindow);

/** Time slice of a thread in instructions if the schedule does not specify it. */
const timeSlice = 1 << 14;

/** Traces chosen threads; the other threads run normally. */
export class Trace implements RunObserver {
  readonly singly = true;
  #program!: WatchedProgram;
  /** Memory in descending order of addresses. */
  #memory: readonly NamedMemory[] = [];
  /** Accesses of the instruction that a chosen thread is about to execute; null if they are not recorded. */
  #accesses: TracedAccess[] | null = null;
  /** Entries of threads that wait for the results of an exchange. */
  readonly #waiting = new Map<Thread, Omit<TraceEntry, 'writes'>>();
  readonly #isChosen: (block: Dim3, thread: Dim3) => boolean;
  readonly #emit: (entry: TraceEntry) => void;
  readonly #isTold: ((place: Instruction | Terminator) => boolean) | undefined;

  /**
   * @param isChosen whether a thread is traced, by its block and its position in it
   * @param emit called for each instruction, in the order of execution
   * @param isTold instructions for which `emit` is called. Threads that are not chosen then continue without a stop
   *   after each instruction, so that the run may end some steps after the last such instruction. Absent: all
   *   instructions.
   */
  constructor(
    isChosen: (block: Dim3, thread: Dim3) => boolean,
    emit: (entry: TraceEntry) => void,
    isTold?: (place: Instruction | Terminator) => boolean,
  ) {
    this.#isChosen = isChosen;
    this.#emit = emit;
    this.#isTold = isTold;
  }

  start(program: WatchedProgram, memory: readonly NamedMemory[]): void {
    this.#program = program;
    this.#memory = [...memory].sort((a, b) => b.base - a.base);
  }

  runWarp(warp: readonly Thread[], step: (thread: Thread, turn?: number) => void, turn: (() => number) | null): void {
    const goesOn = this.#isTold !== undefined;
    for (const thread of warp) {
      if (thread.status !== 'ready') continue;
      const isChosen = this.#isChosen(thread.home.position, [thread.x, thread.y, thread.z]);
      const most = turn?.() ?? timeSlice;
      if (!isChosen && goesOn) {
        step(thread, most);
        continue;
      }
      for (let steps = 1; ; steps++) {
        const from = thread.pc;
        if (isChosen) this.#step(thread, step);
        else step(thread);
        if (thread.status !== 'ready' || isTimeSliceExpired(steps, most, from, thread.pc)) break;
      }
    }
  }

  accessed(_thread: Thread, { operation, bytes, space }: MemoryAccess, address: number): void {
    this.#accesses?.push({ operation, bytes, ...this.#placeOf(space, address) });
  }

  #placeOf(space: MemoryAccess['space'], address: number): { readonly object: string; readonly offset: number } {
    if (space === 'shared') return this.#variableAt('shared', address);
    if (space === 'local') return this.#variableAt('local', address);
    if (space === 'generic' && address >= localStart) return this.#variableAt('local', address - localStart);
    if (space === 'generic' && address >= sharedStart) return this.#variableAt('shared', address - sharedStart);
    // An unbounded buffer extends to both sides of its base.
    const near = this.#memory.filter(({ base, bytes }) => bytes === null || base <= address);
    const home = near.reduce<NamedMemory | undefined>(
      (best, one) => (!best || Math.abs(address - one.base) < Math.abs(address - best.base) ? one : best),
      undefined,
    );
    return home ? { object: home.name, offset: address - home.base } : { object: 'nothing', offset: address };
  }

  #variableAt(space: 'shared' | 'local', offset: number): { readonly object: string; readonly offset: number } {
    const { kernel, layout } = this.#program;
    const home = kernel.objects.find((object) => {
      const start = layout.addresses[object.id]!;
      return object.space === space && start <= offset && (object.bytes === null || offset < start + object.bytes);
    });
    return home ? { object: home.symbol, offset: offset - layout.addresses[home.id]! } : { object: space, offset };
  }

  #step(thread: Thread, step: (thread: Thread) => void): void {
    const { segments, blockOf } = this.#program;
    const { instructions, terminator } = segments[thread.pc]!;
    const place = instructions[0] ?? terminator!;
    if (this.#isTold?.(place) === false) {
      this.#finishExchange(thread);
      step(thread);
      return;
    }
    const entry = { ...positionOf(thread), place, reads: this.#reads(thread, place) };
    this.#finishExchange(thread);
    const accesses: TracedAccess[] = [];
    this.#accesses = accesses;
    let ended = true;
    try {
      step(thread);
      ended = false;
    } finally {
      this.#accesses = null;
      if (ended) this.#emit({ ...entry, writes: [], accesses, target: null });
      else if (thread.status === 'waiting') this.#waiting.set(thread, { ...entry, accesses, target: null });
      else {
        const target = terminator && thread.status === 'ready' ? blockOf[thread.pc]! : null;
        this.#emit({ ...entry, writes: this.#writes(thread, place), accesses, target });
      }
    }
  }

  /** Emits the entry of an exchange after the thread has received its results. */
  #finishExchange(thread: Thread): void {
    const entry = this.#waiting.get(thread);
    if (!entry) return;
    this.#waiting.delete(thread);
    this.#emit({ ...entry, writes: this.#writes(thread, entry.place) });
  }

  /** Emits the entries of threads that still wait when the run ends. */
  finish(): void {
    for (const entry of this.#waiting.values()) this.#emit({ ...entry, writes: [] });
    this.#waiting.clear();
  }

  #reads(thread: Thread, place: Instruction | Terminator): TracedValue[] {
    if ('operation' in place) {
      return place.arguments.flatMap((operand, index) => this.#operand(thread, operand, place.operation.sources[index]!));
    }
    if (place.kind === 'branch') return this.#operand(thread, place.condition, 'predicate');
    return place.kind === 'switch' ? this.#operand(thread, place.index, 32) : [];
  }

  #operand(thread: Thread, operand: Operand, type: ValueType): TracedValue[] {
    if (operand.kind === 'value') return [this.#value(thread, operand.id)];
    if (operand.kind === 'special') return [{ register: `%${operand.register}`, type, value: null }];
    if (operand.kind === 'address') {
      const { symbol } = this.#program.kernel.objects[operand.object]!;
      return [{ register: operand.offset === 0n ? symbol : `${symbol}+${operand.offset}`, type, value: null }];
    }
    if (operand.kind === 'undefined') return [{ register: 'undefined', type, value: null }];
    const value = type === 'predicate' ? operand.value !== 0n : BigInt.asUintN(type, operand.value);
    return [{ register: undefined, type, value }];
  }

  #writes(thread: Thread, place: Instruction | Terminator): TracedValue[] {
    if (!('operation' in place)) return [];
    return place.results.flatMap((id) => (id === null ? [] : [this.#value(thread, id)]));
  }

  #value(thread: Thread, id: ValueId): TracedValue {
    const { type, register } = this.#program.kernel.values[id]!;
    const held = thread.registers[this.#program.slots[id]!];
    if (typeof held === 'boolean' || type === 'predicate') return { register, type, value: Boolean(held) };
    return { register, type, value: BigInt.asUintN(type, BigInt(held as number | bigint)) };
  }
}

function positionOf({ home, x, y, z }: Thread): { readonly block: Dim3; readonly thread: Dim3 } {
  return { block: home.position, thread: [x, y, z] };
}
