/**
 * Loop variables of 8 and 16 bits in registers of 32: each iteration widens the low bits and adds to them, and the
 * other bits are never read. So the register may as well contain the sum without truncation.
 */
import type { Kernel, Operand, ValueId } from '../../ir/form/kernel.ts';
import { type Bounds, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term, TermStore } from '../../term/term.ts';

/** A loop variable of which only the low bits are used. */
export interface NarrowCounter {
  /** The increment of each iteration. */
  readonly step: Term;
  /** Range of the values that the low bits represent. */
  readonly range: Bounds;
  /** A term with the variable instead of its widened low bits; equal to the original while it is in `range`. */
  readonly whole: (term: Term) => Term;
}

/**
 * The narrow counter of a recurrence; null if it has another form.
 * @param phi the variable at the start of an iteration
 * @param next its value in the next iteration
 */
export function narrowCounter({ blocks }: Kernel, store: TermStore, id: ValueId, phi: Term, next: Term): NarrowCounter | null {
  if (phi.width !== 32) return null;
  const parts = next.operator === 'sum' ? next.arguments.filter((_, i) => next.coefficients[i] === 1n) : [next];
  const low = parts.find((part) => lowBits(part, phi) !== null);
  if (!low) return null;
  const { bits, isSigned } = lowBits(low, phi)!;
  const step = store.sub(32, next, low);
  if (step.leaves.includes(phi)) return null;
  const isValue = (operand: Operand): boolean => operand.kind === 'value' && operand.id === id;
  for (const { phis, instructions, terminator } of blocks) {
    if (phis.some(({ inputs }) => inputs.some(isValue))) return null;
    if (terminator.kind === 'branch' && isValue(terminator.condition)) return null;
    if (terminator.kind === 'switch' && isValue(terminator.index)) return null;
    for (const { operation, arguments: operands } of instructions) {
      if (!operands.some(isValue)) continue;
      const [result] = operation.results;
      const [, by] = operands;
      const constant = by?.kind === 'constant' ? by.value : null;
      const isOnlyFirst = operation.effect.kind === 'pure' && isValue(operands[0]!) && operands.slice(1).every((other) => !isValue(other));
      const isCut =
        (operation.opcode === 'shl' && result === 32 && constant !== null && constant >= BigInt(32 - bits)) ||
        (operation.opcode === 'and' && constant !== null && constant < 1n << BigInt(bits)) ||
        (/^cvt\.[us]\d+\.[us]32$/.test(operation.mnemonic) && typeof result === 'number' && result <= bits);
      if (!isOnlyFirst || !isCut) return null;
    }
  }
  const whole = (term: Term): Term => {
    if (isLow(term)) return phi;
    if (term.operator !== 'sum') return term;
    return store.sum(
      term.width,
      term.value,
      term.arguments.map((part, i) => [isLow(part) ? phi : part, term.coefficients[i]!]),
    );
  };
  const isLow = (term: Term): boolean => {
    const found = term.width === 32 ? lowBits(term, phi) : null;
    return found?.bits === bits && found.isSigned === isSigned;
  };
  return { step, range: isSigned ? signedBounds(bits) : unsignedBounds(bits), whole };
}

/** The number of low bits of a value that a term widens, by sign or by zeros; null if it has another form. */
function lowBits(term: Term, value: Term): { readonly bits: number; readonly isSigned: boolean } | null {
  const [a, b] = term.arguments;
  switch (term.operator) {
    case 'ashr':
    case 'lshr': {
      if (b!.operator !== 'constant' || b!.value >= 32n) return null;
      const isShifted = a!.operator === 'sum' && a!.value === 0n && a!.arguments.length === 1 && a!.arguments[0] === value;
      if (!isShifted || a!.coefficients[0] !== 1n << b!.value) return null;
      return { bits: 32 - Number(b!.value), isSigned: term.operator === 'ashr' };
    }
    case 'and': {
      const mask = b!.operator === 'constant' ? b!.value : 0n;
      const isLow = a === value && mask > 0n && (mask & (mask + 1n)) === 0n;
      return isLow ? { bits: mask.toString(2).length, isSigned: false } : null;
    }
    case 'sext':
    case 'zext':
      if (a!.operator !== 'trunc' || a!.arguments[0] !== value) return null;
      return { bits: a!.width, isSigned: term.operator === 'sext' };
    default:
      return null;
  }
}
