/** Removed and remaining findings of a partial repair: compares findings with the results for the edited text. */
import { compareText } from '../../../base/text.ts';
import { placeOf } from '../../../check/context/names.ts';
import type { CheckResult } from '../../../check/request/check-request.ts';
import { lineEdits } from '../../../report-model/repaired-file.ts';
import { type Finding, findingsOf, isRace, placesOf } from '../../../report-model/outcome.ts';
import type { KernelReport } from '../../../report-model/report.ts';
import type { InstructionId, Kernel } from '../../../ir/form/kernel.ts';
import type { EditRefusal, LeftOpen } from '../../../repair/explanation.ts';
import type { Location } from '../../../source/location.ts';
import { compareSeverity, type Severity } from '../../../source/severity.ts';
import { isMemoryFault } from '../../../verdict/memory-fault.ts';

/**
 * The findings that a repair has to remove: a run confirmed them, and they are not suppressed. If these are only about indices of 32 bits
 * that wrap around, also those that wrap around from a size on.
 */
export function neededFindings(report: KernelReport): Finding[] {
  const stated = findingsOf(report).filter(({ suppressed }) => suppressed === undefined);
  const races = stated.filter(
    (finding) => finding.confirmed && finding.severity !== 'notice' && finding.kind !== 'early-exit' && !isMemoryFault(finding.kind),
  );
  return races.every(isOfWidth) ? stated.filter(isOfWidth) : races;
}

/** Whether an index of 32 bits that wraps around is the cause of a finding. */
export function isOfWidth(finding: Finding): boolean {
  return finding.kind === 'index-overflow' || finding.interleaving?.missing?.kind === 'width';
}

/** Number of a line before the edit of its file; null for a new line. */
export type FormerLine = (file: string, line: number) => number | null;

/** Maps line numbers of edited files to those before the edits. */
export function formerLines(texts: ReadonlyMap<string, string>, original: (file: string) => string | undefined): FormerLine {
  const files = [...texts].map(([file, text]) => formerLinesOf(file, original(file) ?? '', text));
  return (of, line) => files.reduce<number | null>((at, former) => (at === null ? null : former(of, at)), line);
}

function formerLinesOf(file: string, before: string, after: string): FormerLine {
  const old = before.split('\n');
  const edits = lineEdits(before, after).map((edit) => {
    const lines = edit.replacement.split('\n');
    // A line break at the end of the replacement, or an empty replacement, is not followed by a further line.
    return { ...edit, lines: /(?:^|\n)$/.test(edit.replacement) ? lines.slice(0, -1) : lines };
  });
  return (of, line) => {
    if (of !== file) return line;
    let shift = 0;
    for (const { startLine, endLine, lines } of edits) {
      const start = startLine + shift;
      if (line < start) break;
      if (line < start + lines.length) {
        // The edit split, moved or indented a single line.
        if (endLine === startLine) return startLine;
        const words = lines[line - start]!.trim();
        const same = old.slice(startLine - 1, endLine).findIndex((text) => text.trim() === words);
        return same === -1 ? null : startLine + same;
      }
      shift += lines.length - (endLine - startLine + 1);
    }
    return line - shift;
  };
}

/** The findings of a check by code, array and lines, as they are in the text before the edit. */
export function findingsByPlace({ race, divergence }: Pick<CheckResult, 'race' | 'divergence'>, former: FormerLine): Map<string, FoundAt> {
  const ofRaces = race.findings.map(({ array, first, second, ...rest }) => ({ ...rest, array, places: [first.location, second.location] }));
  const all = [...ofRaces, ...divergence.findings.map((finding) => ({ ...finding, array: undefined, places: [finding.barrier] }))];
  return new Map(all.map((finding) => [`${finding.code} ${finding.array} ${pairName(finding.places, former)}`, finding]));
}

interface FoundAt {
  readonly code: string;
  readonly severity: Severity;
  readonly places: readonly (Location | undefined)[];
  readonly when?: string;
}

/** The key of a finding in {@link findingsByPlace}. */
export function placeKeyOf(finding: Finding): string {
  const places = isRace(finding) ? [finding.first.location, finding.second.location] : [finding.barrier];
  return `${finding.code} ${isRace(finding) ? finding.array : undefined} ${pairName(places, (_, line) => line)}`;
}

/** Unproved pairs of a check: the lines of their accesses, as in findings, with the severity of the finding. */
export type OpenPairs = ReadonlyMap<string, Severity | null>;

/** @param former - maps lines of the checked text to those of the report */
export function openPairs({ race, open }: CheckResult, kernel: Kernel, former: FormerLine): OpenPairs {
  const pairs = new Map<string, Severity | null>();
  const instructions = new Map(kernel.blocks.flatMap((block) => block.instructions).map((one) => [one.id, one]));
  const placeOfId = (id: InstructionId): Location => placeOf(kernel, instructions.get(id)!);
  for (const { first, second } of open.races) pairs.set(pairName([placeOfId(first), placeOfId(second)], former), null);
  for (const { first, second, severity } of race.findings) {
    const name = pairName([first.location, second.location], former);
    const known = pairs.get(name);
    pairs.set(name, known && compareSeverity(known, severity) < 0 ? known : severity);
  }
  return pairs;
}

function pairName(places: readonly (Location | undefined)[], former: FormerLine): string {
  const names = places.map((place) => `${place?.file ?? '?'}:${(place && former(place.file, place.line)) ?? '?'}`);
  return names.sort(compareText).join(' ');
}

/** The pairs of accesses of a finding, with the keys of {@link openPairs}. */
function pairsOf(finding: Finding): string[] {
  if (!isRace(finding)) return [];
  const pairs = [finding, ...(finding.also ?? [])];
  return pairs.map(({ first, second }) => pairName([first.location, second.location], (_, line) => line));
}

/** Whether the checks of the edited kernel prove the absence of a finding of the original kernel. */
export function isGone(finding: Finding, after: readonly OpenPairs[]): boolean {
  return pairsOf(finding).every((name) => !name.includes('?') && after.every((open) => !open.has(name)));
}

/** Report of a remaining finding. */
export function leftOpen(finding: Finding): LeftOpen {
  const lines = [...new Set(placesOf(finding).map(({ line }) => line))].sort((a, b) => a - b);
  return { fingerprint: finding.fingerprint, severity: finding.severity, lines };
}

/**
 * Why an edited kernel is not a partial repair: every unproved pair must be unproved in the original kernel, with the
 * same or a higher severity, and all other pairs must be ordered, which requires a proof of barrier convergence.
 */
export function worsened({ race, divergence, open }: CheckResult, before: OpenPairs, after: OpenPairs): EditRefusal | null {
  if (divergence.verdict !== 'proved')
    return {
      kind: 'not-proved',
      check: 'divergence',
      verdict: divergence.verdict,
      ...(divergence.reason && { reason: divergence.reason }),
    };
  if (race.verdict === 'unknown' || race.verdict === 'skipped')
    return { kind: 'not-proved', check: 'race', verdict: race.verdict, ...(race.reason && { reason: race.reason }) };
  if (open.beside !== null) return { kind: 'not-proved', check: 'race', verdict: race.verdict, reason: open.beside };
  for (const [name, severity] of after) {
    const known = before.get(name);
    const isWorse = severity !== null && known && compareSeverity(severity, known) < 0;
    const isNewlyTold = severity !== null && severity !== 'notice' && known === null;
    if (known === undefined || isWorse || isNewlyTold)
      return { kind: 'new-race', lines: [...name.matchAll(/:(\d+)/g)].map(([, line]) => Number(line)) };
  }
  return null;
}
