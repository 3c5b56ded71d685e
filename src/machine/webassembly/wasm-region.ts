/**
 * The WebAssembly code of a region: what threads execute from one suspension to the next. The function runs the threads
 * `first` to `last` of a block one after the other; all of them stand at the region's start. A thread that stops leaves
 * its status, and the values that it needs again, in the block's frame.
 */
import type { Instruction, Operand, SpecialRegister, ValueId } from '../../ir/form/kernel.ts';
import type { Domain, Width } from '../../isa/model/domain.ts';
import type { Effect, ValueType } from '../../isa/model/operation.ts';
import type { Access, Segment } from '../core/program.ts';
import type { Structured } from './structure.ts';
import type { FunctionBody, FunctionHandle, Label, WasmMemoryOperator, WasmType } from './wasm-module.ts';
import type { Plan } from './wasm-plan.ts';
import type { Item, WasmLocal, WasmValue, WasmWord } from './wasm-value.ts';
import { invariant } from '../../base/assert.ts';
import { localWindow, sharedWindow } from '../../isa/model/address-window.ts';
import { atomicRule } from '../core/atomic-operation.ts';
import { exitedStatus, mixedStatus, timeSlice, waitingAt } from '../core/back-end.ts';
import { parameterLoad, phiInputs } from './liveness.ts';
import { workspaceWord } from '../core/memory.ts';
import { isRetreating, segmentSuccessors } from '../core/program.ts';
import { ModuleBuilder } from './wasm-module.ts';
import { structure } from './structure.ts';
import { numberPhis } from './wasm-number.ts';
import { wasmDomain, word, wordsOf } from './wasm-domain.ts';
import { shadowFields } from '../detector/shadow-word.ts';
import { raceState } from '../detector/state-machine.ts';
import { accessKind, header, levelTable, levels, placeEntry, placeTable, transitionTable } from './wasm-plan.ts';
import { WasmSupport, arithmeticModule } from './wasm-support.ts';
import {
  append,
  bind,
  call,
  i32,
  i64,
  localsOf,
  pushForVariable,
  setVariable,
  variable,
  wasmConstant,
  wasmLocal,
  wasmType,
} from './wasm-value.ts';

/** The name under which region code imports memory and what the machine does for it. */
export const machineModule = 'machine';

/** What region code calls. Steps are those of the call so far. */
const machineFunctions = {
  /** An access that leaves the place it was taken to stay in. Frame, site, address, thread, steps. Does not return. */
  stray: [['i32', 'i32', 'i64', 'i32', 'i32'], []],
  /** Finds the linear address, and that of the shadow word. Frame, site, address, thread, steps. */
  locate: [['i32', 'i32', 'i64', 'i32', 'i32'], ['i32']],
  /**
   * A transition of a shadow word that is to be looked at. Frame, site, linear address, address of the word, thread,
   * former word.
   */
  report: [['i32', 'i32', 'i32', 'i32', 'i32', 'i64'], []],
  /** An access, for the detector with clocks. Frame, site, linear address, thread. */
  record: [['i32', 'i32', 'i32', 'i32'], []],
  /** What orders accesses, for the same. Frame, instruction, thread. */
  event: [['i32', 'i32', 'i32'], []],
  /** An instruction that the machine executes; sources and results are among the operands of the frame. */
  foreign: [['i32', 'i32', 'i32'], []],
  /** A word of an unknown value. Frame, thread, instruction, result, word. */
  unknown: [['i32', 'i32', 'i32', 'i32', 'i32'], ['i64']],
  /** An instruction whose results are unknown. Instruction. */
  havoc: [['i32'], []],
  /** An assumption that does not hold. Instruction. */
  broken: [['i32'], []],
  /** An instruction that is not known. Frame, instruction, thread. */
  unsupported: [['i32', 'i32', 'i32'], []],
  /** Control that is not understood, and a trap. Frame, segment, thread, steps. They do not return. */
  lost: [['i32', 'i32', 'i32', 'i32'], []],
  trap: [['i32', 'i32', 'i32', 'i32'], []],
} as const satisfies Record<string, readonly [readonly WasmType[], readonly WasmType[]]>;

export type MachineFunction = keyof typeof machineFunctions;

export interface RegionCode {
  readonly bytes: Uint8Array;
  /** To be imported as {@link arithmeticModule}. */
  readonly arithmetic: WasmSupport['functions'];
}

/** The module that exports the code of the region that starts at a segment, as `run`. */
export function emitRegion(plan: Plan, start: number): RegionCode {
  const module = new ModuleBuilder();
  module.importMemory(machineModule, 'memory', 1);
  const support = new WasmSupport(module);
  const body = module.addFunction(['i32', 'i32', 'i32'], ['i32']);
  module.exportFunction('run', body);
  new RegionEmitter(plan, start, module, support, body).emit();
  return { bytes: module.encode(), arithmetic: support.functions };
}

export { arithmeticModule };

/** An address in linear memory: what a local holds plus a constant. */
interface Linear {
  readonly base: WasmLocal;
  readonly offset: number;
}

interface Located {
  readonly data: Linear;
  /** Its shadow words; null: the access is of no interest to the detector. */
  readonly shadow: { readonly words: Linear; readonly cellShift: number } | null;
}

/** Words of a wide access that are updated in line; more are updated in a loop. */
const inlineCells = 4;

