/**
 * Turns a kernel into JavaScript functions, one for each segment: a part of a basic block up to the next instruction at
 * which threads wait for each other. Values that another segment reads are stored in the thread's registers.
 */
import { hasPlainAccesses } from '../../isa/model/effect.ts';
import { executionOf } from '../core/runtime-instruction.ts';
import type { BlockId, Instruction, Kernel, Operand, Terminator, ValueId } from '../../ir/form/kernel.ts';
import type { FloatOperation, Width } from '../../isa/model/domain.ts';
import type { Effect, ValueType } from '../../isa/model/operation.ts';
import type { Layout } from '../core/global-memory.ts';
import type { FloatRuntime } from './float-runtime.ts';
import type { MemoryAccess, Program, Segment, WatchedProgram, Suspension as BaseSuspension } from '../core/program.ts';
import type { StagedRuntime } from './staged-runtime.ts';
import type { Thread } from '../core/thread.ts';
import type { JavaScript } from './staged-domain.ts';
import { invariant } from '../../base/assert.ts';
import { localWindow, sharedWindow } from '../../isa/model/address-window.ts';
import { createFloatRuntime, fastFloat } from './float-runtime.ts';
import { workspaceWord } from '../core/global-memory.ts';
import { programOf, iterationAt } from '../core/program.ts';
import { fromPattern, literal, stagedDomain, toPattern } from './staged-domain.ts';

/** An instruction at which a thread waits; its sources are in `thread.operands`. */
interface Suspension extends BaseSuspension {
  /** Registers of the results; -1 if no instruction reads one. */
  readonly slots: readonly number[];
}

/** Gives the next segment, or a {@link Signal}. */
export type SegmentCode = (thread: Thread, registers: unknown[], machine: StagedRuntime) => number;

/** The thread waits at `thread.suspension`, or has exited. */
export const suspended = -1;
export const exited = -2;

/** A program with code, and registers for values that are live across segments. */
export interface CompiledProgram extends WatchedProgram {
  readonly code: readonly SegmentCode[];
  readonly suspensions: readonly Suspension[];
  readonly registers: number;
}

const programs = new WeakMap<Program, CompiledProgram>();

/**
 * The program of a kernel with staged code, cached.
 * @param singly each instruction is a separate segment and all values have registers, so that a run can be observed
 */
export function stage(kernel: Kernel, singly = false): CompiledProgram {
  const base = programOf(kernel, singly);
  let program = programs.get(base);
  if (!program) {
    program = stageProgram(base, singly);
    programs.set(base, program);
  }
  return program;
}

/** Assigns registers to the values that are used outside of the segment that defines them. */
function assignRegisters(kernel: Kernel, segments: readonly Segment[], singly: boolean): { slots: Int32Array; count: number } {
  const home = new Int32Array(kernel.values.length).fill(-1);
  const slots = new Int32Array(kernel.values.length).fill(-1);
  let count = 0;
  const keep = (value: ValueId): void => {
    if (slots[value] === -1) slots[value] = count++;
  };
  for (const segment of segments) {
    for (const [index, instruction] of segment.instructions.entries()) {
      if (singly) for (const result of instruction.results) if (result !== null) keep(result);
      if (segment.waits && index === segment.instructions.length - 1) continue;
      for (const result of instruction.results) if (result !== null) home[result] = segment.index;
    }
  }
  const use = (operand: Operand, segment: number): void => {
    if (operand.kind === 'value' && home[operand.id] !== segment) keep(operand.id);
  };
  const last = new Map<BlockId, number>();
  for (const segment of segments) {
    last.set(segment.block, segment.index);
    for (const instruction of segment.instructions) {
      for (const operand of instruction.arguments) use(operand, segment.index);
    }
    if (segment.terminator?.kind === 'branch') use(segment.terminator.condition, segment.index);
    if (segment.terminator?.kind === 'switch') use(segment.terminator.index, segment.index);
  }
  for (const block of kernel.blocks) {
    for (const phi of block.phis) {
      keep(phi.result);
      for (const [index, input] of phi.inputs.entries()) use(input, last.get(block.predecessors[index]!)!);
    }
  }
  return { slots, count };
}

