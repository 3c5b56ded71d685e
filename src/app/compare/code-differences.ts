import { literalOf, widenedConstants } from '../../cost/widened-constants.ts';
import { type Location, outsideToolkit } from '../../source/location.ts';
import type { WidenedReport } from '../../report-model/cost-report.ts';
import type { CodeLinesOfKernel } from '../../report-model/comparison-code.ts';
import type { Comparison } from '../../report-model/report.ts';
import { compareCode } from '../../sass/profile-changes.ts';
import { codeChangeText } from '../../messages/cost/code-change-phrases.ts';
import { atomicWaitsText, widenedText } from '../../messages/cost/figure-phrases.ts';
import type { CheckedKernel } from '../build/phase-data.ts';
import { codeLinesOf } from './code-lines.ts';
import type { CostPair } from './cost-pair.ts';
import type { ComparedLaunch } from './counts/compared-launch.ts';
import type { LineMatch } from './line-match.ts';

/** Maximum number of reported changes of a kernel. */
const maxChanges = 3;

/** A pair with the launches that were counted on both sides. */
interface ComparedPair extends CostPair {
  readonly launches: readonly ComparedLaunch[];
}

/** Changes of the code of kernels: sentences, and the changed lines. */
interface CodeDifferences {
  readonly code: NonNullable<Comparison['code']>;
  readonly codeLines: NonNullable<Comparison['codeLines']>;
}

/** Changes of the code of kernels, each reported once if instances share it. */
export function codeDifferences(
  base: readonly CheckedKernel[],
  head: readonly CheckedKernel[],
  pairs: readonly ComparedPair[],
  { baseOf, text }: LineMatch,
): CodeDifferences {
  const [before, after] = [base, head].map((side) => new Map(side.map(({ entry, code }) => [entry, code])));
  const told = new Set<string>();
  const codeLines = new Map<string, CodeLinesOfKernel>();
  const code = pairs.flatMap((pair) => {
    const [was, is] = [before!.get(pair.base.entry), after!.get(pair.head.entry)];
    const kernel = pair.head.entry.name.full;
    const widened = newlyWidened(pair, text).map((one) => ({ location: one.location, message: widenedText(one) }));
    const waits = atomicWaits(pair.launches);
    const changes = was && is ? compareCode(was, is, baseOf).slice(0, maxChanges) : [];
    const byLine = was && is && changes.length > 0 && !codeLines.has(kernel) ? codeLinesOf(kernel, was, is, baseOf) : null;
    if (byLine) codeLines.set(kernel, byLine);
    return [...waits, ...widened, ...changes.map((change) => ({ location: change.location, message: codeChangeText(change) }))].flatMap(
      ({ location, message }) => {
        const key = `${kernel}\n${message}`;
        if (told.has(key)) return [];
        told.add(key);
        return [{ kernel, message, ...(location && { location }) }];
      },
    );
  });
  return { code, codeLines: [...codeLines.values()] };
}

/** Constants that convert float arithmetic to double in the head, but not in the base. */
function newlyWidened({ base, head }: CostPair, text: LineMatch['text']): WidenedReport[] {
  const [before, after] = [base, head].map(({ entry: { produced, kernel } }) =>
    widenedConstants(produced ?? kernel, (location) => outsideToolkit(location) ?? location),
  );
  const old = new Set(before!.map(({ value }) => value));
  return after!.flatMap(({ location, value }) => {
    const literal = old.has(value) ? undefined : literalOf(text(location.file, location.line), value);
    return literal === undefined ? [] : [{ location, literal }];
  });
}

/**
 * An increase of serialised atomic operations is clear if it reaches this factor, and one operation per this number of
 * threads.
 */
const clearFactor = 1.25;
const threadsPerTurn = 64;

/** Launch and line with the largest increase of threads that wait at atomics for updates of the same word. */
function atomicWaits(launches: readonly ComparedLaunch[]): { location?: Location; message: string }[] {
  const found = launches.flatMap(({ points, isWhole }) => {
    const point = points.at(-1);
    if (!point || !isWhole) return [];
    const [before, after] = [point.base.totals.atomicTurns, point.head.totals.atomicTurns];
    const [x, y, z] = point.head.grid;
    const size = x * y * z * point.head.block[0] * point.head.block[1] * point.head.block[2];
    if (after <= before * clearFactor || after - before < size / threadsPerTurn) return [];
    const [line] = [...point.head.lines.values()].sort((a, b) => b.counts.atomicTurns - a.counts.atomicTurns);
    return [{ location: line?.location, before, after }];
  });
  const [worst] = found.sort((a, b) => b.after - a.after);
  return worst ? [{ ...(worst.location && { location: worst.location }), message: atomicWaitsText(worst) }] : [];
}
