/** The groups in which threads wait for what goes on beside them: `cp.async` and `wgmma.mma_async`, each their own. */
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Effect } from '../../isa/model/operation.ts';
import type { ProgramPoint } from '../values/program-point.ts';

/** Groups behind a copy that are told apart: no wait that programs write lets more go on. */
export const maxGroups = 64;

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

/**
 * Whether every way from a copy to a place passes a wait that completes the copy, and behind that a gate.
 * @param isGate null: no gate is asked for
 */
export function isDoneBefore(
  { blocks }: Kernel,
  { instruction: copy, block, position }: ProgramPoint & { readonly instruction: Instruction },
  to: ProgramPoint,
  isGate: ((instruction: Instruction) => boolean) | null,
): boolean {
  const { effect } = copy.operation;
  interface State {
    readonly block: BlockId;
    readonly position: number;
    /** As of {@link groupAgeBehind}. */
    readonly age: number | null;
  }
  const seen = new Set<string>();
  const work: State[] = [{ block, position: position + 1, age: -1 }];
  for (let state = work.pop(); state; state = work.pop()) {
    let { age } = state;
    const { instructions, successors } = blocks[state.block]!;
    let isOver = false;
    for (let at = state.position; at < instructions.length && !isOver; at++) {
      if (state.block === to.block && at === to.position) return false;
      if (age !== null) age = groupAgeBehind(effect, instructions[at]!, age, maxGroups);
      else if (isGate?.(instructions[at]!)) isOver = true;
      if (age === null && isGate === null) isOver = true;
    }
    for (const next of isOver ? [] : successors) {
      const key = `${next}:${age}`;
      if (seen.has(key)) continue;
      seen.add(key);
      work.push({ block: next, position: 0, age });
    }
  }
  return true;
}
