/** Identity of causes: findings of one cause share a pair of lines, in any launch or kernel. */
import { compareText } from '../base/text-order.ts';
import type { Location } from '../source/location.ts';
import type { OtherPair, ReportedRace } from './finding.ts';
import { isRace, type Finding } from './outcome.ts';

/** The name that a finding shares with others at its lines: of its code, and of the array of a race. */
export function placeName(finding: Finding): string {
  return isRace(finding) ? pairName(finding, finding) : nameAt(finding, [finding.barrier]);
}

/** The names of all pairs of a finding, its own first. */
export function placeNames(finding: Finding): readonly [string, ...string[]] {
  const others = isRace(finding) ? (finding.also ?? []).map((pair) => pairName(finding, pair)) : [];
  return [placeName(finding), ...others];
}

function pairName({ code, kind, array }: ReportedRace, { first, second, fingerprint }: OtherPair): string {
  // Two indices on one line that are out of bounds have to be fixed separately.
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
  // Without lines, findings cannot be identified with each other.
  if (lines.includes(undefined)) return JSON.stringify([code, fingerprint]);
  return JSON.stringify([code, array, index, ...lines.sort((a, b) => compareText(a ?? '', b ?? ''))]);
}
