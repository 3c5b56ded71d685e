/** 64-bit divisions that compilers execute in 32 bits if the operands fit, which is faster: LLVM's back end for one. */
import { possibleBits } from './possible-bits.ts';
import type { Term, TermStore } from './term.ts';

const upperHalf = ((1n << 32n) - 1n) << 32n;
const ones32 = (1n << 32n) - 1n;

/**
 * The 64-bit division that a select between two represents: the 32-bit one if the condition implies that the upper
 * halves of both operands are 0, otherwise the 64-bit one. Exact: a quotient by zero, which differs by width, stays.
 *
 * @returns null if the select has another form
 */
export function wideDivision(store: TermStore, condition: Term, a: Term, b: Term): Term | null {
  if (condition.operator === 'not') return wideDivision(store, condition.arguments[0]!, b, a);
  const [narrow, wide] = [a, b];
  if (wide.width !== 64 || narrow.operator !== 'zext') return null;
  const short = narrow.arguments[0]!;
  const isRemainder = wide.operator === 'urem' || wide.operator === 'srem';
  if (!isRemainder && wide.operator !== 'udiv' && wide.operator !== 'sdiv') return null;
  if (short.width !== 32 || short.operator !== (isRemainder ? 'urem' : 'udiv')) return null;
  const [dividend, divisor] = wide.arguments as [Term, Term];
  const isOfBoth = [dividend, divisor].every(
    (operand, i) => short.arguments[i] === store.truncate(32, operand) && isNarrow(condition, operand),
  );
  if (!isOfBoth) return null;
  // The remainder by zero is the dividend in either width.
  if (isRemainder || (divisor.operator === 'constant' && divisor.value !== 0n)) return wide;
  const byZero = store.all([condition, store.equal(divisor, store.constant(64, 0n))]);
  return store.select(byZero, store.constant(64, ones32), wide);
}

/**
 * Whether `condition` states that the upper halves of some values are 0, and `value` is one of these or its upper half
 * is always 0.
 */
function isNarrow(condition: Term, value: Term): boolean {
  if ((possibleBits(value) & upperHalf) === 0n) return true;
  if (condition.operator !== 'equal') return false;
  const [x, y] = condition.arguments as [Term, Term];
  const [masked, zero] = x.operator === 'constant' ? [y, x] : [x, y];
  if (zero.operator !== 'constant' || zero.value !== 0n || masked.operator !== 'and') return false;
  const [either, mask] = masked.arguments as [Term, Term];
  if (mask.operator !== 'constant' || (mask.value & upperHalf) !== upperHalf) return false;
  return either === value || (either.operator === 'or' && either.arguments.includes(value));
}
