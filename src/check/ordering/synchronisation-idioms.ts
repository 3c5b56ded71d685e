/**
 * Synchronisation by volatile accesses, as programs wrote it before atomic loads and stores existed: locks, and flags
 * that waiting threads only load. In CUDA C++ such accesses are data races, but all compilers preserve their meaning.
 */
import { type Access, isWriter } from '../../analysis/values/access.ts';
import { isOneThread, pinsOf } from '../../analysis/values/leader.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { isVolatile } from '../../memory-model/conflict.ts';
import { dominates } from '../../ir/form/dominators.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import { isOfOneBlock } from './arrival.ts';
import { isPoll } from './synchronising-access.ts';

type Pair = Readonly<Record<'first' | 'second', Access>>;

/**
 * Whether one access of a pair is a load that waits for a flag, in a loop whose exit depends on the loaded value, and
 * the other is a write of the flag. Whether only one thread sets the flag is decided from other pairs: {@link
 * isSetByOne}.
 */
export function isFlagWait(symbolic: SymbolicKernel, { first, second }: Pair): boolean {
  const [load, setter] = first.operation === 'read' ? [first, second] : [second, first];
  return load.operation === 'read' && setter.operation !== 'read' && endsLoop(symbolic, load);
}

/**
 * Whether only one thread sets the flag of a pair, so that waiting for the flag is the only conflict.
 * @param mayBeSame whether two accesses may touch the same memory
 * @param conflicts pairs that may race
 */
export function isSetByOne(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  dimensions: Dimensions,
  pair: Pair,
  mayBeSame: (a: Access, b: Access) => boolean,
  conflicts: readonly Pair[],
): boolean {
  const load = pair.first.operation === 'read' ? pair.first : pair.second;
  const setters = accesses.filter((access) => isWriter(access) && !isPoll(symbolic, access) && mayBeSame(access, load));
  const threads = new Set(setters.map((setter) => onlyThread(symbolic, dimensions, setter)));
  if (threads.size === 1 && !threads.has(null)) return true;
  // Strong accesses of several threads would not conflict, so the pairs would not show them.
  if (!setters.every((setter) => setter.strong === null || isVolatile(setter))) return false;
  return !conflicts.some(({ first, second }) => setters.includes(first) && setters.includes(second));
}

/**
 * The load with which a thread waits for a flag before an access.
 * @returns undefined if the thread does not wait
 */
export function waitBefore({ kernel }: SymbolicKernel, waits: readonly Access[], { block }: Access): Access | undefined {
  return waits.find((load) => {
    const { header, blocks } = kernel.loops[kernel.loopOf[load.block]!]!;
    return !blocks.has(block) && dominates(kernel.dominators, header, block);
  });
}

/**
 * Whether a thread waits with an access: it reads one location in a loop whose exit depends on the value. If the access is weak,
 * the loop does nothing else.
 */
export function isWait(symbolic: SymbolicKernel, access: Access): boolean {
  const { kernel } = symbolic;
  const isRead = access.operation === 'read' || isPoll(symbolic, access);
  const loop = kernel.loopOf[access.block] ?? null;
  const works = ({ operation: { effect } }: Instruction): boolean =>
    effect.kind !== 'load' && effect.kind !== 'pure' && effect.kind !== 'havoc';
  const isIdle = loop !== null && [...kernel.loops[loop]!.blocks].every((id) => !kernel.blocks[id]!.instructions.some(works));
  if (access.strong === null && !isIdle) return false;
  const isOfOnePlace = access.targets.every(({ offset }) => offset.leaves.every(({ atom }) => !/^(iteration|phi|havoc)$/.test(atom!.kind)));
  return isRead && isOfOnePlace && endsLoop(symbolic, access);
}

/** Names the only thread that performs an access at its location; null if several threads may. */
function onlyThread(symbolic: SymbolicKernel, dimensions: Dimensions, access: Access): string | null {
  const pins = pinsOf(symbolic, access.block, dimensions);
  if (!isOneThread(pins)) return null;
  const isOfBlock = access.memory === 'shared' || access.targets.every(({ offset }) => isOfOneBlock(offset, access.bytes, dimensions));
  if (isOfBlock) return pins.thread.join();
  return pins.block.every((index) => index !== undefined) ? `${pins.thread.join()} of ${pins.block.join()}` : null;
}

/** Whether an access is in a loop whose exit depends on its result. */
export function endsLoop({ kernel, condition }: SymbolicKernel, { instruction, block }: Access): boolean {
  const loop = kernel.loopOf[block] ?? null;
  if (loop === null) return false;
  return kernel.loops[loop]!.exits.some(({ from }) =>
    condition(from)?.leaves.some(({ atom }) => atom?.kind === 'havoc' && instruction.results.some((id) => id === atom.value)),
  );
}
