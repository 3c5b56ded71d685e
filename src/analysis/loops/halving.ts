/** Recurrences in which a loop variable is doubled or halved by a shift. */
import type { LinearView } from '../../term/linear.ts';
import type { Term, TermStore } from '../../term/term.ts';

/** k for 2^k; null for other values. */
function exponent(value: bigint): bigint | null {
  if (value < 2n || (value & (value - 1n)) !== 0n) return null;
  return BigInt(value.toString(2).length - 1);
}

/**
 * The closed form of a variable that doubles or halves: the shift grows by the same amount each iteration. Null for
 * others.
 * @param start its value in the first iteration
 * @param round the number of completed iterations, in the width of the variable
 */
export function shiftedForm(
  store: TermStore,
  view: LinearView,
  { phi, next }: { readonly phi: Term; readonly next: Term },
  start: Term,
  round: Term,
): Term | null {
  const width = phi.width;
  // The amount is counted in the variable's width, and must not wrap around.
  if (width < 32) return null;
  const shifted = (operator: 'shl' | 'lshr' | 'ashr', by: bigint): Term =>
    store.shift(operator, width, start, store.sum(width, 0n, [[round, by]]));
  if (next.operator === 'sum' && next.arguments.length === 1 && next.arguments[0] === phi && next.value === 0n) {
    const by = exponent(next.coefficients[0]!);
    return by === null ? null : shifted('shl', by);
  }
  const first = view.signed(start);
  const halving = halved(next, phi, first.low >= 0n && first.assumes.length === 0);
  return halving === null ? null : shifted(halving.operator, halving.by);
}

/**
 * Recognises x >> c, x / 2^c, and nvcc's signed halving (x + (x >>> 31)) >> 1, which is x >> 1 if x is not negative
 * (and then stays so).
 */
function halved(next: Term, phi: Term, nonNegative: boolean): { operator: 'lshr' | 'ashr'; by: bigint } | null {
  const [a, b] = next.arguments as [Term, Term];
  if (next.operator === 'lshr' || next.operator === 'ashr') {
    if (b.operator !== 'constant') return null;
    if (a === phi) return { operator: next.operator, by: b.value };
    const correction = a.operator === 'sum' && a.value === 0n && a.arguments.length === 2 ? a.arguments : null;
    if (!nonNegative || !correction?.includes(phi)) return null;
    const other = correction[0] === phi ? correction[1]! : correction[0]!;
    const isSign = other.operator === 'lshr' && isSignBits(other, phi);
    return isSign && a.coefficients.every((coefficient) => coefficient === 1n) ? { operator: 'lshr', by: b.value } : null;
  }
  if ((next.operator === 'udiv' || (next.operator === 'sdiv' && nonNegative)) && a === phi && b.operator === 'constant') {
    const by = exponent(b.value);
    return by === null ? null : { operator: 'lshr', by };
  }
  return null;
}

/** Whether a logical shift right leaves only copies of the sign of x: x >>> 31, or (x >> 31) >>> c. */
function isSignBits(shift: Term, x: Term): boolean {
  const [a, amount] = shift.arguments as [Term, Term];
  const isWhole = (by: Term): boolean => by.operator === 'constant' && by.value === BigInt(x.width - 1);
  if (a === x) return isWhole(amount);
  return a.operator === 'ashr' && a.arguments[0] === x && isWhole(a.arguments[1]!);
}
