/** Locks, flags, counters and barriers of the grid with more fences or barriers than the kernel has. */
import { type GridGate, findGridGates } from './grid-gate.ts';
import type { Supposition, Synchronisation, SynchronisingKernel } from './pattern.ts';
import { findSynchronisation } from './synchronisation.ts';

/** What would synchronise threads if some fences or barriers were there. */
interface SupposedOrder {
  readonly synchronisation: readonly Synchronisation[];
  readonly gates: readonly GridGate[];
}

export type OrderWith = (supposed: readonly Supposition[]) => SupposedOrder;

/** Finds each combination once. */
export function orderWith(of: SynchronisingKernel): OrderWith {
  const known = new Map<string, SupposedOrder>();
  return (supposed) => {
    const key = supposed.join();
    let found = known.get(key);
    if (!found) {
      const kernel = { ...of, supposed: new Set(supposed) };
      found = { synchronisation: findSynchronisation(kernel), gates: findGridGates(kernel) };
      known.set(key, found);
    }
    return found;
  };
}
