/**
 * Compares counts of the launches of a kernel with counts of its counterpart: regressions, improvements, and their
 * lines.
 */
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

/** Cost difference between a launch of the head and one of the base. */
export type CountedChange = ChangedCount &
  Pick<Regression, 'location' | 'growsWith' | 'asymptotic' | 'limit' | 'launch'> & {
    readonly severity: Severity;
    /** Dimensions of the counted launch of the head. */
    readonly run: Pick<CountedRun, 'block' | 'grid'>;
  };

type ChangedCount = Required<Pick<Regression, 'baseValue' | 'headValue' | 'ratio' | 'at' | 'of'>>;

/** Metrics that are decided by counts. A span is only bounded, never counted. */
export type CountedMetric = Exclude<BoundMetric, 'span'>;

/** Whether a metric is decided by counts if a launch was counted. */
export function isCounted(metric: BoundMetric): metric is CountedMetric {
  return metric !== 'span';
}

/** How a metric is compared by counts. */
interface CountEntry {
  readonly count: (counts: Counts) => number;
  /** Number of operations whose cost the metric counts. */
  readonly operations: (counts: Counts) => number;
  /** Divisor of the count if only a part of the launch is known, for an average. Without it, counts are compared. */
  readonly per?: (counts: Counts) => number;
  /**
   * Factor of a clear increase without thresholds. Both sides were counted at the same arguments, so there is little
   * noise; a change may need slightly more instructions. null: not compared without thresholds.
   */
  readonly clearFactor: number | null;
}

const countTable: Readonly<Record<CountedMetric, CountEntry>> = {
  sectors: {
    count: ({ sectors }) => sectors,
    operations: ({ globalAccesses }) => globalAccesses,
    per: ({ leastSectors }) => leastSectors,
    clearFactor: 1.25,
  },
  conflicts: {
    count: ({ conflicts }) => conflicts,
    operations: ({ sharedAccesses }) => sharedAccesses,
    per: ({ sharedAccesses }) => sharedAccesses,
    clearFactor: 1.25,
  },
  divwarps: {
    count: ({ divergentBranches }) => divergentBranches,
    operations: ({ branches }) => branches,
    per: ({ branches }) => branches,
    clearFactor: 1.25,
  },
  steps: { count: ({ steps }) => steps, operations: ({ steps }) => steps, clearFactor: 1.5 },
  work: {
    count: ({ steps, conflicts, sectors }) => steps + conflicts + sectors,
    operations: ({ steps }) => steps,
    clearFactor: null,
  },
};

/** An increase below one unit per this number of warps is ignored. The last warp of a grid, for example, may differ. */
const warpsPerChange = 8;

/**
 * Issue slots that correspond to one sector: a GPU of the last ten years moves a sector of global memory in the time in
 * which it issues about ten instructions of a warp (A100: 1.6 TB/s and 610 G instructions a second; H100: 3.4 and 900).
 */
const turnsPerSector = 10;

/** Minimum factor of a cost that is reported as growing faster. */
const growthFactor = 2;

/**
 * The launch with the largest clear increase; null without one.
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

/** An improvement: some launches have clearly lower counts, and no launch has higher ones; null otherwise. */
export function countedImprovement(
  launches: readonly ComparedLaunch[],
  metric: CountedMetric,
  lines: LineMatch | null,
): CountedChange | null {
  const factor = countTable[metric].clearFactor;
  if (factor === null) return null;
  const better = launches.filter((launch) => {
    const points = decidingPoints(launch);
    const isLess = (point: ComparedPoint): boolean => isMore(launch, point, metric, factor, 'base');
    return points.every(isLess) && points.every((point) => turnsOf(point.head) < turnsOf(point.base));
  });
  const [best] = better;
  if (!best || launches.some((launch) => !better.includes(launch) && severityOf(launch, decidingPoints(launch), metric, undefined)))
    return null;
  const point = decidingPoints(best).at(-1)!;
  const location = bestLine(point, metric, lines);
  return { ...toldAt(best, point, metric, launches.length > 1), severity: 'notice', ...(location ? { location } : {}) };
}

function toldAt(
  launch: ComparedLaunch,
  point: ComparedPoint,
  metric: CountedMetric,
  areSeveral: boolean,
): ChangedCount & Pick<CountedChange, 'launch' | 'run'> {
  const isSameShape = isSame(point.base.block, point.head.block) && isSame(point.base.grid, point.head.grid);
  const run = { block: point.head.block, grid: point.head.grid };
  const isNamed = areSeveral || launch.isBlockChosen || !isSameShape;
  return { ...changeAt(launch, point, metric), ...(isNamed ? { launch: run } : {}), run };
}

