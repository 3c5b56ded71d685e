/** Predicates that instructions of SASS read and write. */
import { type SassInstruction, sassGuard, wordBits } from './instruction/decode.ts';

/** Operations that write a predicate at bits 81 to 83, most of them another one at bits 84 to 86: 7 for none. */
const predicateWriters: ReadonlySet<string> = new Set([
  'ISETP', 'FSETP', 'DSETP', 'HSETP2', 'PLOP3', 'FCHK', 'CSMTEST', 'IADD3', 'IMAD', 'LEA', 'LOP3',
  'VOTE', 'MATCH', 'SHFL', 'ATOM', 'ATOMG', 'QSPC', 'SYNCS', 'ELECT', 'B2R', 'LD', 'LDG',
]); // prettier-ignore

/** Predicates that an instruction may write: all of them where nobody knows it. */
export function predicatesWritten(instruction: SassInstruction): number[] {
  const { opcode } = instruction;
  if (!opcode || opcode.mnemonic === 'R2P' || opcode.kind === 'call') return [0, 1, 2, 3, 4, 5, 6];
  if (!predicateWriters.has(opcode.mnemonic)) return [];
  const hasSecond = /(?:SETP2?|PLOP3|IADD3)$/.test(opcode.mnemonic);
  const registers = [wordBits(instruction, 81, 3), ...(hasSecond ? [wordBits(instruction, 84, 3)] : [])];
  return registers.filter((register) => register !== 7);
}

/** Fields that may name a predicate that an instruction reads; 7 stands for none. */
const predicateFields = [87, 77, 68, 64, 24];

/** Predicates that an instruction may read: more rather than less. */
export function predicatesRead(instruction: SassInstruction): readonly number[] {
  if (instruction.opcode?.mnemonic === 'P2R') return [0, 1, 2, 3, 4, 5, 6];
  const guard = sassGuard(instruction);
  const found = predicateFields.map((from) => wordBits(instruction, from, 3));
  if (guard) found.push(guard.register);
  return found.filter((register) => register !== 7);
}
