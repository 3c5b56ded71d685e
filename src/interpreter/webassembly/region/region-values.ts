/** The values of region code: operands, locals of phis, and values saved in the frame between regions. */
import type { Instruction, Operand, SpecialRegister, ValueId } from '../../../ir/form/kernel.ts';
import type { ValueType } from '../../../isa/model/operation.ts';
import type { FunctionBody } from '../code/wasm-module.ts';
import type { WasmLocal, WasmValue, WasmWord } from '../code/wasm-value.ts';
import type { RegionBuilder } from './region-builder.ts';
import type { RegionContents } from './region-contents.ts';
import type { Plan } from './wasm-plan.ts';
import { invariant } from '../../../base/assert.ts';
import { localWindow, sharedWindow } from '../../../isa/model/address-window.ts';
import { word, wordsOf } from '../code/wasm-domain.ts';
import { append, bind, localsOf, pushForVariable, setVariable, variable, wasmConstant } from '../code/wasm-value.ts';
import { readSpecial } from './special-register.ts';
import { numberPhis } from './wasm-number.ts';

/** The assignment of a value to a phi on an edge. */
interface PhiMove {
  readonly result: ValueId;
  readonly value: WasmValue;
}

export class RegionValues {
  readonly #code: RegionBuilder;
  readonly #plan: Plan;
  readonly #body: FunctionBody;
  readonly #contents: RegionContents;
  readonly #values = new Map<ValueId, WasmValue>();
  /** Locals of phis, and of values that may come from the frame or from the region's own code. */
  readonly #homes = new Map<ValueId, WasmValue>();
  readonly #specials = new Map<SpecialRegister, WasmWord>();

  constructor(code: RegionBuilder, contents: RegionContents) {
    this.#code = code;
    this.#plan = code.plan;
    this.#body = code.body;
    this.#contents = contents;
  }