/** Values of both sides at some arguments. */
export function changeAt(launch: ComparedLaunch, point: ComparedPoint, metric: CountedMetric): ChangedCount {
  const [base, head] = valuesAt(launch, point, metric);
  return {
    baseValue: base,
    headValue: head,
    ratio: base === 0 ? null : head / base,
    at: point.at,
    of: launch.isWhole || metric === 'steps' ? 'launch' : 'access',
  };
}

/** The arguments that decide: the large sizes, if there are any, otherwise all. */
export function decidingPoints({ points }: ComparedLaunch): readonly ComparedPoint[] {
  const large = points.filter(({ isLarge }) => isLarge);
  return large.length > 0 ? large : points;
}

/** Severity of the change of a launch; null if it is not reported. */
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
        // Absolute thresholds are per warp.
        return head / warpsOf(point.head) > allowed(base / warpsOf(point.base), threshold);
      });
    if (isOver(thresholds.fail)) return 'error';
    if (isOver(thresholds.warn)) return 'warning';
    const isClear =
      growsWith !== null && points.every((point) => isMore(launch, point, metric, countTable[metric].clearFactor ?? 1, 'head'));
    return grows || isClear ? 'notice' : null;
  }
  const factor = countTable[metric].clearFactor;
  if (factor === null) return null;
  // A launch that takes fewer issue slots in total is not a regression, even if one metric is worse.
  if (!points.every((point) => turnsOf(point.head) > turnsOf(point.base))) return null;
  // If the grid is unknown, the share of the work that was executed is unknown too.
  if (!launch.isWhole && metric === 'steps') return grows ? 'notice' : null;
  return grows || points.every((point) => isMore(launch, point, metric, factor, 'head')) ? 'notice' : null;
}

function isMore(launch: ComparedLaunch, point: ComparedPoint, metric: CountedMetric, factor: number, side: 'base' | 'head'): boolean {
  const [base, head] = valuesAt(launch, point, metric);
  const [more, less] = side === 'head' ? [head, base] : [base, head];
  const [own, other] = side === 'head' ? [point.head, point.base] : [point.base, point.head];
  const isNotable = countTable[metric].count(own.totals) - countTable[metric].count(other.totals) >= warpsOf(own) / warpsPerChange;
  return isNotable && more > less * factor;
}

/**
 * Whether the ratio of head to base grows with the arguments. A change of the access pattern costs at most one sector
 * or conflict per lane, so it does not grow: only the number of accesses, branches or instructions can.
 */
function doesGrow({ points }: ComparedLaunch, metric: CountedMetric): boolean {
  const [first, last] = [points[0]!, points.at(-1)!];
  if (first.isLarge || !last.isLarge) return false;
  const ratioOf = (count: (totals: Counts) => number): boolean => {
    const ratio = ({ base, head }: ComparedPoint): number => count(head.totals) / Math.max(1, count(base.totals));
    return ratio(last) > growthFactor && ratio(last) > growthFactor * ratio(first);
  };
  return ratioOf((totals) => countTable[metric].count(totals)) && ratioOf((totals) => countTable[metric].operations(totals));
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

/** Compared values: the count if the whole launch is known, otherwise the average per access. */
function valuesAt({ isWhole }: ComparedLaunch, { base, head }: ComparedPoint, metric: CountedMetric): [number, number] {
  const { count, per } = countTable[metric];
  const of = ({ totals }: CountedRun): number => count(totals) / (isWhole || !per ? 1 : Math.max(1, per(totals)));
  return [of(base), of(head)];
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

/** Whether only the launch changed: the cost of each line per thread is the same on both sides. */
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
    const growth = countTable[metric].count(counts) - (known ? countTable[metric].count(known.counts) : 0);
    if (growth > most) [worst, most] = [location, growth];
  }
  return worst;
}

/** The line of the head that corresponds to the largest decrease in the base. */
function bestLine({ base, head }: ComparedPoint, metric: CountedMetric, lines: LineMatch | null): Location | null {
  let best: Location | null = null;
  let most = 0;
  for (const { location, counts } of head.lines.values()) {
    const was = lines?.baseOf(location);
    const known = was && base.lines.get(`${was.file}:${was.line}`);
    const loss = (known ? countTable[metric].count(known.counts) : 0) - countTable[metric].count(counts);
    if (loss > most) [best, most] = [location, loss];
  }
  return best;
}
