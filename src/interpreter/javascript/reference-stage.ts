/**
 * A program whose segments are interpreted: each instruction's rule is applied to bigints by the reference domain. It
 * has the same segments, registers and suspensions as the staged one and makes the same calls of the host, so that a
 * run of either does the same.
 */
import { hasPlainAccesses } from '../../isa/model/effect.ts';
import { executionOf } from '../core/runtime-instruction.ts';
import type { BlockId, Instruction, Operand, SpecialRegister, Terminator, ValueId } from '../../ir/form/kernel.ts';
import type { Effect, ValueType } from '../../isa/model/operation.ts';
import { type MemoryAccess, type Segment, iterationAt } from '../core/program.ts';
import type { CompiledProgram, SegmentCode } from './stage.ts';
import type { StagedRuntime } from './staged-runtime.ts';
import type { Thread } from '../core/thread.ts';
import { invariant } from '../../base/assert.ts';
import { localWindow, sharedWindow } from '../../isa/model/address-window.ts';
import { referenceDomain } from '../../isa/arithmetic/reference-domain.ts';
import { workspaceWord } from '../core/global-memory.ts';
import { exited, suspended } from './stage.ts';

/** A value: an unsigned bit pattern or a boolean. */
type Value = bigint | boolean;

/** The same program, with segments interpreted by the reference. */
export function referenceProgram(program: CompiledProgram): CompiledProgram {
  return { ...program, code: program.segments.map((segment) => interpretSegment(program, segment)) };
}

/** Registers have the representation of staged code: up to 32 bits a number, 32 signed. */
function fromRegister(type: ValueType, register: unknown): Value {
  if (type === 'predicate') return register as boolean;
  return BigInt.asUintN(type, BigInt(register as number | bigint));
}

function toRegister(type: ValueType, value: Value): unknown {
  if (type === 'predicate' || type > 32) return value;
  return Number(type === 32 ? BigInt.asIntN(32, value as bigint) : value);
}

const specialValues: Readonly<Record<SpecialRegister, (thread: Thread, machine: StagedRuntime) => number>> = {
  'tid.x': (thread) => thread.x,
  'tid.y': (thread) => thread.y,
  'tid.z': (thread) => thread.z,
  'ntid.x': (_thread, machine) => machine.block[0],
  'ntid.y': (_thread, machine) => machine.block[1],
  'ntid.z': (_thread, machine) => machine.block[2],
  'ctaid.x': (thread) => thread.home.position[0],
  'ctaid.y': (thread) => thread.home.position[1],
  'ctaid.z': (thread) => thread.home.position[2],
  'nctaid.x': (_thread, machine) => machine.grid[0],
  'nctaid.y': (_thread, machine) => machine.grid[1],
  'nctaid.z': (_thread, machine) => machine.grid[2],
  laneid: (thread) => thread.lane,
  warpsize: () => 32,
  dynamic_smem_size: (_thread, machine) => machine.sharedBytes,
  lanemask_eq: ({ lane }) => 2 ** lane,
  lanemask_lt: ({ lane }) => 2 ** lane - 1,
  lanemask_le: ({ lane }) => 2 ** (lane + 1) - 1,
  lanemask_gt: ({ lane }) => 2 ** 32 - 2 ** (lane + 1),
  lanemask_ge: ({ lane }) => 2 ** 32 - 2 ** lane,
};

function interpretSegment(program: CompiledProgram, segment: Segment): SegmentCode {
  return (thread, registers, machine) => new Interpreter(program, segment, thread, registers, machine).run();
}

/** One thread in one segment. */
class Interpreter {
  readonly #program: CompiledProgram;
  readonly #segment: Segment;
  readonly #thread: Thread;
  readonly #registers: unknown[];
  readonly #machine: StagedRuntime;
  /** Values that the segment has computed. */
  readonly #values = new Map<ValueId, Value>();

  constructor(program: CompiledProgram, segment: Segment, thread: Thread, registers: unknown[], machine: StagedRuntime) {
    this.#program = program;
    this.#segment = segment;
    this.#thread = thread;
    this.#registers = registers;
    this.#machine = machine;
  }

  run(): number {
    const segment = this.#segment;
    for (const [index, instruction] of segment.instructions.entries()) {
      if (segment.waits && index === segment.instructions.length - 1) {
        this.#thread.operands = this.#registerSources(instruction);
        this.#thread.suspension = segment.suspension;
        return suspended;
      }
      this.#execute(instruction);
    }
    return segment.terminator ? this.#end(segment.terminator) : segment.index + 1;
  }

