/** Static single assignment: phi placement at iterated dominance frontiers, then renaming down the dominator tree. */
import { dominanceFrontiers, dominatorChildren, immediateDominators } from './form/dominators.ts';
import type { Draft, DraftBlock } from './form/draft.ts';
import { newValue, valueOperand } from './form/draft.ts';
import type { Operand, Terminator } from './form/kernel.ts';

/**
 * Turns the variables from `first` on into SSA values; lower indices are values already. Variables that no block reads
 * from another get no phi; unused phis are left to dead-code removal.
 */
export function toSsa(draft: Draft, first: number): void {
  const { blocks } = draft;
  const count = draft.types.length - first;
  if (count === 0) return;
  const parents = immediateDominators(blocks);
  const variableOfPhi = placePhis(draft, first, dominanceFrontiers(blocks, parents));
  const children = dominatorChildren(parents);
  const current: (Operand | undefined)[] = new Array<Operand | undefined>(count);
  const undoVariables: number[] = [];
  const undoValues: (Operand | undefined)[] = [];

  const read = (operand: Operand): Operand => {
    if (operand.kind !== 'value' || operand.id < first || operand.id >= first + count) return operand;
    return current[operand.id - first] ?? { kind: 'undefined', type: draft.types[operand.id]! };
  };
  const write = (variable: number): number => {
    const value = newValue(draft, draft.types[variable]!, draft.registers[variable]);
    bind(variable, value);
    return value;
  };
  const bind = (variable: number, value: number): void => {
    undoVariables.push(variable - first);
    undoValues.push(current[variable - first]);
    current[variable - first] = valueOperand(value);
  };

  const renameBlock = (index: number): void => {
    const block = blocks[index]!;
    for (const phi of block.phis) {
      const variable = variableOfPhi.get(phi.result);
      if (variable !== undefined) bind(variable, phi.result);
    }
    for (const { arguments: operands, results } of block.instructions) {
      for (let i = 0; i < operands.length; i++) operands[i] = read(operands[i]!);
      for (let i = 0; i < results.length; i++) {
        const result = results[i]!;
        if (result !== null && result >= first && result < first + count) results[i] = write(result);
      }
    }
    block.terminator = withOperands(block.terminator, read);
    for (const successor of block.successors) {
      const target = blocks[successor]!;
      if (target.phis.length === 0) continue;
      const position = target.predecessors.indexOf(index);
      for (const phi of target.phis) {
        const variable = variableOfPhi.get(phi.result);
        if (variable !== undefined) phi.inputs[position] = read(valueOperand(variable));
      }
    }
  };

  // Preorder walk; a negative entry restores the bindings from before a subtree.
  const stack = [0];
  const marks: number[] = [];
  while (stack.length > 0) {
    const index = stack.pop()!;
    if (index < 0) {
      const mark = marks.pop()!;
      while (undoVariables.length > mark) current[undoVariables.pop()!] = undoValues.pop();
      continue;
    }
    marks.push(undoVariables.length);
    stack.push(-1);
    renameBlock(index);
    for (const child of children[index]!) stack.push(child);
  }
}

/** Adds empty phis where definitions join; returns the variable of each phi, by its result. */
function placePhis(draft: Draft, first: number, frontiers: readonly number[][]): Map<number, number> {
  const { blocks } = draft;
  const count = draft.types.length - first;
  const definitions: (number[] | undefined)[] = new Array<number[] | undefined>(count);
  const definedIn = new Int32Array(count).fill(-1);
  const crosses = new Uint8Array(count);
  blocks.forEach((block, index) => {
    const use = (operand: Operand): Operand => {
      const variable = operand.kind === 'value' ? operand.id - first : -1;
      if (variable >= 0 && definedIn[variable] !== index) crosses[variable] = 1;
      return operand;
    };
    for (const { arguments: operands, results } of block.instructions) {
      for (const operand of operands) use(operand);
      for (const result of results) {
        if (result === null || result < first || definedIn[result - first] === index) continue;
        definedIn[result - first] = index;
        (definitions[result - first] ??= []).push(index);
      }
    }
    withOperands(block.terminator, use);
  });

  const variableOfPhi = new Map<number, number>();
  const placed = new Int32Array(blocks.length).fill(-1);
  for (let variable = 0; variable < count; variable++) {
    const work = crosses[variable] ? definitions[variable] : undefined;
    if (!work) continue;
    while (work.length > 0) {
      for (const frontier of frontiers[work.pop()!]!) {
        if (placed[frontier] === variable) continue;
        placed[frontier] = variable;
        work.push(frontier);
        const block: DraftBlock = blocks[frontier]!;
        const result = newValue(draft, draft.types[first + variable]!, draft.registers[first + variable]);
        block.phis.push({ result, inputs: new Array<Operand>(block.predecessors.length) });
        variableOfPhi.set(result, first + variable);
      }
    }
  }
  return variableOfPhi;
}

/** The terminator with its operand replaced. */
export function withOperands(terminator: Terminator, replace: (operand: Operand) => Operand): Terminator {
  if (terminator.kind === 'branch') {
    const condition = replace(terminator.condition);
    return condition === terminator.condition ? terminator : { ...terminator, condition };
  }
  if (terminator.kind === 'switch') {
    const index = replace(terminator.index);
    return index === terminator.index ? terminator : { ...terminator, index };
  }
  return terminator;
}
