/**
 * Where the windows of the shared and local state spaces lie in the generic address space of the reference machine.
 * The values are ours: the ISA promises no more than that the windows are apart from global memory. Both are far above
 * any global address that the machine hands out, and exact as JavaScript numbers.
 */
export const sharedWindow = 1n << 50n;
export const localWindow = 1n << 51n;

/** Addresses of 32 bits fit each window (PTX ISA 9.7.9.20). */
export const windowBytes = 1n << 32n;
