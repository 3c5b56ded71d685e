/** Registers that ptxas keeps in memory: whether what is loaded back was ever stored. */
import type { Kernel } from '../ir/form/kernel.ts';
import { accessBits, type SassInstruction, wordBits } from './instruction/decode.ts';
import { registerUse } from './instruction/operands.ts';

const stackPointer = 1;

/**
 * Loads of spilled registers, of which nothing in the kernel stores a byte. Only of kernels without local memory of
 * their own and without calls, in which each place has one address.
 */
export function unstoredSpills(
  kernel: Kernel,
  instructions: readonly SassInstruction[],
  version: number,
): SassInstruction[] {
  const usesLocal = kernel.blocks.some((block) => block.instructions.some(({ operation: { effect } }) => 'space' in effect && (effect.space === 'local' || effect.space === 'generic'))); // prettier-ignore
  const isOpen = instructions.some((one) => !one.opcode || one.opcode.kind === 'call');
  if (usesLocal || isOpen) return [];
  const accesses = instructions.filter(({ opcode }) => opcode?.space === 'local');
  const isPlain = (one: SassInstruction): boolean => (one.opcode?.mnemonic === 'LDL' || one.opcode?.mnemonic === 'STL') && wordBits(one, 24, 8) === stackPointer && wordBits(one, 91, 1) === 0; // prettier-ignore
  // The frame is made once, at the start.
  const frames = instructions.filter((one) => registerUse(one, version)?.writes.includes(stackPointer)).length;
  if (frames > 2 || !accesses.every(isPlain)) return [];
  const bytesOf = (one: SassInstruction): number[] => Array.from({ length: (accessBits(one, version) ?? 32) / 8 }, (_, byte) => wordBits(one, 40, 24) + byte); // prettier-ignore
  const stored = new Set(accesses.filter(({ opcode }) => opcode!.kind === 'store').flatMap(bytesOf));
  return accesses.filter((one) => one.opcode!.kind === 'load' && !bytesOf(one).some((byte) => stored.has(byte)));
}
