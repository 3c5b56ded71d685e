/** Intermediate results of a check, for debugging: `check --print`. */
import type { KernelContext } from './context/facts.ts';
import type { KernelIntervals } from './intervals.ts';
import type { AccessPair } from './obligations/obligation.ts';

/** Called by a check as soon as it has each of them. */
export interface CheckTrace {
  readonly facts?: (facts: KernelContext) => void;
  readonly intervals?: (facts: KernelContext, intervals: KernelIntervals) => void;
  /** Pairs of accesses that no lock, flag or counter orders. */
  readonly pairs?: (facts: KernelContext, pairs: readonly AccessPair[]) => void;
}
