/** Identity of causes. Two findings have the same cause if they share a pair of lines, in any launch or kernel. */
import { compareText } from '../base/text.ts';
import type { Location } from '../source/location.ts';
import type { OtherPair, ReportedRace } from './finding.ts';
import { isRace, type Finding } from './outcome.ts';
import { isMemoryFault } from '../verdict/memory-fault.ts';

/**
 * Key of the code of a finding and of the array of a race: findings at the same lines are merged only if it is equal.
 */
export function placeName(finding: Finding): string {
  return isRace(finding) ? pairName(finding, finding) : nameAt(finding, [finding.barrier]);
}

/** Keys of all pairs of lines of a finding; the first one belongs to the pair in the message. */
export function placeNames(finding: Finding): readonly [string, ...string[]] {
  const others = isRace(finding) ? (finding.also ?? []).map((pair) => pairName(finding, pair)) : [];
  return [placeName(finding), ...others];
}

function pairName({ code, kind, array }: ReportedRace, { first, second, fingerprint }: OtherPair): string {
  // Two wrong accesses on one line have to be fixed separately.
  const index = isMemoryFault(kind) ? first.expression : undefined;
  return nameAt({ code, fingerprint }, [first.location, second.location], array, index);
}

function nameAt(
  { code, fingerprint }: Pick<Finding, 'code' | 'fingerprint'>,
  places: readonly (Location | undefined)[],
  array?: string,
  index?: string,
): string {
  const lines = places.map((place) => place && `${place.file}:${place.line}`);
  // Findings without lines cannot be matched with each other.
  if (lines.includes(undefined)) return JSON.stringify([code, fingerprint]);
  return JSON.stringify([code, array, index, ...lines.sort((a, b) => compareText(a ?? '', b ?? ''))]);
}