  /** Reads the special registers that the region uses, once for each thread. */
  readSpecials(): void {
    for (const register of this.#contents.specials) this.#specials.set(register, readSpecial(this.#code, register));
  }

  /** Allocates locals for values that several places assign, and loads values saved by an earlier region. */
  loadKept(): void {
    const { start, used, defined } = this.#contents;
    const live = new Set(this.#plan.liveness.liveIn[start]);
    for (const id of defined) {
      const isPhi = this.#code.kernel.values[id]!.definition.kind === 'phi';
      if (isPhi || live.has(id)) this.#homes.set(id, this.#newHome(id));
    }
    for (const id of live) {
      if (!used.has(id) && !defined.has(id)) continue;
      const value = this.#loadSlot(id);
      const home = this.#homes.get(id);
      if (home) this.#assign([{ to: home, value }]);
      this.#values.set(id, home ?? value);
    }
  }

  /** From here on phis are read from their locals. */
  enterBlock(phis: readonly ValueId[]): void {
    for (const id of phis) {
      const home = this.#homes.get(id);
      if (home) this.#values.set(id, home);
    }
  }

  /** Assigns phis simultaneously. */
  setPhis(moves: readonly PhiMove[]): void {
    this.#assign(moves.map(({ result, value }) => ({ to: this.#homes.get(result)!, value })));
  }

  /** The locals for the results of an instruction. */
  resultLocals(instruction: Instruction): ReadonlySet<number> {
    return new Set(
      instruction.results.flatMap((id) => {
        const value = id === null ? undefined : this.#values.get(id);
        return value ? localsOf(value) : [];
      }),
    );
  }

  /** Saves the values that are live when a thread continues at a segment, if this region changed them. */
  saveLive(resume: number, inputs: ReadonlyMap<ValueId, WasmValue>, except: ReadonlySet<ValueId | null>): void {
    for (const id of this.#plan.liveness.liveIn[resume]!) {
      if (except.has(id)) continue;
      const value = inputs.get(id) ?? (this.#contents.defined.has(id) ? this.#values.get(id) : undefined);
      if (value) this.#storeSlot(id, value);
    }
  }

  #newHome(id: ValueId): WasmValue {
    return variable(this.#body, this.#code.kernel.values[id]!.type, numberPhis(this.#code.kernel).get(id));
  }

  /** Assigns values to locals simultaneously. */
  #assign(moves: readonly { readonly to: WasmValue; readonly value: WasmValue }[]): void {
    for (const { to, value } of moves) pushForVariable(this.#body, to, value);
    for (const { to } of moves.toReversed()) setVariable(this.#body, to);
  }

  #loadSlot(id: ValueId): WasmValue {
    const { offset, bytes, lane } = this.#slot(id);
    append(this.#body, lane);
    if (bytes === 4) {
      this.#body.memory('i32.load', offset);
      return bind(this.#body, 'i32');
    }
    this.#body.memory('i64.load', offset);
    const low = bind(this.#body, 'i64');
    if (bytes === 8) return low;
    append(this.#body, lane);
    this.#body.memory('i64.load', offset + 8 * this.#plan.threads);
    return { kind: 'pair', low, high: bind(this.#body, 'i64') };
  }

  #storeSlot(id: ValueId, value: WasmValue): void {
    const { offset, bytes, lane } = this.#slot(id);
    if (bytes === 16) {
      const { low, high } = wordsOf(value);
      append(this.#body, lane, low);
      this.#body.memory('i64.store', offset);
      append(this.#body, lane, high);
      this.#body.memory('i64.store', offset + 8 * this.#plan.threads);
      return;
    }
    append(this.#body, lane, word(value));
    this.#body.memory(bytes === 8 ? 'i64.store' : 'i32.store', offset);
  }

  #slot(id: ValueId): { readonly offset: number; readonly bytes: number; readonly lane: WasmLocal } {
    const slot = this.#plan.slots[id];
    invariant(slot, `value ${id} is kept`);
    const offset = this.#plan.frame.slots + slot.offset * this.#plan.threads;
    return { offset, bytes: slot.bytes, lane: slot.bytes === 4 ? this.#code.lane4 : this.#code.lane8 };
  }

  operand(operand: Operand, type: ValueType): WasmValue {
    switch (operand.kind) {
      case 'value': {
        const value = this.#values.get(operand.id);
        invariant(value, `value ${operand.id} is used before it is defined`);
        return value;
      }
      case 'constant':
        return wasmConstant(type === 'predicate' ? 1 : type, operand.value);
      case 'undefined':
        return wasmConstant(type === 'predicate' ? 1 : type, 0n);
      case 'special': {
        const value = this.#specials.get(operand.register) ?? readSpecial(this.#code, operand.register);
        if (type === 'predicate' || type === 32) return value;
        return type < 32 ? this.#code.domain.truncate(32, type, value) : this.#code.domain.zeroExtend(32, type, value);
      }
      case 'address':
        return wasmConstant(type === 'predicate' ? 64 : type, this.#addressOf(operand));
    }
  }

  #addressOf(operand: Operand & { kind: 'address' }): bigint {
    const { space } = this.#code.kernel.objects[operand.object]!;
    const window = !operand.generic ? 0n : space === 'shared' ? sharedWindow : space === 'local' ? localWindow : 0n;
    return BigInt.asUintN(64, BigInt(this.#plan.objectAddresses[operand.object]!) + window + operand.offset);
  }

  sources(instruction: Instruction): WasmValue[] {
    return instruction.arguments.map((operand, index) => this.operand(operand, instruction.operation.sources[index]!));
  }

  truth(operand: Operand): WasmWord {
    return word(this.operand(operand, 'predicate'));
  }

  define(instruction: Instruction, results: readonly WasmValue[]): void {
    for (const [index, id] of instruction.results.entries()) {
      if (id === null) continue;
      const home = this.#homes.get(id);
      if (home) this.#assign([{ to: home, value: results[index]! }]);
      this.#values.set(id, home ?? results[index]!);
    }
  }

  /** Stores the sources of an instruction in the frame. */
  passOperands(instruction: Instruction): void {
    const { frame, threads } = this.#plan;
    for (const [position, operand] of instruction.arguments.entries()) {
      if (operand.kind === 'constant') continue;
      const type = instruction.operation.sources[position]!;
      invariant(type !== 128, 'sources that are passed are words');
      append(this.#body, type === 64 ? this.#code.lane8 : this.#code.lane4, word(this.operand(operand, type)));
      this.#body.memory(type === 64 ? 'i64.store' : 'i32.store', frame.operands + 8 * threads * position);
    }
  }
}
