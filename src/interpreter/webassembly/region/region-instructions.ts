/** The code of instructions in a region. */
import { hasPlainAccesses } from '../../../isa/model/effect.ts';
import { executionOf } from '../../core/runtime-instruction.ts';
import type { Instruction } from '../../../ir/form/kernel.ts';
import type { Domain, Width } from '../../../isa/model/domain.ts';
import type { Effect } from '../../../isa/model/operation.ts';
import type { MemoryAccess } from '../../core/program.ts';
import type { FunctionBody } from '../code/wasm-module.ts';
import type { WasmLocal, WasmValue, WasmWord } from '../code/wasm-value.ts';
import type { RegionBuilder } from './region-builder.ts';
import type { LinearAddress } from './region-memory.ts';
import type { RegionValues } from './region-values.ts';
import type { Plan } from './wasm-plan.ts';
import { fenceOf, releases } from '../../../memory-model/fence.ts';
import { invariant } from '../../../base/assert.ts';
import { sharedWindow } from '../../../isa/model/address-window.ts';
import { atomicRule } from '../../core/atomic-operation.ts';
import { workspaceWord } from '../../core/global-memory.ts';
import { word } from '../code/wasm-domain.ts';
import { append, bind, call, i32, wasmConstant, wasmLocal, wasmType } from '../code/wasm-value.ts';
import { parameterLoad } from './liveness.ts';
import { touch } from './region-detector.ts';
import { RegionMemory } from './region-memory.ts';

export class RegionInstructions {
  readonly #code: RegionBuilder;
  readonly #plan: Plan;
  readonly #body: FunctionBody;
  readonly #domain: Domain<WasmValue, WasmWord>;
  readonly #values: RegionValues;
  readonly #memory: RegionMemory;

  constructor(code: RegionBuilder, values: RegionValues) {
    this.#code = code;
    this.#plan = code.plan;
    this.#body = code.body;
    this.#domain = code.domain;
    this.#values = values;
    this.#memory = new RegionMemory(code, values);
  }

