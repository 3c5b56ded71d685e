/** Counts of the launches of a kernel against those of what it was: what is worse, what is better, and on which line. */
import type { Severity } from '../../source/severity.ts';
import type { Location } from '../../source/location.ts';
import type { Regression } from '../../report-model/regression.ts';
import type { BoundMetric } from '../../cost/model/metrics.ts';
import type { Counts } from '../../interpreter/counters.ts';
import type { Thresholds } from '../../settings/cost-policy.ts';
import type { ComparedLaunch, ComparedPoint } from './counts/compared-launch.ts';
import type { CountedRun } from '../counted/counted-run.ts';
import type { LineMatch } from './line-match.ts';
import { allowed } from './cost-pair.ts';

/** What a launch of the head costs that one of the base did not, or the other way round. */
export type CountedChange = Required<Pick<Regression, 'baseValue' | 'headValue' | 'ratio' | 'at' | 'of'>> &
  Pick<Regression, 'location' | 'growsWith' | 'asymptotic' | 'limit' | 'launch'> & { readonly severity: Severity };

/** Metrics that counts decide: of the span nothing is counted. */
export type CountedMetric = Exclude<BoundMetric, 'span'>;

/**
 * Clearly more, without thresholds. Both sides were counted at the same arguments, so little is left to chance; of
 * instructions a change may need some more.
 */
const clearFactor: Readonly<Record<CountedMetric, number | null>> = { sectors: 1.25, conflicts: 1.25, divwarps: 1.25, steps: 1.5, work: null }; // oxfmt-ignore

/** Of so many warps one may cost a little more without a word: the last one of a grid, say. */
const warpsPerChange = 8;

/**
 * Turns of a scheduler that a sector takes: a GPU of the last ten years moves a sector of global memory in the time in
 * which it issues about ten instructions of a warp (A100: 1.6 TB/s and 610 G instructions a second; H100: 3.4 and 900).
 */
const turnsPerSector = 10;

/** How much faster a cost must grow to be said to. */
const growthFactor = 2;

/**
 * What one of the launches has clearly more of; null where none has. The launch in which it grew most is told.
 * @param growsWith the name with which the bound of the head grows faster, if there is one
 */
export function countedRegression(
  launches: readonly ComparedLaunch[],
  metric: CountedMetric,
  thresholds: Thresholds | undefined,
  growsWith: string | null,
  lines: LineMatch | null,
): CountedChange | null {
  const found = launches.flatMap((launch) => {
    const points = decidingPoints(launch);
    const severity = severityOf(launch, points, metric, thresholds, growsWith);
    return severity ? [{ launch, severity, point: points.at(-1)! }] : [];
  });
  const rank = ({ severity, point, launch }: (typeof found)[number]): number =>
    ['notice', 'warning', 'error'].indexOf(severity) * 1e6 + ratioAt(launch, point, metric);
  const [worst] = found.sort((a, b) => rank(b) - rank(a));
  if (!worst) return null;
  const { launch, severity, point } = worst;
  const exceeded = severity === 'notice' ? undefined : thresholds?.[severity === 'error' ? 'fail' : 'warn'];
  const location = isSameCode(launch, point) ? launch.head.location : worstLine(point, metric, lines);
  return {
    ...toldAt(launch, point, metric, launches.length > 1),
    severity,
    ...(doesGrow(launch, metric) ? grownWith(launch) : {}),
    ...(location ? { location } : {}),
    ...(exceeded ? { limit: exceeded.text } : {}),
  };
}

/** What all launches have clearly less of, and none has more of; null where that is not so. */
export function countedImprovement(
  launches: readonly ComparedLaunch[],
  metric: CountedMetric,
  lines: LineMatch | null,
): CountedChange | null {
  const factor = clearFactor[metric];
  if (factor === null) return null;
  const better = launches.filter((launch) => {
    const points = decidingPoints(launch);
    const isLess = (point: ComparedPoint): boolean => isMore(launch, point, metric, factor, 'base');
    return points.every(isLess) && points.every((point) => turnsOf(point.head) < turnsOf(point.base));
  });
  const [best] = better;
  if (!best || launches.some((launch) => !better.includes(launch) && severityOf(launch, decidingPoints(launch), metric, undefined))) return null; // oxfmt-ignore
  const point = decidingPoints(best).at(-1)!;
  const location = bestLine(point, metric, lines);
  return { ...toldAt(best, point, metric, launches.length > 1), severity: 'notice', ...(location ? { location } : {}) };
}

