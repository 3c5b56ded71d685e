/**
 * Trip counts of loops, from the conditions of their back edges: an induction variable counts the completed iterations
 * (section 5.2 of PICKER), and nothing is unrolled.
 */
import { readComparison } from '../../analysis/loops/ordered-terms.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { dominates } from '../../ir/form/dominators.ts';
import type { Loop } from '../../ir/form/kernel.ts';
import { signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import { type AddressForm, type IndexVariable, addForms, launchForm, scaleForm, shiftForm, subtractForms, variableForm } from './form.ts';
import { lessOrEqual, equal } from './launch-condition.ts';
import {
  type Amount,
  addAmounts,
  fixedAmount,
  fixedValueOf,
  divideExactly,
  maxAmount,
  oneAmount,
  quotientAmount,
  rangeOf,
  remainderAmount,
  scaleAmount,
  subtractAmounts,
  zeroAmount,
} from './amount.ts';
import type { Learnt } from './conditions.ts';
import type { LinearInterpretation } from './linear-interpretation.ts';

/** A loop continues after iteration j while `step * j < gap`; `differs`: while `step * j != gap`, modulo 2^width. */
interface Continuation {
  readonly step: Amount;
  readonly gap: AddressForm;
  readonly differs: boolean;
}

/**
 * Conditions satisfied in every iteration that is followed by another one, and whether these conditions are exhaustive.
 */
export function continueConditions(symbolic: SymbolicKernel, loop: Loop): { readonly terms: readonly Term[]; readonly areAll: boolean } {
  const { kernel, store } = symbolic;
  const terms: Term[] = [];
  let areAll = true;
  for (const { from, to } of loop.exits) {
    if (!loop.latches.every((latch) => dominates(kernel.dominators, from, latch))) {
      areAll = false;
      continue;
    }
    const stay = store.not(symbolic.edge(from, to));
    terms.push(...(stay.operator === 'all' ? stay.arguments : [stay]));
  }
  return { terms, areAll };
}

/** Reads a condition for another iteration; null unless it is linear in the iteration counter. */
function continuation(reading: LinearInterpretation, loop: Loop, stay: Term): Continuation | null {
  if (!isEven(reading.context.symbolic, loop, stay)) return null;
  const round = reading.round(loop.id);
  const unequal = stay.operator === 'not' && stay.arguments[0]!.operator === 'equal' ? stay.arguments[0]! : null;
  if (unequal) {
    const [a, b] = unequal.arguments as [Term, Term];
    if (a.width === 0) return null;
    return differing(reading, round, subtractForms(reading.natural(a), reading.natural(b)), a.width);
  }
  const comparison = readComparison(stay);
  if (!comparison || comparison.smaller.width === 0) return null;
  const { smaller, larger, strict, signed } = comparison;
  const moves = (form: AddressForm): boolean => form.terms.has(round) || holdsInPart(form, round);
  const [left, right] = [reading.natural(smaller), reading.natural(larger)];
  if (moves(left) === moves(right)) return null;
  const isUpper = moves(left);
  const moving = isUpper ? left : right;
  if (holdsInPart(moving, round)) return null;
  const coefficient = moving.terms.get(round)!;
  const step = isUpper ? coefficient : scaleAmount(coefficient, -1n);
  const { scope } = reading;
  if (!scope.isPositive(step, 1n) && !scope.need(lessOrEqual(oneAmount, step))) return null;
  const bound = isUpper ? larger : smaller;
  const limit = signed ? reading.signed(bound) : reading.unsignedLimit(bound);
  const margin = strict ? oneAmount : zeroAmount;
  // In the last test the variable is one step beyond the last value that satisfied the condition.
  const { low, high } = signed ? signedBounds(smaller.width) : unsignedBounds(smaller.width);
  const first = without(moving, round);
  if (!scope.fits(first, low, high)) return null;
  const end = scope.ofForm(limit);
  if (isUpper) {
    const last = end.high && addAmounts(end.high, step);
    if (!last || !scope.need(lessOrEqual(subtractAmounts(last, margin), fixedAmount(high)))) return null;
  } else {
    const last = end.low && subtractAmounts(end.low, step);
    if (!last || !scope.need(lessOrEqual(fixedAmount(low), addAmounts(last, margin)))) return null;
  }
  const gap = isUpper ? subtractForms(limit, first) : subtractForms(first, limit);
  return { step, gap: shiftForm(gap, subtractAmounts(oneAmount, margin)), differs: false };
}

/** Whether the value of a condition differs between iterations only through the iteration counter of the loop. */
function isEven({ definedIn, kernel }: SymbolicKernel, loop: Loop, condition: Term): boolean {
  return condition.leaves.every(({ atom }) => {
    if (atom!.kind === 'havoc' || atom!.kind === 'phi') return !loop.blocks.has(definedIn(atom!.value));
    return atom!.kind !== 'iteration' || atom!.loop === loop.id || !loop.blocks.has(kernel.loops[atom!.loop]!.header);
  });
}

function differing(reading: LinearInterpretation, round: IndexVariable, form: AddressForm, width: number): Continuation | null {
  const coefficient = form.terms.get(round);
  if (!coefficient || holdsInPart(form, round)) return null;
  const isRising = rangeOf(coefficient).low !== null && rangeOf(coefficient).low! >= 1n;
  const step = isRising ? coefficient : scaleAmount(coefficient, -1n);
  const { scope } = reading;
  if (!scope.isPositive(step, 1n) && !scope.need(lessOrEqual(oneAmount, step))) return null;
  const rest = without(form, round);
  const gap = isRising ? scaleForm(rest, fixedAmount(-1n)) : rest;
  const { low, high } = scope.ofForm(gap);
  if (!low || !high) return null;
  // With `!=` the loop ends before the difference wraps around only if the difference becomes exactly zero.
  const exact = dividedForm(gap, step);
  if (!exact && (gap.terms.size > 0 || !scope.need(equal(remainderAmount(gap.constant, step), zeroAmount)))) return null;
  if (!scope.need(lessOrEqual(high, fixedAmount((1n << BigInt(width)) - 1n)))) return null;
  const isAhead = exact !== null && fixedValueOf(step) !== null && scope.isPositive(low, 1n - fixedValueOf(step)!);
  if (!isAhead && !scope.isAtMost(zeroAmount, low) && !scope.need(lessOrEqual(zeroAmount, low))) return null;
  return { step, gap, differs: true };
}

function without(form: AddressForm, variable: IndexVariable): AddressForm {
  const terms = new Map(form.terms);
  terms.delete(variable);
  return { ...form, terms };
}

function holdsInPart(form: AddressForm, round: IndexVariable): boolean {
  return [...form.terms.keys()].some((variable) => variable !== round && variable.of.includes(round.key));
}

/** The form divided by a quantity; null unless each addend is a multiple of that. */
function dividedForm(form: AddressForm, by: Amount): AddressForm | null {
  const start = divideExactly(form.constant, by);
  if (!start) return null;
  let quotients = launchForm(start);
  for (const [variable, coefficient] of form.terms) {
    const part = divideExactly(coefficient, by);
    if (!part) return null;
    quotients = addForms(quotients, variableForm(variable), part);
  }
  return quotients;
}

/** Facts about the iterations completed before the access, from a condition for another iteration. */
export function learnTripCounts(reading: LinearInterpretation, loop: Loop, stay: Term): Learnt {
  const { scope } = reading;
  const goesOn = continuation(reading, loop, stay);
  if (!goesOn) return { kind: 'nothing' };
  const { step, gap, differs } = goesOn;
  // After the first iteration: step * (iteration - 1) < gap.
  const most = differs ? gap : shiftForm(gap, subtractAmounts(step, oneAmount));
  const count = variableForm(reading.round(loop.id));
  if (most.terms.size === 0) {
    const rounds = quotientAmount(most.constant, step);
    const isMet = scope.isAtMost(zeroAmount, rounds) || (differs && scope.isPositive(most.constant, 1n - (fixedValueOf(step) ?? 1n)));
    scope.learn(count, { low: null, high: isMet ? rounds : maxAmount(zeroAmount, rounds) });
    return { kind: 'all' };
  }
  const bound = subtractForms(scaleForm(count, step), most);
  const { low } = scope.ofForm(most);
  if (differs || (low && scope.isAtMost(zeroAmount, low))) {
    scope.learn(bound, { low: null, high: zeroAmount });
    return { kind: 'all' };
  }
  return {
    kind: 'one-of',
    ways: [
      (other) => other.scope.learn(count, { low: zeroAmount, high: zeroAmount }),
      (other) => other.scope.learn(count, { low: oneAmount, high: null }) && other.scope.learn(bound, { low: null, high: zeroAmount }),
    ],
  };
}

/** Number of iterations that a loop with one exit has completed at its exit; null if unknown. */
export function lastIteration(symbolic: SymbolicKernel, loop: Loop, outside: LinearInterpretation): AddressForm | null {
  if (loop.exits.length !== 1) return null;
  const { terms } = continueConditions(symbolic, loop);
  const [stay] = terms;
  if (!stay || terms.length > 1) return null;
  const reading = outside.inner({
    ...outside.context,
    isInside: (other) => other === loop.id || outside.context.isInside(other),
  });
  const goesOn = continuation(reading, loop, stay);
  if (!goesOn) return null;
  outside.scope.adopt(reading.scope);
  const { step, gap, differs } = goesOn;
  if (differs) {
    const exact = dividedForm(gap, step);
    return exact ?? (gap.terms.size === 0 ? launchForm(quotientAmount(gap.constant, step)) : null);
  }
  if (gap.terms.size === 0)
    return launchForm(maxAmount(zeroAmount, quotientAmount(addAmounts(gap.constant, subtractAmounts(step, oneAmount)), step)));
  const { low } = outside.scope.ofForm(gap);
  if (!low || !outside.scope.isAtMost(zeroAmount, low)) return null;
  return outside.quotient(shiftForm(gap, subtractAmounts(step, oneAmount)), step);
}
