/** The groups in which threads wait for what goes on beside them: `cp.async` and `wgmma.mma_async`, each their own. */
import type { Instruction } from '../../ir/form/kernel.ts';
import type { Effect } from '../../isa/model/operation.ts';

/**
 * Groups that an instruction lets go on; 0 for all that do not wait for groups.
 * @param copy the effect of what is waited for
 */
export function groupsThatMayGoOn(copy: Effect, { operation: { effect }, arguments: [count] }: Instruction): number {
  const isWait =
    copy.kind === 'async-copy'
      ? effect.kind === 'async-wait' && effect.form === 'wait-group'
      : effect.kind === 'warpgroup-matrix' && effect.form === 'wait';
  return isWait && count?.kind === 'constant' ? Number(count.value) : 0;
}

/**
 * Groups that were committed behind that of a copy, once an instruction is executed; null where that completes the copy.
 * @param copy the effect of the copy
 * @param age groups before that; -1: its own is not committed yet
 * @param oldest ages above that are not told apart: no wait lets so many groups go on
 */
export function groupAgeBehind(copy: Effect, instruction: Instruction, age: number, oldest: number): number | null {
  const { effect } = instruction.operation;
  const isOfGroups = copy.kind === 'async-copy' ? effect.kind === 'async-wait' : effect.kind === 'warpgroup-matrix';
  if (!isOfGroups || !('form' in effect) || effect.form === 'fence') return age;
  if (effect.form === 'commit') return Math.min(age + 1, oldest);
  if (effect.form === 'wait-all') return null;
  const [count] = instruction.arguments;
  return count?.kind === 'constant' && age >= Number(count.value) ? null : age;
}
