/** Values that are live after a segment, and values that are not saved because they are cheap to recompute. */
import { addBit } from '../../../base/bit-set.ts';
import type { Instruction, Kernel, Operand, SpecialRegister, ValueId } from '../../../ir/form/kernel.ts';
import type { Program, Segment } from '../../core/program.ts';
import { segmentSuccessors } from '../../core/program.ts';

export interface Liveness {
  /**
   * By segment: values that are used on some path from its start, and are defined before it or by the phis of its
   * block.
   */
  readonly liveIn: readonly (readonly ValueId[])[];
  /** By value: whether it is equal in all threads of a block, and computable at any time from only the launch. */
  readonly isUniform: Uint8Array;
}

const uniformRegisters: ReadonlySet<SpecialRegister> = new Set([
  'ntid.x',
  'ntid.y',
  'ntid.z',
  'ctaid.x',
  'ctaid.y',
  'ctaid.z',
  'nctaid.x',
  'nctaid.y',
  'nctaid.z',
  'warpsize',
  'dynamic_smem_size',
] as const);

/** The parameter read by a load from a constant offset. */
export function parameterLoad(
  kernel: Kernel,
  instruction: Instruction,
): { readonly object: Operand & { kind: 'address' }; readonly offset: number } | null {
  const { effect } = instruction.operation;
  const [address] = instruction.arguments;
  if (effect.kind !== 'load' || address?.kind !== 'address') return null;
  const object = kernel.objects[address.object]!;
  if (object.space !== 'param' || object.bytes === null) return null;
  const offset = Number(address.offset + instruction.offset);
  const bytes = effect.bytes * effect.lanes;
  if (offset < 0 || offset % bytes !== 0 || offset + bytes > object.bytes || effect.bytes > 8) return null;
  return { object: address, offset };
}

function uniformValues(kernel: Kernel): Uint8Array {
  const isUniform = new Uint8Array(kernel.values.length);
  const isKnown = (operand: Operand): boolean => {
    if (operand.kind === 'value') return isUniform[operand.id] === 1;
    return operand.kind !== 'special' || uniformRegisters.has(operand.register);
  };
  // In reverse postorder each definition but a phi's comes before its uses.
  for (const block of kernel.blocks) {
    for (const instruction of block.instructions) {
      const { effect, evaluate } = instruction.operation;
      const isPure = effect.kind === 'pure' && evaluate !== undefined && instruction.marker === undefined;
      if (!isPure && !parameterLoad(kernel, instruction)) continue;
      if (!instruction.arguments.every(isKnown)) continue;
      for (const result of instruction.results) if (result !== null) isUniform[result] = 1;
    }
  }
  return isUniform;
}

/** Sets of values, one for each segment, as rows of bits. */
class Rows {
  readonly words: number;
  readonly bits: Uint32Array;

  constructor(rows: number, columns: number) {
    this.words = (columns + 31) >>> 5;
    this.bits = new Uint32Array(rows * this.words);
  }

  add(row: number, column: number): void {
    this.bits[row * this.words + (column >>> 5)]! |= 1 << (column & 31);
  }

  has(row: number, column: number): boolean {
    return ((this.bits[row * this.words + (column >>> 5)]! >>> (column & 31)) & 1) === 1;
  }

  list(row: number): number[] {
    const columns: number[] = [];
    for (let word = 0; word < this.words; word++) {
      let rest = this.bits[row * this.words + word]!;
      while (rest !== 0) {
        const bit = 31 - Math.clz32(rest & -rest);
        columns.push(32 * word + bit);
        rest &= rest - 1;
      }
    }
    return columns;
  }
}

/** Liveness at the start of every segment. */
export function livenessOf(program: Program): Liveness {
  const { kernel, segments } = program;
  const isUniform = uniformValues(kernel);
  const used = new Rows(segments.length, kernel.values.length);
  const defined = new Rows(segments.length, kernel.values.length);
  const use = (segment: number, operand: Operand): void => {
    if (operand.kind === 'value' && !isUniform[operand.id] && !defined.has(segment, operand.id)) {
      used.add(segment, operand.id);
    }
  };
  for (const segment of segments) {
    for (const instruction of segment.instructions) {
      for (const operand of instruction.arguments) use(segment.index, operand);
      for (const result of instruction.results) if (result !== null) defined.add(segment.index, result);
    }
    const { terminator } = segment;
    if (terminator?.kind === 'branch') use(segment.index, terminator.condition);
    if (terminator?.kind === 'switch') use(segment.index, terminator.index);
  }

  const live = new Rows(segments.length, kernel.values.length);
  const { words } = live;
  live.bits.set(used.bits);
  const row = new Uint32Array(words);
  const edge = new Uint32Array(words);
  for (let changed = true; changed;) {
    changed = false;
    for (let index = segments.length - 1; index >= 0; index--) {
      const segment = segments[index]!;
      const next = segment.suspension >= 0 ? index + 1 : -1;
      for (let word = 0; word < words; word++) row[word] = next < 0 ? 0 : live.bits[next * words + word]!;
      for (const target of segmentSuccessors(program, segment)) {
        edge.set(live.bits.subarray(target * words, (target + 1) * words));
        const inputs = phiInputs(kernel, segment, segments[target]!);
        for (const { result } of inputs) edge[result >>> 5]! &= ~(1 << (result & 31));
        for (const { result, input } of inputs) {
          if (input.kind !== 'value' || isUniform[input.id] || !live.has(target, result)) continue;
          addBit(edge, input.id);
        }
        for (let word = 0; word < words; word++) row[word]! |= edge[word]!;
      }
      for (let word = 0; word < words; word++) {
        const at = index * words + word;
        const now = live.bits[at]! | (row[word]! & ~defined.bits[at]!);
        if (now >>> 0 !== live.bits[at]!) {
          live.bits[at] = now;
          changed = true;
        }
      }
    }
  }
  return { liveIn: segments.map((segment) => live.list(segment.index) as ValueId[]), isUniform };
}

/** Assignments of an edge between segments to the phis of its target. */
export function phiInputs(kernel: Kernel, from: Segment, to: Segment): readonly { readonly result: ValueId; readonly input: Operand }[] {
  const block = kernel.blocks[to.block]!;
  const edge = block.predecessors.indexOf(from.block);
  return block.phis.map((phi) => ({ result: phi.result, input: phi.inputs[edge]! }));
}
