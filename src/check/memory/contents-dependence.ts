/** Whether contents of memory decide an address or a path: a slice of the kernel, backwards from its operands. */
import type { Access } from '../../analysis/values/access.ts';
import type { BlockId, Operand, ValueId } from '../../ir/form/kernel.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';

/** Whether contents of memory decide if a thread performs an access, or its address. */
export function dependsOnContents(
  { kernel, dependences }: Pick<KernelAndLaunch & SymbolicFacts, 'kernel' | 'dependences'>,
  access: Pick<Access, 'instruction' | 'operation' | 'isCopy' | 'block'>,
): boolean {
  const values = new Set<ValueId>();
  const blocks = new Set<BlockId>();
  let isUnknown = false;
  const visit = (operand: Operand | undefined): void => {
    if (operand?.kind === 'value') values.add(operand.id);
    else if (operand?.kind === 'undefined') isUnknown = true;
  };
  const { instruction, operation, isCopy, block } = access;
  visit(instruction.arguments[isCopy && operation === 'read' ? 1 : 0]);
  // Which input of a phi a thread gets depends on the branches before.
  const visitBranches = (of: BlockId): void => {
    if (blocks.has(of)) return;
    blocks.add(of);
    for (const branch of dependences.controlling(of, null)) {
      const { terminator } = kernel.blocks[branch]!;
      if (terminator.kind === 'branch') visit(terminator.condition);
      if (terminator.kind === 'switch') visit(terminator.index);
    }
  };
  visitBranches(block);
  // A set lists what is added during the iteration, too.
  for (const id of values) {
    const { definition } = kernel.values[id]!;
    if (definition.kind === 'phi') {
      const { phis, predecessors } = kernel.blocks[definition.block]!;
      phis[definition.index]!.inputs.forEach(visit);
      predecessors.forEach(visitBranches);
      continue;
    }
    const { effect } = definition.instruction.operation;
    const isOfOperands = effect.kind === 'pure' || effect.kind === 'shuffle' || effect.kind === 'vote';
    if (isOfOperands) definition.instruction.arguments.forEach(visit);
    // Parameters are of the launch.
    else if (effect.kind !== 'load' || effect.space !== 'param') return true;
    if (isUnknown) return true;
  }
  return isUnknown;
}