class RegionEmitter {
  readonly #plan: Plan;
  readonly #start: number;
  readonly #module: ModuleBuilder;
  readonly #body: FunctionBody;
  readonly #domain: Domain<WasmValue, WasmWord>;
  readonly #frame = wasmLocal('i32', 0);
  readonly #thread: WasmLocal = wasmLocal('i32', 1);
  readonly #last = wasmLocal('i32', 2);
  readonly #status: WasmLocal;
  readonly #left: WasmLocal;
  readonly #total: WasmLocal;
  /** Frame plus 4, 8 and 16 times the thread, for arrays by thread. */
  readonly #lane4: WasmLocal;
  readonly #lane8: WasmLocal;
  #stamp: WasmLocal | null = null;
  #localBase: WasmLocal | null = null;
  readonly #values = new Map<ValueId, WasmValue>();
  /** Locals of phis, and of values that may come from the frame or from the region's own code. */
  readonly #homes = new Map<ValueId, WasmValue>();
  readonly #specials = new Map<SpecialRegister, WasmWord>();
  /** Segments of the region. */
  readonly #members = new Set<number>();
  /** Values that the region defines: results and phis. */
  readonly #defined = new Set<ValueId>();
  readonly #labels = new Map<number, Label[]>();
  #threadEnd: Label = 0;

  constructor(plan: Plan, start: number, module: ModuleBuilder, support: WasmSupport, body: FunctionBody) {
    this.#plan = plan;
    this.#start = start;
    this.#module = module;
    this.#body = body;
    this.#domain = wasmDomain({ body, support });
    const local = (type: WasmType): WasmLocal => wasmLocal(type, body.local(type));
    this.#status = local('i32');
    this.#left = local('i32');
    this.#total = local('i32');
    this.#lane4 = local('i32');
    this.#lane8 = local('i32');
  }

