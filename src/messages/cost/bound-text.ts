/** Bounds in readable form: the fastest-growing terms, and a name for partial warps. */
import { parseBound } from '../../cost/expressions/bound-parser.ts';
import {
  type Expression,
  add,
  constant,
  floorQuotient,
  made,
  multiply,
  named,
  single,
  subtract,
} from '../../cost/expressions/expression.ts';
import { expressionText } from '../../cost/expressions/expression-text.ts';
import { compareGrowth, growthIn } from '../../cost/expressions/growth.ts';
import { substitute } from '../../cost/expressions/expression-order.ts';
import { warpSize } from '../../device/hardware-limits.ts';

const partialWarp = 'partialWarp';

/** Maximum number of characters of the number of executed instructions. */
const maxExecuted = 60;

/** Note below bounds with partial warps. */
export const partialWarpText = `${partialWarp}(n) is 1 where n is not a multiple of ${warpSize}, else 0`;

/** Whether a text of {@link wholeBound} or {@link briefBound} needs {@link partialWarpText}. */
export function hasPartialWarp(text: string): boolean {
  return text.includes(`${partialWarp}(`);
}

/** A bound with `partialWarp(n)` instead of `ceil(n/32) - floor(n/32)`. */
export function wholeBound(bound: string): string {
  const read = parseBound(bound);
  return 'expression' in read ? expressionText(withPartialWarps(read.expression)) : bound;
}

/**
 * Like {@link wholeBound}, but of a longer bound only the terms that grow fastest.
 * @param most maximum number of characters
 */
export function briefBound(bound: string, most: number): string {
  const read = parseBound(bound);
  if (!('expression' in read)) return cut(bound, most);
  const whole = withPartialWarps(read.expression);
  const text = expressionText(whole);
  if (text.length <= most) return text;
  const addends = [...whole.addends].map((entry) => made(new Map([entry])));
  const growths = addends.map(growthOf);
  const top = growths.reduce((a, b) => (compareGrowth(a, b) < 0 ? b : a));
  const leading = addends.filter((_, at) => compareGrowth(growths[at]!, top) === 0);
  // Terms of equal growth are shown together: a subtrahend is meaningless without its minuend.
  const shown = leading.length < addends.length ? `${expressionText(add(...leading))} + …` : text;
  return cut(shown, most);
}

/**
 * `n + … = 256`: a bound as {@link briefBound}, with its value at the reference sizes if that differs.
 * @param most letters of the bound
 */
export function amountText({ bound, value }: { readonly bound: string; readonly value: number | null }, most: number): string {
  const text = briefBound(bound, most);
  return value === null || bound === String(value) ? text : `${text} = ${value}`;
}

/** `, of which a warp executes at most …`: empty if it executes each of the instructions once, or if unknown. */
export function executedText(steps: Parameters<typeof amountText>[0] | undefined, instructions: number): string {
  const isOnce = !steps || steps.bound === String(instructions);
  return isOnce ? '' : `, of which a warp executes at most ${amountText(steps, maxExecuted)}`;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Growth of a bound if all names except partial warps grow together. */
function growthOf(bound: Expression): ReturnType<typeof growthIn> {
  const together = substitute(bound, (name) => (hasPartialWarp(name) ? constant(1) : named('')));
  return growthIn(together, '');
}

/** Replaces `ceil(n/32) - floor(n/32)`, with any common factor, by one name. */
function withPartialWarps(bound: Expression): Expression {
  const divisor = constant(warpSize);
  for (const { coefficient, factors } of bound.addends.values()) {
    if (coefficient.top <= 0n) continue;
    for (const factor of factors) {
      if (factor.kind !== 'floor' || factor.divisor.key !== divisor.key) continue;
      const size = subtract(factor.dividend, constant(warpSize - 1));
      const others = factors.filter((other) => other !== factor).map(single);
      const times = others.reduce(multiply, constant(coefficient));
      const pair = multiply(times, subtract(single(factor), floorQuotient(size, divisor)));
      const without = subtract(bound, pair);
      // Both addends occur in the bound unchanged.
      if (without.addends.size !== bound.addends.size - 2) continue;
      const shown = named(`${partialWarp}(${expressionText(size)})`);
      return withPartialWarps(add(without, multiply(times, shown)));
    }
  }
  return bound;
}