function stageProgram(base: Program, singly: boolean): CompiledProgram {
  const { kernel, segments, accesses } = base;
  const { slots, count } = assignRegisters(kernel, segments, singly);
  const floatOperations: FloatOperation[] = [];
  const functions = segments.map((segment) => stageSegment({ base, slots, floatOperations }, segment));
  // Only numbers and quoted strings of the input are inserted into the text.
  const create = new Function('A', 'F', `'use strict';\nreturn [\n${functions.join(',\n')}\n];`) as (
    accesses: readonly MemoryAccess[],
    floats: FloatRuntime,
  ) => SegmentCode[];
  return {
    ...base,
    code: create(accesses, createFloatRuntime(floatOperations)),
    lengths: Int32Array.from(segments, (segment) => segment.length),
    blockOf: segments.map((segment) => segment.block),
    slots,
    suspensions: base.suspensions.map((suspension) => ({
      ...suspension,
      slots: suspension.instruction.results.map((id) => (id === null ? -1 : slots[id]!)),
    })),
    registers: count,
  };
}

interface StagedProgram {
  readonly base: Program;
  /** Register by value, or -1. */
  readonly slots: Int32Array;
  readonly floatOperations: FloatOperation[];
}

const specialCode: Readonly<Record<string, JavaScript>> = {
  'tid.x': 't.x',
  'tid.y': 't.y',
  'tid.z': 't.z',
  'ntid.x': 'm.block[0]',
  'ntid.y': 'm.block[1]',
  'ntid.z': 'm.block[2]',
  'ctaid.x': 't.home.position[0]',
  'ctaid.y': 't.home.position[1]',
  'ctaid.z': 't.home.position[2]',
  'nctaid.x': 'm.grid[0] | 0',
  'nctaid.y': 'm.grid[1]',
  'nctaid.z': 'm.grid[2]',
  laneid: 't.lane',
  warpsize: '32',
  dynamic_smem_size: 'm.sharedBytes',
  lanemask_eq: '(1 << t.lane)',
  lanemask_lt: '(1 << t.lane) - 1 | 0',
  lanemask_le: '(2 << t.lane) - 1 | 0',
  lanemask_gt: '~((2 << t.lane) - 1)',
  lanemask_ge: '~((1 << t.lane) - 1)',
};

