/** What a run knows about the finding of an earlier comment. Only what the run analysed is settled. */
import { hashText } from '../../base/hash.ts';
import { fingerprintsOf, isFailure, isRace, type Finding } from '../../report-model/outcome.ts';
import { occurrences, type Occurrence } from '../../report-model/finding-group.ts';
import type { KernelReport, Report } from '../../report-model/report.ts';

/** The finding of an earlier comment, as its marker names it. */
export interface EarlierFinding {
  /** Path from the top of the repository; without a path, the finding may be in any file. */
  readonly path: string | undefined;
  readonly fingerprints: readonly string[];
  /** Keys of its kernels, see {@link kernelKey}; empty if they are too many for a marker. */
  readonly kernels: readonly string[];
}

/**
 * `open`: the finding is still there, or may be. `fixed`: its kernels were checked, and it was not found. `gone`: the
 * change no longer affects its kernels. `suppressed`: a statement suppresses it. `unchecked`: its file is excluded.
 */
export type Settlement =
  | { readonly kind: 'open' | 'fixed' | 'gone' }
  | { readonly kind: 'suppressed' | 'unchecked'; readonly reason: string };

/** Identifies one check of a kernel in a marker: by its name, and the file that defines it. */
function kernelKey(check: 'race' | 'divergence', { name, location }: KernelReport): string {
  return hashText(`${check} ${name} ${location?.file ?? ''}`).slice(0, 8);
}

/** Maximum number of keys in a marker. */
const maxKeys = 50;

/** The keys of the checks that found these occurrences; empty if they are too many for a marker. */
export function kernelKeys(found: readonly Occurrence[]): readonly string[] {
  const keys = [...new Set(found.map(keyOfOccurrence))];
  return keys.length > maxKeys ? [] : keys;
}

function keyOfOccurrence({ finding, kernel }: Pick<Occurrence, 'finding' | 'kernel'>): string {
  return kernelKey(isRace(finding) ? 'race' : 'divergence', kernel);
}

/** A check of all kernels with one key: of one kernel for several architectures. */
interface CheckedKernels {
  isDecided: boolean;
  /** Files of its findings that are neither confirmed nor excluded. */
  readonly open: Set<string>;
}

/**
 * Determines what became of earlier findings.
 *
 * A finding that the report lacks is fixed if its kernels were decided and have no open finding in its file. A kernel that
 * is not in the report is as in the base or no longer exists, unless a part of the change was not analysed.
 * @param folder that paths of the report are relative to, with a trailing slash; others belong to other runs
 */
export function settlements(report: Report, folder: string): (earlier: EarlierFinding) => Settlement {
  const all = occurrences(report);
  const current = new Map<string, string | undefined>();
  for (const { finding } of all)
    for (const fingerprint of fingerprintsOf(finding))
      if (!current.has(fingerprint) || finding.suppressed === undefined) current.set(fingerprint, finding.suppressed);
  // Findings of the host program: a suppressed one is a notice.
  for (const { code, severity, fingerprint } of report.diagnostics)
    if (fingerprint !== undefined && code.startsWith('ordering/'))
      current.set(fingerprint, severity === 'notice' ? 'the source or the configuration suppresses it' : undefined);
  const checks = checksOf(report, all, folder);
  const excluded = new Set(report.excluded?.map((path) => `${folder}${path}`));
  const isAllDecided = [...checks.values()].every(({ isDecided }) => isDecided);
  const isComplete = !report.diagnostics.some(isFailure);
  const missing = (report.notAnalysed ?? []).map(({ location }) => location && `${folder}${location.file}`);
  const isUnit = (path: string | undefined): path is string => path?.endsWith('.cu') === true;
  const unitsAreExcluded = [...excluded].some(isUnit);
  /** Whether code of a file may not be in the report, except for a unit that did not fail. Any unit may include a header. */
  const mayBeMissing = (path: string | undefined): boolean =>
    isUnit(path) ? missing.includes(path) : !isComplete || missing.length > 0 || unitsAreExcluded;

  return ({ path, fingerprints, kernels }) => {
    if (path !== undefined && !path.startsWith(folder)) return { kind: 'open' };
    const reasons = fingerprints.flatMap((name) => (current.has(name) ? [current.get(name)] : []));
    const [reason] = reasons;
    if (reasons.includes(undefined)) return { kind: 'open' };
    if (reason !== undefined) return { kind: 'suppressed', reason };
    const isExcluded = path !== undefined && excluded.has(path);
    const unchecked = { kind: 'unchecked', reason: '`paths` of the configuration leave out this file' } as const;
    if (isExcluded && isUnit(path)) return unchecked;
    const own = kernels.map((key) => checks.get(key));
    const isOpen = own.some((check) => check && (!check.isDecided || isOpenIn(check, path)));
    // A header that is excluded may still be part of a unit that is not.
    const areAllThere = own.length > 0 && !own.includes(undefined) && !mayBeMissing(path);
    if (areAllThere) return { kind: isOpen ? 'open' : 'fixed' };
    if (isExcluded) return unchecked;
    const isUnknown = kernels.length === 0 && (!isAllDecided || [...checks.values()].some((check) => isOpenIn(check, path)));
    if (isOpen || isUnknown || !isComplete || mayBeMissing(path) || missing.includes(undefined)) return { kind: 'open' };
    return { kind: kernels.length > 0 ? 'gone' : 'fixed' };
  };
}

function isOpenIn({ open }: CheckedKernels, path: string | undefined): boolean {
  return path === undefined ? open.size > 0 : open.has(path);
}

/** The checks of the report, by key. */
function checksOf({ kernels }: Report, all: readonly Occurrence[], folder: string): Map<string, CheckedKernels> {
  const checks = new Map<string, CheckedKernels>();
  for (const kernel of kernels) {
    for (const check of ['race', 'divergence'] as const) {
      const key = kernelKey(check, kernel);
      const known = checks.get(key) ?? { isDecided: true, open: new Set() };
      // The verdict of a kernel is its worst one: a race of one launch hides that another launch is undecided.
      for (const { verdict, findings } of [kernel[check], ...kernel.launches.map((launch) => launch[check])])
        // A verdict without findings has no location, so it may concern any file.
        if (verdict === 'unknown' || verdict === 'skipped' || (verdict === 'possible' && findings.length === 0)) known.isDecided = false;
      checks.set(key, known);
    }
  }
  for (const occurrence of all) {
    if (occurrence.finding.confirmed) continue;
    const { open } = checks.get(keyOfOccurrence(occurrence))!;
    for (const file of filesOf(occurrence.finding)) open.add(`${folder}${file}`);
  }
  return checks;
}

/** The files of a finding, with those that its code was inlined into. */
function filesOf(finding: Finding): string[] {
  const files: string[] = [];
  for (let place of isRace(finding) ? [finding.first.location, finding.second.location] : [finding.barrier])
    for (; place; place = place.inlinedAt) files.push(place.file);
  return files;
}
