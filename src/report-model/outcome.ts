import { severityRank } from '../source/severity.ts';
import type { Regression } from './regression.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import type { DivergenceReport, OtherPair, RaceReport, ReportedDivergence, ReportedFact, ReportedRace } from './finding.ts';
import type { AccessDescription, Assumption, DivergenceVerdict, RaceVerdict } from '../verdict/finding.ts';
import type { KernelReport, Report } from './report.ts';
import { isMemoryFault } from '../verdict/memory-fault.ts';

export type Finding = ReportedRace | ReportedDivergence;

/** Whether a finding is a race; otherwise it is a barrier divergence. */
export function isRace(finding: Finding): finding is ReportedRace {
  return 'memory' in finding;
}

/** The fingerprints of a finding and of all pairs of accesses of its cause. */
export function fingerprintsOf(finding: Finding): string[] {
  const others = isRace(finding) ? (finding.also ?? []) : [];
  return [finding, ...others].map(({ fingerprint }) => fingerprint);
}

/** The two accesses of a race, that on the earlier line of the file first. */
export function accessesInOrder({
  first,
  second,
  ...race
}: ReportedRace | OtherPair): readonly [AccessDescription] | readonly [AccessDescription, AccessDescription] {
  const [a, b] = [first.location, second.location];
  if ('kind' in race && isMemoryFault(race.kind)) return [first];
  return a && b && a.file === b.file && a.line > b.line ? [second, first] : [first, second];
}

/** An access without its thread, which is meaningful only in the run that confirmed this pair. */
export function withoutThread(performed: AccessDescription): AccessDescription {
  const { thread: _, block: _block, ...access } = performed;
  return access;
}

const verdictRank: Readonly<Record<RaceVerdict | DivergenceVerdict, number>> = {
  skipped: 0,
  proved: 1,
  possible: 2,
  unknown: 3,
  race: 4,
  divergent: 4,
};

/** All findings of a kernel: races first, but after the undefined values from which their indices come. */
export function findingsOf({ race, divergence }: KernelReport): Finding[] {
  const sources = race.findings.flatMap(({ interleaving }) => interleaving?.missing?.indexFrom ?? []);
  const isSource = ({ kind, barrier }: ReportedDivergence): boolean =>
    kind === 'undefined-value' && sources.some(({ file, line }) => file === barrier.file && line === barrier.line);
  const others = divergence.findings.filter((finding) => !isSource(finding));
  return [...divergence.findings.filter(isSource), ...race.findings, ...others];
}

export interface Tally {
  readonly errors: number;
  readonly warnings: number;
  readonly notices: number;
}

/** Limits that a kernel exceeds, or that could not be compared. */
export function violationsOf({ cost }: KernelReport): readonly Regression[] {
  return cost?.violations ?? [];
}

/** Whether a diagnostic of this code is a finding about the program; otherwise it is a limitation of Selvage. */
export function isFinding(code: string): boolean {
  return code === 'launch/precondition' || code === 'launch/out-of-range' || code.startsWith('ordering/') || isOfChange(code);
}

/** Whether a diagnostic of this code occurs only in comparisons. */
function isOfChange(code: string): boolean {
  return code === 'idempotency/class-changed';
}

/** Whether a diagnostic reports that a part could not be analysed. */
export function isFailure({ severity, code }: Diagnostic): boolean {
  return severity === 'error' && !isFinding(code);
}

/** Numbers of findings and worse costs by severity. `only` selects findings by fingerprint. */
export function tally(report: Report, only?: ReadonlySet<string>): Tally {
  const counts = { error: 0, warning: 0, notice: 0 };
  for (const kernel of report.kernels) {
    for (const finding of [...findingsOf(kernel), ...violationsOf(kernel)]) {
      if (!only || only.has(finding.fingerprint)) counts[finding.severity] += 1;
    }
  }
  // An error at a launch site counts as a finding, although it is reported as a diagnostic.
  for (const { code, severity, fingerprint } of report.diagnostics) {
    const isMeant = !only || isOfChange(code) || (fingerprint !== undefined && only.has(fingerprint));
    if (isFinding(code) && isMeant) counts[severity] += 1;
  }
  for (const { severity } of report.comparison?.regressions ?? []) counts[severity] += 1;
  return { errors: counts.error, warnings: counts.warning, notices: counts.notice };
}

/** The worst verdict of all launches, with all findings and assumptions. A finding of several launches appears once. */
export function worstRace(results: readonly RaceReport[]): RaceReport {
  const merged = merge(results);
  return { ...merged, verdict: merged.verdict as RaceVerdict, findings: distinct(results.flatMap((r) => r.findings)) };
}

/** Like {@link worstRace}, for barrier divergence. */
export function worstDivergence(results: readonly DivergenceReport[]): DivergenceReport {
  const merged = merge(results);
  const findings = distinct(results.flatMap((result) => result.findings));
  return { ...merged, verdict: merged.verdict as DivergenceVerdict, findings };
}

/** Weakens a verdict to `possible` unless it is already worse. */
export function weakened<Result extends RaceReport | DivergenceReport>(result: Result, reason: string): Result {
  return result.verdict === 'proved' || result.verdict === 'possible'
    ? { ...result, verdict: 'possible', reason: result.reason === undefined ? reason : `${reason}; ${result.reason}` }
    : result;
}

function merge(results: readonly (RaceReport | DivergenceReport)[]): {
  verdict: string;
  reason?: string;
  wouldDecide?: ReportedFact;
  assumptions?: readonly Assumption[];
  nondeterministic?: true;
} {
  const worst = results.reduce((a, b) => (verdictRank[b.verdict] > verdictRank[a.verdict] ? b : a));
  const assumptions = new Map<string, Assumption>();
  for (const result of results) {
    for (const assumption of result.assumptions ?? []) {
      const key = `${assumption.kind} ${assumption.text}`;
      if (!assumptions.has(key)) assumptions.set(key, assumption);
    }
  }
  return {
    verdict: worst.verdict,
    ...(worst.reason === undefined ? {} : { reason: worst.reason }),
    ...(worst.wouldDecide === undefined ? {} : { wouldDecide: worst.wouldDecide }),
    ...(assumptions.size > 0 ? { assumptions: [...assumptions.values()] } : {}),
    ...(results.some((result) => result.nondeterministic) ? { nondeterministic: true as const } : {}),
  };
}

function distinct<Kind extends Finding>(findings: readonly Kind[]): Kind[] {
  const best = new Map<string, Kind>();
  for (const finding of findings) {
    const known = best.get(finding.fingerprint);
    if (!known || weight(finding) > weight(known)) best.set(finding.fingerprint, finding);
  }
  return [...best.values()];
}

/** Orders findings: confirmed ones first, then by severity. */
export function compareFindings(first: Finding, second: Finding): number {
  return weight(second) - weight(first);
}

function weight(finding: Finding): number {
  return (finding.confirmed ? 10 : 0) + severityRank[finding.severity];
}

/** The locations of a finding. */
export function placesOf(finding: Finding): Location[] {
  const places = 'barrier' in finding ? [finding.barrier] : [finding.first.location, finding.second.location];
  return places.filter((place) => place !== undefined);
}
