import { findingsOf } from './outcome.ts';
import type { Comparison, KernelReport } from './report.ts';

/**
 * Compares findings by fingerprint, and kernels by name.
 * @param names what to call the two sides
 */
export function compareKernels(
  base: readonly KernelReport[],
  head: readonly KernelReport[],
  names: { readonly base: string; readonly head: string },
): Comparison {
  const before = fingerprints(base);
  const after = fingerprints(head);
  const nameSet = (kernels: readonly KernelReport[]): Set<string> => new Set(kernels.map(({ name }) => name));
  const [baseNames, headNames] = [nameSet(base), nameSet(head)];
  return {
    ...names,
    new: [...after].filter((fingerprint) => !before.has(fingerprint)),
    fixed: [...before].filter((fingerprint) => !after.has(fingerprint)),
    unchanged: [...after].filter((fingerprint) => before.has(fingerprint)),
    regressions: [],
    addedKernels: [...headNames].filter((name) => !baseNames.has(name)),
    removedKernels: [...baseNames].filter((name) => !headNames.has(name)),
  };
}

function fingerprints(kernels: readonly KernelReport[]): Set<string> {
  return new Set(kernels.flatMap((kernel) => findingsOf(kernel).map(({ fingerprint }) => fingerprint)));
}
