/** Places in the code of a kernel, and the ways between them. */
import { dominates as blockDominates } from '../ir/dominators.ts';
import type { BlockId, Instruction, Kernel } from '../ir/kernel.ts';

/** The instruction at a position of a block. An access is one. */
export interface ProgramPoint {
  readonly block: BlockId;
  readonly position: number;
}

/** Whether every way from the entry of the kernel to `b` passes `a` before. */
export function dominates({ dominators }: Kernel, a: ProgramPoint, b: ProgramPoint): boolean {
  return a.block === b.block ? a.position < b.position : blockDominates(dominators, a.block, b.block);
}

/** Whether some way leads from behind `from` to `to`. */
export function leadsTo(kernel: Kernel, from: ProgramPoint, to: ProgramPoint): boolean {
  return !everyWayPasses(kernel, from, to, () => false);
}

/** Whether every way from behind `from` to `to` passes an instruction that is a gate. */
export function everyWayPasses(
  kernel: Kernel,
  from: ProgramPoint,
  to: ProgramPoint,
  isGate: (instruction: Instruction, at: ProgramPoint) => boolean,
): boolean {
  return walk(kernel, from, (instruction, at) => {
    if (at.block === to.block && at.position === to.position) return 'found';
    return isGate(instruction, at) ? 'stop' : 'go';
  });
}

/** Whether every way from behind `from` to the end of the thread passes `gate`, unless it goes on for ever. */
export function alwaysPasses(kernel: Kernel, from: ProgramPoint, gate: ProgramPoint): boolean {
  const isGate = (at: ProgramPoint): boolean => at.block === gate.block && at.position === gate.position;
  return walk(
    kernel,
    from,
    (_, at) => (isGate(at) ? 'stop' : 'go'),
    (block) => kernel.blocks[block]!.successors.length > 0,
  );
}

/** Walks all ways; false where one finds what must not be found, or ends where it must not. */
function walk(
  { blocks }: Kernel,
  from: ProgramPoint,
  visit: (instruction: Instruction, at: ProgramPoint) => 'found' | 'stop' | 'go',
  mayEnd: (block: BlockId) => boolean = () => true,
): boolean {
  const seen = new Set<BlockId>();
  const work: ProgramPoint[] = [{ block: from.block, position: from.position + 1 }];
  for (let at = work.pop(); at; at = work.pop()) {
    const { instructions, successors } = blocks[at.block]!;
    let stopped = false;
    for (let position = at.position; position < instructions.length && !stopped; position++) {
      const result = visit(instructions[position]!, { block: at.block, position });
      if (result === 'found') return false;
      stopped = result === 'stop';
    }
    if (stopped) continue;
    if (!mayEnd(at.block)) return false;
    for (const block of successors) {
      if (seen.has(block)) continue;
      seen.add(block);
      work.push({ block, position: 0 });
    }
  }
  return true;
}