  #operand(operand: Operand, type: ValueType): Value {
    switch (operand.kind) {
      case 'value': {
        const { slots } = this.#program;
        const value = this.#values.get(operand.id);
        if (value !== undefined) return value;
        invariant(slots[operand.id] !== -1, `value ${operand.id} is used before it is defined`);
        return fromRegister(type, this.#registers[slots[operand.id]!]);
      }
      case 'constant':
        return type === 'predicate' ? operand.value !== 0n : BigInt.asUintN(type, operand.value);
      case 'undefined':
        return type === 'predicate' ? false : 0n;
      case 'special':
        return BigInt.asUintN(type === 'predicate' ? 32 : type, BigInt(specialValues[operand.register](this.#thread, this.#machine)));
      case 'address': {
        const { kernel, layout } = this.#program;
        const { space } = kernel.objects[operand.object]!;
        const windows: Readonly<Record<string, bigint>> = { shared: sharedWindow, local: localWindow };
        const window = operand.generic ? (windows[space] ?? 0n) : 0n;
        const address = BigInt(layout.addresses[operand.object]!) + window + operand.offset;
        return BigInt.asUintN(type === 'predicate' ? 64 : type, address);
      }
    }
  }

  #sources(instruction: Instruction): readonly Value[] {
    return instruction.arguments.map((operand, index) => this.#operand(operand, instruction.operation.sources[index]!));
  }

  /** The sources in the representation of registers, for operations of the runtime. */
  #registerSources(instruction: Instruction): readonly unknown[] {
    return this.#sources(instruction).map((value, index) => toRegister(instruction.operation.sources[index]!, value));
  }

  #foreign(instruction: Instruction): void {
    const results = this.#machine.foreign(this.#thread, instruction.id, this.#registerSources(instruction));
    this.#define(
      instruction,
      instruction.operation.results.map((type, index) =>
        // A result that the PTX discards is not read by any instruction.
        instruction.results[index] === null ? false : fromRegister(type, results[index]),
      ),
    );
  }

