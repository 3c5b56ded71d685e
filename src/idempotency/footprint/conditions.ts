/**
 * Facts from a condition on the path to an access: comparisons narrow forms, and conditions on the launch guard the
 * path.
 */
import { readComparison } from '../../analysis/loops/ordered-terms.ts';
import type { Term } from '../../term/term.ts';
import { type AddressForm, subtractForms } from './form.ts';
import { lessOrEqual } from './launch-condition.ts';
import { type Amount, addAmounts, fixedAmount, oneAmount, subtractAmounts, zeroAmount } from './amount.ts';
import type { LinearInterpretation } from './linear-interpretation.ts';

/** Assumes one of several alternatives of a condition; false if part of that alternative is not used. */
type Alternative = (reading: LinearInterpretation) => boolean;

/**
 * Result of reading a condition. All of it was used; or nothing (an overapproximation of the threads that satisfy it);
 * or it consists of alternatives that exclude each other.
 */
export type Learnt = { readonly kind: 'all' | 'nothing' } | { readonly kind: 'one-of'; readonly ways: readonly Alternative[] };

const allOfIt: Learnt = { kind: 'all' };
const nothing: Learnt = { kind: 'nothing' };

/** Assumes a condition. */
export function learn(reading: LinearInterpretation, condition: Term): Learnt {
  const { scope } = reading;
  const launched = reading.launchCondition(condition);
  if (launched) {
    scope.guard(launched);
    return allOfIt;
  }
  const [a, b] = condition.arguments as [Term, Term];
  switch (condition.operator) {
    case 'all': {
      const parts = condition.arguments.map((part) => learn(reading, part));
      return parts.every(({ kind }) => kind === 'all') ? allOfIt : nothing;
    }
    case 'any':
      return {
        kind: 'one-of',
        ways: condition.arguments.map((part) => (other: LinearInterpretation) => learn(other, part).kind === 'all'),
      };
    case 'equal':
      if (a.width === 0) return nothing;
      scope.learn(difference(reading, a, b), { low: zeroAmount, high: zeroAmount });
      return allOfIt;
    case 'not':
      if (a.operator === 'equal' && a.arguments[0]!.width > 0) return learnUnequal(reading, a);
      if (a.operator === 'any' || a.operator === 'all') {
        const { store } = reading.context.symbolic;
        const opposites = a.arguments.map((part) => store.not(part));
        return learn(reading, a.operator === 'any' ? store.all(opposites) : store.any(opposites));
      }
      break;
    default:
  }
  const bySigns = signsOf(reading, condition);
  if (bySigns) return learn(reading, bySigns);
  const comparison = readComparison(condition);
  if (!comparison || comparison.smaller.width === 0) return nothing;
  const { smaller, larger, strict } = comparison;
  const margin = strict ? oneAmount : zeroAmount;
  if (comparison.signed) {
    const less = subtractForms(reading.signed(smaller), reading.signed(larger));
    scope.learn(less, { low: null, high: subtractAmounts(zeroAmount, margin) });
    return allOfIt;
  }
  return learnUnsigned(reading, smaller, larger, margin);
}

/**
 * What the sign of a bitwise or, or and, implies for the signs of its operands: compilers test several numbers against
 * zero at once. Null for any other condition.
 */
function signsOf(reading: LinearInterpretation, condition: Term): Term | null {
  const { store } = reading.context.symbolic;
  const isNegated = condition.operator === 'not';
  const core = isNegated ? condition.arguments[0]! : condition;
  if (core.operator !== 'slt') return null;
  const [a, b] = core.arguments as [Term, Term];
  const isConstant = (term: Term, value: bigint): boolean =>
    term.operator === 'constant' && BigInt.asIntN(term.width, term.value) === value;
  // `e < 0`, or `-1 < e`, which is the negation of `e < 0`.
  const [tested, isBelow] = isConstant(b, 0n) ? [a, true] : isConstant(a, -1n) ? [b, false] : [null, false];
  if (tested?.operator !== 'or' && tested?.operator !== 'and') return null;
  const isNegative = isBelow !== isNegated;
  const zero = store.constant(tested.width, 0n);
  const signs = tested.arguments.map((part) => {
    const below = store.signedLess(part, zero);
    return isNegative ? below : store.not(below);
  });
  return (tested.operator === 'or') === isNegative ? store.any(signs) : store.all(signs);
}

