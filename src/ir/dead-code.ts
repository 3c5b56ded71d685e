/** Removes instructions whose results are unused. Accesses that can race, barriers and anything with an effect stay. */
import type { Effect } from '../isa/model/operation.ts';
import type { Draft, DraftInstruction, DraftPhi } from './form/draft.ts';
import type { Operand } from './form/kernel.ts';
import { withOperands } from './ssa.ts';

/** Whether an instruction is removed if its results are unused. */
function removable(instruction: DraftInstruction, draft: Draft): boolean {
  if (instruction.marker) return false;
  const { effect } = instruction.operation;
  return effect.kind === 'pure' || effect.kind === 'havoc' || (effect.kind === 'load' && privateLoad(effect, instruction, draft));
}

/** Parameters and constants are read-only and `.local` is private to the thread: such loads cannot race. */
function privateLoad(effect: Extract<Effect, { kind: 'load' }>, instruction: DraftInstruction, draft: Draft): boolean {
  if (effect.space === 'param' || effect.space === 'const' || effect.space === 'local') return true;
  const address = instruction.arguments[0];
  if (address?.kind !== 'address') return false;
  const space = draft.objects[address.object]!.space;
  return space === 'param' || space === 'const' || space === 'local';
}

/** Marks from the roots (effects, terminators) and keeps marked instructions; phis that only feed each other go too. */
export function removeDeadCode(draft: Draft): void {
  const definitions: (DraftInstruction | DraftPhi | undefined)[] = new Array<DraftInstruction | DraftPhi | undefined>(draft.types.length);
  const live = new Uint8Array(draft.types.length);
  const work: number[] = [];
  const need = (operand: Operand): Operand => {
    if (operand.kind === 'value' && !live[operand.id]) {
      live[operand.id] = 1;
      work.push(operand.id);
    }
    return operand;
  };
  for (const block of draft.blocks) {
    for (const phi of block.phis) definitions[phi.result] = phi;
    for (const instruction of block.instructions) {
      for (const result of instruction.results) if (result !== null) definitions[result] = instruction;
      if (!removable(instruction, draft)) for (const operand of instruction.arguments) need(operand);
    }
    withOperands(block.terminator, need);
  }
  while (work.length > 0) {
    const definition = definitions[work.pop()!];
    if (!definition) continue;
    for (const operand of 'inputs' in definition ? definition.inputs : definition.arguments) need(operand);
  }
  for (const block of draft.blocks) {
    block.phis = block.phis.filter((phi) => live[phi.result]);
    block.instructions = block.instructions.filter(
      (instruction) => instruction.results.some((result) => result !== null && live[result]) || !removable(instruction, draft),
    );
  }
}
