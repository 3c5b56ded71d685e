/** Instructions as text. */
import { accessBits, type SassInstruction, sassGuard } from './instruction/decode.ts';
import { firstUniform, registerUse } from './instruction/operands.ts';

/**
 * An instruction with the registers that it writes and those that it reads: `@!P0 LDS.128 R4-R7 <- R2`. Immediate values
 * and modifiers are left out; a code that nobody knows is told as a number.
 */
export function instructionText(instruction: SassInstruction, version: number): string {
  const { opcode, code } = instruction;
  const guard = sassGuard(instruction);
  const name = opcode?.mnemonic ?? `0x${code.toString(16)}`;
  const bits = opcode && ['load', 'store', 'atomic', 'copy'].includes(opcode.kind) ? accessBits(instruction, version) : undefined; // prettier-ignore
  const use = registerUse(instruction, version);
  const written = use && use.writes.length > 0 ? ` ${registersText(use.writes)}` : '';
  const read = use && use.reads.length > 0 ? ` <- ${registersText(use.reads)}` : '';
  const guarded = guard ? `@${guard.negated ? '!' : ''}P${guard.register === 7 ? 'T' : guard.register} ` : '';
  return `${guarded}${name}${bits === undefined ? '' : `.${bits}`}${written}${read}`;
}

/** `R2, R4-R7, UR3`: registers that follow each other are one range. */
function registersText(registers: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const register of registers) {
    const last = ranges.at(-1);
    if (last && register === last.last + 1) last.last = register;
    else ranges.push({ first: register, last: register });
  }
  const nameOf = (register: number): string => (register < firstUniform ? `R${register}` : `UR${register - firstUniform}`); // prettier-ignore
  return ranges.map(({ first, last }) => (first === last ? nameOf(first) : `${nameOf(first)}-${nameOf(last)}`)).join(', '); // prettier-ignore
}
