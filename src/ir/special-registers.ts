/** Reads of special registers. */
import type { Kernel, Operand } from './form/kernel.ts';

/** The special registers that a kernel reads, such as `tid.x`. */
export function registersRead(kernel: Pick<Kernel, 'blocks'>): Set<string> {
  const read = new Set<string>();
  const visit = (operand: Operand): void => {
    if (operand.kind === 'special') read.add(operand.register);
  };
  for (const block of kernel.blocks) {
    for (const instruction of block.instructions) instruction.arguments.forEach(visit);
    for (const phi of block.phis) phi.inputs.forEach(visit);
    if (block.terminator.kind === 'branch') visit(block.terminator.condition);
    if (block.terminator.kind === 'switch') visit(block.terminator.index);
  }
  return read;
}
