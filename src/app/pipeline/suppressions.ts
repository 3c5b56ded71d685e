import type { Regression } from '../../report-model/regression.ts';
import { placesOf } from '../../report-model/outcome.ts';
import type { Code } from '../../source/codes.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { type Location } from '../../source/location.ts';
import { worstDivergence, worstRace, type Finding } from '../../report-model/outcome.ts';
import { pathPattern } from '../../base/path-pattern.ts';
import type { Checked } from '../build/phase-data.ts';
import type { KernelReport } from '../../report-model/report.ts';
import { mergeCauses } from './causes.ts';

/** A suppressed finding. It stays in the report, as a notice with the reason. */
export interface Suppression {
  readonly code: string;
  readonly reason: string;
  /** Location of the suppression. */
  readonly location: Location;
  readonly scope:
    | { readonly kind: 'lines'; readonly file: string; readonly firstLine: number; readonly lastLine: number }
    | { readonly kind: 'path'; readonly pattern: string | undefined };
  /** `YYYY-MM-DD`, the last day on which the suppression applies. */
  readonly until?: string;
  /** Whether the suppression is from the defaults that many repositories share. */
  readonly isShared?: true;
}

/**
 * Turns the suppressed findings of checked kernels into notices; see {@link applySuppressions}. Then merges findings of
 * one cause if their suppressions agree: a suppression covers only the pairs of accesses at its lines.
 */
export function suppress(
  { kernels, diagnostics }: Checked,
  suppressions: readonly Suppression[],
  today: string,
  isStale: (suppression: Suppression) => boolean,
): Checked {
  const reports = kernels.map(({ report }) => report);
  const applied = applySuppressions(reports, suppressions, today, isStale, diagnostics);
  return {
    kernels: kernels.map((one, index) => ({ ...one, report: mergeCauses(applied.kernels[index]!) })),
    diagnostics: applied.diagnostics,
  };
}

/**
 * Turns suppressed findings into notices. Verdicts are not changed: the absence of a suppressed finding is still not
 * proved.
 * @param today `YYYY-MM-DD`
 * @param isStale whether a suppression without effect is obsolete
 * @param sites diagnostics, of which those with a fingerprint are findings of the host program
 * @returns also these diagnostics, and others about suppressions
 */
export function applySuppressions(
  kernels: readonly KernelReport[],
  suppressions: readonly Suppression[],
  today: string,
  isStale: (suppression: Suppression) => boolean,
  sites: readonly Diagnostic[] = [],
): { readonly kernels: KernelReport[]; readonly diagnostics: Diagnostic[] } {
  if (suppressions.length === 0) return { kernels: [...kernels], diagnostics: [...sites] };
  const diagnostics: Diagnostic[] = [];
  const current = suppressions.filter(({ until, code, location, isShared }) => {
    const expired = isExpired(until, today);
    if (expired && !isShared) {
      const message = `The suppression of ${code} ended on ${until}; fix the finding or set a later date.`;
      diagnostics.push({ severity: 'warning', code: 'suppression/expired', message, location });
    }
    return !expired;
  });
  const used = new Set<Suppression>();
  const silence = <Kind extends Finding>(finding: Kind): Kind => {
    const suppression = current.find((candidate) => applies(candidate, finding));
    if (!suppression) return finding;
    used.add(suppression);
    return { ...finding, severity: 'notice', suppressed: suppression.reason };
  };
  const result = kernels.map((kernel): KernelReport => {
    const launches = kernel.launches.map((launch) => ({
      ...launch,
      race: { ...launch.race, findings: launch.race.findings.map(silence) },
      divergence: { ...launch.divergence, findings: launch.divergence.findings.map(silence) },
    }));
    const { cost } = kernel;
    const violations = cost?.violations && silenced(cost.violations, current, used);
    return {
      ...kernel,
      ...(violations ? { cost: { ...cost, violations } } : {}),
      race: { ...kernel.race, findings: worstRace(launches.map(({ race }) => race)).findings },
      divergence: { ...kernel.divergence, findings: worstDivergence(launches.map((l) => l.divergence)).findings },
      launches,
    };
  });
  const settled = sites.map((site): Diagnostic => {
    const places = site.location ? [site.location] : [];
    const suppression = site.fingerprint === undefined ? undefined : current.find((candidate) => appliesTo(candidate, site.code, places));
    if (!suppression) return site;
    used.add(suppression);
    return { ...site, severity: 'notice', message: `${site.message} (suppressed: ${suppression.reason})` };
  });
  for (const suppression of current) {
    if (used.has(suppression) || !isStale(suppression)) continue;
    const message = `This suppression of ${suppression.code} does not suppress anything; remove it.`;
    diagnostics.push({ severity: 'notice', code: 'suppression/unused', message, location: suppression.location });
  }
  return { kernels: result, diagnostics: [...settled, ...diagnostics] };
}

function isExpired(until: string | undefined, today: string): boolean {
  return until !== undefined && until < today;
}

/** The suppressions that apply on a day, `YYYY-MM-DD`. */
export function holding(suppressions: readonly Suppression[], today: string): Suppression[] {
  return suppressions.filter(({ until }) => !isExpired(until, today));
}

/**
 * Turns suppressed costs into notices.
 * @param used receives the suppressions that have an effect
 */
export function silenced(costs: readonly Regression[], suppressions: readonly Suppression[], used = new Set<Suppression>()): Regression[] {
  return costs.map((cost) => {
    const places = cost.location ? [cost.location] : [];
    const suppression = suppressions.find((candidate) => appliesTo(candidate, cost.code, places));
    if (!suppression) return cost;
    used.add(suppression);
    return { ...cost, severity: 'notice', suppressed: suppression.reason };
  });
}

/** The diagnostics that are not suppressed. */
export function unsuppressed(diagnostics: readonly Diagnostic[], suppressions: readonly Suppression[]): Diagnostic[] {
  const isSuppressed = ({ code, location }: Diagnostic): boolean =>
    suppressions.some((candidate) => appliesTo(candidate, code, location ? [location] : []));
  return diagnostics.filter((diagnostic) => !isSuppressed(diagnostic));
}

function applies(suppression: Suppression, finding: Finding): boolean {
  return appliesTo(suppression, finding.code, placesOf(finding));
}

function appliesTo({ code, scope }: Suppression, of: Code, places: readonly Location[]): boolean {
  if (code !== of) return false;
  const frames = places.flatMap(frameChain);
  if (scope.kind === 'lines') {
    return frames.some(({ file, line }) => file === scope.file && line >= scope.firstLine && line <= scope.lastLine);
  }
  if (scope.pattern === undefined) return true;
  const pattern = pathPattern(scope.pattern);
  return frames.some(({ file }) => pattern.test(file));
}

function frameChain(location: Location): Location[] {
  return location.inlinedAt ? [location, ...frameChain(location.inlinedAt)] : [location];
}
