/** Configuration of costs: thresholds of comparisons, and limits of kernels. */
import { parseBound } from '../cost/expressions/bound-parser.ts';
import type { Expression } from '../cost/expressions/expression.ts';
import { isShare, type Metric } from '../cost/model/metrics.ts';
import type { Location } from '../source/location.ts';

/** Maximum allowed increase of a cost, or decrease of the occupancy. */
export interface Threshold {
  /** The threshold as configured: `+5%`. */
  readonly text: string;
  /** Unit of the amount. `points` are percentage points. */
  readonly unit: 'percent' | 'absolute' | 'points';
  /** Size of the change; not negative. */
  readonly amount: number;
}

export interface Thresholds {
  readonly warn?: Threshold;
  readonly fail?: Threshold;
}

export type CostThresholds = Readonly<Partial<Record<Metric, Thresholds>>>;

/** A limit of a kernel, as configured. */
export interface Limit {
  /** The limit as configured: `<= 64`, `>= 50%`, `<= 8*ceil(n/32)`. */
  readonly text: string;
  readonly location: Location;
  /** Whether the limit value itself is excluded: `<`, `>`. */
  readonly strict: boolean;
  /** The limit value. For a share, a number from 0 to 1 that is the minimum. */
  readonly value: Expression | number;
}

export type KernelLimits = Readonly<Partial<Record<Metric, Limit>>>;

/** Parses a threshold. An error is the end of a sentence about the threshold. */
export function parseThreshold(metric: Metric, text: string): Threshold | { readonly error: string } {
  const [, sign, digits, unit = ''] = /^([-+]?)(\d+(?:\.\d+)?)\s*(%|points?)?$/.exec(text.trim()) ?? [];
  if (digits === undefined) return { error: 'must be a change such as "+5%", "+4" or "-10 points"' };
  const amount = Number(digits);
  if (amount > Number.MAX_SAFE_INTEGER) return { error: 'is more than any cost; write a smaller change' };
  const isLess = isShare(metric);
  if (isLess ? sign !== '-' : sign === '-') {
    const example = isLess ? '"-10 points"' : '"+5%"';
    return {
      error: `must be ${isLess ? 'a decrease' : 'an increase'} of ${metric}, such as ${example}`,
    };
  }
  if (isLess && unit === '') return { error: 'needs a unit: "-10 points" or "-20%"' };
  if (!isLess && unit.startsWith('point')) return { error: 'is in points, but only occupancy has points' };
  return { text, unit: unit === '' ? 'absolute' : unit === '%' ? 'percent' : 'points', amount };
}

/**
 * Why two thresholds contradict each other, as the end of a sentence about the first one; undefined if they are
 * consistent.
 */
export function thresholdsProblem({ warn, fail }: Thresholds): string | undefined {
  if (!warn || !fail || warn.unit !== fail.unit || warn.amount <= fail.amount) return undefined;
  return `is looser than the threshold for failing, ${fail.text}, so it would never warn`;
}

/** Parses the text of a limit; `column` is the position of an error in it, counted from 1. */
export function parseLimit(metric: Metric, text: string): Omit<Limit, 'location'> | { readonly error: string; readonly column: number } {
  const [all = '', operator = ''] = /^\s*(<=|>=|<|>|==)?\s*/.exec(text) ?? [];
  const isLeast = isShare(metric);
  const wanted = isLeast ? '>=' : '<=';
  if (!operator.startsWith(wanted.charAt(0))) {
    const example = isLeast ? '>= 50%' : '<= 8*ceil(n/32)';
    const what = isLeast ? 'a lower bound' : 'an upper bound';
    return { error: `it must be ${what}, such as "${example}"`, column: 1 };
  }
  const strict = operator.length === 1;
  if (isLeast) {
    const [, digits, percent] = /^(\d+(?:\.\d+)?)\s*(%)?\s*$/.exec(text.slice(all.length)) ?? [];
    const value = Number(digits) / (percent === undefined ? 1 : 100);
    if (digits === undefined || value > 1) return { error: 'it must be at most 100%, such as ">= 50%"', column: all.length + 1 };
    return { text, strict, value };
  }
  const parsed = parseBound(text.slice(all.length));
  if ('error' in parsed) return { error: parsed.error, column: all.length + parsed.column };
  return { text, strict, value: parsed.expression };
}
