/**
 * Groups of findings with one cause in all kernels of a report. Findings have the same cause if they share a pair of
 * lines.
 */
import { type Severity, compareSeverity } from '../source/severity.ts';
import { compareText } from '../base/text.ts';
import { connected } from '../base/connected.ts';
import type { Location } from '../source/location.ts';
import { placeNames } from './cause.ts';
import type { ReportedRace } from './finding.ts';
import {
  accessesInOrder,
  findingsOf as findingsOfKernel,
  fingerprintsOf,
  isRace,
  violationsOf,
  type Finding,
  type Tally,
  isFinding,
} from './outcome.ts';
import type { KernelReport, LaunchReport, Report } from './report.ts';

export interface Occurrence {
  readonly kernel: KernelReport;
  readonly launch: LaunchReport | undefined;
  readonly finding: Finding;
}

export interface FindingGroup {
  /** Fingerprints of all pairs of accesses, sorted and without duplicates. */
  readonly fingerprints: readonly string[];
  readonly severity: Severity;
  /** The occurrence whose text is used: the first one of the highest severity in the report. */
  readonly example: Occurrence;
  readonly occurrences: readonly Occurrence[];
  /** Names of the kernels concerned, in the order of the report. */
  readonly kernels: readonly string[];
  /** Architectures of these kernels, if several were analysed. */
  readonly archs: readonly string[];
}

/** The findings of a report, each once per kernel, with the first launch in which it occurs. */
export function occurrences(report: Report): Occurrence[] {
  return report.kernels.flatMap((kernel) =>
    findingsOfKernel(kernel).map((finding) => {
      const shows = (launch: LaunchReport) =>
        [...launch.race.findings, ...launch.divergence.findings].some(({ fingerprint }) => fingerprint === finding.fingerprint);
      return { kernel, launch: kernel.launches.find(shows), finding };
    }),
  );
}

/**
 * Merges findings of one cause, in any number of kernels, instances of a template, architectures and launches. Groups
 * are sorted by severity, then by file and line.
 */
export function groupFindings(all: readonly Occurrence[]): FindingGroup[] {
  return connected(all, ({ finding }) => placeNames(finding))
    .map(toGroup)
    .sort(compareGroups);
}

/**
 * The findings of a report in groups. Confirmed and suppressed findings form separate groups from other findings of the
 * same cause.
 */
export function groupedFindings(report: Report): FindingGroup[] {
  return connected(occurrences(report), ({ finding }) => {
    const standing = [finding.confirmed, finding.suppressed];
    return placeNames(finding).map((name) => JSON.stringify([standing, name]));
  }).map(toGroup);
}

/** Finding groups reported for one kernel. */
export interface KernelFindingGroups {
  /** Groups that are reported at this kernel, in the order of the report. */
  readonly here: readonly FindingGroup[];
  /** Groups that are reported at another kernel. */
  readonly elsewhere: readonly FindingGroup[];
}

/** Assigns each group of findings to the kernel that it is reported at: that of the example. */
export function findingsByKernel(report: Report): (kernel: KernelReport) => KernelFindingGroups {
  const groups = groupedFindings(report);
  return (kernel) => {
    const all = findingsOfKernel(kernel);
    const own = groups.filter(({ occurrences: members }) => members.some((one) => one.kernel === kernel));
    const here = own.filter(({ example }) => example.kernel === kernel);
    const order = (group: FindingGroup): number => all.indexOf(group.example.finding);
    return {
      here: here.sort((a, b) => order(a) - order(b)),
      elsewhere: own.filter(({ example }) => example.kernel !== kernel),
    };
  };
}

/** Numbers of new, unchanged and fixed causes, including regressions and limits. */
export function comparedCauses(report: Report): {
  readonly added: number;
  readonly fixed: number;
  readonly unchanged: number;
} {
  const { new: added = [], fixed = [], unchanged = [] } = report.comparison ?? {};
  const limits = report.kernels.flatMap(violationsOf).map(({ fingerprint }) => [fingerprint]);
  const told = groupedFindings(report).map(({ occurrences: members }) => members.map(({ finding }) => finding.fingerprint));
  const causes = [...told, ...limits];
  const [young, old] = [new Set(added), new Set(unchanged)];
  const news = causes.filter((names) => names.some((name) => young.has(name)));
  return {
    added: news.length,
    fixed: fixed.length,
    unchanged: causes.filter((names) => !news.includes(names) && names.some((name) => old.has(name))).length,
  };
}

/** Numbers of causes and worse costs by severity. */
export function tallyCauses(report: Report): Tally {
  const counts = { error: 0, warning: 0, notice: 0 };
  for (const { severity } of groupedFindings(report)) counts[severity] += 1;
  for (const { code, severity } of report.diagnostics) if (isFinding(code)) counts[severity] += 1;
  const costs = [...report.kernels.flatMap(violationsOf), ...(report.comparison?.regressions ?? [])];
  for (const { severity } of costs) counts[severity] += 1;
  return { errors: counts.error, warnings: counts.warning, notices: counts.notice };
}

/**
 * Location of a finding: for a race the access on the later line, for divergence the barrier. For code of the toolkit,
 * the call site in the repository into which it was inlined.
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

function toGroup(members: readonly Occurrence[]): FindingGroup {
  const sorted = [...members].sort((a, b) => compareSeverity(a.finding.severity, b.finding.severity));
  const example = sorted[0] as Occurrence;
  return {
    fingerprints: [...new Set(members.flatMap(({ finding }) => fingerprintsOf(finding)))].sort(),
    severity: example.finding.severity,
    example,
    occurrences: members,
    kernels: [...new Set(members.map(({ kernel }) => kernel.name))],
    archs: [...new Set(members.flatMap(({ kernel }) => kernel.arch ?? []))],
  };
}

/** The findings of a group. The first one is the finding whose text is used. */
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
