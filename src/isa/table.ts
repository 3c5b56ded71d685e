/**
 * The PTX instruction table. Every row says what an opcode in one of its forms computes and does; an instruction that
 * no row knows decodes to null, and its reader must treat it as opaque.
 */
import type { Operation } from './operation.ts';
import type { OperandShape, Row, Signature } from './row.ts';
import { comparisonRows } from './comparison.ts';
import { controlRows } from './control.ts';
import { conversionRows } from './conversion.ts';
import { floatRows } from './float.ts';
import { integerRows } from './integer.ts';
import { logicRows } from './logic.ts';
import { memoryRows } from './memory.ts';
import { Modifiers } from './row.ts';
import { syncRows } from './sync.ts';
import { uninterpretedRows } from './uninterpreted.ts';
import { warpRows } from './warp.ts';

export type { OperandForm, OperandShape } from './row.ts';

const allRows = [
  ...integerRows,
  ...floatRows,
  ...comparisonRows,
  ...logicRows,
  ...conversionRows,
  ...memoryRows,
  ...controlRows,
  ...syncRows,
  ...warpRows,
  ...uninterpretedRows,
];

const rows = new Map<string, Row[]>();
for (const row of allRows) {
  const others = rows.get(row.opcode);
  if (others) others.push(row);
  else rows.set(row.opcode, [row]);
}

/** Every opcode that the table knows, sorted. */
export const opcodes: readonly string[] = [...rows.keys()].sort();

/**
 * The meaning of an instruction, or null if it is not known: the caller then makes it opaque.
 *
 * Operands map to `results` and `sources` mechanically. Flatten the operands of the text from left to right: a vector
 * is its elements, `d|p` two values, an address `[a+o]` one (its displacement is kept apart; where an instruction has
 * two addresses, `cp.async`, only the first may have one), and an operand of kind `other` nothing. The first
 * `results.length` values are the results, the rest the sources. After them come the predicates of the carry register,
 * one result if `carry.out` and one source if `carry.in`, which the text does not name. `!p` and `-r` are computed
 * before the instruction.
 *
 * With a shape, every width in it equals that of the operation: a register wider than `ld`, `st` or `cvt` needs is the
 * width of the result or source itself. Literals take the width that the operation gives.
 *
 * @param opcode for example `mad`
 * @param modifiers what follows it, split at single dots: `['lo', 's32']`
 * @param shape the operands; without it, scalar registers of the types' own widths are assumed
 */
export function decode(opcode: string, modifiers: readonly string[], shape?: OperandShape): Operation | null {
  for (const row of rows.get(opcode) ?? []) {
    const left = new Modifiers(modifiers);
    const signature = row.decode(left, shape);
    if (!signature || !left.empty || (shape && !fits(signature, shape))) continue;
    return { mnemonic: [opcode, ...modifiers].join('.'), opcode, section: row.section, ...signature };
  }
  return null;
}

/** Whether the operands are as many, and as wide, as the signature says. */
function fits(signature: Signature, shape: OperandShape): boolean {
  const { results, sources, carry, effect } = signature;
  if (effect.kind === 'call' || effect.kind === 'return') return true;
  const expected = [...(carry?.out ? results.slice(0, -1) : results), ...(carry?.in ? sources.slice(0, -1) : sources)];
  const widths = shape.flatMap((form) => form.widths);
  return (
    widths.length === expected.length && widths.every((width, index) => width === null || width === expected[index])
  );
}
