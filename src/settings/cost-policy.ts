/** Configuration of costs: thresholds of comparisons, and limits of kernels. */
import { parseBound } from '../cost/expressions/bound-parser.ts';
import type { Expression } from '../cost/expressions/expression.ts';
import { isShare, type Metric } from '../cost/model/metrics.ts';
import type { Location } from '../source/location.ts';

/** Maximum regression: of a cost that increases, or an occupancy that decreases. */
export interface Threshold {
  /** As configured: `+5%` */
  readonly text: string;
  /** Points are hundredths of a share. */
  readonly unit: 'percent' | 'absolute' | 'points';
  /** Not negative. */
  readonly amount: number;
}

export interface Thresholds {
  readonly warn?: Threshold;
  readonly fail?: Threshold;
}

export type CostThresholds = Readonly<Partial<Record<Metric, Thresholds>>>;

/** A limit of a kernel, as configured. */
export interface Limit {
  /** `<= 64`, `>= 50%`, `<= 8*ceil(n/32)` */
  readonly text: string;
  readonly location: Location;
  /** Without the limit itself: `<`, `>`. */
  readonly strict: boolean;
  /** For a share an amount from 0 to 1, which is the minimum. */
  readonly value: Expression | number;
}

export type KernelLimits = Readonly<Partial<Record<Metric, Limit>>>;

/** Parses a threshold; the error is the end of a sentence about it. */
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

/** Why two thresholds contradict each other, as the end of a sentence about the first; undefined if they do not. */
export function thresholdsProblem({ warn, fail }: Thresholds): string | undefined {
  if (!warn || !fail || warn.unit !== fail.unit || warn.amount <= fail.amount) return undefined;
  return `is looser than the threshold for failing, ${fail.text}, so it would never warn`;
}

/** Parses the text of a limit; `column` counts from 1 in it. */
export function parseLimit(
  metric: Metric,
  text: string,
): Omit<Limit, 'location'> | { readonly error: string; readonly column: number } {
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
    if (digits === undefined || value > 1) return { error: 'it must be at most 100%, such as ">= 50%"', column: all.length + 1 }; // oxfmt-ignore
    return { text, strict, value };
  }
  const parsed = parseBound(text.slice(all.length));
  if ('error' in parsed) return { error: parsed.error, column: all.length + parsed.column };
  return { text, strict, value: parsed.expression };
}
