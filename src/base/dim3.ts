/** Three dimensions of a launch: x, y, z. */
export type Dim3 = readonly [number, number, number];

/** Number of threads of a block, or of blocks of a grid. */
export function extentProduct([x, y, z]: Dim3): number {
  return x * y * z;
}
