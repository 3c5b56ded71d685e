/** Uses of the values of a kernel. */
import type { Kernel, Operand, ValueId } from './kernel.ts';

/** Whether any instruction, phi or branch of a kernel reads a value. */
export function isUsed({ blocks }: Kernel, id: ValueId): boolean {
  const isIt = (operand: Operand): boolean => operand.kind === 'value' && operand.id === id;
  return blocks.some(
    ({ phis, instructions, terminator }) =>
      phis.some(({ inputs }) => inputs.some(isIt)) ||
      instructions.some(({ arguments: operands }) => operands.some(isIt)) ||
      (terminator.kind === 'branch' && isIt(terminator.condition)) ||
      (terminator.kind === 'switch' && isIt(terminator.index)),
  );
}
