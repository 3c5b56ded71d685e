/** Adds a number to a set, which has one bit for each. */
export function addBit(set: Uint32Array, element: number): void {
  set[element >>> 5]! |= 1 << (element & 31);
}

/** Whether a set of bits contains a number. */
export function hasBit(set: Uint32Array, element: number): boolean {
  return ((set[element >>> 5]! >>> (element & 31)) & 1) === 1;
}
