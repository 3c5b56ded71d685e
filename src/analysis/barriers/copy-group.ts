/** Groups by which threads wait for asynchronous operations: `cp.async` and `wgmma.mma_async`, separately. */
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Effect } from '../../isa/model/operation.ts';
import type { ProgramPoint } from '../values/program-point.ts';

/** Number of groups after a copy that are distinguished: no wait in real programs leaves more pending. */
export const maxGroups = 64;

/**
 * Groups that may still be pending after an instruction; 0 if it does not wait for groups.
 * @param copy the effect of the awaited operation
 */
export function groupsThatMayGoOn(copy: Effect, { operation: { effect }, arguments: [count] }: Instruction): number {
  const isWait =
    copy.kind === 'async-copy'
      ? effect.kind === 'async-wait' && effect.form === 'wait-group'
      : effect.kind === 'warpgroup-matrix' && effect.form === 'wait';
  return isWait && count?.kind === 'constant' ? Number(count.value) : 0;
}

/**
 * Groups committed after that of a copy, once an instruction is executed; null if the instruction completes the copy.
 * @param copy the effect of the copy
 * @param age groups before that; -1: its own group is not committed yet
 * @param oldest ages are capped here: no wait lets this many groups stay pending
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
 * Whether every path from a copy to a point passes a wait that completes the copy, and then a gate.
 * @param isGate null: no gate is required
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
    /** Like the age of {@link groupAgeBehind}. */
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
