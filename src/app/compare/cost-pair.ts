/** A kernel of the base and its counterpart, with their costs, and the report of a regression. */
import type { Regression } from '../../report-model/regression.ts';
import { dimensionsIn } from '../../assumptions/parts.ts';
import { fingerprintOf } from '../../verdict/fingerprint.ts';
import { isBoundMetric, metricTable } from '../../cost/model/metrics.ts';
import type { Threshold } from '../../settings/cost-policy.ts';
import type { CostReport } from '../../report-model/cost-report.ts';
import { regressionMessage } from '../../messages/cost/cost-messages.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';

interface CostedKernel {
  readonly entry: LaunchedKernel;
  readonly cost: CostReport;
}

export interface CostPair {
  readonly base: CostedKernel;
  readonly head: CostedKernel;
}

/**
 * Whether the first launches of both sides have the same dimensions. Otherwise the work is distributed differently
 * among warps, and bounds per warp cannot be compared.
 */
export function hasSameShape({ base, head }: CostPair): boolean {
  const shapeOf = ({ entry: { launches } }: CostedKernel): string => {
    const { block = null, grid = null, ties = [] } = launches[0] ?? {};
    const tied = ties.filter(({ expression }) => dimensionsIn(expression).size > 0).map(({ text }) => text);
    return JSON.stringify([block, grid, tied]);
  };
  return shapeOf(base) === shapeOf(head);
}

/** Maximum cost of the head that a threshold allows. */
export function allowed(base: number, { unit, amount }: Threshold): number {
  return unit === 'percent' ? base + (base * amount) / 100 : base + amount;
}

/** Completes a regression with its code, its fingerprint and its message. */
export function regressionOf({ base, head }: CostPair, found: Omit<Regression, 'code' | 'fingerprint' | 'kernel' | 'message'>): Regression {
  const kernel = head.entry.name.full;
  const { code } = metricTable[found.metric];
  const fingerprint = fingerprintOf(head.entry.identity, ['cost', code]);
  const { build, metric } = found;
  const isReached =
    build !== undefined && isBoundMetric(metric) && [base, head].every(({ cost }) => cost.bounds[build]?.[metric].exact === true);
  return { code, kernel, fingerprint, ...found, message: regressionMessage({ ...found, isReached }) };
}