function stageSegment({ base, slots, floatOperations }: StagedProgram, segment: Segment): JavaScript {
  const { kernel, layout } = base;
  const lines: JavaScript[] = [];
  const known = new Map<ValueId, JavaScript>();
  let temporaries = 0;
  const bind = (expression: JavaScript): JavaScript => {
    const name = `t${temporaries++}`;
    lines.push(`const ${name} = ${expression};`);
    return name;
  };
  const domain = stagedDomain({
    bind,
    fastFloat,
    floatOperation: (operation) => floatOperations.push(operation) - 1,
  });

  const value = (id: ValueId): JavaScript => {
    let name = known.get(id);
    if (name === undefined) {
      invariant(slots[id] !== -1, `value ${id} is used before it is defined`);
      name = bind(`R[${slots[id]}]`);
      known.set(id, name);
    }
    return name;
  };

  const operandCode = (operand: Operand, type: ValueType): JavaScript => {
    switch (operand.kind) {
      case 'value':
        return value(operand.id);
      case 'constant':
        return type === 'predicate' ? String(operand.value !== 0n) : literal(type, operand.value);
      case 'undefined':
        return type === 'predicate' ? 'false' : literal(type, 0n);
      case 'special': {
        const code = bind(specialCode[operand.register]!);
        if (type === 'predicate' || type === 32) return code;
        return type < 32 ? domain.truncate(32, type, code) : domain.zeroExtend(32, type, code);
      }
      case 'address':
        return literal(type === 'predicate' ? 64 : type, addressOf(kernel, layout, operand));
    }
  };

  /** The address of an access as a number. */
  const addressCode = (operand: Operand, width: ValueType, offset: bigint): JavaScript => {
    if (operand.kind === 'address') {
      return String(BigInt.asUintN(64, addressOf(kernel, layout, operand) + offset));
    }
    const base = operandCode(operand, width);
    if (width === 32) return `(${base} + ${BigInt.asIntN(32, offset)}) >>> 0`;
    return offset === 0n ? `Number(${base})` : `Number(BigInt.asUintN(64, ${base} + ${offset}n))`;
  };

  const define = (instruction: Instruction, results: readonly JavaScript[]): void => {
    for (const [index, id] of instruction.results.entries()) {
      if (id === null) continue;
      known.set(id, results[index]!);
      if (slots[id] !== -1) lines.push(`R[${slots[id]}] = ${results[index]};`);
    }
  };

  const sources = (instruction: Instruction): JavaScript[] =>
    instruction.arguments.map((operand, index) => operandCode(operand, instruction.operation.sources[index]!));

  /** Code that assigns unknown values to the results of an instruction. */
  const unknownResults = (instruction: Instruction): JavaScript[] =>
    instruction.operation.results.map((type, index) => {
      const pattern = `m.unknownValue(t, ${instruction.id}, ${index})`;
      if (type === 'predicate') return bind(`(${pattern} & 1n) === 1n`);
      return bind(fromPattern(type, `BigInt.asUintN(${type}, ${pattern})`));
    });

  const stageInstruction = (instruction: Instruction): void => {
    const { operation, id } = instruction;
    const { effect } = operation;
    if (instruction.marker?.name === 'assume') {
      const type = operation.sources[0]!;
      const condition = operandCode(instruction.arguments[0]!, type);
      const isFalse = type === 'predicate' ? `!${condition}` : `${condition} === ${literal(type, 0n)}`;
      lines.push(`if (${isFalse}) m.assumptionFailed(${id});`);
      return;
    }
    switch (effect.kind) {
      case 'load':
        stageLoad(instruction, effect);
        return;
      case 'store':
        stageStore(instruction, effect);
        return;
      case 'atomic':
        stageAtomic(instruction, effect);
        return;
      case 'copy':
        if (!hasPlainAccesses(effect)) break;
        stageCopy(instruction, effect.bytes);
        return;
      default:
    }
    switch (executionOf(operation)) {
      case 'compute':
        define(instruction, operation.evaluate!(domain, sources(instruction)));
        return;
      case 'event':
        lines.push(`m.event(t, ${id});`);
        return;
      case 'runtime':
        stageForeign(instruction);
        return;
      case 'unknown': {
        const known = workspaceWord(kernel, instruction, layout.addresses);
        if (known === null) lines.push(`m.havocExecuted(${id});`);
        define(instruction, known === null ? unknownResults(instruction) : [literal(32, known)]);
        return;
      }
      case 'unsupported':
        define(instruction, unknownOperation(instruction));
    }
  };

  const stageForeign = (instruction: Instruction): void => {
    const results = bind(`m.foreign(t, ${instruction.id}, [${sources(instruction).join(', ')}])`);
    define(
      instruction,
      instruction.results.map((_, index) => bind(`${results}[${index}]`)),
    );
  };

  /** The access of an instruction; `index` counts those of one that has several. */
  const accessCode = (instruction: Instruction, index = 0): JavaScript => `A[${base.firstAccess.get(instruction)! + index}]`;

  const unknownOperation = (instruction: Instruction): JavaScript[] => {
    lines.push(`m.unknownOperation(t, ${instruction.id}, ${JSON.stringify(instruction.operation.mnemonic)});`);
    return unknownResults(instruction);
  };

  const stageLoad = (instruction: Instruction, effect: Effect & { kind: 'load' }): void => {
    const { operation, offset } = instruction;
    const access = accessCode(instruction);
    const address = addressCode(instruction.arguments[0]!, operation.sources[0]!, offset);
    lines.push(`m.read(t, ${access}, ${address});`);
    define(
      instruction,
      operation.results.map((type, lane) => {
        const narrow = (8 * effect.bytes) as Width;
        const loaded = bind(laneCode(effect.bytes, lane));
        if (type === 'predicate') return 'false';
        return effect.extend === 'sign' ? domain.signExtend(narrow, type, loaded) : domain.zeroExtend(narrow, type, loaded);
      }),
    );
  };

  const stageStore = (instruction: Instruction, effect: Effect & { kind: 'store' }): void => {
    const { operation, offset } = instruction;
    const access = accessCode(instruction);
    const [, ...values] = instruction.arguments;
    const narrow = (8 * effect.bytes) as Width;
    const lanes = values.slice(0, effect.lanes).map((operand, lane) => {
      const type = operation.sources[lane + 1]! as Width;
      return domain.truncate(type, narrow, operandCode(operand, type));
    });
    const address = addressCode(instruction.arguments[0]!, operation.sources[0]!, offset);
    lines.push(`m.write(t, ${access}, ${address});`);
    for (const [lane, code] of lanes.entries()) lines.push(...storeCode(effect.bytes, lane, code));
    lines.push(`m.wrote(t, ${access});`);
  };

  const stageAtomic = (instruction: Instruction, effect: Effect & { kind: 'atomic' }): void => {
    const { operation, offset } = instruction;
    const width = (8 * effect.bytes) as Width;
    const [, ...values] = instruction.arguments;
    const patterns = values.map((operand, index) => {
      const type = operation.sources[index + 1]! as Width;
      return toPattern(type, operandCode(operand, type));
    });
    const address = bind(addressCode(instruction.arguments[0]!, operation.sources[0]!, offset));
    const olds: JavaScript[] = [];
    for (let lane = 0; lane < effect.lanes; lane++) {
      const access = accessCode(instruction, lane);
      const lanePatterns = [patterns[lane]!, ...(effect.operation === 'cas' ? [patterns[effect.lanes + lane]!] : [])];
      const at = lane === 0 ? address : `${address} + ${lane * effect.bytes}`;
      const old = `m.atomic(t, ${access}, ${at}, ${lanePatterns.join(', ')})`;
      if (effect.returns) olds.push(bind(fromPattern(width, old)));
      else lines.push(`${old};`);
    }
    define(instruction, olds);
  };

  const stageCopy = (instruction: Instruction, bytes: number): void => {
    const { operation, offset } = instruction;
    const write = accessCode(instruction);
    const read = accessCode(instruction, 1);
    const [to, from, , limit] = instruction.arguments;
    const limitType = operation.sources[3];
    let count: JavaScript = String(bytes);
    // A third integer is the bytes to read; a predicate disables the read. A policy has 64 bits.
    if (limit && limitType === 32) count = `Math.min(${bytes}, ${operandCode(limit, 32)} >>> 0)`;
    if (limit && limitType === 'predicate') count = `(${operandCode(limit, 'predicate')} ? 0 : ${bytes})`;
    const target = addressCode(to!, operation.sources[0]!, offset);
    const source = addressCode(from!, operation.sources[1]!, 0n);
    lines.push(`m.copy(t, ${write}, ${read}, ${target}, ${source}, ${count});`);
  };

  const stageSuspension = (instruction: Instruction): void => {
    const operands = sources(instruction);
    lines.push(`t.operands = [${operands.join(', ')}];`);
    lines.push(`t.suspension = ${segment.suspension};`, `return ${suspended};`);
  };

  /**
   * Code that continues at `target`: assigns its phis, and notes whether the thread leaves the part of the kernel from
   * which barriers are reachable.
   */
  const edge = (target: BlockId): JavaScript => {
    const block = kernel.blocks[target]!;
    const from = block.predecessors.indexOf(segment.block);
    invariant(from >= 0, `block ${target} lacks its predecessor ${segment.block}`);
    const moves = block.phis.map((phi) => {
      const { type } = kernel.values[phi.result]!;
      return `R[${slots[phi.result]}] = ${operandCode(phi.inputs[from]!, type)};`;
    });
    const leaves = base.reachesBarrier[segment.block] && !base.reachesBarrier[target];
    const round = iterationAt(base, segment.block, target);
    const count = round ? `t.rounds[${round.index}] ${round.isNext ? '+= 1' : '= 0'}; ` : '';
    return `${leaves ? `t.left = ${segment.block}; ` : ''}${count}${moves.join(' ')} return ${base.entries[target]};`;
  };

  const stageTerminator = (terminator: Terminator): void => {
    switch (terminator.kind) {
      case 'jump':
        lines.push(edge(terminator.target));
        return;
      case 'branch': {
        const condition = operandCode(terminator.condition, 'predicate');
        const then = edge(terminator.then);
        const otherwise = edge(terminator.otherwise);
        lines.push(`if (${condition}) { ${then} }`, otherwise);
        return;
      }
      case 'switch': {
        const index = operandCode(terminator.index, 32);
        const cases = terminator.targets.map((target, at) => `case ${at}: ${edge(target)}`);
        lines.push(`switch (${index}) { ${cases.join(' ')} }`, `return m.unknownControl(t, 'index of brx.idx out of range');`);
        return;
      }
      case 'exit':
        lines.push(`return ${exited};`);
        return;
      case 'trap':
        lines.push('return m.trap(t);');
        return;
      case 'unknown':
        lines.push(`return m.unknownControl(t, ${JSON.stringify(terminator.reason)});`);
    }
  };

  for (const [index, instruction] of segment.instructions.entries()) {
    if (segment.waits && index === segment.instructions.length - 1) stageSuspension(instruction);
    else stageInstruction(instruction);
  }
  if (segment.terminator) stageTerminator(segment.terminator);
  else if (!segment.waits) lines.push(`return ${segment.index + 1};`);
  return `(t, R, m) => {\n${lines.join('\n')}\n}`;
}

