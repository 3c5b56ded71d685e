/** Predicates that instructions of SASS read and write. */
import { type SassInstruction, wordBits } from './instruction/decode.ts';

/**
 * Operations that write a predicate given by bits 81 to 83, most of them another one given by bits 84 to 86; 7 for
 * none.
 */
const predicateWriters: ReadonlySet<string> = new Set([
  'ISETP',
  'FSETP',
  'DSETP',
  'HSETP2',
  'PLOP3',
  'FCHK',
  'CSMTEST',
  'IADD3',
  'IMAD',
  'LEA',
  'LOP3',
  'VOTE',
  'MATCH',
  'SHFL',
  'ATOM',
  'ATOMG',
  'QSPC',
  'SYNCS',
  'ELECT',
  'B2R',
  'LD',
  'LDG',
]);

/** Operations that write a second predicate. */
const doubleWriters: ReadonlySet<string> = new Set(['ISETP', 'FSETP', 'DSETP', 'HSETP2', 'PLOP3', 'IADD3']);

/** Mask of all predicates. */
const all = 0x7f;

/** Lists of predicates by their mask. */
const lists: readonly (readonly number[])[] = Array.from({ length: all + 1 }, (_, bits) =>
  [0, 1, 2, 3, 4, 5, 6].filter((one) => ((bits >> one) & 1) === 1),
);

/** Mask of the predicates that an instruction may write: all if unknown. */
export function predicateBitsWritten(instruction: SassInstruction): number {
  const { opcode } = instruction;
  if (!opcode || opcode.mnemonic === 'R2P' || opcode.kind === 'call') return all;
  if (!predicateWriters.has(opcode.mnemonic)) return 0;
  const first = 1 << wordBits(instruction, 81, 3);
  return all & (doubleWriters.has(opcode.mnemonic) ? first | (1 << wordBits(instruction, 84, 3)) : first);
}

/** Predicates that an instruction may write: all if unknown. */
export function predicatesWritten(instruction: SassInstruction): readonly number[] {
  return lists[predicateBitsWritten(instruction)]!;
}

/**
 * Mask of the predicates that an instruction may read, as an overapproximation: all fields that may contain one, 7 for
 * none.
 */
export function predicateBitsRead(instruction: SassInstruction): number {
  if (instruction.opcode?.mnemonic === 'P2R') return all;
  const { text, at } = instruction;
  const [lower, upper] = [text[at]!, text[at + 2]!];
  // The guard is in bits 12 to 14; the other fields start at bits 24, 64, 68, 77 and 87.
  return (
    all &
    ((1 << ((lower >>> 12) & 7)) |
      (1 << ((lower >>> 24) & 7)) |
      (1 << (upper & 7)) |
      (1 << ((upper >>> 4) & 7)) |
      (1 << ((upper >>> 13) & 7)) |
      (1 << ((upper >>> 23) & 7)))
  );
}
