/** Registers that ptxas spills to memory: their slots, and whether each reloaded slot was ever stored. */
import type { Kernel } from '../../ir/form/kernel.ts';
import { accessBits, type SassInstruction, wordBits } from '../instruction/decode.ts';
import { registerUse } from '../instruction/operands.ts';

const stackPointer = 1;

/** Calls to the address in a register lead to code that others wrote; the bodies of ptxas have no frame. */
const registerCalls: ReadonlySet<number> = new Set([0x343, 0x344]);

/** The first word of the frame among the registers of a function. */
export const firstSlot = 1024;
/** Frames of more words are not followed. */
const maxSlots = 2048;

/** Words of the frame that an instruction loads or stores, as registers, with the first register on the other side. */
export interface SpillAccess {
  readonly isLoad: boolean;
  readonly slots: readonly number[];
  readonly register: number;
}

/**
 * Loads and stores of spilled registers, by their indices. Only of kernels without other local memory and without calls
 * of user functions, in which each place has one address.
 * @returns null if something else may access the frame
 */
export function spillAccesses(
  kernel: Kernel,
  instructions: readonly SassInstruction[],
  version: number,
): ReadonlyMap<number, SpillAccess> | null {
  const found = new Map<number, SpillAccess>();
  for (const [index, one] of instructions.entries()) {
    if (!one.opcode || registerCalls.has(one.code)) return null;
    if (one.opcode.space !== 'local') continue;
    const isPlain = (one.opcode.mnemonic === 'LDL' || one.opcode.mnemonic === 'STL') && wordBits(one, 24, 8) === stackPointer && wordBits(one, 91, 1) === 0; // oxfmt-ignore
    const [at, bits] = [wordBits(one, 40, 24), accessBits(one, version) ?? 32];
    // Accesses narrower than a register are not tracked.
    if (!isPlain || bits < 32 || at % 4 !== 0 || at / 4 >= maxSlots) return null;
    const slots = Array.from({ length: bits / 32 }, (_, word) => firstSlot + at / 4 + word);
    const isLoad = one.opcode.kind === 'load';
    found.set(index, { isLoad, slots, register: wordBits(one, isLoad ? 16 : 32, 8) });
  }
  if (found.size === 0) return found;
  const usesLocal = kernel.blocks.some((block) => block.instructions.some(({ operation: { effect } }) => 'space' in effect && (effect.space === 'local' || effect.space === 'generic'))); // oxfmt-ignore
  // The frame is made once, at the start.
  const frames = instructions.filter((one) => registerUse(one, version)?.writes.includes(stackPointer)).length;
  return usesLocal || frames > 2 ? null : found;
}
