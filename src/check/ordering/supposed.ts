/** Locks, flags and counters with more fences or barriers than the kernel has. */
import type { Supposition, Synchronisation, SynchronisingKernel } from './pattern.ts';
import { findSynchronisation } from './synchronisation.ts';

/** What would synchronise threads if some fences or barriers were there. */
export type SynchronisationWith = (supposed: readonly Supposition[]) => readonly Synchronisation[];

/** Finds each combination once. */
export function synchronisationWith(of: SynchronisingKernel): SynchronisationWith {
  const known = new Map<string, readonly Synchronisation[]>();
  return (supposed) => {
    const key = supposed.join();
    const found = known.get(key) ?? findSynchronisation({ ...of, supposed: new Set(supposed) });
    known.set(key, found);
    return found;
  };
}
