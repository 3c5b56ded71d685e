/**
 * Findings with one root cause: the same two lines, in however many kernels, template instances and launches; and races
 * of one kernel on one array that have a line in common, since one missing barrier shows as several of them.
 */
import type { Severity } from '../source/severity.ts';
import { compareText } from '../base/text-order.ts';
import type { ReportedRace } from '../document/finding.ts';
import {
  accessesInOrder,
  compareSeverity,
  findingsOf as findingsOfKernel,
  isRace,
  type Finding,
} from '../document/outcome.ts';
import type { KernelReport, LaunchReport, Report } from '../document/report.ts';
import type { Location } from '../source/location.ts';

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

/** Every finding of a report once for each kernel, with the first launch that shows it. */
export function occurrences(report: Report): Occurrence[] {
  return report.kernels.flatMap((kernel) =>
    findingsOfKernel(kernel).map((finding) => {
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
  return joinNeighbours([...byCause.values()])
    .map(toGroup)
    .sort(compareGroups);
}

/** Joins the groups whose races are on one array of one kernel and share a line. */
function joinNeighbours(groups: readonly Occurrence[][]): Occurrence[][] {
  const joined: { members: Occurrence[]; keys: Set<string> }[] = [];
  for (const members of groups) {
    const keys = new Set(members.flatMap(neighbourKeys));
    const near = joined.filter((other) => [...keys].some((key) => other.keys.has(key)));
    const [home] = near;
    if (!home) {
      joined.push({ members: [...members], keys });
      continue;
    }
    home.members.push(...members);
    for (const key of keys) home.keys.add(key);
    for (const other of near.slice(1)) {
      home.members.push(...other.members);
      for (const key of other.keys) home.keys.add(key);
      joined.splice(joined.indexOf(other), 1);
    }
  }
  return joined.map(({ members }) => members);
}

function neighbourKeys({ kernel, finding }: Occurrence): string[] {
  if (!isRace(finding) || finding.array === undefined) return [];
  return [finding.first.location, finding.second.location].flatMap((place) =>
    place ? [JSON.stringify([kernel.name, finding.code, finding.array, place.file, place.line])] : [],
  );
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

function laterPlace(finding: ReportedRace): Location | undefined {
  const [first, second] = accessesInOrder(finding);
  return second?.location ?? first.location;
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

/** The findings of a group, the one whose words are used first. */
export function findingsInGroup({ example, occurrences: all }: FindingGroup): readonly [Finding, ...Finding[]] {
  const others = all.filter((occurrence) => occurrence !== example);
  return [example.finding, ...others.map(({ finding }) => finding)];
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
