/**
 * Applies the baseline of a repository. Its findings are not reported again; entries whose findings no longer occur are
 * reported.
 */
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Regression } from '../../report-model/regression.ts';
import { findingsOf, fingerprintsOf, isFinding, placesOf, violationsOf, type Finding } from '../../report-model/outcome.ts';
import type { KernelReport, Report } from '../../report-model/report.ts';
import { baselineName, baselineReason, type BaselineEntry } from '../../settings/baseline-file.ts';
import type { Options } from '../../settings/options.ts';
import type { Checked, KernelUnit } from '../build/phase-data.ts';

/**
 * Turns findings of the baseline into notices. A finding of several pairs of accesses is in the baseline only if all
 * pairs are: a new pair is reported.
 * @param known fingerprints
 */
export function applyBaseline({ kernels, diagnostics }: Checked, known: ReadonlySet<string>): Checked {
  if (known.size === 0) return { kernels, diagnostics };
  const silence = <Kind extends Finding>(finding: Kind): Kind =>
    finding.suppressed === undefined && fingerprintsOf(finding).every((name) => known.has(name))
      ? { ...finding, severity: 'notice', suppressed: baselineReason }
      : finding;
  const silenceLimit = (one: Regression): Regression =>
    one.suppressed === undefined && known.has(one.fingerprint) ? { ...one, severity: 'notice', suppressed: baselineReason } : one;
  const apply = (kernel: KernelReport): KernelReport => ({
    ...kernel,
    ...(kernel.cost?.violations && { cost: { ...kernel.cost, violations: kernel.cost.violations.map(silenceLimit) } }),
    race: { ...kernel.race, findings: kernel.race.findings.map(silence) },
    divergence: { ...kernel.divergence, findings: kernel.divergence.findings.map(silence) },
    launches: kernel.launches.map((launch) => ({
      ...launch,
      race: { ...launch.race, findings: launch.race.findings.map(silence) },
      divergence: { ...launch.divergence, findings: launch.divergence.findings.map(silence) },
    })),
  });
  return {
    kernels: kernels.map((one) => ({ ...one, report: apply(one.report) })),
    diagnostics: diagnostics.map((one) =>
      one.fingerprint !== undefined && known.has(one.fingerprint)
        ? { ...one, severity: 'notice', message: `${one.message} (${baselineReason})` }
        : one,
    ),
  };
}

/** The fingerprints of all findings of kernels, and of diagnostics about the program. */
export function fingerprintsIn(kernels: readonly KernelReport[], diagnostics: readonly Diagnostic[]): ReadonlySet<string> {
  return new Set([
    ...kernels.flatMap((kernel) => [
      ...findingsOf(kernel).flatMap(fingerprintsOf),
      ...violationsOf(kernel).map(({ fingerprint }) => fingerprint),
    ]),
    ...diagnostics.flatMap(({ fingerprint }) => (fingerprint === undefined ? [] : [fingerprint])),
  ]);
}

/** The findings of a report as entries of a baseline; suppressed ones need none. */
export function entriesOf({ kernels, diagnostics }: Report): BaselineEntry[] {
  const entries = new Map<string, BaselineEntry>();
  const add = (entry: BaselineEntry): void => void entries.set(entry.fingerprint, entries.get(entry.fingerprint) ?? entry);
  for (const kernel of kernels) {
    const own = kernel.location?.file ?? '';
    for (const finding of findingsOf(kernel).filter(({ suppressed }) => suppressed === undefined)) {
      const file = placesOf(finding)[0]?.file ?? own;
      for (const fingerprint of fingerprintsOf(finding)) add({ fingerprint, code: finding.code, kernel: kernel.name, file });
    }
    for (const { fingerprint, code, suppressed } of violationsOf(kernel))
      if (suppressed === undefined) add({ fingerprint, code, kernel: kernel.name, file: own });
  }
  // A suppressed finding of the host program is a notice.
  for (const { fingerprint, code, severity, location } of diagnostics)
    if (fingerprint !== undefined && severity !== 'notice' && isFinding(code))
      add({ fingerprint, code, kernel: '', file: location?.file ?? '' });
  return [...entries.values()];
}

/** Scope of an analysis: what was analysed. */
interface Looked {
  readonly options: Options;
  readonly units: readonly KernelUnit[];
  readonly kernels: readonly KernelReport[];
  readonly present: ReadonlySet<string>;
  /** Whether a file of the repository exists. */
  readonly exists: (file: string) => boolean;
}

/**
 * Entries of a baseline whose findings no longer occur. Kernels that were not analysed completely may still have the
 * findings; so may launches of the configuration that the command line replaces.
 */
export function goneFrom(baseline: readonly BaselineEntry[], looked: Looked): BaselineEntry[] {
  const { options, units, kernels, present, exists } = looked;
  const { block, grid, shared, cluster, cooperative, kernel, assume, args, checks } = options;
  const isOther =
    [block, grid, shared, cluster, kernel].some((one) => one !== undefined) || cooperative || assume.length > 0 || args.size > 0;
  if (isOther || !(['race', 'divergence'] as const).every((check) => checks.includes(check))) return [];
  if (units.some(({ compiled }) => !compiled)) return [];
  const files = new Set(units.flatMap(({ unit, files: own }) => [unit.path, ...own]));
  const open = new Set(
    kernels
      .filter(({ race, divergence }) => [race, divergence].some((one) => one.verdict === 'unknown' || one.nondeterministic === true))
      .map(({ name }) => name),
  );
  return baseline.filter(({ fingerprint, code, file, kernel: name }) => {
    if (present.has(fingerprint) || open.has(name)) return false;
    if (code.startsWith('limit/') && !checks.includes('cost')) return false;
    return files.has(file) || !exists(file);
  });
}

/** Notice about entries of the baseline whose findings no longer occur. */
export function goneNotice(gone: readonly BaselineEntry[]): Diagnostic[] {
  if (gone.length === 0) return [];
  const [first] = gone;
  const many = gone.length === 1 ? 'A finding' : `${gone.length} findings`;
  const message = `${many} of the baseline ${gone.length === 1 ? 'is' : 'are'} gone (${first!.code} in ${first!.kernel || first!.file}${gone.length > 1 ? ', …' : ''}). \`selvage baseline\` drops ${gone.length === 1 ? 'it' : 'them'}.`;
  return [{ severity: 'notice', code: 'suppression/baseline-fixed', message, location: { file: baselineName, line: 1 } }];
}