function toldAt(
  launch: ComparedLaunch,
  point: ComparedPoint,
  metric: CountedMetric,
  areSeveral: boolean,
): Pick<CountedChange, 'baseValue' | 'headValue' | 'ratio' | 'at' | 'of' | 'launch'> {
  const [base, head] = valuesAt(launch, point, metric);
  const isSameShape = isSame(point.base.block, point.head.block) && isSame(point.base.grid, point.head.grid);
  return {
    baseValue: base,
    headValue: head,
    ratio: base === 0 ? null : head / base,
    at: point.at,
    of: launch.isWhole || metric === 'steps' ? 'launch' : 'access',
    ...(areSeveral || launch.isBlockChosen || !isSameShape
      ? { launch: { block: point.head.block, grid: point.head.grid } }
      : {}),
  };
}

/** Large sizes decide, where there are any. */
function decidingPoints({ points }: ComparedLaunch): readonly ComparedPoint[] {
  const large = points.filter(({ isLarge }) => isLarge);
  return large.length > 0 ? large : points;
}

/** How bad a launch is; null: not worth a word. */
function severityOf(
  launch: ComparedLaunch,
  points: readonly ComparedPoint[],
  metric: CountedMetric,
  thresholds: Thresholds | undefined,
  growsWith: string | null = null,
): Severity | null {
  const grows = doesGrow(launch, metric) && points.every((point) => isMore(launch, point, metric, 1, 'head'));
  if (thresholds) {
    const isOver = (threshold: Thresholds['fail']): boolean =>
      threshold !== undefined &&
      points.every((point) => {
        const [base, head] = valuesAt(launch, point, metric);
        if (threshold.unit === 'percent' || !launch.isWhole) return head > allowed(base, threshold);
        // A number is one of a warp.
        return head / warpsOf(point.head) > allowed(base / warpsOf(point.base), threshold);
      });
    if (isOver(thresholds.fail)) return 'error';
    if (isOver(thresholds.warn)) return 'warning';
    const isClear = growsWith !== null && points.every((point) => isMore(launch, point, metric, clearFactor[metric] ?? 1, 'head')); // oxfmt-ignore
    return grows || isClear ? 'notice' : null;
  }
  const factor = clearFactor[metric];
  if (factor === null) return null;
  // What takes fewer turns altogether is a bargain, whatever has more of them.
  if (!points.every((point) => turnsOf(point.head) > turnsOf(point.base))) return null;
  // Of a grid that nobody knows it cannot be told how much of the work is done.
  if (!launch.isWhole && metric === 'steps') return grows ? 'notice' : null;
  return grows || points.every((point) => isMore(launch, point, metric, factor, 'head')) ? 'notice' : null;
}

function isMore(
  launch: ComparedLaunch,
  point: ComparedPoint,
  metric: CountedMetric,
  factor: number,
  side: 'base' | 'head',
): boolean {
  const [base, head] = valuesAt(launch, point, metric);
  const [more, less] = side === 'head' ? [head, base] : [base, head];
  const [own, other] = side === 'head' ? [point.head, point.base] : [point.base, point.head];
  const isNotable = countOf(own.totals, metric) - countOf(other.totals, metric) >= warpsOf(own) / warpsPerChange;
  return isNotable && more > less * factor;
}

/**
 * Whether the head needs more and more times as much as the arguments grow. An access that gets worse with a stride ends
 * at a sector or a turn for each lane: what grows is the number of accesses, branches or instructions.
 */
function doesGrow({ points }: ComparedLaunch, metric: CountedMetric): boolean {
  const [first, last] = [points[0]!, points.at(-1)!];
  if (first.isLarge || !last.isLarge) return false;
  const ratioOf = (count: (totals: Counts) => number): boolean => {
    const ratio = ({ base, head }: ComparedPoint): number => count(head.totals) / Math.max(1, count(base.totals));
    return ratio(last) > growthFactor && ratio(last) > growthFactor * ratio(first);
  };
  return ratioOf((totals) => countOf(totals, metric)) && ratioOf((totals) => timesOf(totals, metric));
}

