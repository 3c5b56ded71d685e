/** Three dimensions of a launch: x, y, z. */
export type Dim3 = readonly [number, number, number];
