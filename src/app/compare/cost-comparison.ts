/** Costs of a kernel of the head against those of the base: what is worse, by how much, and on which line. */
import { compareSeverity } from '../../source/severity.ts';
import type { Regression } from '../../document/regression.ts';
import { boundMetrics, resourceMetrics } from '../../cost/model/metrics.ts';
import type { CostThresholds } from '../../settings/cost-policy.ts';
import type { LineMatch } from './line-match.ts';
import { type CostPair } from './cost-pair.ts';
import { boundRegression, renamer } from './bound-comparison.ts';
import { resourceRegression } from './resource-comparison.ts';

/**
 * What is worse in the head, worst first. Both sides were built by the same compiler, so nothing is left to chance.
 * @param lines null where texts are not at hand
 */
export function costRegressions(pair: CostPair, thresholds: CostThresholds, lines: LineMatch | null): Regression[] {
  const rename = renamer(pair);
  const found = [
    ...boundMetrics.flatMap((metric) => boundRegression(pair, metric, thresholds[metric], rename, lines) ?? []),
    ...resourceMetrics.flatMap((metric) => resourceRegression(pair, metric, thresholds[metric], lines) ?? []),
  ];
  return found.sort((a, b) => compareSeverity(a.severity, b.severity));
}
