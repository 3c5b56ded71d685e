/** Compares costs of a kernel of the head with those of the base: regressions, their size, and their lines. */
import { compareSeverity } from '../../source/severity.ts';
import type { Regression } from '../../report-model/regression.ts';
import { type BoundMetric, boundMetrics, boundTable, resourceMetrics } from '../../cost/model/metrics.ts';
import { countSeries } from '../pipeline/cost/cost-series.ts';
import type { CostThresholds } from '../../settings/cost-policy.ts';
import type { LineMatch } from './line-match.ts';
import type { ComparedLaunch } from './counts/compared-launch.ts';
import { type CostPair, regressionOf } from './cost-pair.ts';
import { type CountedChange, type CountedMetric, countedImprovement, countedRegression, isCounted } from './count-comparison.ts';
import { type Rename, boundRegression, boundsOfBoth, renamer } from './bound-comparison.ts';
import { resourceRegression } from './resource-comparison.ts';

/** Cost changes between a kernel and its counterpart in the base. */
interface CostChanges {
  /** Worst first. */
  readonly worse: readonly Regression[];
  readonly better: readonly Regression[];
}

/**
 * Regressions and improvements of the head. Both sides were built by the same compiler and counted at the same
 * arguments, so differences are not noise.
 * @param launches launches that could be counted; if none could, bounds decide
 * @param lines correspondence of lines; null if the texts are not available
 */
export function costChanges(
  pair: CostPair,
  launches: readonly ComparedLaunch[],
  thresholds: CostThresholds,
  lines: LineMatch | null,
): CostChanges {
  const rename = renamer(pair);
  const isCountedHere = (metric: BoundMetric): metric is CountedMetric => launches.length > 0 && isCounted(metric);
  const counted = (metric: CountedMetric): Regression[] => {
    const { growsWith = null } = boundsOfBoth(pair, metric, boundTable[metric].limitedBuild, rename) ?? {};
    const found = countedRegression(launches, metric, thresholds[metric], growsWith, lines);
    return found ? [countedReport(pair, metric, found, rename)] : [];
  };
  const bounded = boundMetrics.flatMap((metric) =>
    isCountedHere(metric) ? counted(metric) : (boundRegression(pair, metric, thresholds[metric], rename, lines) ?? []),
  );
  const worse = [
    ...withoutFollowers(bounded, thresholds),
    ...resourceMetrics.flatMap((metric) => resourceRegression(pair, metric, thresholds[metric], lines) ?? []),
  ];
  const better = boundMetrics.filter(isCountedHere).flatMap((metric) => {
    const found = countedImprovement(launches, metric, lines);
    return found ? [countedReport(pair, metric, found, rename)] : [];
  });
  return { worse: worse.sort((a, b) => compareSeverity(a.severity, b.severity)), better: withoutFollowers(better, {}) };
}

/** Drops a regression of instructions if accesses or branches regress too, unless instructions have a threshold. */
function withoutFollowers(all: readonly Regression[], thresholds: CostThresholds): Regression[] {
  const causes = all.filter(({ metric }) => metric !== 'steps' && metric !== 'work');
  return all.filter(({ metric, of }) => of === undefined || metric !== 'steps' || causes.length === 0 || thresholds.steps !== undefined);
}

/** Report of counts, with the bounds of both sides if they exist, and the reason for the cost of the line. */
function countedReport(pair: CostPair, metric: CountedMetric, { run, ...found }: CountedChange, rename: Rename): Regression {
  const [source, production] = (['source', 'production'] as const).map((build) => boundsOfBoth(pair, metric, build, rename));
  // Regressions of accesses and branches are reported for the verification build.
  const bounds = boundTable[metric].limitedBuild === 'source' ? (source ?? production) : production;
  const { location } = found;
  const lines = (bounds && pair.head.cost.bounds[bounds.build]?.[metric].lines) ?? [];
  const reason = location && lines.find((line) => line.location.file === location.file && line.location.line === location.line)?.reason;
  const growsWith = found.headValue > found.baseValue ? (found.growsWith ?? bounds?.growsWith ?? null) : null;
  const { base, head, build } = bounds ?? { base: String(found.baseValue), head: String(found.headValue), build: 'production' };
  return regressionOf(pair, {
    ...found,
    series: countSeries(pair.head.entry, metric, run, found.of, found.at),
    metric,
    build,
    base,
    head,
    ...(growsWith === null ? {} : { growsWith, asymptotic: true }),
    ...(reason === undefined ? {} : { reason }),
  });
}
