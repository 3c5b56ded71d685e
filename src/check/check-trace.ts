/** Intermediate results of a check, for debugging: `check --print`. */
import type { KernelContext } from './context/facts.ts';
import type { KernelIntervals } from './intervals.ts';
import type { AccessPair } from './obligations/obligation.ts';

/** Receives each intermediate result of a check once it is available. */
export interface CheckTrace {
  readonly facts?: (facts: KernelContext) => void;
  readonly intervals?: (facts: KernelContext, intervals: KernelIntervals) => void;
  /** Pairs of accesses that no lock, flag or counter orders. */
  readonly pairs?: (facts: KernelContext, pairs: readonly AccessPair[]) => void;
}
