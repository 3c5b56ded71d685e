/** Checks the invariants that readers of a kernel rely on. */
import { invariant } from '../../../src/base/assert.ts';
import type { ValueType } from '../../../src/isa/model/operation.ts';
import { dominates } from '../../../src/ir/form/dominators.ts';
import { operandType, terminatorTargets } from '../../../src/ir/form/draft.ts';
import type { Block, Kernel, Operand } from '../../../src/ir/form/kernel.ts';

/**
 * Verifies a kernel: edges agree with terminators, blocks are in reverse postorder and reachable, definitions dominate
 * uses, phis have one input an edge, operands have the types of their operations, loops match the control flow.
 *
 * @throws InvariantError if one does not hold
 */
export function verifyKernel(kernel: Kernel): void {
  verifyEdges(kernel);
  verifyDefinitions(kernel);
  const types = kernel.values.map((value) => value.type);
  for (const block of kernel.blocks) verifyBlock(kernel, types, block);
  verifyLoops(kernel);
}

function verifyEdges(kernel: Kernel): void {
  const { blocks } = kernel;
  invariant(blocks.length > 0 && blocks[0]!.predecessors.length === 0, 'the entry has predecessors');
  blocks.forEach((block, index) => {
    invariant(block.id === index, `block ${index} has id ${block.id}`);
    const targets = terminatorTargets(block.terminator);
    invariant(
      targets.length === block.successors.length && targets.every((target, i) => target === block.successors[i]),
      `b${index}: successors differ from the terminator`,
    );
    for (const target of targets) {
      invariant(blocks[target]?.predecessors.includes(block.id), `b${index}: b${target} does not know it`);
    }
    invariant(new Set(block.predecessors).size === block.predecessors.length, `b${index}: repeated predecessor`);
    for (const source of block.predecessors) {
      invariant(blocks[source]?.successors.includes(block.id), `b${index}: b${source} does not lead there`);
    }
    const dominator = kernel.dominators[index]!;
    invariant(index === 0 ? dominator === 0 : dominator < index, `b${index}: not in reverse postorder`);
    const postdominator = kernel.postdominators[index];
    invariant(postdominator === null || blocks[postdominator!], `b${index}: no such postdominator`);
    // In reverse postorder some predecessor comes before its successor, and so all blocks are reachable.
    invariant(index === 0 || block.predecessors.some((source) => source < index), `b${index}: unreachable`);
  });
}

function verifyDefinitions(kernel: Kernel): void {
  kernel.values.forEach(({ definition }, id) => {
    const block = kernel.blocks[definition.block];
    const found =
      definition.kind === 'phi'
        ? block?.phis[definition.index]?.result === id
        : definition.instruction.results[definition.result] === id && block?.instructions.includes(definition.instruction);
    invariant(found, `v${id}: defined elsewhere`);
  });
}

function verifyBlock(kernel: Kernel, types: readonly ValueType[], block: Block): void {
  const where = `b${block.id}`;
  const place = new Map(block.instructions.map((instruction, index) => [instruction, index]));
  /** `position` is the index of the using instruction; phi inputs are used at the end of their predecessor. */
  const verifyUse = (operand: Operand, in_: number, position: number): void => {
    if (operand.kind === 'address') invariant(kernel.objects[operand.object], `${where}: no such object`);
    if (operand.kind !== 'value') return;
    const definition = kernel.values[operand.id]?.definition;
    invariant(definition, `${where}: v${operand.id} has no definition`);
    if (definition.block !== in_) {
      invariant(dominates(kernel.dominators, definition.block, in_), `${where}: v${operand.id} does not dominate its use`);
    } else if (definition.kind === 'instruction' && in_ === block.id) {
      invariant((place.get(definition.instruction) ?? -1) < position, `${where}: v${operand.id} is used before it is defined`);
    }
  };
  for (const phi of block.phis) {
    invariant(phi.inputs.length === block.predecessors.length, `${where}: v${phi.result} has another number of inputs`);
    phi.inputs.forEach((input, index) => {
      verifyUse(input, block.predecessors[index]!, Infinity);
      invariant(operandType(types, input) === types[phi.result], `${where}: v${phi.result} has an input of another type`);
    });
  }
  block.instructions.forEach((instruction, index) => {
    const { operation, results, arguments: operands } = instruction;
    const name = `${where}: ${operation.mnemonic}`;
    invariant(results.length === operation.results.length, `${name}: number of results`);
    invariant(operands.length === operation.sources.length, `${name}: number of arguments`);
    results.forEach((result, i) => {
      invariant(result === null || types[result] === operation.results[i], `${name}: type of result ${i}`);
    });
    operands.forEach((operand, i) => {
      verifyUse(operand, block.id, index);
      invariant(operandType(types, operand) === operation.sources[i], `${name}: type of argument ${i}`);
    });
  });
  const { terminator } = block;
  if (terminator.kind === 'branch') {
    verifyUse(terminator.condition, block.id, Infinity);
    invariant(operandType(types, terminator.condition) === 'predicate', `${where}: condition is not a predicate`);
  } else if (terminator.kind === 'switch') {
    verifyUse(terminator.index, block.id, Infinity);
    invariant(operandType(types, terminator.index) === 32, `${where}: index is not 32 bits wide`);
  }
}

function verifyLoops(kernel: Kernel): void {
  kernel.loops.forEach((loop, index) => {
    invariant(loop.id === index && (loop.parent === null || loop.parent < index), `loop ${index}: order`);
    invariant(loop.blocks.has(loop.header), `loop ${index}: header outside`);
    for (const block of loop.blocks) {
      invariant(dominates(kernel.dominators, loop.header, block), `loop ${index}: b${block} entered past the header`);
    }
    for (const { from, to } of loop.exits) invariant(loop.blocks.has(from) && !loop.blocks.has(to), `loop ${index}: exit`);
  });
  kernel.loopOf.forEach((loop, block) => {
    invariant(loop === null || kernel.loops[loop]?.blocks.has(kernel.blocks[block]!.id), `b${block}: not in its loop`);
  });
}