  /** Appends the code of an instruction that is computed once for all threads. */
  emitUniform(instruction: Instruction): void {
    const load = parameterLoad(this.#code.kernel, instruction);
    if (load) {
      const { effect } = instruction.operation;
      invariant(effect.kind === 'load', 'a load');
      const base = bind(this.#body, 'i32', i32(this.#plan.objectAddresses[load.object.object]! + load.offset));
      this.#values.define(instruction, this.#loadLanes(instruction, effect, { base, offset: 0 }));
      return;
    }
    this.#values.define(instruction, instruction.operation.evaluate!(this.#domain, this.#values.sources(instruction)));
  }

  #emitForeign(instruction: Instruction): void {
    const body = this.#body;
    const { frame, threads } = this.#plan;
    this.#values.passOperands(instruction);
    append(body, this.#code.frame, i32(instruction.id), this.#code.thread, call(this.#code.machineFunction('foreign')));
    this.#values.define(
      instruction,
      instruction.operation.results.map((type, position) => {
        append(body, type === 64 ? this.#code.lane8 : this.#code.lane4);
        body.memory(type === 64 ? 'i64.load' : 'i32.load', frame.operands + 8 * threads * position);
        return bind(body, wasmType(type));
      }),
    );
  }

  /** Appends the code of an instruction that a thread executes without waiting. */
  emit(instruction: Instruction): void {
    const body = this.#body;
    const { operation, id } = instruction;
    const { effect } = operation;
    if (instruction.marker?.name === 'assume') {
      const type = operation.sources[0]!;
      const value = word(this.#values.operand(instruction.arguments[0]!, type));
      append(body, value, type === 64 ? 'i64.eqz' : 'i32.eqz');
      body.if();
      append(body, i32(id), call(this.#code.machineFunction('broken')));
      body.end();
      return;
    }
    switch (effect.kind) {
      case 'load':
        this.#emitLoad(instruction, effect);
        return;
      case 'store':
        this.#emitStore(instruction, effect);
        return;
      case 'atomic':
        this.#emitAtomic(instruction, effect);
        return;
      case 'copy':
        if (!hasPlainAccesses(effect)) break;
        this.#emitCopy(instruction, effect.bytes);
        this.#emitEvent(instruction);
        return;
      default:
    }
    switch (executionOf(operation)) {
      case 'compute':
        this.#values.define(instruction, operation.evaluate!(this.#domain, this.#values.sources(instruction)));
        return;
      case 'event':
        this.#emitEvent(instruction);
        return;
      case 'runtime':
        this.#emitForeign(instruction);
        return;
      case 'unknown': {
        const known = workspaceWord(this.#code.kernel, instruction, this.#plan.objectAddresses);
        if (known === null) append(body, i32(id), call(this.#code.machineFunction('havoc')));
        this.#values.define(instruction, known === null ? this.#unknownResults(instruction) : [wasmConstant(32, known)]);
        return;
      }
      case 'unsupported':
        this.#emitUnsupported(instruction);
    }
  }

  #emitEvent(instruction: Instruction): void {
    if (this.#plan.detection === 'off') return;
    append(this.#body, this.#code.frame, i32(instruction.id), this.#code.thread);
    const fence = fenceOf(instruction.operation.effect);
    if (fence === null || !releases(fence.semantics)) {
      append(this.#body, call(this.#code.machineFunction('event')));
      return;
    }
    append(this.#body, i32(fence.semantics === 'sc' ? 1 : 0), call(this.#code.machineFunction('fence')));
  }

  #emitUnsupported(instruction: Instruction): void {
    append(this.#body, this.#code.frame, i32(instruction.id), this.#code.thread, call(this.#code.machineFunction('unsupported')));
    this.#values.define(instruction, this.#unknownResults(instruction));
  }

  #unknownResults(instruction: Instruction): WasmValue[] {
    const body = this.#body;
    const unknown = (result: number, part: number): WasmLocal =>
      bind(
        body,
        'i64',
        this.#code.frame,
        this.#code.thread,
        i32(instruction.id),
        i32(result),
        i32(part),
        call(this.#code.machineFunction('unknown')),
      );
    return instruction.operation.results.map((type, index): WasmValue => {
      const low = unknown(index, 0);
      if (type === 128) return { kind: 'pair', low, high: unknown(index, 1) };
      if (type === 'predicate') return bind(body, 'i32', low, 'i32.wrap_i64', i32(1), 'i32.and');
      return type === 64 ? low : this.#domain.truncate(64, type, low);
    });
  }

  #loadLanes(instruction: Instruction, effect: Effect & { kind: 'load' }, { base, offset }: LinearAddress): WasmValue[] {
    return instruction.operation.results.map((type, lane): WasmValue => {
      if (type === 'predicate') return wasmConstant(1, 0n);
      const narrow = (8 * effect.bytes) as Width;
      const loaded = this.#memory.load(narrow, { base, offset: offset + lane * effect.bytes });
      return effect.extend === 'sign' ? this.#domain.signExtend(narrow, type, loaded) : this.#domain.zeroExtend(narrow, type, loaded);
    });
  }

  #emitLoad(instruction: Instruction, effect: Effect & { kind: 'load' }): void {
    const access = this.#access(instruction);
    const type = instruction.operation.sources[0]!;
    const located = this.#memory.locate(access, instruction.arguments[0]!, type, instruction.offset);
    const lanes = this.#loadLanes(instruction, effect, located.data);
    touch(this.#code, access, located);
    this.#values.define(instruction, lanes);
  }

  #emitStore(instruction: Instruction, effect: Effect & { kind: 'store' }): void {
    const access = this.#access(instruction);
    const { sources } = instruction.operation;
    const located = this.#memory.locate(access, instruction.arguments[0]!, sources[0]!, instruction.offset);
    for (let lane = 0; lane < effect.lanes; lane++) {
      const type = sources[lane + 1] as Width;
      const width = (8 * effect.bytes) as Width;
      const value = this.#values.operand(instruction.arguments[lane + 1]!, type);
      // Narrow stores truncate the value themselves.
      const cut = type > 32 && width <= 32 ? this.#domain.truncate(type, 32, value) : value;
      const whole = type === 128 && width === 64 ? this.#domain.truncate(128, 64, value) : cut;
      this.#memory.store(width, { ...located.data, offset: located.data.offset + lane * effect.bytes }, whole);
    }
    touch(this.#code, access, located);
  }

  #emitAtomic(instruction: Instruction, effect: Effect & { kind: 'atomic' }): void {
    const width = (8 * effect.bytes) as Width;
    const { sources } = instruction.operation;
    const first = this.#plan.program.firstAccess.get(instruction)!;
    const olds: WasmValue[] = [];
    const operand = (index: number): WasmValue => this.#values.operand(instruction.arguments[index]!, sources[index]!);
    for (let lane = 0; lane < effect.lanes; lane++) {
      const access = this.#plan.program.accesses[first + lane]!;
      const displacement = instruction.offset + BigInt(lane * effect.bytes);
      const located = this.#memory.locate(access, instruction.arguments[0]!, sources[0]!, displacement);
      const old = this.#memory.load(width, located.data);
      const a = operand(1 + lane);
      const b = effect.operation === 'cas' ? operand(1 + effect.lanes + lane) : a;
      const stored = (isGlobal: boolean): WasmValue => atomicRule(this.#domain, effect.operation, effect.type, width, old, a, b, isGlobal);
      if (access.space === 'generic' && effect.type === 'f32') {
        const given = sources[0] === 64 ? operand(0) : this.#domain.zeroExtend(32, 64, operand(0));
        const address = this.#domain.add(64, given, wasmConstant(64, displacement));
        const isGlobal = this.#domain.unsignedLess(64, address, wasmConstant(64, sharedWindow));
        this.#memory.store(width, located.data, this.#domain.select(width, isGlobal, stored(true), stored(false)));
      } else {
        this.#memory.store(width, located.data, stored(access.space === 'global'));
      }
      touch(this.#code, access, located);
      if (effect.returns) olds.push(old);
    }
    this.#values.define(instruction, olds);
  }

  /** `cp.async`: the bytes after those that are read are zero. */
  #emitCopy(instruction: Instruction, bytes: number): void {
    const body = this.#body;
    const domain = this.#domain;
    const { sources } = instruction.operation;
    const first = this.#plan.program.firstAccess.get(instruction)!;
    const write = this.#plan.program.accesses[first]!;
    const read = this.#plan.program.accesses[first + 1]!;
    const [to, from, , limit] = instruction.arguments;
    let count: WasmValue = wasmConstant(32, BigInt(bytes));
    if (limit && sources[3] === 32) {
      const given = this.#values.operand(limit, 32);
      count = domain.select(32, domain.unsignedLess(32, given, count), given, count);
    }
    if (limit && sources[3] === 'predicate') {
      count = domain.select(32, this.#values.truth(limit), wasmConstant(32, 0n), count);
    }
    const size = bytes < 8 ? 32 : 64;
    const step = size / 8;
    const parts = Array.from({ length: bytes / step }, () => wasmLocal(wasmType(size), body.local(wasmType(size))));
    for (const part of parts) {
      append(body, wasmConstant(size, 0n));
      body.set(part.index);
    }
    append(body, word(count));
    body.if();
    const source = this.#memory.locate(read, from!, sources[1]!, 0n);
    for (const [index, part] of parts.entries()) {
      const loaded = this.#memory.load(size, { ...source.data, offset: source.data.offset + index * step });
      // Number of bytes of the part that are copied
      const before = wasmConstant(32, BigInt(index * step));
      const rest = domain.select(32, domain.unsignedLess(32, count, before), before, count);
      const taken = domain.zeroExtend(32, size, domain.shl(32, domain.sub(32, rest, before), wasmConstant(32, 3n)));
      const beyond = domain.shl(size, wasmConstant(size, (1n << BigInt(size)) - 1n), taken);
      append(body, word(domain.and(size, loaded, domain.not(size, beyond))));
      body.set(part.index);
    }
    touch(this.#code, read, source);
    body.end();
    const target = this.#memory.locate(write, to!, sources[0]!, instruction.offset);
    for (const [index, part] of parts.entries()) {
      this.#memory.store(size, { ...target.data, offset: target.data.offset + index * step }, part);
    }
    touch(this.#code, write, target);
  }

  #access(instruction: Instruction): MemoryAccess {
    return this.#plan.program.accesses[this.#plan.program.firstAccess.get(instruction)!]!;
  }
}
