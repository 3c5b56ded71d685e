/** Counters by source line, for the report of a run. */
import { addCounts, noCounts, type Counts, type LaunchCounters } from '../../interpreter/counters.ts';
import type { Location } from '../../source/location.ts';
import { compareText } from '../../base/text.ts';
import type { RunWords } from './run-findings.ts';
import type { CountersReport } from '../../report-model/run-report.ts';

/** Maximum number of warps whose counts a report lists. */
const listedWarps = 1024;

/** Counts by source line, in the order of the lines. */
export function countersReport(counters: LaunchCounters, words: RunWords): CountersReport {
  const lines = new Map<string, { readonly file: string; readonly line: number; readonly counts: Counts }>();
  const totals = noCounts();
  let latest: Location | undefined;
  for (const { place, counts } of counters.places) {
    // A jump has no line number: it is attributed to the line of the preceding instruction.
    const own = ('location' in place && place.location) || !latest ? words.place(place) : latest;
    latest = own;
    const key = `${own.file}:${own.line}`;
    const line = lines.get(key) ?? { file: own.file, line: own.line, counts: noCounts() };
    lines.set(key, line);
    addCounts(line.counts, counts);
    addCounts(totals, counts);
  }
  const { warps } = counters;
  return {
    warpCount: warps.length,
    totals,
    lines: [...lines.values()]
      .sort((a, b) => compareText(a.file, b.file) || a.line - b.line)
      .map(({ file, line, counts }) => ({ file, line, ...counts })),
    warps: warps.slice(0, listedWarps).map(({ block, warp, ...counts }) => ({ block, warp, ...counts })),
  };
}
