/** What findings of one cause have in common: the same pair of lines, in whatever launch or kernel. */
import { compareText } from '../base/text-order.ts';
import type { Location } from '../source/location.ts';
import type { OtherPair, ReportedRace } from './finding.ts';
import { isRace, type Finding } from './outcome.ts';

/** The name that a finding has in common with others at its lines: of its code, and of a race the array. */
export function placeName(finding: Finding): string {
  return isRace(finding) ? pairName(finding, finding) : nameAt(finding, [finding.barrier]);
}

/** The names of all pairs of a finding, its own first. */
export function placeNames(finding: Finding): readonly [string, ...string[]] {
  const others = isRace(finding) ? (finding.also ?? []).map((pair) => pairName(finding, pair)) : [];
  return [placeName(finding), ...others];
}

function pairName({ code, kind, array }: ReportedRace, { first, second, fingerprint }: OtherPair): string {
  // Of two indices on one line that leave an array, each is to be mended.
  const index = kind === 'out-of-bounds' ? first.expression : undefined;
  return nameAt({ code, fingerprint }, [first.location, second.location], array, index);
}

function nameAt(
  { code, fingerprint }: Pick<Finding, 'code' | 'fingerprint'>,
  places: readonly (Location | undefined)[],
  array?: string,
  index?: string,
): string {
  const lines = places.map((place) => place && `${place.file}:${place.line}`);
  // Without lines nothing says that two findings are one.
  if (lines.includes(undefined)) return JSON.stringify([code, fingerprint]);
  return JSON.stringify([code, array, index, ...lines.sort((a, b) => compareText(a ?? '', b ?? ''))]);
}
