/** Costs of earlier commits of the default branch: their file, the addition of a commit, and the line in the summary. */
import * as v from 'valibot';
import type { MeasuredCost } from '../../app/pipeline/cost/cost-series.ts';

/** Version of the file. Entries of another version are not read. */
export const historyVersion = 1;
/** Maximum number of points of a series. */
const maxPoints = 20;
/** Maximum number of characters of the file, all of them ASCII. */
export const maxHistoryBytes = 4 << 20;

const pointSchema = v.strictTuple([
  /** ID of the run that measured it. IDs grow, and a run that is started again keeps its ID. */
  v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Start of the ID of the commit. */
  v.pipe(v.string(), v.regex(/^[0-9a-f]{7}$/)),
  v.pipe(v.number(), v.finite(), v.minValue(0)),
]);
const schema = v.strictObject({
  version: v.literal(historyVersion),
  series: v.record(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)), v.pipe(v.array(pointSchema), v.minLength(1), v.maxLength(maxPoints))),
});

type HistoryPoint = readonly [run: number, commit: string, value: number];

/** Points by series, in the order of runs. Adjacent points have different values. */
export type CostHistory = ReadonlyMap<string, readonly HistoryPoint[]>;

/** Values of the runs before this one, by series. */
export type EarlierCosts = ReadonlyMap<string, readonly number[]>;

/** A run of the default branch. */
interface MeasuringRun {
  readonly run: number;
  readonly head: string;
  /** The commit that it was compared with. */
  readonly base?: string;
}

/** Parses a history as untrusted data; undefined if it is damaged. */
export function parseHistory(bytes: Uint8Array): CostHistory | undefined {
  try {
    const parsed = v.safeParse(schema, JSON.parse(new TextDecoder().decode(bytes)));
    return parsed.success ? new Map(Object.entries(parsed.output.series)) : undefined;
  } catch {
    return undefined;
  }
}

/** The file of a history: the series that changed last, up to a size. */
export function printHistory(history: CostHistory, maxBytes = maxHistoryBytes): string {
  const [start, end] = [`{"version":${historyVersion},"series":{`, '}}'];
  const lastRun = ([, points]: readonly [string, readonly HistoryPoint[]]): number => points.at(-1)![0];
  const entries: string[] = [];
  let size = start.length + end.length;
  for (const [series, points] of [...history].sort((a, b) => lastRun(b) - lastRun(a))) {
    const entry = `${JSON.stringify(series)}:${JSON.stringify(points)}`;
    // The comma is counted for the last entry, too.
    size += entry.length + 1;
    if (size > maxBytes) break;
    entries.push(entry);
  }
  return `${start}${entries.join(',')}${end}`;
}

/**
 * Adds the costs of a run at its place among the others. A value that equals the one before adds no point, so the points
 * are the commits that changed the cost.
 */
export function addCosts(history: CostHistory, costs: readonly MeasuredCost[], at: MeasuringRun): CostHistory {
  const { run, head, base: before } = at;
  const all = new Map(history);
  for (const { series, base, head: value } of costs) {
    const others = history.get(series) ?? [];
    const own: HistoryPoint[] = [[run, head.slice(0, 7), value]];
    if (base !== undefined && before !== undefined) own.unshift([run, before.slice(0, 7), base]);
    const points = [...others.filter(([other]) => other < run), ...own, ...others.filter(([other]) => other > run)];
    const distinct = points.filter(([, , value], index) => index === 0 || value !== points[index - 1]![2]);
    all.set(series, distinct.slice(-maxPoints));
  }
  return all;
}

/** Values of the runs before a run, by series. */
export function costsBefore(history: CostHistory, run: number): EarlierCosts {
  return new Map([...history].map(([series, points]) => [series, points.flatMap(([other, , value]) => (other < run ? [value] : []))]));
}

const bars = '▁▂▃▄▅▆▇█';

/** A character for each value: the lowest bar for the minimum, the highest for the maximum. */
export function sparkline(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const share = (value: number): number => (high === low ? 0.5 : (value - low) / (high - low));
  return values.map((value) => bars[Math.round(share(value) * (bars.length - 1))]).join('');
}