  #define(instruction: Instruction, results: readonly Value[]): void {
    const { slots } = this.#program;
    for (const [index, id] of instruction.results.entries()) {
      if (id === null) continue;
      this.#values.set(id, results[index]!);
      if (slots[id] !== -1) this.#registers[slots[id]!] = toRegister(instruction.operation.results[index]!, results[index]!);
    }
  }

  #execute(instruction: Instruction): void {
    const { operation, id } = instruction;
    const { effect } = operation;
    const thread = this.#thread;
    const machine = this.#machine;
    if (instruction.marker?.name === 'assume') {
      const condition = this.#operand(instruction.arguments[0]!, operation.sources[0]!);
      if (condition === false || condition === 0n) machine.assumptionFailed(id);
      return;
    }
    switch (effect.kind) {
      case 'load':
        this.#load(instruction, effect);
        return;
      case 'store':
        this.#store(instruction, effect);
        return;
      case 'atomic':
        this.#atomic(instruction, effect);
        return;
      case 'copy':
        if (!hasPlainAccesses(effect)) break;
        this.#copy(instruction, effect.bytes);
        return;
      default:
    }
    switch (executionOf(operation)) {
      case 'compute':
        this.#define(instruction, operation.evaluate!<bigint, boolean>(referenceDomain, this.#sources(instruction)));
        return;
      case 'event':
        machine.event(thread, id);
        return;
      case 'runtime':
        this.#foreign(instruction);
        return;
      case 'unknown': {
        const { kernel, layout } = this.#program;
        const known = workspaceWord(kernel, instruction, layout.addresses);
        if (known === null) machine.havocExecuted(id);
        this.#define(instruction, known === null ? this.#unknownResults(instruction) : [known]);
        return;
      }
      case 'unsupported':
        this.#unknownOperation(instruction);
    }
  }

  #unknownOperation(instruction: Instruction): void {
    this.#machine.unknownOperation(this.#thread, instruction.id, instruction.operation.mnemonic);
    this.#define(instruction, this.#unknownResults(instruction));
  }

  #unknownResults(instruction: Instruction): readonly Value[] {
    return instruction.operation.results.map((type, index) => {
      const pattern = this.#machine.unknownValue(this.#thread, instruction.id, index);
      return type === 'predicate' ? (pattern & 1n) === 1n : BigInt.asUintN(type, pattern);
    });
  }

  /** The access of an instruction; `index` counts those of one that has several. */
  #access(instruction: Instruction, index = 0): MemoryAccess {
    const { accesses, firstAccess } = this.#program;
    return accesses[firstAccess.get(instruction)! + index]!;
  }

  /** The address in operand `index`, displaced, as a number. */
  #address(instruction: Instruction, index: number, offset: bigint): number {
    const operand = instruction.arguments[index]!;
    const width = operand.kind === 'address' ? 64 : (instruction.operation.sources[index] as 32 | 64);
    const base = this.#operand(operand, operand.kind === 'address' ? 64 : width) as bigint;
    return Number(BigInt.asUintN(width, base + offset));
  }

  #loadBytes(offset: number, bytes: number): bigint {
    const { page, at } = this.#machine;
    let pattern = 0n;
    for (let byte = bytes - 1; byte >= 0; byte--) pattern = (pattern << 8n) | BigInt(page.u8[at + offset + byte]!);
    return pattern;
  }

  #load(instruction: Instruction, effect: Effect & { kind: 'load' }): void {
    const address = this.#address(instruction, 0, instruction.offset);
    this.#machine.read(this.#thread, this.#access(instruction), address);
    const results = instruction.operation.results.map((type, lane): Value => {
      const loaded = this.#loadBytes(lane * effect.bytes, effect.bytes);
      if (type === 'predicate') return false;
      return BigInt.asUintN(type, effect.extend === 'sign' ? BigInt.asIntN(8 * effect.bytes, loaded) : loaded);
    });
    this.#define(instruction, results);
  }

  #store(instruction: Instruction, effect: Effect & { kind: 'store' }): void {
    const access = this.#access(instruction);
    const [, ...values] = this.#sources(instruction);
    this.#machine.write(this.#thread, access, this.#address(instruction, 0, instruction.offset));
    const { page, at } = this.#machine;
    for (const [lane, value] of values.slice(0, effect.lanes).entries()) {
      for (let byte = 0; byte < effect.bytes; byte++) {
        page.u8[at + lane * effect.bytes + byte] = Number(((value as bigint) >> BigInt(8 * byte)) & 0xffn);
      }
    }
    this.#machine.wrote(this.#thread, access);
  }

  #atomic(instruction: Instruction, effect: Effect & { kind: 'atomic' }): void {
    const [, ...values] = this.#sources(instruction) as readonly bigint[];
    const address = this.#address(instruction, 0, instruction.offset);
    const olds = Array.from({ length: effect.lanes }, (_, lane) => {
      const access = this.#access(instruction, lane);
      const second = effect.operation === 'cas' ? values[effect.lanes + lane] : undefined;
      const at = address + lane * effect.bytes;
      return second === undefined
        ? this.#machine.atomic(this.#thread, access, at, values[lane]!)
        : this.#machine.atomic(this.#thread, access, at, values[lane]!, second);
    });
    if (effect.returns) this.#define(instruction, olds);
  }

  #copy(instruction: Instruction, bytes: number): void {
    const limit = this.#sources(instruction)[3];
    const limitType = instruction.operation.sources[3];
    let count = bytes;
    // A third integer is the bytes to read; a predicate disables the read. A policy has 64 bits.
    if (limitType === 32) count = Math.min(bytes, Number(limit));
    if (limitType === 'predicate' && limit === true) count = 0;
    const to = this.#address(instruction, 0, instruction.offset);
    const from = this.#address(instruction, 1, 0n);
    this.#machine.copy(this.#thread, this.#access(instruction), this.#access(instruction, 1), to, from, count);
  }

  /**
   * Continues at a block: assigns its phis, and notes whether the thread leaves the part of the kernel from which
   * barriers are reachable.
   */
  #follow(target: BlockId): number {
    const { kernel, slots, entries, reachesBarrier } = this.#program;
    const segment = this.#segment;
    const block = kernel.blocks[target]!;
    const from = block.predecessors.indexOf(segment.block);
    invariant(from >= 0, `block ${target} lacks its predecessor ${segment.block}`);
    const values = block.phis.map((phi) => this.#operand(phi.inputs[from]!, kernel.values[phi.result]!.type));
    for (const [index, phi] of block.phis.entries()) {
      this.#registers[slots[phi.result]!] = toRegister(kernel.values[phi.result]!.type, values[index]!);
    }
    if (reachesBarrier[segment.block] && !reachesBarrier[target]) this.#thread.left = segment.block;
    const round = iterationAt(this.#program, segment.block, target);
    if (round) this.#thread.rounds[round.index] = round.isNext ? this.#thread.rounds[round.index]! + 1 : 0;
    return entries[target]!;
  }

  #end(terminator: Terminator): number {
    switch (terminator.kind) {
      case 'jump':
        return this.#follow(terminator.target);
      case 'branch':
        return this.#follow(this.#operand(terminator.condition, 'predicate') === true ? terminator.then : terminator.otherwise);
      case 'switch': {
        const target = terminator.targets[Number(this.#operand(terminator.index, 32))];
        if (target !== undefined) return this.#follow(target);
        return this.#machine.unknownControl(this.#thread, 'index of brx.idx out of range');
      }
      case 'exit':
        return exited;
      case 'trap':
        return this.#machine.trap(this.#thread);
      case 'unknown':
        return this.#machine.unknownControl(this.#thread, terminator.reason);
    }
  }
}
