/**
 * Values of costs that are comparable between commits, and the names of their series: only values of one kernel on one
 * architecture, under one launch with the same arguments, are in one series.
 */
import type { Dim3 } from '../../../base/dim3.ts';
import { hashText } from '../../../base/hash.ts';
import { type BoundMetric, boundMetrics, type Metric, type ResourceMetric, resourceMetrics } from '../../../cost/model/metrics.ts';
import type { CostReport } from '../../../report-model/cost-report.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';
import { costLaunch, resourceOf } from './cost-reference.ts';

/** A cost of a kernel of a commit. */
export interface MeasuredCost {
  /** `series` of the regressions that have a value of the same series. */
  readonly series: string;
  /** Value in the commit that it is compared with; missing if that has no comparable one. */
  readonly base?: number;
  readonly head: number;
}

/** Series of a resource. Registers and spills do not depend on the launch. */
export function resourceSeries(entry: LaunchedKernel, metric: ResourceMetric): string {
  const { block, sharedBytes } = costLaunch(entry);
  return seriesOf(entry, metric, metric === 'registers' || metric === 'spillBytes' ? [] : [block, sharedBytes]);
}

/** Series of the values of a bound at the reference arguments. */
export function boundSeries(entry: LaunchedKernel, metric: BoundMetric, build: 'source' | 'production'): string {
  const { block, grid, sharedBytes, scalars } = costLaunch(entry);
  const given = [...scalars].map(([index, value]) => [index, String(value)]);
  return seriesOf(entry, metric, [build, block, grid, sharedBytes, given]);
}

/** Series of counts of a launch, or of their averages per access. */
export function countSeries(
  entry: LaunchedKernel,
  metric: BoundMetric,
  { block, grid }: { readonly block: Dim3; readonly grid: Dim3 },
  of: 'launch' | 'access',
  at: Readonly<Record<string, number>>,
): string {
  return seriesOf(entry, metric, [of, block, grid, Object.entries(at)]);
}

function seriesOf({ identity, unit, arch }: LaunchedKernel, metric: Metric, setting: readonly unknown[]): string {
  return hashText(JSON.stringify([identity, unit.path, arch, metric, setting]));
}

/** Resources and values of bounds of a kernel, by series. */
export function comparableCosts(entry: LaunchedKernel, cost: CostReport): Map<string, number> {
  const { resources, bounds, nondeterministic } = cost;
  const found = new Map<string, number>();
  for (const metric of resources ? resourceMetrics : []) {
    const value = resourceOf(resources!, metric);
    if (value !== undefined) found.set(resourceSeries(entry, metric), value);
  }
  // Bounds that the time limit cut may be larger in one run than in the next.
  for (const build of nondeterministic === true ? [] : (['source', 'production'] as const)) {
    for (const metric of boundMetrics) {
      const value = bounds[build]?.[metric].value;
      if (typeof value === 'number') found.set(boundSeries(entry, metric, build), value);
    }
  }
  return found;
}
