/**
 * Addresses of the windows of the shared and local state spaces in the generic address space of the reference
 * interpreter. The values are ours: the ISA guarantees only that the windows are disjoint from global memory. Both are
 * far above any global address that the interpreter allocates, and exact as JavaScript numbers.
 */
export const sharedWindow = 1n << 50n;
export const localWindow = 1n << 51n;

/** Addresses of 32 bits fit each window (PTX ISA 9.7.9.20). */
export const windowBytes = 1n << 32n;
