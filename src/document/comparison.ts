import type { Regression } from './regression.ts';
import { findingsOf, violationsOf } from './outcome.ts';
import type { Comparison, KernelReport } from './report.ts';

/** Names of the two sides of a comparison, and how their kernels correspond. */
interface ComparedSides {
  readonly base: string;
  readonly head: string;
  /** Kernels that have another name in the head. */
  readonly renamed?: readonly { readonly base: string; readonly head: string }[];
  /** Kernels of the head for which it is unknown whether the base has them. */
  readonly unknown?: ReadonlySet<string>;
  readonly regressions?: readonly Regression[];
}

/** Compares findings by fingerprint, and kernels by name. */
export function compareKernels(
  base: readonly KernelReport[],
  head: readonly KernelReport[],
  { renamed = [], unknown = new Set(), regressions = [], ...names }: ComparedSides,
): Comparison {
  const before = fingerprints(base);
  const after = fingerprints(head);
  const nameSet = (kernels: readonly KernelReport[]): Set<string> => new Set(kernels.map(({ name }) => name));
  const [baseNames, headNames] = [nameSet(base), nameSet(head)];
  const [old, young] = [new Set(renamed.map((pair) => pair.base)), new Set(renamed.map((pair) => pair.head))];
  return {
    ...names,
    new: [...after].filter((fingerprint) => !before.has(fingerprint)),
    fixed: [...before].filter((fingerprint) => !after.has(fingerprint)),
    unchanged: [...after].filter((fingerprint) => before.has(fingerprint)),
    regressions,
    addedKernels: [...headNames].filter((name) => !baseNames.has(name) && !young.has(name) && !unknown.has(name)),
    removedKernels: [...baseNames].filter((name) => !headNames.has(name) && !old.has(name)),
    ...(renamed.length > 0 ? { renamedKernels: renamed } : {}),
  };
}

function fingerprints(kernels: readonly KernelReport[]): Set<string> {
  const found = kernels.flatMap((kernel) => [...findingsOf(kernel), ...violationsOf(kernel)]);
  return new Set(found.map(({ fingerprint }) => fingerprint));
}
