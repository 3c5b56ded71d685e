/** The costs of the kernels that a change touches, whether or not they differ, for the history of the branch. */
import { boundMetrics } from '../../cost/model/metrics.ts';
import type { CheckedKernel, LaunchedKernel } from '../build/phase-data.ts';
import { comparableCosts, countSeries, type MeasuredCost } from '../pipeline/cost/cost-series.ts';
import type { CostPair } from './cost-pair.ts';
import { changeAt, decidingPoints, isCounted } from './count-comparison.ts';
import type { ComparedLaunch } from './counts/compared-launch.ts';

/** Kernels of both sides, and the launches in which both were counted. */
type CountedPair = CostPair & { readonly launches: readonly ComparedLaunch[] };

/**
 * Costs of the kernels of the head, each series once.
 * @param pairs the kernels that have a counterpart with costs in the base
 */
export function measuredCosts(head: readonly CheckedKernel[], pairs: readonly CountedPair[]): MeasuredCost[] {
  const before = new Map(pairs.map(({ base, head: { entry } }) => [entry, base]));
  const priced = head.flatMap(({ entry, report: { cost } }): MeasuredCost[] => {
    if (!cost) return [];
    const was = before.get(entry);
    // The identity of the counterpart is that of the head already; its file may have another name.
    const earlier = was && comparableCosts({ ...was.entry, unit: entry.unit }, was.cost);
    return [...comparableCosts(entry, cost)].map(([series, value]) => measured(series, earlier?.get(series), value));
  });
  const counted = pairs.flatMap((pair) => countedCosts(pair.head.entry, pair.launches));
  return [...new Map([...priced, ...counted].map((cost) => [cost.series, cost])).values()];
}

function countedCosts(entry: LaunchedKernel, launches: readonly ComparedLaunch[]): MeasuredCost[] {
  return launches.flatMap((launch) => {
    const point = decidingPoints(launch).at(-1)!;
    return boundMetrics.filter(isCounted).map((metric) => {
      const { of, at, baseValue, headValue } = changeAt(launch, point, metric);
      const series = countSeries(entry, metric, point.head, of, at);
      const isSameLaunch = series === countSeries(entry, metric, point.base, of, at);
      return measured(series, isSameLaunch ? baseValue : undefined, headValue);
    });
  });
}

function measured(series: string, base: number | undefined, head: number): MeasuredCost {
  return { series, ...(base !== undefined && { base }), head };
}
