/** Stores that give a lock or counter its first value, before any thread uses it. */
import type { Access } from '../../analysis/values/access.ts';
import { isFullBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { type ProgramPoint, canReach, pointDominates, pointsOf } from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import { acquires, fenceOf, isAcquiring } from '../../memory-model/fence.ts';

/**
 * Whether a store is before an access, a use, of every thread: a barrier separates the two, or the store would race
 * with the use in the other order. A strong store does not race with an atomic operation.
 */
export function isSetUpBefore({ kernel }: SymbolicKernel, barriers: readonly ProgramPoint[], store: Access, use: Access): boolean {
  if (store.operation !== 'write' || store.isCopy || canReach(kernel, use, store)) return false;
  const isSeparated =
    use.memory === 'shared' && barriers.some((barrier) => pointDominates(kernel, barrier, use) && !canReach(kernel, barrier, store));
  // A use of another thread is ordered before the store only if the thread of the store synchronises in between: at a
  // barrier of the block, a point on a path from the use to the store; or by an instruction that acquires.
  return isSeparated || (store.strong === null && pointsOf(kernel, mayAcquire).every((point) => !canReach(kernel, point, store)));
}

/** Whether an instruction, other than a barrier of the whole block, may order accesses of other threads before later ones. */
function mayAcquire(instruction: Instruction): boolean {
  const { effect } = instruction.operation;
  const fence = fenceOf(effect);
  if (fence) return acquires(fence.semantics);
  if (effect.kind === 'barrier') return effect.form !== 'arrive' && !isFullBarrier(instruction);
  return isAcquiring(instruction) || (effect.kind === 'cluster-barrier' && effect.form === 'wait');
}