/** The value of an address operand. */
function addressOf(kernel: Kernel, layout: Layout, operand: Operand & { kind: 'address' }): bigint {
  const { space } = kernel.objects[operand.object]!;
  const window = !operand.generic ? 0n : space === 'shared' ? sharedWindow : space === 'local' ? localWindow : 0n;
  return BigInt.asUintN(64, BigInt(layout.addresses[operand.object]!) + window + operand.offset);
}

/** The lane of the access that `m.read` located. */
function laneCode(bytes: number, lane: number): JavaScript {
  switch (bytes) {
    case 1:
      return `m.page.u8[m.at + ${lane}]`;
    case 2:
      return `m.page.u16[(m.at >> 1) + ${lane}]`;
    case 4:
      return `m.page.i32[(m.at >> 2) + ${lane}]`;
    case 8:
      return `m.page.u64[(m.at >> 3) + ${lane}]`;
    default:
      return `m.page.u64[(m.at >> 3) + ${2 * lane}] | m.page.u64[(m.at >> 3) + ${2 * lane + 1}] << 64n`;
  }
}

function storeCode(bytes: number, lane: number, value: JavaScript): JavaScript[] {
  if (bytes < 16) return [`${laneCode(bytes, lane)} = ${value};`];
  return [`m.page.u64[(m.at >> 3) + ${2 * lane}] = ${value};`, `m.page.u64[(m.at >> 3) + ${2 * lane + 1}] = ${value} >> 64n;`];
}
