/** The finished kernel: values, instructions and objects renumbered in the order of the blocks. */
import type { ValueType } from '../isa/model/operation.ts';
import type { Location } from '../source/location.ts';
import { immediateDominators, immediatePostdominators } from './form/dominators.ts';
import type { Draft } from './form/draft.ts';
import type {
  Block,
  BlockId,
  ValueDefinition,
  Instruction,
  InstructionId,
  Kernel,
  MemoryObject,
  ObjectId,
  Operand,
  Phi,
  ValueId,
} from './form/kernel.ts';
import { findLoops } from './form/loops.ts';
import { withOperands } from './ssa.ts';
import { workspaceHigh, workspaceLow } from './form/synthetic-operation.ts';

/** The first two words of the workspace: its size, and the counter of block arrivals. */
const workspaceObject: Omit<MemoryObject, 'id'> = {
  symbol: 'workspace of the grid',
  space: 'global',
  alignment: 16,
  elementBytes: 4,
  bytes: 64,
  external: false,
};

/** Properties of a kernel other than its code. */
export type KernelHead = Pick<
  Kernel,
  'symbol' | 'location' | 'parameters' | 'requiredThreads' | 'maximumThreads' | 'requiredCluster' | 'needsCluster' | 'overlapsOthers'
>;

/**
 * Freezes an SSA draft whose blocks are in order. Keeps the objects that are parameters, or are referenced by code or
 * by initial contents of kept objects.
 */
export function freeze(draft: Draft, head: KernelHead): Kernel {
  const objectIds: (ObjectId | undefined)[] = new Array<ObjectId | undefined>(draft.objects.length);
  const objects: MemoryObject[] = [];
  const objectOf = (old: ObjectId): ObjectId => {
    let id = objectIds[old];
    if (id === undefined) {
      id = objects.length as ObjectId;
      objectIds[old] = id;
      const object = { ...draft.objects[old]!, id };
      objects.push(object);
      const addresses = object.addresses?.map((address) => ({ ...address, object: objectOf(address.object) }));
      if (addresses) objects[id] = { ...object, addresses };
    }
    return id;
  };
  for (const object of draft.objects) if (object.parameter !== undefined) objectOf(object.id);

  const valueIds: (ValueId | undefined)[] = new Array<ValueId | undefined>(draft.types.length);
  let count = 0;
  for (const block of draft.blocks) {
    for (const phi of block.phis) valueIds[phi.result] = count++ as ValueId;
    for (const { results } of block.instructions) {
      for (const result of results) if (result !== null) valueIds[result] = count++ as ValueId;
    }
  }
  const operandOf = (operand: Operand): Operand => {
    if (operand.kind === 'value') return { kind: 'value', id: valueIds[operand.id]! };
    return operand.kind === 'address' ? { ...operand, object: objectOf(operand.object) } : operand;
  };

  const values: { type: ValueType; definition: ValueDefinition; register?: string }[] = [];
  const define = (old: number, definition: ValueDefinition): void => {
    const register = draft.registers[old];
    values.push({ type: draft.types[old]!, definition, ...(register !== undefined && { register }) });
  };
  let instructionCount = 0;
  const blocks = draft.blocks.map((block, index): Block => {
    const id = index as BlockId;
    const phis = block.phis.map((phi, position): Phi => {
      define(phi.result, { kind: 'phi', block: id, index: position });
      return { result: valueIds[phi.result]!, inputs: phi.inputs.map(operandOf) };
    });
    const instructions = block.instructions.map((old): Instruction => {
      const instruction: Instruction = {
        id: instructionCount++ as InstructionId,
        operation: old.operation,
        results: old.results.map((result) => (result === null ? null : valueIds[result]!)),
        arguments: old.arguments.map(operandOf),
        offset: old.offset,
        ptxLine: old.ptxLine,
        ...(old.location && { location: old.location }),
        ...(old.marker && { marker: old.marker }),
      };
      old.results.forEach((result, position) => {
        if (result !== null) define(result, { kind: 'instruction', block: id, instruction, result: position });
      });
      return instruction;
    });
    return {
      id,
      phis,
      instructions,
      terminator: withOperands(block.terminator, operandOf),
      predecessors: block.predecessors as BlockId[],
      successors: block.successors as BlockId[],
    };
  });

  const readsWorkspace = draft.blocks.some(({ instructions }) =>
    instructions.some(({ operation }) => operation === workspaceHigh || operation === workspaceLow),
  );
  const workspace = readsWorkspace ? (objects.length as ObjectId) : null;
  if (workspace !== null) objects.push({ ...workspaceObject, id: workspace });

  const assumesLocalBounds = draft.objects.some((object) => draft.parts.has(object.id) && objectIds[object.id] !== undefined);
  const dominators = immediateDominators(draft.blocks);
  const { loops, loopOf, irreducible } = findLoops(draft.blocks, dominators);
  const unsupported = findUnsupported(blocks);
  if (irreducible !== null) {
    const [first] = blocks[irreducible]!.instructions;
    unsupported.push(reason('irreducible control flow', first ?? { ptxLine: 0 }));
  }
  return {
    ...head,
    objects,
    ...(workspace !== null && { workspace }),
    blocks,
    values,
    dominators: Array.from(dominators) as BlockId[],
    postdominators: immediatePostdominators(draft.blocks) as (BlockId | null)[],
    loops,
    loopOf,
    assumesLocalBounds,
    unsupported,
  };
}

type Reason = Kernel['unsupported'][number];

function reason(text: string, place: { readonly ptxLine: number; readonly location?: Location }): Reason {
  return { reason: text, ptxLine: place.ptxLine, ...(place.location && { location: place.location }) };
}

/** Reasons of reachable instructions with an unknown effect, each once, at its first occurrence. */
function findUnsupported(blocks: readonly Block[]): Reason[] {
  const found = new Map<string, Reason>();
  for (const { instructions, terminator } of blocks) {
    for (const instruction of instructions) {
      const { effect } = instruction.operation;
      if (effect.kind === 'opaque' && !found.has(effect.reason)) {
        found.set(effect.reason, reason(effect.reason, instruction));
      }
    }
    if (terminator.kind === 'unknown' && !found.has(terminator.reason)) {
      found.set(terminator.reason, reason(terminator.reason, terminator));
    }
  }
  return [...found.values()];
}
