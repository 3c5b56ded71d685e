/** The lines of a finding other than those in its message. */
import type { OtherPair, ReportedRace } from '../../report-model/finding.ts';
import { accessesInOrder } from '../../report-model/outcome.ts';
import type { Location } from '../../source/location.ts';
import { count, listed } from '../text/code-text.ts';
import { homeOf, lineText } from '../text/place.ts';

/** Maximum number of listed pairs. If there are more, only their lines are listed. */
const maxPairs = 4;

/**
 * The other pairs of lines of a cause: `Accesses on these lines race for the same reason: 12 and 20; 14 and 20.` If
 * there are many pairs, each line is listed once.
 * @param told - the race in the message
 * @param others - the other pairs; the text is empty if this is
 */
export function otherPairsText(told: ReportedRace, others: readonly OtherPair[]): string {
  const home = homeOf([told.first.location, told.second.location]);
  const nameOf = (place: Location): string => lineText(place, home).replace(/^line /, '');
  const located = others.map((pair) => accessesInOrder(pair).flatMap(({ location }) => location ?? []));
  const known = located.filter(({ length }) => length > 0);
  const unknown = located.length - known.length;
  if (unknown > 0 && known.length === 0) return `${count(unknown, 'more pair')} of accesses race for the same reason.`;
  const pairs = [...new Set(known.map((places) => [...new Set(places.map(nameOf))]).map(pairText))];
  if (pairs.length === 0) return '';
  if (pairs.length <= maxPairs) return `Accesses on these lines race for the same reason: ${pairs.join('; ')}.`;
  const places = known.flat().sort((a, b) => (a.file === b.file ? a.line - b.line : 0));
  const lines = [...new Set(places.map(nameOf))];
  return `Accesses on these lines race for the same reason: ${listed(lines)}.`;
}

function pairText([one, other]: readonly string[]): string {
  return other === undefined ? `${one} (two threads)` : `${one} and ${other}`;
}
