import type { Comparison } from '../../document/report.ts';
import { compareCode } from '../../sass/comparison.ts';
import { codeChangeText } from '../../wording/cost/code-changes.ts';
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
  { baseOf }: LineMatch,
): NonNullable<Comparison['code']> {
  const [before, after] = [base, head].map((side) => new Map(side.map(({ entry, code }) => [entry, code])));
  const told = new Set<string>();
  return pairs.flatMap((pair) => {
    const [was, is] = [before!.get(pair.base.entry), after!.get(pair.head.entry)];
    if (!was || !is) return [];
    return compareCode(was, is, baseOf)
      .slice(0, mostChanges)
      .flatMap((change) => {
        const kernel = pair.head.entry.name.full;
        const message = codeChangeText(change);
        const key = `${kernel}\n${message}`;
        if (told.has(key)) return [];
        told.add(key);
        return [{ kernel, message, ...(change.location && { location: change.location }) }];
      });
  });
}
