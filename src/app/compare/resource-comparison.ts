/** Compares resources of a kernel of the head with those of the base. */
import type { Regression } from '../../report-model/regression.ts';
import { resourceOf } from '../pipeline/cost/cost-reference.ts';
import { resourceSeries } from '../pipeline/cost/cost-series.ts';
import { isShare, type ResourceMetric, resourceTable } from '../../cost/model/metrics.ts';
import type { Location } from '../../source/location.ts';
import type { Threshold, Thresholds } from '../../settings/cost-policy.ts';
import type { ResourcesReport } from '../../report-model/cost-report.ts';
import type { LineMatch } from './line-match.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import { type CostPair, allowed, regressionOf } from './cost-pair.ts';

/** How a resource of the head is worse; null if it is not. */
export function resourceRegression(
  pair: CostPair,
  metric: ResourceMetric,
  thresholds: Thresholds | undefined,
  lines: LineMatch | null,
): Regression | null {
  const [before, after] = [pair.base.cost.resources, pair.head.cost.resources];
  const [base, head] = [before && resourceOf(before, metric), after && resourceOf(after, metric)];
  if (base === undefined || head === undefined) return null;
  const isWorse = isShare(metric) ? head < base : head > base;
  if (!isWorse) return null;
  const over = (threshold: Threshold | undefined): boolean => {
    if (!threshold) return false;
    if (!isShare(metric)) return head > allowed(base, threshold);
    const share = threshold.unit === 'points' ? threshold.amount / 100 : (base * threshold.amount) / 100;
    return base - head > share + 1e-9;
  };
  const severity = over(thresholds?.fail)
    ? 'error'
    : over(thresholds?.warn)
      ? 'warning'
      : thresholds || !resourceTable[metric].isToldAlone
        ? null
        : 'notice';
  if (severity === null) return null;
  const exceeded = severity === 'notice' ? undefined : thresholds?.[severity === 'error' ? 'fail' : 'warn'];
  const location = changedLine(pair.head.entry, metric, after!, lines);
  return regressionOf(pair, {
    metric,
    series: resourceSeries(pair.head.entry, metric),
    severity,
    base,
    head,
    ratio: base === 0 ? null : head / base,
    ...(location ? { location } : {}),
    ...(metric === 'occupancy' ? { reason: whatLimits(before!, after!) } : {}),
    ...(exceeded ? { limit: exceeded.text } : {}),
  });
}

function whatLimits(before: ResourcesReport, after: ResourcesReport): string {
  switch (after.limiter) {
    case 'registers': {
      const more = after.registers - before.registers;
      const change = more > 0 ? `, ${more} more than before` : ` instead of ${before.registers}`;
      return `limited by ${after.registers} registers${change}`;
    }
    case 'shared':
      return `limited by ${after.sharedBytes} bytes of shared memory instead of ${before.sharedBytes}`;
    case 'threads':
    case 'blocks':
      return `limited by the number of ${after.limiter}`;
    default:
      return 'no single resource limits it';
  }
}

/** The first changed line of the kernel; for shared memory, the first one that declares a shared variable. */
function changedLine(
  { kernel }: LaunchedKernel,
  metric: ResourceMetric,
  { limiter }: ResourcesReport,
  lines: LineMatch | null,
): Location | null {
  const { location } = kernel;
  if (!location || !lines) return location ?? null;
  const own = kernel.blocks.flatMap(({ instructions }) =>
    instructions.flatMap(({ location: place }) => (place?.file === location.file ? [place.line] : [])),
  );
  const last = Math.max(location.line, ...own);
  const changed = lines.changed(location.file).filter((line) => line >= location.line && line <= last);
  const isShared = metric === 'sharedBytes' || (metric === 'occupancy' && limiter === 'shared');
  const declaring = isShared ? changed.find((line) => /__shared__/.test(lines.text(location.file, line))) : undefined;
  const line = declaring ?? changed[0];
  return line === undefined ? location : { file: location.file, line };
}
