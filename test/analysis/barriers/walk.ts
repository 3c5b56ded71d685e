/**
 * One thread's path through a kernel with concrete values, to compare the symbolic values with; loads return arbitrary
 * values.
 */
import type { SymbolicKernel } from '../../../src/analysis/values/symbolic.ts';
import { undefinedValue } from '../../../src/analysis/values/symbolic.ts';
import type { Random } from '../../../src/base/random.ts';
import type { BlockId, Instruction, Kernel, Operand, ValueId } from '../../../src/ir/form/kernel.ts';
import { referenceDomain } from '../../../src/isa/arithmetic/reference-domain.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import type { Term } from '../../../src/term/term.ts';
import { randomBits } from '../../term/random-term.ts';

export type Extents = readonly [number, number, number];

export interface Setting {
  readonly thread: Extents;
  readonly block: Extents;
  readonly blockSize: Extents;
  readonly gridSize: Extents;
  /** Value of a parameter's bytes. */
  readonly parameter: (index: number, offset: number, bytes: number) => bigint;
}

/** A moment of the walk. */
export interface State {
  readonly block: BlockId;
  /** Completed iterations of each loop in its current or last execution. */
  readonly rounds: readonly number[];
  /** Pattern of a value as computed last; predicates are 0 or 1. */
  readonly value: (id: ValueId) => bigint | undefined;
  /** Value of a term at this moment. */
  readonly evaluate: (term: Term) => bigint | undefined;
}

export interface Visitor {
  /** A block's phis have been set. */
  readonly enter?: (state: State) => void;
  /** A block has been executed and reaches `to` (null: the end). */
  readonly leave?: (state: State, to: BlockId | null) => void;
}

const objectStart = 1n << 20n;

/** Walks at most `steps` blocks; returns whether the end was reached. */
export function walk(symbolic: SymbolicKernel, setting: Setting, random: Random, steps: number, visitor: Visitor): boolean {
  const { kernel } = symbolic;
  const values: (bigint | undefined)[] = [];
  const rounds: number[] = kernel.loops.map(() => 0);

  function special(register: string): bigint {
    const axis = 'xyz'.indexOf(register.slice(-1)) as 0 | 1 | 2;
    switch (register.slice(0, -2)) {
      case 'tid':
        return BigInt(setting.thread[axis]);
      case 'ctaid':
        return BigInt(setting.block[axis]);
      case 'ntid':
        return BigInt(setting.blockSize[axis]);
      case 'nctaid':
        return BigInt(setting.gridSize[axis]);
      default:
        throw new Error(`${register} is not walked`);
    }
  }

  function operand(source: Operand): bigint {
    switch (source.kind) {
      case 'value':
        return values[source.id] ?? 0n;
      case 'constant':
        return source.type === 'predicate' ? source.value : BigInt.asUintN(source.type, source.value);
      case 'address':
        return BigInt.asUintN(source.width, objectStart + source.offset);
      case 'special':
        return special(source.register);
      case 'undefined':
        return 0n;
    }
  }

  function execute(instruction: Instruction): void {
    const { operation, results } = instruction;
    if (operation.effect.kind === 'pure' && operation.evaluate) {
      const inputs = instruction.arguments.map((source, i) =>
        operation.sources[i] === 'predicate' ? operand(source) === 1n : operand(source),
      );
      const outputs = operation.evaluate(referenceDomain, inputs);
      results.forEach((id, i) => {
        if (id !== null) values[id] = typeof outputs[i] === 'boolean' ? BigInt(outputs[i]) : (outputs[i] as bigint);
      });
      return;
    }
    results.forEach((id, lane) => {
      if (id !== null) values[id] = parameter(kernel, instruction, lane, setting) ?? anyValue(kernel, instruction, id, random);
    });
  }

  const atom = (leaf: Term): bigint | undefined => {
    const known = leaf.atom!;
    switch (known.kind) {
      case 'thread':
        return BigInt(setting.thread[known.axis]);
      case 'block':
        return BigInt(setting.block[known.axis]);
      case 'block-size':
        return BigInt(setting.blockSize[known.axis]);
      case 'grid-size':
        return BigInt(setting.gridSize[known.axis]);
      case 'parameter':
        return setting.parameter(known.index, known.offset, known.bytes);
      case 'iteration':
        return BigInt(rounds[known.loop]!);
      case 'object':
        return objectStart;
      case 'havoc':
        return known.value === undefinedValue ? 0n : values[known.value];
      case 'phi':
        throw new Error('a phi without its closed form');
      case 'line':
        throw new Error('a value that depends on the line of a matrix');
    }
  };

  let block = 0 as BlockId;
  let from: BlockId | null = null;
  for (let step = 0; step < steps; step++) {
    const { phis, instructions, terminator, predecessors } = kernel.blocks[block]!;
    if (from !== null) {
      const loop = kernel.loops.find(({ header }) => header === block);
      if (loop) rounds[loop.id] = loop.latches.includes(from) ? rounds[loop.id]! + 1 : 0;
      const edge = predecessors.indexOf(from);
      const inputs = phis.map((phi) => operand(phi.inputs[edge]!));
      phis.forEach((phi, i) => (values[phi.result] = inputs[i]!));
    }
    const state: State = {
      block,
      rounds,
      value: (id) => values[id],
      evaluate: (term) => evaluateTerm(term, atom, new Map()),
    };
    visitor.enter?.(state);
    instructions.forEach(execute);
    let to: BlockId | null = null;
    if (terminator.kind === 'jump') to = terminator.target;
    else if (terminator.kind === 'branch') to = operand(terminator.condition) === 1n ? terminator.then : terminator.otherwise;
    else if (terminator.kind === 'switch') to = terminator.targets[Number(operand(terminator.index))] ?? null;
    visitor.leave?.(state, to);
    if (to === null) return true;
    from = block;
    block = to;
  }
  return false;
}

function parameter(kernel: Kernel, instruction: Instruction, lane: number, setting: Setting): bigint | undefined {
  const { effect } = instruction.operation;
  const base = instruction.arguments[0];
  if (effect.kind !== 'load' || base?.kind !== 'address') return undefined;
  const { space, parameter: index } = kernel.objects[base.object]!;
  if (space !== 'param' || index === undefined) return undefined;
  return setting.parameter(index, Number(base.offset + instruction.offset) + lane * effect.bytes, effect.bytes);
}

function anyValue(kernel: Kernel, instruction: Instruction, id: ValueId, random: Random): bigint {
  const { type } = kernel.values[id]!;
  const { effect } = instruction.operation;
  const width = type === 'predicate' ? 1 : type;
  const bits = effect.kind === 'load' ? Math.min(width, 8 * effect.bytes) : width;
  const value = random.chance(0.5) ? BigInt(random.below(10)) : randomBits(random);
  const narrow = BigInt.asUintN(bits, value);
  return effect.kind === 'load' && effect.extend === 'sign' ? BigInt.asUintN(width, BigInt.asIntN(bits, narrow)) : narrow;
}