/** The difference of two terms, interpreted identically. */
function difference(reading: LinearInterpretation, a: Term, b: Term): AddressForm {
  const isNonNegative = (term: Term): boolean => {
    const { low } = reading.scope.ofForm(reading.natural(term));
    return low !== null && reading.scope.isAtMost(zeroAmount, low);
  };
  const read = isNonNegative(a) && isNonNegative(b) ? 'unsigned' : 'signed';
  return subtractForms(reading[read](a), reading[read](b));
}

function learnUnequal(reading: LinearInterpretation, equal: Term): Learnt {
  const { scope } = reading;
  const [a, b] = equal.arguments as [Term, Term];
  const form = difference(reading, a, b);
  const { low, high } = scope.ofForm(form);
  if (low && scope.isAtMost(zeroAmount, low)) {
    scope.learn(form, { low: oneAmount, high: null });
    return allOfIt;
  }
  if (high && scope.isAtMost(high, zeroAmount)) {
    scope.learn(form, { low: null, high: fixedAmount(-1n) });
    return allOfIt;
  }
  return {
    kind: 'one-of',
    ways: [
      (other) => other.scope.learn(form, { low: null, high: fixedAmount(-1n) }),
      (other) => other.scope.learn(form, { low: oneAmount, high: null }),
    ],
  };
}

/** `smaller + margin <= larger` as unsigned numbers, if a difference may have wrapped around below zero. */
function learnUnsigned(reading: LinearInterpretation, smaller: Term, larger: Term, margin: Amount): Learnt {
  const { scope } = reading;
  const size = fixedAmount(1n << BigInt(smaller.width));
  const dips = (term: Term): boolean => {
    if (term.operator === 'constant' || /^(parameter|havoc|phi)$/.test(term.atom?.kind ?? '')) return false;
    const { low } = scope.ofForm(reading.natural(term));
    return low !== null && !scope.isAtMost(zeroAmount, low);
  };
  if (dips(smaller) && !dips(larger)) {
    // As unsigned numbers, negative values are very large.
    const form = reading.natural(smaller);
    const limit = reading.unsignedLimit(larger);
    const span = scope.ofForm(form);
    const { high } = scope.ofForm(limit);
    if (!span.low || !span.high || !high) return nothing;
    const isNear =
      scope.need(lessOrEqual(addAmounts(high, subtractAmounts(oneAmount, margin)), addAmounts(span.low, size))) &&
      scope.need(lessOrEqual(addAmounts(span.high, oneAmount), size));
    if (!isNear) return nothing;
    scope.learn(form, { low: zeroAmount, high: null });
    scope.learn(subtractForms(form, limit), { low: null, high: subtractAmounts(zeroAmount, margin) });
    return { kind: 'all' };
  }
  if (dips(larger) && !dips(smaller)) {
    const form = reading.natural(larger);
    const limit = reading.unsignedLimit(smaller);
    const span = scope.ofForm(form);
    const { high } = scope.ofForm(limit);
    if (!span.low || !span.high || !high) return nothing;
    const isNear =
      scope.need(lessOrEqual(high, addAmounts(span.low, size))) && scope.need(lessOrEqual(addAmounts(span.high, oneAmount), size));
    if (!isNear) return nothing;
    return {
      kind: 'one-of',
      ways: [
        (other) => other.scope.learn(form, { low: null, high: fixedAmount(-1n) }),
        (other) =>
          other.scope.learn(form, { low: zeroAmount, high: null }) &&
          other.scope.learn(subtractForms(form, limit), { low: margin, high: null }),
      ],
    };
  }
  const less = subtractForms(reading.unsignedLimit(smaller), reading.unsignedLimit(larger));
  scope.learn(less, { low: null, high: subtractAmounts(zeroAmount, margin) });
  return { kind: 'all' };
}
