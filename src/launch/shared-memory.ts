/** The shared memory that a launch asks for, against what devices have. */
import { maximumSharedBytes } from '../device/hardware-limits.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { layOut } from '../interpreter/core/memory.ts';
import type { Launch } from './launch.ts';

/** The bytes of shared memory, static and dynamic, that a block needs, where no device has as many; null where one may. */
export function refusedSharedBytes(kernel: Kernel, { sharedBytes }: Pick<Launch, 'sharedBytes'>): number | null {
  const bytes = layOut(kernel).staticShared + (sharedBytes ?? 0);
  return bytes > maximumSharedBytes ? bytes : null;
}
