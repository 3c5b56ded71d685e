import { literalOf, widenedConstants } from '../../cost/widened-constants.ts';
import type { WidenedReport } from '../../document/cost-report.ts';
import type { Comparison } from '../../document/report.ts';
import { compareCode } from '../../sass/comparison.ts';
import { outsideToolkit } from '../../source/location.ts';
import { codeChangeText } from '../../wording/cost/code-changes.ts';
import { widenedText } from '../../wording/cost/figure-phrases.ts';
import type { CheckedKernel } from '../build/kernel.ts';
import type { CostPair } from './cost-pair.ts';
import type { LineMatch } from './line-match.ts';

/** So many changes of a kernel are told. */
const mostChanges = 3;

/** What changed in the code of kernels, each told once where instances share it. */
export function codeDifferences(
  base: readonly CheckedKernel[],
  head: readonly CheckedKernel[],
  pairs: readonly CostPair[],
  { baseOf, text }: LineMatch,
): NonNullable<Comparison['code']> {
  const [before, after] = [base, head].map((side) => new Map(side.map(({ entry, code }) => [entry, code])));
  const told = new Set<string>();
  return pairs.flatMap((pair) => {
    const [was, is] = [before!.get(pair.base.entry), after!.get(pair.head.entry)];
    const kernel = pair.head.entry.name.full;
    const widened = newlyWidened(pair, text).map((one) => ({ location: one.location, message: widenedText(one) }));
    const changes = was && is ? compareCode(was, is, baseOf).slice(0, mostChanges) : [];
    return [
      ...widened,
      ...changes.map((change) => ({ location: change.location, message: codeChangeText(change) })),
    ].flatMap(({ location, message }) => {
      const key = `${kernel}\n${message}`;
      if (told.has(key)) return [];
      told.add(key);
      return [{ kernel, message, ...(location && { location }) }];
    });
  });
}

/** Constants that make arithmetic of floats double in the head, and did not in the base. */
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
