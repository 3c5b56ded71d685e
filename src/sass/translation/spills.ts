/** Registers that ptxas spills to memory: their slots, and whether each reloaded slot was ever stored. */
import type { Kernel } from '../../ir/form/kernel.ts';
import { accessBits, type SassInstruction, wordBits } from '../instruction/decode.ts';
import { registerUse } from '../instruction/operands.ts';

const stackPointer = 1;

/** Codes of calls to an address in a register, which call user functions; the bodies added by ptxas have no frame. */
const registerCalls: ReadonlySet<number> = new Set([0x343, 0x344]);

/** Number of the first word of the frame, counted as a register of the function. */
export const firstSlot = 1024;
/** Maximum number of words of a frame; larger frames are not analysed. */
const maxSlots = 2048;

/**
 * Words of the frame, as registers, that an instruction loads or stores, and the first register that it loads to or
 * stores from.
 */
export interface SpillAccess {
  readonly isLoad: boolean;
  readonly slots: readonly number[];
  readonly register: number;
}

/**
 * Loads and stores of spilled registers, by their indices. Requires a kernel without other local memory and without
 * calls of user functions; each slot then has one address.
 * @returns null if other instructions may access the frame
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
    const isPlain =
      (one.opcode.mnemonic === 'LDL' || one.opcode.mnemonic === 'STL') &&
      wordBits(one, 24, 8) === stackPointer &&
      wordBits(one, 91, 1) === 0;
    const [at, bits] = [wordBits(one, 40, 24), accessBits(one, version) ?? 32];
    // Accesses narrower than a register are not tracked.
    if (!isPlain || bits < 32 || at % 4 !== 0 || at / 4 >= maxSlots) return null;
    const slots = Array.from({ length: bits / 32 }, (_, word) => firstSlot + at / 4 + word);
    const isLoad = one.opcode.kind === 'load';
    found.set(index, { isLoad, slots, register: wordBits(one, isLoad ? 16 : 32, 8) });
  }
  if (found.size === 0) return found;
  const usesLocal = kernel.blocks.some((block) =>
    block.instructions.some(({ operation: { effect } }) => 'space' in effect && (effect.space === 'local' || effect.space === 'generic')),
  );
  // The frame is allocated once, at the start.
  const frames = instructions.filter((one) => registerUse(one, version)?.writes.includes(stackPointer)).length;
  return usesLocal || frames > 2 ? null : found;
}
