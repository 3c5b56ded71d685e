/**
 * Local memory: whether each read of it sees what its thread has written in this execution, and not its initial
 * contents. Functions of the mathematics library have tables there.
 */
import type { Access } from '../analysis/values/access.ts';
import { type Target, resolveTargets } from '../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import type { Instruction } from '../ir/form/kernel.ts';
import { weak } from '../memory-model/conflict.ts';
import { Coverage } from './coverage.ts';

interface LocalMemory {
  /** Loads that read bytes written by their thread. */
  readonly initialised: ReadonlySet<Instruction>;
  /** Whether that assumes that indices are within their arrays. */
  readonly usesBounds: boolean;
}

/** Looks at the loads of local memory. */
export function localMemory(symbolic: SymbolicKernel): LocalMemory {
  const accesses = localAccesses(symbolic);
  const reads = accesses.filter(({ operation }) => operation === 'read');
  const initialised = new Set<Instruction>();
  let usesBounds = false;
  if (reads.length === 0) return { initialised, usesBounds };
  const coverage = new Coverage(symbolic, accesses);
  const isCovered = (read: Access, target: Target, whole: number | null): boolean =>
    coverage.covers(read, target, null, whole).kind === 'always';
  for (const read of reads) {
    const left = read.targets.filter((target) => !coverage.byOwnThread(read, target) && !isCovered(read, target, null));
    const isWhole = left.every(
      (target) => target.base.kind === 'object' && target.base.object.bytes !== null && isCovered(read, target, target.base.object.bytes),
    );
    if (!isWhole) continue;
    initialised.add(read.instruction);
    if (left.length > 0) usesBounds = true;
  }
  return { initialised, usesBounds };
}

/** Loads and stores that point only to local arrays. */
function localAccesses(symbolic: SymbolicKernel): readonly Access[] {
  const { kernel, store } = symbolic;
  const accesses: Access[] = [];
  for (const { id: block, instructions } of kernel.blocks) {
    for (const [position, instruction] of instructions.entries()) {
      const { effect } = instruction.operation;
      const [address] = instruction.arguments;
      if ((effect.kind !== 'load' && effect.kind !== 'store') || !/^(local|generic)$/.test(effect.space) || !address) continue;
      const targets = resolveTargets(store, kernel, symbolic.operand(address), store.true, () => 'unknown');
      if (!targets.every(({ base }) => base.kind === 'object' && base.object.space === 'local')) continue;
      const operation = effect.kind === 'load' ? 'read' : 'write';
      const bytes = effect.bytes * effect.lanes;
      accesses.push({
        index: accesses.length,
        instruction,
        block,
        position,
        operation,
        bytes,
        ...weak,
        memory: 'generic',
        targets,
        stored: null,
        isCopy: false,
      });
    }
  }
  return accesses;
}
