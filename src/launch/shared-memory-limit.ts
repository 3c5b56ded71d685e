/** Shared memory requested by a launch, compared with the limits of devices. */
import { maximumSharedBytes } from '../device/hardware-limits.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { layOut } from '../interpreter/core/global-memory.ts';
import type { Launch } from './launch.ts';

/** The bytes of shared memory, static and dynamic, that a block needs, if they exceed all devices; null otherwise. */
export function refusedSharedBytes(kernel: Kernel, { sharedBytes }: Pick<Launch, 'sharedBytes'>): number | null {
  const bytes = layOut(kernel).staticShared + (sharedBytes ?? 0);
  return bytes > maximumSharedBytes ? bytes : null;
}
