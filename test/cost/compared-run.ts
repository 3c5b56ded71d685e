/** Counts of the interpreter for the worst warp of a run, compared with the bounds. */
import { evaluate } from '../../src/cost/expressions/expression.ts';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import type { KernelBounds } from '../../src/cost/kernel-cost.ts';
import { type BoundMetric, boundMetrics, boundTable, byMetric, type Count } from '../../src/cost/model/metrics.ts';
import { LaunchCounters, type WarpCounts } from '../../src/interpreter/counters.ts';
import type { RunRequest } from '../../src/interpreter/core/run-request.ts';
import { runKernel } from '../../src/interpreter/machine.ts';

export interface Tally {
  runs: number;
  /** Comparisons of a metric in a run, those in which bound and count are equal, and of these those marked as exact. */
  compared: number;
  equal: number;
  exact: number;
  /** Excess of bounds over counts, relative to the count or 1. */
  readonly errors: number[];
  /** Metrics without a bound. */
  none: number;
  /** Bounds below a count, and bounds marked as exact that are above it. */
  readonly failures: string[];
}

/** Nothing compared yet. */
export function emptyTally(): Tally {
  return { runs: 0, compared: 0, equal: 0, exact: 0, errors: [], none: 0, failures: [] };
}

/** As a line: comparisons, shares of tight bounds and of exact ones, and the 90th percentile of the excess. */
export function tallyText({ runs, compared, equal, exact, errors, none, failures }: Tally): string {
  const share = (part: number): string => `${((100 * part) / Math.max(1, compared)).toFixed(1)} %`;
  return `${runs} runs, ${compared} bounds, ${share(equal)} tight, ${share(exact)} known to be, 90th percentile of the error ${(100 * ninthDecile(errors)).toFixed(0)} %; ${none} without, ${failures.length} failures`;
}

function ninthDecile(errors: readonly number[]): number {
  return [...errors].sort((a, b) => a - b)[Math.floor(0.9 * errors.length)] ?? 0;
}

/**
 * Runs a kernel and compares.
 * @param title of the run, for failures
 * @param valueOf value of a name in the bounds
 * @returns whether the run ended without a race: racy loads may differ between the lanes
 */
export function compareRun(
  title: string,
  request: Omit<RunRequest, 'observer'>,
  bounds: KernelBounds,
  valueOf: (name: string) => bigint | undefined,
  tally: Tally,
): boolean {
  const counters = new LaunchCounters();
  const { outcome, races, divergences } = runKernel({ ...request, observer: counters });
  if (outcome !== 'finished' || races.length > 0 || divergences.length > 0) return false;
  tally.runs++;
  const worst = worstOf(counters.warps);
  for (const metric of boundMetrics) {
    const { bound, exact } = bounds[metric];
    const value = bound && evaluate(bound, valueOf);
    if (!value) {
      tally.none++;
      continue;
    }
    const most = Number(value.top) / Number(value.bottom);
    tally.compared++;
    tally.errors.push((most - worst[metric]) / Math.max(1, worst[metric]));
    if (most === worst[metric]) tally.equal++;
    if (exact) tally.exact++;
    if (most < worst[metric] || (exact && most !== worst[metric]))
      tally.failures.push(`${title}: ${metric} ${expressionText(bound)}${exact ? ' exactly' : ''} is ${most}, counted ${worst[metric]}`);
  }
  return true;
}

type CountedBy = Exclude<Count, 'leastSectors' | 'operations'>;

/** Counts of the worst warp, by metric. */
export function worstOf(warps: readonly WarpCounts[]): Record<BoundMetric, number> {
  const worst = byMetric(boundMetrics, () => 0);
  for (const warp of warps) {
    const counted: Record<CountedBy, number> = { ...warp, divwarps: warp.divergentBranches };
    for (const metric of boundMetrics) {
      let sum = 0;
      for (const [count, weight] of Object.entries(boundTable[metric].weights)) sum += weight * counted[count as CountedBy];
      worst[metric] = Math.max(worst[metric], sum);
    }
  }
  return worst;
}
