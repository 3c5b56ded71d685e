/** Groups by which threads wait for asynchronous operations such as `cp.async` and `wgmma.mma_async`, separately. */
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import { groupOf, groupsLeftBy } from '../../isa/model/effect.ts';
import type { Effect, GroupEffect } from '../../isa/model/operation.ts';
import type { ProgramPoint } from '../values/program-point.ts';

/** Number of groups after a copy that are distinguished: no wait in real programs leaves more pending. */
export const maxGroups = 64;

/**
 * Groups that may still be pending after an instruction; 0 if it does not wait for groups.
 * @param copy the effect of the awaited operation
 */
export function groupsThatMayGoOn(copy: Effect, { operation: { effect }, arguments: [count] }: Instruction): number {
  return isOfGroup(effect, copy) ? (groupsLeftBy(effect, count) ?? 0) : 0;
}

/**
 * Groups committed after that of a copy, once an instruction is executed; null if the instruction completes the copy.
 * @param copy the effect of the copy
 * @param age groups before that; -1: its own group is not committed yet
 * @param oldest ages are capped here: no wait lets this many groups stay pending
 */
export function groupAgeBehind(copy: Effect, instruction: Instruction, age: number, oldest: number): number | null {
  const { effect } = instruction.operation;
  if (!isOfGroup(effect, copy) || effect.onlyReads) return age;
  if (effect.form === 'commit') return Math.min(age + 1, oldest);
  if (effect.form === 'wait-all') return null;
  const left = groupsLeftBy(effect, instruction.arguments[0]) ?? Infinity;
  return age >= left ? null : age;
}

/** Whether an instruction commits the group of a copy, or waits for it. */
function isOfGroup(effect: Effect, copy: Effect): effect is GroupEffect {
  return effect.kind === 'group' && effect.group.name === groupOf(copy)?.name;
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
