/** The dimensions of a kernel's blocks known to ptxas, from `.reqntid` and `.maxntid`. */
import type { Kernel } from '../../ir/form/kernel.ts';

/** Maximum number of threads of a block. */
const maxThreads = 1024;

/** Number of threads of a block along each axis, if known to ptxas. */
export function knownThreads({ requiredThreads, maximumThreads }: Kernel): readonly [number, number, number] | undefined {
  return requiredThreads ?? (maximumThreads?.every((most) => most === 1) ? [1, 1, 1] : undefined);
}

/** Maximum number of threads of a block along the first axis. */
export function longestRow({ requiredThreads, maximumThreads }: Kernel): number {
  if (requiredThreads) return requiredThreads[0];
  return Math.min(
    maxThreads,
    (maximumThreads ?? [maxThreads]).reduce((product, one) => product * one, 1),
  );
}

/** Whether a leaf is the thread index along an axis with one thread. */
export function isZeroIn(kernel: Kernel, leaf: string): boolean {
  const axis = ['special tid.x', 'special tid.y', 'special tid.z'].indexOf(leaf);
  return axis >= 0 && knownThreads(kernel)?.[axis] === 1;
}
