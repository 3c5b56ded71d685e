/** What the assembler knows of the size of a kernel's blocks, from `.reqntid` and `.maxntid`. */
import type { Kernel } from '../../ir/form/kernel.ts';

/** How many threads a block has at most. */
const maxThreads = 1024;

/** How many threads a block has along each axis, where the assembler knows it. */
export function knownThreads({
  requiredThreads,
  maximumThreads,
}: Kernel): readonly [number, number, number] | undefined {
  return requiredThreads ?? (maximumThreads?.every((most) => most === 1) ? [1, 1, 1] : undefined);
}

/** How many threads a block may have along the first axis. */
export function longestRow({ requiredThreads, maximumThreads }: Kernel): number {
  if (requiredThreads) return requiredThreads[0];
  return Math.min(
    maxThreads,
    (maximumThreads ?? [maxThreads]).reduce((product, one) => product * one, 1),
  );
}

/** Whether a leaf is the number of a thread along an axis along which a block has one. */
export function isZeroIn(kernel: Kernel, leaf: string): boolean {
  const axis = ['special tid.x', 'special tid.y', 'special tid.z'].indexOf(leaf);
  return axis >= 0 && knownThreads(kernel)?.[axis] === 1;
}
