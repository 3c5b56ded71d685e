/** Notes on costs that a comparison does not cover, so that readers do not assume that they are unchanged. */
import { grouped } from '../../base/grouped.ts';
import { type BoundMetric, boundMetrics, boundTable } from '../../cost/model/metrics.ts';
import type { CostNote } from '../../report-model/report.ts';
import type { CostThresholds } from '../../settings/cost-policy.ts';
import { cutShortText, fewerLaunchesText, notBoundText, someLaunchText } from '../../messages/cost/cost-note-phrases.ts';
import { type CostPair, hasSameShape } from './cost-pair.ts';
import { type ComparedLaunch, maxLaunches } from './counts/compared-launch.ts';

/**
 * Notes on a kernel whose costs are compared.
 * @param launches launches that could be counted on both sides
 * @param wasCut whether the time limit ended counting early
 */
export function costNotes(pair: CostPair, launches: readonly ComparedLaunch[], thresholds: CostThresholds, wasCut: boolean): CostNote[] {
  const kernel = pair.head.entry.name.full;
  const isWanted = (metric: BoundMetric): boolean => boundTable[metric].clearFactor !== null || thresholds[metric] !== undefined;
  // A span is never counted.
  const bounded = boundMetrics.filter((metric) => isWanted(metric) && (launches.length === 0 || metric === 'span'));
  const byReason = grouped(bounded, (metric) => reasonOf(pair, metric, thresholds) ?? undefined);
  const chosenLaunches = launches.filter(({ isBlockChosen }) => isBlockChosen);
  const deciding = chosenLaunches.flatMap(({ points }) =>
    points.some(({ isLarge }) => isLarge) ? points.filter(({ isLarge }) => isLarge) : points,
  );
  const blocks = deciding.map(({ head }) => head.block).sort((a, b) => a[0] - b[0]);
  const isGridOpen = launches.some(({ isWhole }) => !isWhole);
  const chosen = someLaunchText(blocks, isGridOpen);
  const [compared, all] = [new Set(launches.map(({ head }) => head)).size, pair.head.entry.launches.length];
  return [
    ...(chosen === null ? [] : [{ kernel, message: chosen }]),
    ...(wasCut ? [{ kernel, message: cutShortText(compared, all), nondeterministic: true }] : []),
    ...(!wasCut && compared > 0 && compared < all ? [{ kernel, message: fewerLaunchesText(compared, all, maxLaunches) }] : []),
    ...[...byReason].map(([reason, metrics]) => ({ kernel, message: notBoundText(metrics, reason) })),
  ];
}

/**
 * Why a metric could not be compared by bounds; null if it was compared, or if the missing bound is itself reported.
 */
function reasonOf({ base, head }: CostPair, metric: BoundMetric, thresholds: CostThresholds): string | null {
  if (!thresholds[metric] && !hasSameShape({ base, head }))
    return 'the launch has another block or grid, so a warp does other work than before';
  const sides = (['production', 'source'] as const).map((build) => [base, head].map(({ cost }) => cost.bounds[build]?.[metric]));
  if (sides.some((both) => both.every((bound) => typeof bound?.bound === 'string'))) return null;
  const [before, after] = [0, 1].map((side) => sides.map((both) => both[side]).find((bound) => bound !== undefined));
  if (typeof before?.bound === 'string') return null;
  const side = after?.bound === null ? 'either side' : 'the base';
  return `no bound was found for ${side}: ${before?.reason ?? after?.reason ?? 'costs are missing'}`;
}
