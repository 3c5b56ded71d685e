/** Shared memory requested by a launch, compared with the limits of devices. */
import { maximumSharedBytes, sharedBytesWithoutOptIn } from '../device/hardware-limits.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { layOut } from '../interpreter/core/global-memory.ts';
import type { Launch } from './launch.ts';

/** The bytes of shared memory, static and dynamic, that a block needs, if they exceed all devices; null otherwise. */
export function refusedSharedBytes(kernel: Kernel, { sharedBytes }: Pick<Launch, 'sharedBytes'>): number | null {
  const bytes = blockBytes(kernel, sharedBytes);
  return bytes > maximumSharedBytes ? bytes : null;
}

/**
 * The bytes of shared memory, static and dynamic, that a block needs, if they exceed what a kernel has whose limit of dynamic
 * shared memory the program does not raise (`cudaFuncAttributeMaxDynamicSharedMemorySize`); null otherwise.
 */
export function sharedBytesBeyondDefault(kernel: Kernel, sharedBytes: number | null): number | null {
  const bytes = blockBytes(kernel, sharedBytes);
  return bytes > sharedBytesWithoutOptIn ? bytes : null;
}

function blockBytes(kernel: Kernel, dynamic: number | null): number {
  return layOut(kernel).staticShared + (dynamic ?? 0);
}