  get #kernel() {
    return this.#plan.program.kernel;
  }

  emit(): void {
    const body = this.#body;
    this.#collect();
    const { uniform, specials } = this.#prologueNeeds();
    for (const instruction of uniform) this.#emitUniform(instruction);

    const common = wasmLocal('i32', body.local('i32'));
    const differ = wasmLocal('i32', body.local('i32'));
    const first = bind(body, 'i32', this.#thread);
    const threads = body.loop();
    this.#threadEnd = body.block();
    this.#emitThreadPrologue(specials);
    this.#emitControl();
    body.op('unreachable');
    body.end();

    append(body, this.#lane4, this.#status);
    body.memory('i32.store', this.#plan.frame.status);
    append(body, this.#total, i32(timeSlice), this.#left, 'i32.sub', 'i32.add');
    body.set(this.#total.index);
    append(body, this.#status, common, this.#thread, first, 'i32.eq', 'select');
    body.set(common.index);
    append(body, differ, this.#status, common, 'i32.xor', 'i32.or');
    body.set(differ.index);
    append(body, this.#thread, this.#last, 'i32.lt_s');
    append(body, this.#thread, i32(1), 'i32.add');
    body.set(this.#thread.index);
    body.brIf(threads);
    body.end();

    append(body, this.#frame, this.#total, 'i64.extend_i32_u');
    body.memory('i64.store', header.steps);
    append(body, i32(mixedStatus), common, differ, 'select');
  }

  // What the region holds

  #collect(): void {
    const { program } = this.#plan;
    const work = [this.#start];
    this.#members.add(this.#start);
    for (let index = work.pop(); index !== undefined; index = work.pop()) {
      const segment = program.segments[index]!;
      for (const instruction of segment.instructions) {
        if (segment.suspension >= 0 && instruction === segment.instructions.at(-1)) continue;
        for (const id of instruction.results) if (id !== null) this.#defined.add(id);
      }
      for (const target of segmentSuccessors(program, segment)) {
        for (const { result } of phiInputs(this.#kernel, segment, program.segments[target]!)) this.#defined.add(result);
        if (this.#members.has(target)) continue;
        this.#members.add(target);
        work.push(target);
      }
    }
  }

  /** The instructions to compute once for all threads, in order, and the special registers to read for each. */
  #prologueNeeds(): { readonly uniform: readonly Instruction[]; readonly specials: ReadonlySet<SpecialRegister> } {
    const { program, liveness } = this.#plan;
    const wanted = new Set<ValueId>();
    const specials = new Set<SpecialRegister>();
    const need = (operand: Operand): void => {
      if (operand.kind === 'special') specials.add(operand.register);
      if (operand.kind !== 'value' || !liveness.isUniform[operand.id] || wanted.has(operand.id)) return;
      wanted.add(operand.id);
      const { definition } = this.#kernel.values[operand.id]!;
      invariant(definition.kind === 'instruction', 'phis are not uniform');
      for (const source of definition.instruction.arguments) need(source);
    };
    for (const index of this.#members) {
      const segment = program.segments[index]!;
      for (const instruction of segment.instructions) {
        if (!this.#isUniform(instruction)) for (const operand of instruction.arguments) need(operand);
      }
      const { terminator } = segment;
      if (terminator?.kind === 'branch') need(terminator.condition);
      if (terminator?.kind === 'switch') need(terminator.index);
      for (const target of segmentSuccessors(program, segment)) {
        for (const { input } of phiInputs(this.#kernel, segment, program.segments[target]!)) need(input);
      }
    }
    const uniform = this.#kernel.blocks.flatMap(({ instructions }) =>
      instructions.filter(
        (instruction) =>
          this.#isUniform(instruction) && instruction.results.some((id) => id !== null && wanted.has(id)),
      ),
    );
    return { uniform, specials };
  }

  #isUniform(instruction: Instruction): boolean {
    return instruction.results.some((id) => id !== null && this.#plan.liveness.isUniform[id] === 1);
  }

  #emitUniform(instruction: Instruction): void {
    const load = parameterLoad(this.#kernel, instruction);
    if (load) {
      const { effect } = instruction.operation;
      invariant(effect.kind === 'load', 'a load');
      const base = bind(this.#body, 'i32', i32(this.#plan.objectAddresses[load.object.object]! + load.offset));
      this.#define(instruction, this.#loadLanes(instruction, effect, { base, offset: 0 }));
      return;
    }
    this.#define(instruction, instruction.operation.evaluate!(this.#domain, this.#sources(instruction)));
  }

  #emitThreadPrologue(specials: ReadonlySet<SpecialRegister>): void {
    const body = this.#body;
    const { frame, detection, hasWarpBarriers, liveness, localBytes } = this.#plan;
    append(body, i32(timeSlice));
    body.set(this.#left.index);
    append(body, this.#frame, this.#thread, i32(2), 'i32.shl', 'i32.add');
    body.set(this.#lane4.index);
    append(body, this.#frame, this.#thread, i32(3), 'i32.shl', 'i32.add');
    body.set(this.#lane8.index);
    for (const register of specials) this.#specials.set(register, this.#readSpecial(register));
    if (detection === 'words') {
      append(body, this.#frame);
      body.memory('i64.load', header.stamp);
      append(body, this.#thread, i32(shadowFields.thread.shift), 'i32.shl', 'i64.extend_i32_u', 'i64.or');
      if (hasWarpBarriers) {
        append(body, this.#frame, this.#thread, i32(5), 'i32.shr_u', i32(2), 'i32.shl', 'i32.add');
        body.memory('i64.load32_u', frame.warpBarriers);
        append(body, i64(BigInt(shadowFields.warpBarriers.shift)), 'i64.shl', 'i64.or');
      }
      this.#stamp = bind(body, 'i64');
    }
    if (localBytes > 0) {
      this.#localBase = bind(body, 'i32', this.#frame, this.#thread, i32(localBytes), 'i32.mul', 'i32.add');
    }
    // Locals that several places assign
    const used = this.#usedValues();
    const live = new Set(liveness.liveIn[this.#start]);
    for (const id of this.#defined) {
      const isPhi = this.#kernel.values[id]!.definition.kind === 'phi';
      if (isPhi || live.has(id)) this.#homes.set(id, this.#newHome(id));
    }
    for (const id of live) {
      if (!used.has(id) && !this.#defined.has(id)) continue;
      const value = this.#loadSlot(id);
      const home = this.#homes.get(id);
      if (home) this.#assign([{ to: home, value }]);
      this.#values.set(id, home ?? value);
    }
  }

  #usedValues(): ReadonlySet<ValueId> {
    const { program } = this.#plan;
    const used = new Set<ValueId>();
    const use = (operand: Operand): void => {
      if (operand.kind === 'value') used.add(operand.id);
    };
    for (const index of this.#members) {
      const segment = program.segments[index]!;
      for (const instruction of segment.instructions) instruction.arguments.forEach(use);
      const { terminator } = segment;
      if (terminator?.kind === 'branch') use(terminator.condition);
      if (terminator?.kind === 'switch') use(terminator.index);
      for (const target of segmentSuccessors(program, segment)) {
        for (const { input } of phiInputs(this.#kernel, segment, program.segments[target]!)) use(input);
      }
    }
    return used;
  }

  #readSpecial(register: SpecialRegister): WasmWord {
    const body = this.#body;
    const { block, grid, threads, coordinates, dynamicShared } = this.#plan;
    const constant = (value: number): WasmWord => wasmConstant(32, BigInt(value));
    const limited = (value: WasmLocal, limit: number): WasmLocal => ({ ...value, limit });
    const axis = 'xyz'.indexOf(register.at(-1)!);
    const position = (): WasmWord => {
      append(body, this.#frame);
      body.memory('i32.load', header.position + 4 * axis);
      return limited(bind(body, 'i32'), grid[axis]! - 1);
    };
    const lane = (): WasmLocal => bind(body, 'i32', this.#thread, i32(31), 'i32.and');
    switch (register) {
      case 'tid.x':
      case 'tid.y':
      case 'tid.z': {
        if (block[axis] === 1) return constant(0);
        if (block[axis] === threads) return limited(bind(body, 'i32', this.#thread), threads - 1);
        const below = block.slice(0, axis).reduce((product, size) => product * size, 1);
        if (Number.isInteger(Math.log2(below)) && Number.isInteger(Math.log2(block[axis]!))) {
          append(body, this.#thread, i32(Math.log2(below)), 'i32.shr_u', i32(block[axis]! - 1), 'i32.and');
        } else {
          append(body, this.#thread, i32(2), 'i32.shl');
          body.memory('i32.load', coordinates + 4 * threads * axis);
        }
        return limited(bind(body, 'i32'), block[axis]! - 1);
      }
      case 'ntid.x':
      case 'ntid.y':
      case 'ntid.z':
        return constant(block[axis]!);
      case 'ctaid.x':
      case 'ctaid.y':
      case 'ctaid.z':
        return position();
      case 'nctaid.x':
      case 'nctaid.y':
      case 'nctaid.z':
        return constant(grid[axis]!);
      case 'laneid':
        return limited(lane(), 31);
      case 'warpid':
        return limited(bind(body, 'i32', this.#thread, i32(5), 'i32.shr_u'), 31);
      case 'warpsize':
        return constant(32);
      case 'dynamic_smem_size':
        return constant(dynamicShared);
      case 'lanemask_eq':
        return bind(body, 'i32', i32(1), lane(), 'i32.shl');
      case 'lanemask_lt':
        return bind(body, 'i32', i32(1), lane(), 'i32.shl', i32(1), 'i32.sub');
      case 'lanemask_le':
        return bind(body, 'i32', i32(2), lane(), 'i32.shl', i32(1), 'i32.sub');
      case 'lanemask_gt':
        return bind(body, 'i32', i32(-2), lane(), 'i32.shl');
      case 'lanemask_ge':
        return bind(body, 'i32', i32(-1), lane(), 'i32.shl');
    }
  }

  // Values

  #newHome(id: ValueId): WasmValue {
    return variable(this.#body, this.#kernel.values[id]!.type, numberPhis(this.#kernel).get(id));
  }

  /** Sets homes to values, all at once. */
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
    return { offset, bytes: slot.bytes, lane: slot.bytes === 4 ? this.#lane4 : this.#lane8 };
  }

  #operand(operand: Operand, type: ValueType): WasmValue {
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
        const value = this.#specials.get(operand.register) ?? this.#readSpecial(operand.register);
        if (type === 'predicate' || type === 32) return value;
        return type < 32 ? this.#domain.truncate(32, type, value) : this.#domain.zeroExtend(32, type, value);
      }
      case 'address':
        return wasmConstant(type === 'predicate' ? 64 : type, this.#addressOf(operand));
    }
  }

  #addressOf(operand: Operand & { kind: 'address' }): bigint {
    const { space } = this.#kernel.objects[operand.object]!;
    const window = !operand.generic ? 0n : space === 'shared' ? sharedWindow : space === 'local' ? localWindow : 0n;
    return BigInt.asUintN(64, BigInt(this.#plan.objectAddresses[operand.object]!) + window + operand.offset);
  }

  #sources(instruction: Instruction): WasmValue[] {
    return instruction.arguments.map((operand, index) => this.#operand(operand, instruction.operation.sources[index]!));
  }

  #truth(operand: Operand): WasmWord {
    return word(this.#operand(operand, 'predicate'));
  }

  #define(instruction: Instruction, results: readonly WasmValue[]): void {
    for (const [index, id] of instruction.results.entries()) {
      if (id === null) continue;
      const home = this.#homes.get(id);
      if (home) this.#assign([{ to: home, value: results[index]! }]);
      this.#values.set(id, home ?? results[index]!);
    }
  }

  // Control

  #emitControl(): void {
    const { program } = this.#plan;
    const tree = structure(program.segments.length, this.#start, (index) =>
      segmentSuccessors(program, program.segments[index]!),
    );
    if (tree) this.#emitTree(tree);
    else this.#emitDispatch();
  }

  #emitTree(tree: readonly Structured[]): void {
    for (const item of tree) {
      if (item.kind === 'node') {
        const segment = this.#plan.program.segments[item.node]!;
        this.#emitSegment(segment, (arm) => this.#emitTree(item.arms[arm]!));
      } else if (item.kind === 'jump') {
        this.#body.br(this.#labels.get(item.label)!.at(-1)!);
      } else {
        const label = item.kind === 'loop' ? this.#body.loop() : this.#body.block();
        const stack = this.#labels.get(item.label) ?? [];
        this.#labels.set(item.label, stack);
        stack.push(label);
        this.#emitTree(item.body);
        stack.pop();
        this.#body.end();
      }
    }
  }

  /** Irreducible control: a loop around a switch over all segments. */
  #emitDispatch(): void {
    const body = this.#body;
    const members = [...this.#members].sort((a, b) => a - b);
    const next = bind(body, 'i32', i32(members.indexOf(this.#start)));
    const head = body.loop();
    const cases = members.map(() => body.block()).reverse();
    append(body, next);
    body.brTable(cases, cases.at(-1)!);
    for (const index of members) {
      body.end();
      const segment = this.#plan.program.segments[index]!;
      this.#emitSegment(segment, (arm) => {
        append(body, i32(members.indexOf(segmentSuccessors(this.#plan.program, segment)[arm]!)));
        body.set(next.index);
        body.br(head);
      });
    }
    body.end();
  }

  /** @param follow appends what comes after an edge, which never falls through */
  #emitSegment(segment: Segment, follow: (arm: number) => void): void {
    const body = this.#body;
    const block = this.#kernel.blocks[segment.block]!;
    if (segment.index === this.#plan.program.entries[segment.block]) {
      for (const { result } of block.phis) {
        const home = this.#homes.get(result);
        if (home) this.#values.set(result, home);
      }
    }
    append(body, this.#left, i32(segment.length), 'i32.sub');
    body.set(this.#left.index);
    for (const instruction of segment.instructions) {
      if (segment.suspension >= 0 && instruction === segment.instructions.at(-1)) {
        this.#emitSuspension(segment, instruction);
      } else if (!this.#isUniform(instruction)) {
        const mark = body.mark();
        this.#emitInstruction(instruction);
        const kept = new Set(
          instruction.results.flatMap((id) => {
            const value = id === null ? undefined : this.#values.get(id);
            return value ? localsOf(value) : [];
          }),
        );
        body.freeSince(mark, kept);
      }
    }
    this.#emitTerminator(segment, follow);
  }

  #emitTerminator(segment: Segment, follow: (arm: number) => void): void {
    const body = this.#body;
    const { terminator } = segment;
    switch (terminator?.kind) {
      case undefined:
        return;
      case 'jump':
        this.#emitEdge(segment, 0);
        follow(0);
        return;
      case 'branch':
        append(body, this.#truth(terminator.condition));
        body.if();
        this.#emitEdge(segment, 0);
        follow(0);
        body.else();
        this.#emitEdge(segment, 1);
        follow(1);
        body.end();
        body.op('unreachable');
        return;
      case 'switch': {
        const otherwise = body.block();
        const arms = terminator.targets.map(() => body.block()).reverse();
        append(body, word(this.#operand(terminator.index, 32)));
        body.brTable(arms, otherwise);
        for (const arm of arms.keys()) {
          body.end();
          this.#emitEdge(segment, arm);
          follow(arm);
        }
        body.end();
        this.#emitLost('lost', segment);
        return;
      }
      case 'exit':
        this.#emitStop(exitedStatus);
        return;
      case 'trap':
        this.#emitLost('trap', segment);
        return;
      case 'unknown':
        this.#emitLost('lost', segment);
    }
  }

  #emitLost(name: 'lost' | 'trap', segment: Segment): void {
    append(this.#body, this.#frame, i32(segment.index), this.#thread, ...this.#steps());
    append(this.#body, call(this.#function(name)), 'unreachable');
  }

  /** Pushes the steps of this call so far. */
  #steps(): Item[] {
    return [this.#total, i32(timeSlice), 'i32.add', this.#left, 'i32.sub'];
  }

  #emitStop(status: number): void {
    append(this.#body, i32(status));
    this.#body.set(this.#status.index);
    this.#body.br(this.#threadEnd);
  }

  #emitEdge(segment: Segment, arm: number): void {
    const body = this.#body;
    const { program, frame } = this.#plan;
    const target = program.segments[segmentSuccessors(program, segment)[arm]!]!;
    const live = this.#plan.liveness.liveIn[target.index]!;
    const moves = phiInputs(this.#kernel, segment, target)
      .filter(({ result }) => live.includes(result))
      .map(({ result, input }) => ({ result, value: this.#operand(input, this.#kernel.values[result]!.type) }));
    if (program.reachesBarrier[segment.block] && !program.reachesBarrier[target.block]) {
      append(body, this.#lane4, i32(segment.block));
      body.memory('i32.store', frame.left);
    }
    if (isRetreating(segment.block, target.block)) {
      append(body, this.#left, i32(0), 'i32.le_s');
      body.if();
      const inputs = new Map(moves.map(({ result, value }) => [result, value]));
      this.#saveLive(target.index, inputs, new Set());
      this.#emitStop(target.index);
      body.end();
    }
    this.#assign(moves.map(({ result, value }) => ({ to: this.#homes.get(result)!, value })));
  }

  /** Keeps the values that a thread needs when it goes on at a segment, as far as this region changed them. */
  #saveLive(resume: number, inputs: ReadonlyMap<ValueId, WasmValue>, except: ReadonlySet<ValueId | null>): void {
    for (const id of this.#plan.liveness.liveIn[resume]!) {
      if (except.has(id)) continue;
      const value = inputs.get(id) ?? (this.#defined.has(id) ? this.#values.get(id) : undefined);
      if (value) this.#storeSlot(id, value);
    }
  }

  #emitSuspension(segment: Segment, instruction: Instruction): void {
    const { program } = this.#plan;
    const { index, resume } = program.suspensions[segment.suspension]!;
    this.#passOperands(instruction);
    this.#saveLive(resume, new Map(), new Set(instruction.results));
    this.#emitStop(waitingAt(index));
  }

  /** Leaves the sources of an instruction in the frame. */
  #passOperands(instruction: Instruction): void {
    const { frame, threads } = this.#plan;
    for (const [position, operand] of instruction.arguments.entries()) {
      if (operand.kind === 'constant') continue;
      const type = instruction.operation.sources[position]!;
      invariant(type !== 128, 'sources that are passed are words');
      append(this.#body, type === 64 ? this.#lane8 : this.#lane4, word(this.#operand(operand, type)));
      this.#body.memory(type === 64 ? 'i64.store' : 'i32.store', frame.operands + 8 * threads * position);
    }
  }

  #emitForeign(instruction: Instruction): void {
    const body = this.#body;
    const { frame, threads } = this.#plan;
    this.#passOperands(instruction);
    append(body, this.#frame, i32(instruction.id), this.#thread, call(this.#function('foreign')));
    this.#define(
      instruction,
      instruction.operation.results.map((type, position) => {
        append(body, type === 64 ? this.#lane8 : this.#lane4);
        body.memory(type === 64 ? 'i64.load' : 'i32.load', frame.operands + 8 * threads * position);
        return bind(body, wasmType(type));
      }),
    );
  }

  // Instructions

  #function(name: MachineFunction): FunctionHandle {
    const [parameters, results] = machineFunctions[name];
    return this.#module.importFunction(machineModule, name, parameters, results);
  }

  #emitInstruction(instruction: Instruction): void {
    const body = this.#body;
    const { operation, id } = instruction;
    const { effect } = operation;
    if (instruction.marker?.name === 'assume') {
      const type = operation.sources[0]!;
      const value = word(this.#operand(instruction.arguments[0]!, type));
      append(body, value, type === 64 ? 'i64.eqz' : 'i32.eqz');
      body.if();
      append(body, i32(id), call(this.#function('broken')));
      body.end();
      return;
    }
    switch (effect.kind) {
      case 'pure':
        if (operation.evaluate) this.#define(instruction, operation.evaluate(this.#domain, this.#sources(instruction)));
        else this.#emitUnsupported(instruction);
        return;
      case 'load':
        this.#emitLoad(instruction, effect);
        return;
      case 'store':
        this.#emitStore(instruction, effect);
        return;
      case 'atomic':
        this.#emitAtomic(instruction, effect);
        return;
      case 'async-copy':
        this.#emitCopy(instruction, effect.bytes);
        this.#emitEvent(instruction);
        return;
      case 'async-wait':
      case 'bulk-wait':
      case 'fence':
      case 'cluster-barrier':
        this.#emitEvent(instruction);
        return;
      case 'mbarrier':
      case 'bulk-copy':
        this.#emitForeign(instruction);
        return;
      case 'warpgroup-matrix':
        if (instruction.results.length > 0) append(body, i32(id), call(this.#function('havoc')));
        this.#define(instruction, this.#unknownResults(instruction));
        return;
      case 'havoc':
      case 'surface-store': {
        const known = workspaceWord(this.#kernel, instruction, this.#plan.objectAddresses);
        if (known === null) append(body, i32(id), call(this.#function('havoc')));
        this.#define(instruction, known === null ? this.#unknownResults(instruction) : [wasmConstant(32, known)]);
        return;
      }
      default:
        this.#emitUnsupported(instruction);
    }
  }

  #emitEvent(instruction: Instruction): void {
    if (this.#plan.detection === 'off') return;
    append(this.#body, this.#frame, i32(instruction.id), this.#thread, call(this.#function('event')));
  }

  #emitUnsupported(instruction: Instruction): void {
    append(this.#body, this.#frame, i32(instruction.id), this.#thread, call(this.#function('unsupported')));
    this.#define(instruction, this.#unknownResults(instruction));
  }

  #unknownResults(instruction: Instruction): WasmValue[] {
    const body = this.#body;
    const unknown = (result: number, part: number): WasmLocal =>
      bind(
        body, 'i64',
        this.#frame, this.#thread, i32(instruction.id), i32(result), i32(part), call(this.#function('unknown')),
      ); // prettier-ignore
    return instruction.operation.results.map((type, index): WasmValue => {
      const low = unknown(index, 0);
      if (type === 128) return { kind: 'pair', low, high: unknown(index, 1) };
      if (type === 'predicate') return bind(body, 'i32', low, 'i32.wrap_i64', i32(1), 'i32.and');
      return type === 64 ? low : this.#domain.truncate(64, type, low);
    });
  }

  // Memory

  /** Finds the address of an access, which it checks. */
  #locate(access: Access, operand: Operand, type: ValueType, displacement: bigint): Located {
    const site = this.#plan.sites[access.index]!;
    if (site.kind === 'anywhere') return this.#locateAnywhere(access, operand, type, displacement);
    const { frame, localBytes, detection } = this.#plan;
    const isShared = site.kind === 'place' && site.place.space === 'shared';
    const start = site.kind === 'place' ? site.place.start : 0;
    const bytes = site.kind === 'place' ? site.place.bytes : localBytes;
    if (site.kind === 'place' && !site.place.writable && access.operation !== 'read') {
      return this.#locateAnywhere(access, operand, type, displacement);
    }
    let window = 0n;
    if (access.space === 'generic') window = site.kind === 'local' ? localWindow : isShared ? sharedWindow : 0n;
    const relative = this.#relativeAddress(access, operand, type, displacement, window + BigInt(start), start, bytes);
    let base: WasmLocal = relative;
    let offset = start;
    if (isShared || site.kind === 'local') {
      const from = site.kind === 'local' ? this.#localBase! : this.#frame;
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
      ? { base: bind(this.#body, 'i32', ...toWord, this.#frame, 'i32.add'), offset: frame.sharedShadow + shadow }
      : { base: bind(this.#body, 'i32', ...toWord), offset: shadow };
    return { data, shadow: { words, cellShift } };
  }

  /** The address less `origin`, as an i32, once it is known to be that of an aligned access within `bytes`. */
  #relativeAddress(
    access: Access,
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
    const address = this.#operand(operand, type);
    const width = isWide ? 64 : 32;
    if (address.kind === 'constant') {
      const relative = BigInt.asUintN(width, address.value + displacement - origin);
      const isGood =
        relative + BigInt(access.bytes) <= BigInt(bytes) && (relative + BigInt(start)) % BigInt(access.bytes) === 0n;
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
      // An address that is not aligned is rotated to a number beyond every limit.
      const turned: Item[] = scale === 0 ? [relative] : [relative, constant(BigInt(scale)), `${prefix}.rotr`];
      append(body, ...turned, constant(limit), `${prefix}.ge_u`);
    } else {
      const last = BigInt(bytes - access.bytes);
      append(body, relative, constant(last), `${prefix}.gt_u`);
      append(
        body,
        relative,
        constant(BigInt(start)),
        `${prefix}.add`,
        constant(BigInt(access.bytes - 1)),
        `${prefix}.and`,
      );
      append(body, constant(0n), `${prefix}.ne`, 'i32.or');
    }
    body.if();
    const full = bind(body, prefix, relative, constant(origin), `${prefix}.add`);
    this.#emitStray(access, isWide ? full : bind(body, 'i64', full, 'i64.extend_i32_u'));
    body.end();
    return isWide ? bind(body, 'i32', relative, 'i32.wrap_i64') : relative;
  }

  #emitStray(access: Access, address: WasmLocal): void {
    append(this.#body, this.#frame, i32(access.index), address, this.#thread, ...this.#steps());
    append(this.#body, call(this.#function('stray')), 'unreachable');
  }

  /** Finds the place of global memory by the address; what is elsewhere, the machine finds. */
  #locateAnywhere(access: Access, operand: Operand, type: ValueType, displacement: bigint): Located {
    const body = this.#body;
    const { detection, placeMap, globalEnd, sites } = this.#plan;
    const site = sites[access.index]!;
    const cellShift = site.kind === 'anywhere' ? site.cellShift : site.kind === 'place' ? site.place.cellShift : 0;
    const address = this.#operand(operand, type);
    const moved = this.#domain.add(type as Width, address, wasmConstant(type as Width, displacement));
    const full = type === 64 ? word(moved) : word(this.#domain.zeroExtend(32, 64, moved));
    const base = wasmLocal('i32', body.local('i32'));
    const words = wasmLocal('i32', body.local('i32'));
    // Beyond global memory: byte 0, whose place is none, since nothing lies there.
    const at = bind(
      body, 'i32',
      full, 'i32.wrap_i64', i32(0), full, i64(BigInt(globalEnd)), 'i64.lt_u', 'select',
    ); // prettier-ignore
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
    append(body, this.#frame, i32(access.index), full, this.#thread, ...this.#steps());
    append(body, call(this.#function('locate')));
    body.set(base.index);
    if (detection === 'words') {
      append(body, this.#frame);
      body.memory('i32.load', header.shadow);
      body.set(words.index);
    }
    body.end();
    const data = { base, offset: 0 };
    return { data, shadow: detection === 'words' ? { words: { base: words, offset: 0 }, cellShift } : null };
  }

  #loadLanes(instruction: Instruction, effect: Effect & { kind: 'load' }, { base, offset }: Linear): WasmValue[] {
    return instruction.operation.results.map((type, lane): WasmValue => {
      if (type === 'predicate') return wasmConstant(1, 0n);
      const narrow = (8 * effect.bytes) as Width;
      const loaded = this.#load(narrow, { base, offset: offset + lane * effect.bytes });
      return effect.extend === 'sign'
        ? this.#domain.signExtend(narrow, type, loaded)
        : this.#domain.zeroExtend(narrow, type, loaded);
    });
  }

  #load(width: Width, { base, offset }: Linear): WasmValue {
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

  #store(width: Width, { base, offset }: Linear, value: WasmValue): void {
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

  #emitLoad(instruction: Instruction, effect: Effect & { kind: 'load' }): void {
    const access = this.#access(instruction);
    const type = instruction.operation.sources[0]!;
    const located = this.#locate(access, instruction.arguments[0]!, type, instruction.offset);
    const lanes = this.#loadLanes(instruction, effect, located.data);
    this.#touch(access, located);
    this.#define(instruction, lanes);
  }

  #emitStore(instruction: Instruction, effect: Effect & { kind: 'store' }): void {
    const access = this.#access(instruction);
    const { sources } = instruction.operation;
    const located = this.#locate(access, instruction.arguments[0]!, sources[0]!, instruction.offset);
    for (let lane = 0; lane < effect.lanes; lane++) {
      const type = sources[lane + 1] as Width;
      const width = (8 * effect.bytes) as Width;
      const value = this.#operand(instruction.arguments[lane + 1]!, type);
      // Narrow stores cut the value themselves.
      const cut = type > 32 && width <= 32 ? this.#domain.truncate(type, 32, value) : value;
      const whole = type === 128 && width === 64 ? this.#domain.truncate(128, 64, value) : cut;
      this.#store(width, { ...located.data, offset: located.data.offset + lane * effect.bytes }, whole);
    }
    this.#touch(access, located);
  }

  #emitAtomic(instruction: Instruction, effect: Effect & { kind: 'atomic' }): void {
    const width = (8 * effect.bytes) as Width;
    const { sources } = instruction.operation;
    const first = this.#plan.program.firstAccess.get(instruction)!;
    const olds: WasmValue[] = [];
    const operand = (index: number): WasmValue => this.#operand(instruction.arguments[index]!, sources[index]!);
    for (let lane = 0; lane < effect.lanes; lane++) {
      const access = this.#plan.program.accesses[first + lane]!;
      const displacement = instruction.offset + BigInt(lane * effect.bytes);
      const located = this.#locate(access, instruction.arguments[0]!, sources[0]!, displacement);
      const old = this.#load(width, located.data);
      const a = operand(1 + lane);
      const b = effect.operation === 'cas' ? operand(1 + effect.lanes + lane) : a;
      this.#store(width, located.data, atomicRule(this.#domain, effect.operation, effect.type, width, old, a, b));
      this.#touch(access, located);
      if (effect.returns) olds.push(old);
    }
    this.#define(instruction, olds);
  }

  /** `cp.async`: bytes beyond those to read are zero. */
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
      const given = this.#operand(limit, 32);
      count = domain.select(32, domain.unsignedLess(32, given, count), given, count);
    }
    if (limit && sources[3] === 'predicate') {
      count = domain.select(32, this.#truth(limit), wasmConstant(32, 0n), count);
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
    const source = this.#locate(read, from!, sources[1]!, 0n);
    for (const [index, part] of parts.entries()) {
      const loaded = this.#load(size, { ...source.data, offset: source.data.offset + index * step });
      // How many of the part's bytes to take
      const before = wasmConstant(32, BigInt(index * step));
      const rest = domain.select(32, domain.unsignedLess(32, count, before), before, count);
      const taken = domain.zeroExtend(32, size, domain.shl(32, domain.sub(32, rest, before), wasmConstant(32, 3n)));
      const beyond = domain.shl(size, wasmConstant(size, (1n << BigInt(size)) - 1n), taken);
      append(body, word(domain.and(size, loaded, domain.not(size, beyond))));
      body.set(part.index);
    }
    this.#touch(read, source);
    body.end();
    const target = this.#locate(write, to!, sources[0]!, instruction.offset);
    for (const [index, part] of parts.entries()) {
      this.#store(size, { ...target.data, offset: target.data.offset + index * step }, part);
    }
    this.#touch(write, target);
  }

  #access(instruction: Instruction): Access {
    return this.#plan.program.accesses[this.#plan.program.firstAccess.get(instruction)!]!;
  }

  // The race detector

  /** Tells the detector of an access that has happened. */
  #touch(access: Access, { data, shadow }: Located): void {
    const body = this.#body;
    if (this.#plan.detection === 'clocks') {
      const site = this.#plan.sites[access.index]!;
      if (site.kind === 'local' || (site.kind === 'place' && !site.place.writable)) return;
      append(body, this.#frame, i32(access.index), data.base, i32(data.offset), 'i32.add', this.#thread);
      append(body, call(this.#function('record')));
      return;
    }
    if (!shadow) return;
    const { words, cellShift } = shadow;
    const cells = Math.max(1, access.bytes >> cellShift);
    if (cells <= inlineCells) {
      for (let cell = 0; cell < cells; cell++) {
        this.#touchWord(access, { base: words.base, offset: words.offset + 8 * cell }, data);
      }
      return;
    }
    const wordAt = bind(body, 'i32', words.base);
    const end = bind(body, 'i32', words.base, i32(8 * cells), 'i32.add');
    const again = body.loop();
    this.#touchWord(access, { base: wordAt, offset: words.offset }, data);
    append(body, wordAt, i32(8), 'i32.add');
    body.tee(wordAt.index);
    append(body, end, 'i32.ne');
    body.brIf(again);
    body.end();
  }

  /** The next state: by access, by how the last access relates to this one, by the last state. */
  #touchWord(access: Access, words: Linear, data: Linear): void {
    const body = this.#body;
    append(body, words.base);
    body.memory('i64.load', words.offset);
    const last = bind(body, 'i64');
    // The highest bit in which the words differ says what is between the accesses.
    const difference = bind(body, 'i64', last, this.#stamp!, 'i64.xor');
    append(body, difference, 'i64.clz', 'i32.wrap_i64');
    body.memory('i32.load8_u', levelTable);
    if (this.#plan.hasWarpBarriers) {
      // The count of another warp's barriers says nothing.
      const level = bind(body, 'i32');
      append(body, i32(levels.block), level, level, i32(levels.warpBarrier), 'i32.eq');
      append(body, difference, 'i32.wrap_i64', i32(31 << (shadowFields.thread.shift + 5)), 'i32.and', i32(0), 'i32.ne');
      append(body, 'i32.and', 'select');
    }
    append(body, last, 'i32.wrap_i64', i32(31), 'i32.and', 'i32.add');
    body.memory('i32.load8_u', transitionTable + 256 * accessKind(access));
    const next = bind(body, 'i32');
    append(body, words.base, this.#stamp!, next, 'i64.extend_i32_u', 'i64.or');
    body.memory('i64.store', words.offset);
    append(body, next, i32(raceState), 'i32.gt_u');
    body.if();
    append(body, this.#frame, i32(access.index), data.base, i32(data.offset), 'i32.add');
    append(body, words.base, i32(words.offset), 'i32.add', this.#thread, last, call(this.#function('report')));
    body.end();
  }
}
