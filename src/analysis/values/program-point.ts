/** Points in the code of a kernel, and the paths between them. */
import { dominates } from '../../ir/form/dominators.ts';
import type { Block, BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';

/** An instruction, by its basic block and its position there. Accesses are program points. */
export interface ProgramPoint {
  readonly block: BlockId;
  readonly position: number;
}

/** The program points of instructions that satisfy a predicate. */
export function pointsOf(
  { blocks }: Kernel,
  isWanted: (instruction: Instruction) => boolean,
): readonly (ProgramPoint & { readonly instruction: Instruction })[] {
  return blocks.flatMap(({ id, instructions }) =>
    instructions.flatMap((instruction, position) => (isWanted(instruction) ? [{ block: id, position, instruction }] : [])),
  );
}

/** Whether every path from the entry of the kernel to `b` passes `a` before. */
export function pointDominates({ dominators }: Kernel, a: ProgramPoint, b: ProgramPoint): boolean {
  return a.block === b.block ? a.position < b.position : dominates(dominators, a.block, b.block);
}

/** Whether some path leads from the point after `from` to `to`. */
export function canReach(kernel: Kernel, from: ProgramPoint, to: ProgramPoint): boolean {
  return !everyPathPasses(kernel, from, to, () => false);
}

/** Whether every path from the point after `from` to `to` passes an instruction that satisfies `isGate`. */
export function everyPathPasses(
  kernel: Kernel,
  from: ProgramPoint,
  to: ProgramPoint,
  isGate: (instruction: Instruction, at: ProgramPoint) => boolean,
): boolean {
  let isMet = false;
  walkFrom(kernel, pointAfter(from), (instruction, at) => {
    isMet ||= at.block === to.block && at.position === to.position;
    return !isMet && !isGate(instruction, at);
  });
  return !isMet;
}

/** Whether every path from the point after `from` to the end of the thread passes `gate`, unless it is infinite. */
export function alwaysPasses(kernel: Kernel, from: ProgramPoint, gate: ProgramPoint): boolean {
  const ends = walkFrom(kernel, pointAfter(from), (_, at) => at.block !== gate.block || at.position !== gate.position);
  return ends.every(({ successors }) => successors.length > 0);
}

/** The point after an instruction. */
export function pointAfter({ block, position }: ProgramPoint): ProgramPoint {
  return { block, position: position + 1 };
}

/** Whether threads leave at the end of a block; a trap is not an exit, it ends the launch. */
export function isExit({ terminator }: Block): boolean {
  return terminator.kind === 'exit' || terminator.kind === 'unknown';
}

/**
 * Walks all paths from a point.
 * @param goesOn is called with each instruction on a path, and returns whether the path continues after it
 * @param isOpen edges that paths may take
 * @returns the blocks whose end some path reaches
 */
export function walkFrom(
  { blocks }: Kernel,
  from: ProgramPoint,
  goesOn: (instruction: Instruction, at: ProgramPoint) => boolean,
  isOpen: (from: BlockId, to: BlockId) => boolean = () => true,
): readonly Block[] {
  const seen = new Set<BlockId>();
  const ends: Block[] = [];
  const work = [from];
  for (let at = work.pop(); at; at = work.pop()) {
    const block = blocks[at.block]!;
    let position = at.position;
    while (position < block.instructions.length && goesOn(block.instructions[position]!, { block: block.id, position })) position++;
    if (position < block.instructions.length) continue;
    ends.push(block);
    for (const to of block.successors) {
      if (seen.has(to) || !isOpen(block.id, to)) continue;
      seen.add(to);
      work.push({ block: to, position: 0 });
    }
  }
  return ends;
}

/** The blocks reachable from some blocks, these included; `edge` may reject edges. */
export function reachable(
  kernel: Kernel,
  from: readonly BlockId[],
  edge: (from: BlockId, to: BlockId) => boolean = () => true,
): Set<BlockId> {
  const seen = new Set<BlockId>(from);
  const work = [...from];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    for (const successor of kernel.blocks[next]!.successors) {
      if (!seen.has(successor) && edge(next, successor)) {
        seen.add(successor);
        work.push(successor);
      }
    }
  }
  return seen;
}
