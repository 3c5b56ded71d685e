/** Bounds the work on one kernel, counted so that the result for a kernel is the same on every computer. */
import { OutOfTime } from '../../base/out-of-time.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';

/** The kernel needs more work than it gets. */
export class TooMuchWork extends Error {
  override name = 'TooMuchWork';
}

/**
 * Terms that are read, each with the facts that it is read under and its addends, conditions of the paths to accesses,
 * and pairs of accesses. Chosen by hand: the most expensive of our test kernels reads 0.53 million terms.
 */
const most = 1_500_000;

const spent = new WeakMap<SymbolicKernel, number>();
const clocks = new WeakMap<SymbolicKernel, () => boolean>();

/** Ends the work on a kernel when its time limit has passed, too. */
export function endWhen(symbolic: SymbolicKernel, expired: () => boolean): void {
  clocks.set(symbolic, expired);
}

/**
 * Counts units of work on a kernel.
 * @throws TooMuchWork if that exceeds the budget
 * @throws OutOfTime if its time limit has passed
 */
export function spend(symbolic: SymbolicKernel, work: number): void {
  const sum = (spent.get(symbolic) ?? 0) + work;
  if (sum > most) throw new TooMuchWork(`more than ${most} units of work`);
  if (clocks.get(symbolic)?.() === true) throw new OutOfTime();
  spent.set(symbolic, sum);
}
