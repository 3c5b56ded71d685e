/** Instructions as text. */
import { accessBits, type SassInstruction, sassGuard } from './instruction/decode.ts';
import { firstUniform, registerUse } from './instruction/operands.ts';

/**
 * An instruction with the registers that it writes and those that it reads: `@!P0 LDS.128 R4-R7 <- R2`. Immediate
 * values and modifiers are omitted; an unknown operation code is printed as a number.
 */
export function instructionText(instruction: SassInstruction, version: number): string {
  const guard = sassGuard(instruction);
  const use = registerUse(instruction, version);
  const written = use && use.writes.length > 0 ? ` ${registersText(use.writes)}` : '';
  const read = use && use.reads.length > 0 ? ` <- ${registersText(use.reads)}` : '';
  const guarded = guard ? `@${guard.negated ? '!' : ''}P${guard.register === 7 ? 'T' : guard.register} ` : '';
  return `${guarded}${operationText(instruction, version)}${written}${read}`;
}

/** An instruction without the names of registers and predicates: `@P LDS.128 R <- R`. */
export function instructionShape(instruction: SassInstruction, version: number): string {
  const use = registerUse(instruction, version);
  const shape = (registers: readonly number[]): string => registers.map((one) => (one < firstUniform ? 'R' : 'UR')).join('');
  const operands = use ? `${shape(use.writes)} <- ${shape(use.reads)}` : '';
  return `${sassGuard(instruction) ? '@P ' : ''}${operationText(instruction, version)} ${operands}`;
}

/** `LDS.128`. */
function operationText(instruction: SassInstruction, version: number): string {
  const { opcode, code } = instruction;
  const name = opcode?.mnemonic ?? `0x${code.toString(16)}`;
  const bits = opcode && ['load', 'store', 'atomic', 'copy'].includes(opcode.kind) ? accessBits(instruction, version) : undefined;
  return bits === undefined ? name : `${name}.${bits}`;
}

/** `R2, R4-R7, UR3`: consecutive registers are printed as a range. */
function registersText(registers: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const register of registers) {
    const last = ranges.at(-1);
    if (last && register === last.last + 1) last.last = register;
    else ranges.push({ first: register, last: register });
  }
  const nameOf = (register: number): string => (register < firstUniform ? `R${register}` : `UR${register - firstUniform}`);
  return ranges.map(({ first, last }) => (first === last ? nameOf(first) : `${nameOf(first)}-${nameOf(last)}`)).join(', ');
}
