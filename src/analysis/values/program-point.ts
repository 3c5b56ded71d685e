/** Places in the code of a kernel, and the ways between them. */
import { dominates } from '../../ir/form/dominators.ts';
import type { Block, BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';

/** The instruction at a position of a block. An access is one. */
export interface ProgramPoint {
  readonly block: BlockId;
  readonly position: number;
}

/** The instructions of a kernel that are wanted, with their places. */
export function pointsOf(
  { blocks }: Kernel,
  isWanted: (instruction: Instruction) => boolean,
): readonly (ProgramPoint & { readonly instruction: Instruction })[] {
  return blocks.flatMap(({ id, instructions }) =>
    instructions.flatMap((instruction, position) =>
      isWanted(instruction) ? [{ block: id, position, instruction }] : [],
    ),
  );
}

/** Whether every way from the entry of the kernel to `b` passes `a` before. */
export function pointDominates({ dominators }: Kernel, a: ProgramPoint, b: ProgramPoint): boolean {
  return a.block === b.block ? a.position < b.position : dominates(dominators, a.block, b.block);
}

/** Whether some way leads from behind `from` to `to`. */
export function canReach(kernel: Kernel, from: ProgramPoint, to: ProgramPoint): boolean {
  return !everyPathPasses(kernel, from, to, () => false);
}

/** Whether every way from behind `from` to `to` passes an instruction that is a gate. */
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

/** Whether every way from behind `from` to the end of the thread passes `gate`, unless it goes on for ever. */
export function alwaysPasses(kernel: Kernel, from: ProgramPoint, gate: ProgramPoint): boolean {
  const ends = walkFrom(kernel, pointAfter(from), (_, at) => at.block !== gate.block || at.position !== gate.position);
  return ends.every(({ successors }) => successors.length > 0);
}

/** The place behind an instruction. */
export function pointAfter({ block, position }: ProgramPoint): ProgramPoint {
  return { block, position: position + 1 };
}

/** Whether threads leave at the end of a block; where one traps, the launch is over. */
export function isExit({ terminator }: Block): boolean {
  return terminator.kind === 'exit' || terminator.kind === 'unknown';
}

/**
 * Walks all ways from a place on.
 * @param goesOn sees each instruction that a way comes by, and says whether the way goes on behind it
 * @param isOpen edges that ways may take
 * @returns the blocks to whose end some way comes
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
    while (position < block.instructions.length && goesOn(block.instructions[position]!, { block: block.id, position }))
      position++;
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

/** The blocks that a path from one of these reaches, themselves included; `edge` may refuse edges. */
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
