/**
 * Limits of all GPUs: CUDA C++ Programming Guide 13.0, "Compute Capabilities", table of technical specifications, from
 * compute capability 7.5 on. Limits that differ between architectures are in `architecture.ts`.
 */
import type { Dim3 } from '../base/dim3.ts';

/** Threads of a warp. */
export const warpSize = 32;
/** Threads of a block. */
export const maximumThreads = 1024;
/** Threads of a block along each axis. */
export const maximumBlock: Dim3 = [1024, 1024, 64];
/** Blocks of a grid along each axis. */
export const maximumGrid: Dim3 = [2 ** 31 - 1, 65_535, 65_535];
/** Blocks of a cluster, if a kernel opts in to more than 8. */
export const maximumClusterBlocks = 16;
/** Registers of a thread. */
export const maximumRegisters = 255;
/** Shared memory of a block in bytes, unless a kernel opts in to more. */
export const sharedBytesWithoutOptIn = 48 * 1024;
/** Shared memory of a block in bytes that a kernel can opt in to: that of sm_90 and sm_100, the most there is. */
export const maximumSharedBytes = 227 * 1024;
/** Registers of a multiprocessor. */
export const registersPerMultiprocessor = 65_536;
