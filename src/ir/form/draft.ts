/**
 * The mutable form of a kernel on which the passes work. Variables (registers, promoted slots) and SSA values share one
 * index space: before `toSsa` an index may be written several times, afterwards once.
 */
import type { Operation, ValueType } from '../../isa/model/operation.ts';
import type { Location } from '../../source/location.ts';
import type { MemoryObject, ObjectId, Operand, Terminator, ValueId } from './kernel.ts';
import type { Instruction } from './kernel.ts';

export interface DraftInstruction {
  readonly operation: Operation;
  readonly results: (number | null)[];
  readonly arguments: Operand[];
  offset: bigint;
  readonly ptxLine: number;
  readonly location: Location | undefined;
  readonly marker?: NonNullable<Instruction['marker']>;
}

export interface DraftPhi {
  readonly result: number;
  /** Parallel to the block's predecessors. */
  inputs: Operand[];
}

export interface DraftBlock {
  phis: DraftPhi[];
  instructions: DraftInstruction[];
  terminator: Terminator;
  predecessors: number[];
  successors: number[];
}

/** Straight code with numbered labels: the output of inlining, which the control-flow pass splits into blocks. */
export type Step =
  | { readonly kind: 'label'; readonly label: number }
  | { readonly kind: 'instruction'; readonly instruction: DraftInstruction }
  | { readonly kind: 'jump'; readonly label: number }
  /** Jumps to `label` if the condition (or its negation) holds, otherwise falls through to the next step. */
  | {
      readonly kind: 'branch';
      readonly condition: Operand;
      readonly negated: boolean;
      readonly label: number;
      readonly ptxLine: number;
      readonly location: Location | undefined;
    }
  | {
      readonly kind: 'switch';
      readonly index: Operand;
      readonly labels: readonly number[];
      readonly ptxLine: number;
      readonly location: Location | undefined;
    }
  | { readonly kind: 'end'; readonly terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'unknown' }> };

/** A kernel under construction. */
export interface Draft {
  /** Types and source registers by variable or value index. */
  readonly types: ValueType[];
  readonly registers: (string | undefined)[];
  readonly objects: MemoryObject[];
  /** Objects that are parts of a stack frame (`__local_depot`), split at the starts of its variables. */
  readonly parts: Set<ObjectId>;
  /** In reverse postorder once `orderBlocks` has run; block 0 is the entry and has no predecessors. */
  blocks: DraftBlock[];
}

/** A new variable or value of the draft. */
export function newValue(draft: Draft, type: ValueType, register?: string): number {
  draft.registers.push(register);
  return draft.types.push(type) - 1;
}

/** Adds an object to the draft and assigns it the next id. */
export function newObject(draft: Draft, object: Omit<MemoryObject, 'id'>): ObjectId {
  const id = draft.objects.length as ObjectId;
  draft.objects.push({ ...object, id });
  return id;
}

/** The operand that reads a variable or value. */
export function valueOperand(id: number): Operand {
  return { kind: 'value', id: id as ValueId };
}

/** Whether two operands denote the same value in every thread; two undefined ones of a type count as the same. */
export function sameOperand(a: Operand, b: Operand): boolean {
  if (a === b) return true;
  switch (a.kind) {
    case 'value':
      return b.kind === 'value' && a.id === b.id;
    case 'constant':
      return b.kind === 'constant' && a.value === b.value && a.type === b.type;
    case 'address':
      return b.kind === 'address' && a.object === b.object && a.offset === b.offset && a.width === b.width && a.generic === b.generic;
    case 'special':
      return b.kind === 'special' && a.register === b.register;
    case 'undefined':
      return b.kind === 'undefined' && a.type === b.type;
  }
}

/** The type of an operand; special registers are 32 bits wide. */
export function operandType(types: readonly ValueType[], operand: Operand): ValueType {
  switch (operand.kind) {
    case 'value':
      return types[operand.id] ?? 32;
    case 'constant':
    case 'undefined':
      return operand.type;
    case 'address':
      return operand.width;
    case 'special':
      return 32;
  }
}

/** The successors of a terminator, without duplicates, in order. */
export function terminatorTargets(terminator: Terminator): number[] {
  switch (terminator.kind) {
    case 'jump':
      return [terminator.target];
    case 'branch':
      return terminator.then === terminator.otherwise ? [terminator.then] : [terminator.then, terminator.otherwise];
    case 'switch':
      return [...new Set<number>(terminator.targets)];
    case 'exit':
    case 'trap':
    case 'unknown':
      return [];
  }
}
