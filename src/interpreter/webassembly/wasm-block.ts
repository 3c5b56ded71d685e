/** A resident block of the WebAssembly back end: the frame with the state of its threads. */
import type { Dim3 } from '../../base/dim3.ts';
import type { Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { ResidentBlock } from '../core/back-end.ts';
import type { BlockFrame, LinearMemory } from './wasm-memory.ts';
import type { Plan } from './region/wasm-plan.ts';
import { maxBlockBarriers, maxWarpBarriers, renumberBlockBarriers, renumberWarpBarriers, shadowFields } from '../detector/shadow-word.ts';
import { header } from './region/wasm-plan.ts';

/** Interface of blocks to their back end. */
interface BlockHost {
  readonly plan: Plan;
  readonly linear: LinearMemory;
  readonly instruction: (id: InstructionId) => Instruction;
  /** Runs the threads of a block that are at a segment. @returns their common status */
  readonly call: (block: WasmBlock, segment: number, first: number, last: number) => number;
  /** Arrays with the shadow words of all memory that the block may access. */
  readonly wordsOf: (block: WasmBlock) => Iterable<Uint32Array>;
  readonly released: (block: WasmBlock) => void;
}

export class WasmBlock implements ResidentBlock {
  /** The address of its frame. */
  readonly frame: number;
  readonly views: BlockFrame;
  readonly ordinal: number;
  ticket: number;
  readonly #backEnd: BlockHost;
  readonly #plan: Plan;
  #barriers = 0;

  constructor(backEnd: BlockHost, views: BlockFrame, ordinal: number, position: Dim3, ticket: number) {
    this.#backEnd = backEnd;
    this.#plan = backEnd.plan;
    this.views = views;
    this.frame = views.start;
    this.ordinal = ordinal;
    this.ticket = ticket;
    const { i32 } = this.linear;
    const at = (this.frame + header.position) >>> 2;
    i32[at] = position[0];
    i32[at + 1] = position[1];
    i32[at + 2] = position[2];
    this.#stamp();
  }

  get linear(): LinearMemory {
    return this.#backEnd.linear;
  }

  get status(): Int32Array {
    this.views.refresh(this.linear, this.#plan);
    return this.views.status;
  }

  get left(): Int32Array {
    this.views.refresh(this.linear, this.#plan);
    return this.views.left;
  }

  rounds(loop: number): Int32Array {
    return this.#words(this.#plan.frame.rounds + 4 * this.#plan.threads * loop);
  }

  #words(offset: number): Int32Array {
    const start = (this.frame + offset) >>> 2;
    return this.linear.i32.subarray(start, start + this.#plan.threads);
  }

  #stamp(): void {
    const { ticket, blockBarriers } = shadowFields;
    const { i32 } = this.linear;
    const at = (this.frame + header.stamp) >>> 2;
    // The barrier count begins with the last bit of the low word.
    i32[at] = this.#barriers << blockBarriers.shift;
    i32[at + 1] = (this.#barriers >>> (32 - blockBarriers.shift)) | (this.ticket << (ticket.shift - 32));
  }

  run(segment: number, first: number, last: number): number {
    return this.#backEnd.call(this, segment, first, last);
  }

  operand(suspension: number, index: number, thread: number): unknown {
    return this.#passed(this.#plan.program.suspensions[suspension]!.instruction, index, thread);
  }

  /** The sources of an instruction that the code of a thread has stored in the frame. */
  passed(id: InstructionId, thread: number): readonly unknown[] {
    const instruction = this.#backEnd.instruction(id);
    return instruction.arguments.map((_, index) => this.#passed(instruction, index, thread));
  }

  #passed(instruction: Instruction, index: number, thread: number): unknown {
    const operand = instruction.arguments[index]!;
    const type = instruction.operation.sources[index]!;
    if (operand.kind === 'constant') {
      if (type === 'predicate') return operand.value !== 0n;
      return type > 32 ? BigInt.asUintN(type, operand.value) : Number(BigInt.asIntN(32, operand.value));
    }
    const start = this.frame + this.#plan.frame.operands + 8 * this.#plan.threads * index;
    if (type === 64) return this.linear.u64[(start >>> 3) + thread];
    const word = this.linear.i32[(start >>> 2) + thread]!;
    return type === 'predicate' ? word !== 0 : word;
  }

  /** Stores results at the place where the code of the thread reads them. */
  setForeign(thread: number, results: readonly unknown[]): void {
    for (const [index, value] of results.entries()) {
      const start = this.frame + this.#plan.frame.operands + 8 * this.#plan.threads * index;
      if (typeof value === 'bigint') this.linear.u64[(start >>> 3) + thread] = value;
      else this.linear.i32[(start >>> 2) + thread] = Number(value);
    }
  }

  /** The id of a thread in shadow words. */
  stampOf(thread: number): bigint {
    const { blockBarriers, warpBarriers, thread: field, ticket } = shadowFields;
    const passed = this.linear.i32[((this.frame + this.#plan.frame.warpBarriers) >>> 2) + (thread >> 5)]!;
    return (
      (BigInt(this.ticket) << BigInt(ticket.shift)) |
      (BigInt(this.#barriers) << BigInt(blockBarriers.shift)) |
      (BigInt(passed) << BigInt(warpBarriers.shift)) |
      (BigInt(thread) << BigInt(field.shift))
    );
  }

  setResults(suspension: number, thread: number, results: readonly unknown[]): void {
    const { instruction } = this.#plan.program.suspensions[suspension]!;
    for (const [index, id] of instruction.results.entries()) {
      const slot = id === null ? undefined : this.#plan.slots[id];
      if (!slot) continue;
      const start = this.frame + this.#plan.frame.slots + slot.offset * this.#plan.threads;
      const value = results[index];
      if (slot.bytes === 4) this.linear.i32[(start >>> 2) + thread] = Number(value);
      else this.linear.u64[(start >>> 3) + thread] = value as bigint;
    }
  }

  operandWords(suspension: number, index: number): Int32Array | number | null {
    const { instruction } = this.#plan.program.suspensions[suspension]!;
    const operand = instruction.arguments[index]!;
    if (instruction.operation.sources[index] === 64) return null;
    if (operand.kind === 'constant') return Number(this.operand(suspension, index, 0));
    return this.#words(this.#plan.frame.operands + 8 * this.#plan.threads * index);
  }

  resultWords(suspension: number, index: number): Int32Array | null {
    const id = this.#plan.program.suspensions[suspension]!.instruction.results[index];
    const slot = id === null || id === undefined ? undefined : this.#plan.slots[id];
    return slot?.bytes === 4 ? this.#words(this.#plan.frame.slots + slot.offset * this.#plan.threads) : null;
  }

  renumber(ticket: number): void {
    this.ticket = ticket;
    this.#stamp();
  }

  passedBarrier(): void {
    if (this.#barriers === maxBlockBarriers) {
      for (const words of this.#backEnd.wordsOf(this)) renumberBlockBarriers(words, this.ticket, this.#barriers);
      this.#barriers = 1;
    }
    this.#barriers++;
    this.#stamp();
  }

  passedWarpBarrier(warp: number): void {
    const at = ((this.frame + this.#plan.frame.warpBarriers) >>> 2) + warp;
    const { i32 } = this.linear;
    const passed = i32[at]!;
    if (passed === maxWarpBarriers) {
      for (const words of this.#backEnd.wordsOf(this)) {
        renumberWarpBarriers(words, this.ticket, warp, this.#barriers, passed);
      }
      i32[at] = 1;
    }
    i32[at]!++;
  }

  release(): void {
    this.#backEnd.released(this);
  }
}
