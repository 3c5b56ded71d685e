/**
 * The PTX instruction table. Every row defines results and effects of an opcode in one of its forms; an instruction
 * without a row decodes to null, and its reader must treat it as opaque.
 */
import type { Operation } from './model/operation.ts';
import type { OperandShape, Row, Signature } from './model/row.ts';
import { comparisonRows } from './comparison.ts';
import { controlRows } from './control.ts';
import { conversionRows } from './conversion.ts';
import { copyRows } from './copy.ts';
import { floatRows } from './float.ts';
import { halfRows } from './half.ts';
import { integerRows } from './integer.ts';
import { logicRows } from './logic.ts';
import { matrixRows } from './matrix-instruction.ts';
import { mbarrierRows } from './mbarrier.ts';
import { memoryRows } from './memory.ts';
import { Modifiers } from './model/row.ts';
import { smallFloatRows } from './small-float.ts';
import { syncRows } from './sync.ts';
import { uninterpretedRows } from './uninterpreted.ts';
import { videoRows } from './video.ts';
import { warpRows } from './warp.ts';

/** Every row; those of one opcode are tried in this order. */
export const tableRows: readonly Row[] = [
  ...integerRows,
  ...floatRows,
  ...halfRows,
  ...comparisonRows,
  ...logicRows,
  ...conversionRows,
  ...smallFloatRows,
  ...memoryRows,
  ...copyRows,
  ...controlRows,
  ...syncRows,
  ...mbarrierRows,
  ...warpRows,
  ...matrixRows,
  ...videoRows,
  ...uninterpretedRows,
];

const rows = new Map<string, Row[]>();
for (const row of tableRows) {
  const others = rows.get(row.opcode);
  if (others) others.push(row);
  else rows.set(row.opcode, [row]);
}

/** Opcodes with a row whose meaning depends on the values of literals. */
const readingLiterals = new Set(tableRows.filter((row) => row.readsLiterals).map((row) => row.opcode));

interface Decoded {
  readonly row: Row;
  readonly operation: Operation;
}

/** Cache of decoded instructions, by all arguments of `decode`. */
const cache = new Map<string, Decoded | null>();
const cacheLimit = 10_000;

/**
 * The meaning of an instruction, or null if it is not known: the caller then makes it opaque.
 *
 * Operands map to `results` and `sources` mechanically. Flatten the written operands from left to right: a vector is
 * its elements, `d|p` two values, an address `[a+o]` one (its displacement is separate; of the two addresses of
 * `cp.async` only the first may have one), and an operand of kind `other` nothing. The first `results.length` values
 * are the results, the rest the sources. After them come the predicates of the carry register, one result if
 * `carry.out` and one source if `carry.in`, which the instruction does not name. `!p` and `-r` are computed before the
 * instruction.
 *
 * With a shape, every width in it equals that of the operation: a register wider than `ld`, `st` or `cvt` needs is the
 * width of the result or source itself. Literals take the width of the operation.
 *
 * @param opcode for example `mad`
 * @param modifiers what follows it, split at single dots: `['lo', 's32']`
 * @param shape the operands; without it, scalar registers of the types' own widths are assumed
 */
export function decode(opcode: string, modifiers: readonly string[], shape?: OperandShape): Operation | null {
  return lookUp(opcode, modifiers, shape)?.operation ?? null;
}

/** The row from which `decode` takes the meaning of an instruction. */
export function rowOf(opcode: string, modifiers: readonly string[], shape?: OperandShape): Row | null {
  return lookUp(opcode, modifiers, shape)?.row ?? null;
}

function lookUp(opcode: string, modifiers: readonly string[], shape?: OperandShape): Decoded | null {
  const candidates = rows.get(opcode);
  if (!candidates) return null;
  const mnemonic = modifiers.length > 0 ? `${opcode}.${modifiers.join('.')}` : opcode;
  const key = shape ? mnemonic + shapeKey(shape, readingLiterals.has(opcode)) : mnemonic;
  let decoded = cache.get(key);
  if (decoded === undefined) {
    decoded = tryRows(candidates, mnemonic, modifiers, shape);
    if (cache.size >= cacheLimit) cache.clear();
    cache.set(key, decoded);
  }
  return decoded;
}

function tryRows(
  candidates: readonly Row[],
  mnemonic: string,
  modifiers: readonly string[],
  shape: OperandShape | undefined,
): Decoded | null {
  for (const row of candidates) {
    const left = new Modifiers(modifiers);
    const signature = row.decode(left, shape);
    if (!signature || !left.empty || (shape && !fits(signature, shape))) continue;
    return { row, operation: { mnemonic, opcode: row.opcode, section: row.section, ...signature } };
  }
  return null;
}

/** A key that is equal for equal shapes. */
function shapeKey(shape: OperandShape, literals: boolean): string {
  let key = '';
  for (const { kind, widths, literal } of shape) {
    key += ` ${kind}`;
    for (const width of widths) key += `,${width}`;
    if (literals && literal !== undefined) key += `=${literal}`;
  }
  return key;
}

/** Whether number and widths of the operands match the signature. */
function fits(signature: Signature, shape: OperandShape): boolean {
  const { results, sources, carry, effect } = signature;
  if (effect.kind === 'call' || effect.kind === 'return') return true;
  const expected = [...(carry?.out ? results.slice(0, -1) : results), ...(carry?.in ? sources.slice(0, -1) : sources)];
  const widths = shape.flatMap((form) => form.widths);
  return widths.length === expected.length && widths.every((width, index) => width === null || width === expected[index]);
}
