import type { Diagnostic } from '../source/diagnostic.ts';
import type { Regression } from './regression.ts';
import { findingsOf, fingerprintsOf, isRace, placesOf, violationsOf } from './outcome.ts';
import type { Comparison, FixedFinding, KernelReport } from './report.ts';

/** Names of the two sides of a comparison, and the correspondence of their kernels. */
interface ComparedSides {
  readonly base: string;
  readonly head: string;
  /** Kernels that have another name in the head. */
  readonly renamed?: readonly { readonly base: string; readonly head: string }[];
  /** Kernels of the head whose existence in the base is unknown. */
  readonly unknown?: ReadonlySet<string>;
  /** Findings at launch sites of the base and of the head. */
  readonly sites?: { readonly base: readonly Diagnostic[]; readonly head: readonly Diagnostic[] };
  readonly regressions?: readonly Regression[];
  readonly improvements?: readonly Regression[];
}

/**
 * Compares findings by fingerprint, and kernels by name. Causes of the two sides are identical if they share a pair of
 * accesses.
 */
export function compareKernels(
  base: readonly KernelReport[],
  head: readonly KernelReport[],
  { renamed = [], unknown = new Set(), sites, regressions = [], improvements = [], ...names }: ComparedSides,
): Comparison {
  const before = found(base, sites?.base);
  const after = found(head, sites?.head);
  const [told, tells] = [namesIn(before), namesIn(after)];
  const isIn = (names: ReadonlySet<string>, own: readonly string[]): boolean => own.some((name) => names.has(name));
  const nameSet = (kernels: readonly KernelReport[]): Set<string> => new Set(kernels.map(({ name }) => name));
  const [baseNames, headNames] = [nameSet(base), nameSet(head)];
  const [old, young] = [new Set(renamed.map((pair) => pair.base)), new Set(renamed.map((pair) => pair.head))];
  const fixed = [...before].flatMap(([fingerprint, all]) => (isIn(tells, all) ? [] : [fingerprint]));
  const fixedFindings = confirmedOf(base, new Set(fixed));
  return {
    ...names,
    new: [...after].flatMap(([fingerprint, all]) => (isIn(told, all) ? [] : [fingerprint])),
    fixed,
    unchanged: [...after].flatMap(([fingerprint, all]) => (isIn(told, all) ? [fingerprint] : [])),
    ...(fixedFindings.length > 0 ? { fixedFindings } : {}),
    regressions,
    ...(improvements.length > 0 ? { improvements } : {}),
    addedKernels: [...headNames].filter((name) => !baseNames.has(name) && !young.has(name) && !unknown.has(name)),
    removedKernels: [...baseNames].filter((name) => !headNames.has(name) && !old.has(name)),
    ...(renamed.length > 0 ? { renamedKernels: renamed } : {}),
  };
}

/** Summaries of findings by fingerprint, each once. */
function confirmedOf(kernels: readonly KernelReport[], wanted: ReadonlySet<string>): FixedFinding[] {
  const found = new Map<string, FixedFinding>();
  for (const kernel of kernels) {
    for (const finding of findingsOf(kernel)) {
      const { fingerprint, code, confirmed } = finding;
      if (!confirmed || !wanted.has(fingerprint) || found.has(fingerprint)) continue;
      const location = placesOf(finding).at(-1);
      const { memory, array } = isRace(finding) ? finding : {};
      found.set(fingerprint, {
        fingerprint,
        code,
        kernel: kernel.name,
        ...(memory !== undefined && { memory }),
        ...(array !== undefined && { array }),
        ...(location && { location }),
      });
    }
  }
  return [...found.values()];
}

/** Fingerprints of findings, mapped to the fingerprints of all pairs of their causes. */
function found(kernels: readonly KernelReport[], sites: readonly Diagnostic[] = []): Map<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (const { fingerprint } of sites) if (fingerprint !== undefined) all.set(fingerprint, [fingerprint]);
  for (const kernel of kernels) {
    for (const finding of findingsOf(kernel))
      all.set(finding.fingerprint, [...(all.get(finding.fingerprint) ?? []), ...fingerprintsOf(finding)]);
    for (const { fingerprint } of violationsOf(kernel)) all.set(fingerprint, [fingerprint]);
  }
  return all;
}

function namesIn(all: ReadonlyMap<string, readonly string[]>): Set<string> {
  return new Set([...all.values()].flat());
}
