/** Findings with one root cause: the same two lines, in however many kernels, template instances and launches. */
import type { AccessDescription, DivergenceFinding, RaceFinding } from '../check/verdict.ts';
import type { KernelReport, LaunchReport, Report } from '../driver/report.ts';
import type { Severity } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';

export type Finding = RaceFinding | DivergenceFinding;

export interface Occurrence {
  readonly kernel: KernelReport;
  readonly launch: LaunchReport | undefined;
  readonly finding: Finding;
}

export interface FindingGroup {
  /** Sorted, each once. */
  readonly fingerprints: readonly string[];
  readonly severity: Severity;
  /** The occurrence whose words are used: of the worst severity, the first in the report. */
  readonly example: Occurrence;
  readonly occurrences: readonly Occurrence[];
  /** Names of the kernels concerned, in the order of the report. */
  readonly kernels: readonly string[];
}

const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, notice: 2 };

/** Orders severities, worst first. */
export function compareSeverity(first: Severity, second: Severity): number {
  return rank[first] - rank[second];
}

/** Tells a race from a divergence. */
export function isRace(finding: Finding): finding is RaceFinding {
  return 'memory' in finding;
}

/** Every finding of a report once for each kernel, with the first launch that shows it. */
export function occurrences(report: Report): Occurrence[] {
  return report.kernels.flatMap((kernel) =>
    [...kernel.race.findings, ...kernel.divergence.findings].map((finding) => {
      const shows = (launch: LaunchReport) =>
        [...launch.race.findings, ...launch.divergence.findings].some(
          ({ fingerprint }) => fingerprint === finding.fingerprint,
        );
      return { kernel, launch: kernel.launches.find(shows), finding };
    }),
  );
}

/** Merges occurrences with one root cause. Worst first, then by file and line. */
export function groupFindings(all: readonly Occurrence[]): FindingGroup[] {
  const byCause = new Map<string, Occurrence[]>();
  for (const occurrence of all) {
    const key = causeOf(occurrence.finding);
    const group = byCause.get(key);
    if (group) group.push(occurrence);
    else byCause.set(key, [occurrence]);
  }
  return [...byCause.values()].map(toGroup).sort(compareGroups);
}

/**
 * Where the finding is: for a race the access further down, for divergence the barrier. Where that is code of the
 * toolkit, the call in the repository that it was inlined into.
 */
export function locationOf({ finding, kernel }: Occurrence): Location | undefined {
  const place = isRace(finding) ? laterPlace(finding) : finding.barrier;
  for (let frame = place; frame; frame = frame.inlinedAt) if (isInRepository(frame)) return frame;
  return kernel.location;
}

/** The two accesses of a race, the one further up in the file first. */
export function inOrder({ first, second }: RaceFinding): readonly [AccessDescription, AccessDescription] {
  const [a, b] = [first.location, second.location];
  return a && b && a.file === b.file && a.line > b.line ? [second, first] : [first, second];
}

function laterPlace(finding: RaceFinding): Location | undefined {
  const [first, second] = inOrder(finding);
  return second.location ?? first.location;
}

function isInRepository({ file }: Location): boolean {
  return !/^(\/|[A-Za-z]:|\.\.\/)/.test(file);
}

/** What two findings share when they have one root cause. */
export function causeOf(finding: Finding): string {
  const places = isRace(finding) ? [finding.first.location, finding.second.location] : [finding.barrier];
  const lines = places.map((place) => (place ? `${place.file}:${place.line}` : undefined));
  // Without lines nothing says that two findings are one.
  if (lines.includes(undefined)) return JSON.stringify([finding.code, finding.fingerprint]);
  return JSON.stringify([finding.code, ...lines.sort((a, b) => compareText(a ?? '', b ?? ''))]);
}

function toGroup(members: readonly Occurrence[]): FindingGroup {
  const sorted = [...members].sort((a, b) => compareSeverity(a.finding.severity, b.finding.severity));
  const example = sorted[0] as Occurrence;
  return {
    fingerprints: [...new Set(members.map(({ finding }) => finding.fingerprint))].sort(),
    severity: example.finding.severity,
    example,
    occurrences: members,
    kernels: [...new Set(members.map(({ kernel }) => kernel.name))],
  };
}

function compareGroups(first: FindingGroup, second: FindingGroup): number {
  const a = locationOf(first.example);
  const b = locationOf(second.example);
  return (
    compareSeverity(first.severity, second.severity) ||
    compareText(a?.file ?? '', b?.file ?? '') ||
    (a?.line ?? 0) - (b?.line ?? 0) ||
    compareText(first.fingerprints[0] ?? '', second.fingerprints[0] ?? '')
  );
}

/** By code units: the same order on every machine. */
function compareText(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0;
}
