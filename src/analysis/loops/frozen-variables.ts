/**
 * Loop variables that a thread updates only while a condition on these variables holds. Once the condition fails they
 * keep their values, so it never holds again in that execution of the loop. If it holds in an iteration, it has
 * therefore held in every earlier one, and the variables were updated in each of them.
 */
import { commonDominator, dominates } from '../../ir/form/dominators.ts';
import type { BlockId, Kernel, Loop, Operand, Phi, ValueId } from '../../ir/form/kernel.ts';

/** The variables of one loop that one part of its body updates. */
export interface FrozenVariables {
  readonly loop: Loop;
  /** A block that every iteration executes exactly once; at its end the condition is evaluated. */
  readonly decides: BlockId;
  /** Dominates the part of the loop body that is executed only if the condition holds. */
  readonly start: BlockId;
  /**
   * By variable, its value at the end of an iteration in which the condition is true. In other iterations it keeps its
   * value.
   */
  readonly updates: ReadonlyMap<ValueId, Operand>;
}

/** Finds such variables. The caller checks that the condition depends on the variables only. */
export function frozenVariables(kernel: Kernel): FrozenVariables[] {
  const groups = new Map<BlockId, { loop: Loop; decides: BlockId; updates: Map<ValueId, Operand> }>();
  for (const loop of kernel.loops) {
    for (const phi of kernel.blocks[loop.header]!.phis) {
      const found = updateOf(kernel, loop, phi);
      if (!found) continue;
      const { start, decides, next } = found;
      const group = groups.get(start) ?? { loop, decides, updates: new Map<ValueId, Operand>() };
      groups.set(start, group);
      if (group.loop === loop && group.decides === decides) group.updates.set(phi.result, next);
    }
  }
  return [...groups].map(([start, group]) => ({ start, ...group }));
}

function updateOf(
  { blocks, dominators, loopOf }: Kernel,
  loop: Loop,
  phi: Phi,
): { readonly start: BlockId; readonly decides: BlockId; readonly next: Operand } | null {
  const latched = phi.inputs.filter((_, i) => loop.latches.includes(blocks[loop.header]!.predecessors[i]!));
  const [back] = latched;
  const isBack = (input: Operand): boolean => input.kind === 'value' && back?.kind === 'value' && input.id === back.id;
  if (!latched.every(isBack)) return null;
  const join = [...loop.blocks].find((id) => blocks[id]!.phis.some(({ result }) => isBack({ kind: 'value', id: result })));
  if (join === undefined || join === loop.header) return null;
  const decides = dominators[join]!;
  const isOnceARound = (id: BlockId): boolean => loopOf[id] === loop.id && loop.latches.every((latch) => dominates(dominators, id, latch));
  if (!isOnceARound(join) || !isOnceARound(decides)) return null;
  const { inputs } = blocks[join]!.phis.find(({ result }) => isBack({ kind: 'value', id: result }))!;
  const keeps: BlockId[] = [];
  const updating: BlockId[] = [];
  const nexts: Operand[] = [];
  inputs.forEach((input, i) => {
    const isKept = input.kind === 'value' && input.id === phi.result;
    (isKept ? keeps : updating).push(blocks[join]!.predecessors[i]!);
    if (!isKept) nexts.push(input);
  });
  const [next] = nexts;
  if (next?.kind !== 'value' || keeps.length === 0) return null;
  if (!nexts.every((other) => other.kind === 'value' && other.id === next.id)) return null;
  let start: BlockId | null = null;
  for (let at = updating.reduce((a, b) => commonDominator(dominators, a, b)); at !== decides; at = dominators[at]!) {
    if (!dominates(dominators, decides, at)) return null;
    const part = [...loop.blocks].filter((id) => dominates(dominators, at, id));
    // Every path through this part ends with the variable updated, or leaves the loop.
    const updates = part.every((id) =>
      blocks[id]!.successors.every((to) => !loop.blocks.has(to) || dominates(dominators, at, to) || (to === join && updating.includes(id))),
    );
    if (updates) start = at;
  }
  return start === null ? null : { start, decides, next };
}