/** How often a launch does what a metric counts the cost of. */
function timesOf(counts: Counts, metric: CountedMetric): number {
  switch (metric) {
    case 'sectors':
      return counts.globalAccesses;
    case 'conflicts':
      return counts.sharedAccesses;
    case 'divwarps':
      return counts.branches;
    case 'steps':
    case 'work':
      return counts.steps;
  }
}

function grownWith({ points }: ComparedLaunch): Pick<CountedChange, 'growsWith' | 'asymptotic'> {
  const [first, last] = [points[0]!.at, points.at(-1)!.at];
  const growth = (name: string): number => (last[name] ?? 1) / Math.max(1, first[name] ?? 1);
  const [name] = Object.keys(last).sort((a, b) => growth(b) - growth(a));
  return name === undefined || growth(name) <= 1 ? {} : { growsWith: name, asymptotic: true };
}

function ratioAt(launch: ComparedLaunch, point: ComparedPoint, metric: CountedMetric): number {
  const [base, head] = valuesAt(launch, point, metric);
  return Math.min(1e5, head / Math.max(1e-3, base));
}

/** What is compared: of the whole launch the count, else what an access takes. */
function valuesAt({ isWhole }: ComparedLaunch, { base, head }: ComparedPoint, metric: CountedMetric): [number, number] {
  const of = ({ totals }: CountedRun): number => {
    if (isWhole) return countOf(totals, metric);
    switch (metric) {
      case 'sectors':
        return totals.sectors / Math.max(1, totals.leastSectors);
      case 'conflicts':
        return totals.conflicts / Math.max(1, totals.sharedAccesses);
      case 'divwarps':
        return totals.divergentBranches / Math.max(1, totals.branches);
      case 'steps':
      case 'work':
        return countOf(totals, metric);
    }
  };
  return [of(base), of(head)];
}

function countOf(counts: Counts, metric: CountedMetric): number {
  switch (metric) {
    case 'divwarps':
      return counts.divergentBranches;
    case 'work':
      return counts.steps + counts.conflicts + counts.sectors;
    default:
      return counts[metric];
  }
}

function turnsOf({ totals }: CountedRun): number {
  return totals.steps + totals.conflicts + totals.atomicTurns + turnsPerSector * totals.sectors;
}

function warpsOf({ block, grid }: CountedRun): number {
  return Math.ceil((block[0] * block[1] * block[2]) / 32) * grid[0] * grid[1] * grid[2];
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.every((size, axis) => size === b[axis]);
}

/** Whether the launch is what changed: each line costs a thread what it did. */
function isSameCode({ base, head }: ComparedLaunch, point: ComparedPoint): boolean {
  const isShapeSame = isSame(point.base.block, point.head.block) && isSame(point.base.grid, point.head.grid);
  if (isShapeSame || !base.location || !head.location) return false;
  const keys = (run: CountedRun): string => [...run.lines.values()].map(({ location }) => location.line).join(' ');
  return keys(point.base) === keys(point.head);
}

/** The line of the head whose count grew most. */
function worstLine({ base, head }: ComparedPoint, metric: CountedMetric, lines: LineMatch | null): Location | null {
  let worst: Location | null = null;
  let most = 0;
  for (const { location, counts } of head.lines.values()) {
    const was = lines ? lines.baseOf(location) : location;
    const known = was && base.lines.get(`${was.file}:${was.line}`);
    const growth = countOf(counts, metric) - (known ? countOf(known.counts, metric) : 0);
    if (growth > most) [worst, most] = [location, growth];
  }
  return worst;
}

/** The line of the head that stands where the base lost most. */
function bestLine({ base, head }: ComparedPoint, metric: CountedMetric, lines: LineMatch | null): Location | null {
  let best: Location | null = null;
  let most = 0;
  for (const { location, counts } of head.lines.values()) {
    const was = lines?.baseOf(location);
    const known = was && base.lines.get(`${was.file}:${was.line}`);
    const loss = (known ? countOf(known.counts, metric) : 0) - countOf(counts, metric);
    if (loss > most) [best, most] = [location, loss];
  }
  return best;
}
